// What every view uses: the report, elements, numbers, and the address of each view.
// Text of the corpus reaches the page only as text nodes and attributes, never as markup.

const { topics } = report;
const rowOfTopic = new Map(topics.map((topic, row) => [topic.id, row]));
const views = Object.create(null); // name: {tab, draw(main, value)}; draw may return a function to call when the view is left

const COLOURS = 7;
const RELEVANCE = 0.6;
const TITLE = 70; // characters

const documentCount = documents.id.length;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'on') for (const [event, action] of Object.entries(value)) made.addEventListener(event, action);
    else if (name === 'style') for (const [key, to] of Object.entries(value)) made.style.setProperty(key, to);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

function numbers(text) {
  return text ? text.split(' ').map(Number) : [];
}

function tuples(text, size) {
  const flat = numbers(text);
  return Array.from({ length: flat.length / size }, (_, i) => flat.slice(size * i, size * (i + 1)));
}

function percent(share, digits = 1) {
  return share > 0 && share < 0.0005 ? '<0.1%' : `${(100 * share).toFixed(digits)}%`;
}

// With a true minus sign.
function minus(figure) {
  return String(figure).replace(/^-/, '−');
}

const count = new Intl.NumberFormat('en').format;

function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

function bar(share, colour = null, marker = null) {
  const fill = element('span', { class: 'fill', style: { width: `${Math.min(100, Math.max(0, 100 * share))}%` } });
  if (colour) fill.style.setProperty('background', colour);
  const inside = [fill];
  if (marker !== null) inside.push(element('span', { class: 'marker', style: { left: `${Math.min(100, 100 * marker)}%` } }));
  return element('span', { class: 'bar', 'aria-hidden': 'true' }, inside);
}

// ---- topics ----

const childrenOf = new Map();
for (const topic of topics) {
  if (!childrenOf.has(topic.parent)) childrenOf.set(topic.parent, []);
  childrenOf.get(topic.parent).push(topic);
}
for (const list of childrenOf.values()) list.sort((a, b) => b.size - a.size || a.id - b.id);
const roots = childrenOf.get(-1) || [];
const isGraph = topics.some((topic) => topic.parts !== undefined);
const lowest = Math.min(...topics.map((topic) => topic.level));
const highest = Math.max(...topics.map((topic) => topic.level));
const isFlat = lowest === highest;

// The name for topics of a level, such as "theme".
function kindOf(level) {
  return report.levels[level] || 'topic';
}

function kindsOf(level) {
  return `${kindOf(level)[0].toUpperCase()}${kindOf(level).slice(1)}s`;
}

function relevanceOf([word, probability], weight) {
  return Math.log(probability) - (1 - weight) * Math.log(report.share[word]);
}

// HLTA's topics are shown by words of different sizes, other topics by their names.
const wordsHaveSizes = report.score === 'discerning index';

// The words of a topic, best first: by their score if they have one, else by relevance.
function rankedWords(topic, weight = RELEVANCE, byScore = report.score !== 'relevance') {
  if (byScore) return topic.words.filter((word) => word[2] !== null).sort((a, b) => b[2] - a[2]);
  const usable = topic.words.filter(([word, probability]) => probability > 0 && report.share[word] > 0);
  return usable
    .map((word) => [word, relevanceOf(word, weight)])
    .sort((a, b) => b[1] - a[1])
    .map(([word]) => word);
}

const bestWords = topics.map((topic) => rankedWords(topic).map(([word]) => report.words[word]));

function wordsOf(topic, n) {
  return bestWords[rowOfTopic.get(topic.id)].slice(0, n);
}

// Rows of a topic and of all topics below it, whose words count as its words.
function rowsUnder(topic) {
  const rows = new Set([rowOfTopic.get(topic.id)]);
  const below = topic.parts ? topic.parts.map(([id]) => topics[rowOfTopic.get(id)]) : childrenOf.get(topic.id) || [];
  for (const child of below) for (const row of rowsUnder(child)) rows.add(row);
  return rows;
}

// ---- documents ----

// A document without a title is shown by the beginning of its text.
function titleOf(d) {
  if (documents.title && documents.title[d]) return documents.title[d];
  const start = documents.text
    ? documents.text[d].slice(0, 200).trim().replace(/\s+/g, ' ')
    : countedWords(d)
        .slice(0, 8)
        .map(([word]) => report.words[word])
        .join(' ');
  return (start.length > TITLE ? `${start.slice(0, TITLE).replace(/\s+\S*$/, '')} …` : start) || documents.id[d];
}

// The words of a document without its text: [word, count, row of its topic].
function countedWords(d) {
  return tuples(documents.words[d], 3).map(([word, n, row]) => [word, n, rowNow(row)]);
}

// Documents refer to topics by their rows in the original report. After edits a topic has another row, or none: -1.
function rowNow(row) {
  if (row < 0 || !report.rowsNow) return row;
  return report.rowsNow[row].length ? report.rowsNow[row][0] : -1;
}

// The topics of a document, the largest first: [row, share].
function sharesOf(d) {
  const shares = tuples(documents.topics[d], 2).map(([row, share]) => [row, share / 1000]);
  if (!report.rowsNow) return shares;
  const now = new Map();
  for (const [before, share] of shares)
    for (const row of report.rowsNow[before])
      now.set(row, report.exclusive ? (now.get(row) || 0) + share : Math.max(now.get(row) || 0, share));
  return [...now].sort((a, b) => b[1] - a[1]);
}

function levelShares(d, level) {
  return sharesOf(d).filter(([row]) => topics[row].level === level);
}

const UNKNOWN = -2;
const mainTopics = new Int32Array(documentCount).fill(UNKNOWN); // computed when needed

// The row of a document's largest topic, -1 if it has none.
function mainTopic(d) {
  if (mainTopics[d] === UNKNOWN) {
    const level = isGraph ? lowest : highest;
    const largestFirst = report.rowsNow ? sharesOf(d).flat() : numbers(documents.topics[d]);
    mainTopics[d] = largestFirst.find((row, i) => i % 2 === 0 && topics[row].level === level) ?? -1;
  }
  return mainTopics[d];
}

// Further columns of the documents: [{name, kind, names, values}].
const metadata = report.metadata.map((column, i) => ({ ...column, values: documents[`metadata${i}`] }));

const rowOfDocument = new Map(documents.id.map((id, d) => [id, d]));

function documentLink(d) {
  return element('a', { href: address('document', documents.id[d]) }, titleOf(d));
}

// ---- addresses ----

function plainAddress(view, value = null) {
  return value === null ? `#${view}` : `#${view}=${encodeURIComponent(value)}`;
}

// With the filter, which stays as the reader follows links.
function address(view, value = null) {
  return plainAddress(view, value) + filterText;
}

// [view, value, [[column, wanted value] ...]]
function currentAddress() {
  const [[view, value], ...wanted] = location.hash
    .slice(1)
    .split('&')
    .map((part) => {
      const [key, ...rest] = part.split('=');
      return [key, rest.length ? rest.join('=') : null];
    });
  try {
    const decoded = wanted.map(([key, text]) => [decodeURIComponent(key), decodeURIComponent(text || '')]);
    return [view || 'overview', value === null ? null : decodeURIComponent(value), decoded];
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return ['overview', null, []]; // a link cut off in the middle of a character
  }
}

const TAB_OF = { topic: 'topics', region: 'map' };
let leave = null;

function show() {
  if (leave) leave();
  leave = null;
  hideTip();
  const [name, value, wanted] = currentAddress();
  readFilter(wanted);
  drawFrame(name);
  const view = views[name];
  const main = document.getElementById('main');
  main.replaceChildren();
  main.dataset.view = name;
  if (view) leave = view.draw(main, value) || null;
  else missing(main, `There is no view “${name}” in this report.`);
  const heading = main.querySelector('h2');
  document.title = heading && name !== 'overview' ? `${heading.textContent} · ${report.name}` : `${report.name}: topics`;
  for (const link of document.querySelectorAll('#views a, #side a')) {
    const href = link.getAttribute('href');
    if (href === (location.hash || address('overview'))) link.setAttribute('aria-current', 'page');
    else if (href === address(TAB_OF[name] || name))
      link.setAttribute('aria-current', 'true'); // a page within that view
    else link.removeAttribute('aria-current');
  }
}

function missing(main, message) {
  main.append(
    element('h2', {}, 'Not found'),
    element('p', {}, message),
    element('p', {}, element('a', { href: '#overview' }, 'Go to the overview')),
  );
}

// ---- the tooltip ----

const tip = document.getElementById('tip');

function showTip(x, y, ...lines) {
  tip.replaceChildren(...lines.filter(Boolean).map((line) => element('div', {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18)}px`;
}

function hideTip() {
  tip.hidden = true;
}

// ---- colours ----
// Seven colours can be told apart with any colour vision: they are for what the reader has chosen. In addition, each
// topic has its own hue, a golden angle from that of the next smaller topic; topics of the upper level come first.

const HUE_STEP = 137.508;
const chosenTopics = []; // rows, chosen by the reader on the map
const hueRank = new Map(
  [...topics.keys()].sort((a, b) => topics[b].level - topics[a].level || topics[b].size - topics[a].size).map((row, rank) => [row, rank]),
);

function isDark() {
  return matchMedia('(prefers-color-scheme: dark)').matches;
}

function hueOf(rank) {
  const turn = Math.floor((rank * HUE_STEP) / 360); // every other turn is a little lighter
  return d3.hcl((30 + rank * HUE_STEP) % 360, 48, (isDark() ? 70 : 52) + (turn % 2 ? 8 : 0));
}

function topicColour(row) {
  const place = chosenTopics.indexOf(row);
  if (place >= 0) return colourValue(`--c${place}`);
  return hueOf(hueRank.get(row)).formatHex();
}

function topicSwatch(row) {
  return element('span', { class: 'swatch', style: { background: topicColour(row) } });
}

function colour(index) {
  return index < 0 || index >= COLOURS ? 'var(--grey)' : `var(--c${index})`;
}

function swatch(index) {
  return element('span', { class: 'swatch', style: { background: colour(index) } });
}

function colourValue(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
