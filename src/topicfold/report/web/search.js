// Search over the names and words of topics and the titles and texts of documents: a box in the header, and a view of all hits.

const query = document.getElementById('query');
const found = document.getElementById('found');
const SHOWN_HITS = 8; // of a group, below the box
const MORE_HITS = 50; // of a group, in the view, at a time
const PASSAGE = 240; // characters
const COUNTED_TIMES = 5; // at most, per word of a bag: higher counts hardly change the score

// In scripts without spaces between words, a word may begin and end anywhere.
const LETTER =
  /(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])[\p{L}\p{M}\p{N}]/u;

// ---- search terms, and where they occur ----

function evenlySpaced(text) {
  return text.normalize('NFC').replace(/\s\s+|[^\S ]/g, ' ');
}

function searchable(text) {
  return evenlySpaced(text).toLowerCase();
}

// The words and the phrases in quotes. The last one may still be being typed: words only have to begin with it.
function termsOf(wanted) {
  const text = searchable(wanted);
  return [...text.matchAll(/["“”]([^"“”]*)(["“”]?)|[^\s"“”]+/g)]
    .map((match) => ({
      text: (match[1] ?? match[0].replace(/(?<=.)[,;]$/, '')).trim(),
      whole: Boolean(match[2]) || match.index + match[0].length < text.length,
    }))
    .filter((term) => term.text);
}

function occurrencesOf(term, text) {
  const { length } = term.text;
  const startsWord = LETTER.test(term.text[0]);
  const endsWord = term.whole && LETTER.test(term.text[length - 1]);
  const places = [];
  for (let at = text.indexOf(term.text); at >= 0; at = text.indexOf(term.text, at + length)) {
    if (!(startsWord && at > 0 && LETTER.test(text[at - 1])) && !(endsWord && at + length < text.length && LETTER.test(text[at + length])))
      places.push(at);
  }
  return places;
}

function isIn(text, term) {
  return occurrencesOf(term, text).length > 0;
}

// ---- topics ----

// Topics with all terms: [those with all in their names, the others], by how high the words rank.
function topicHits(terms) {
  const hits = [];
  topics.forEach((topic, row) => {
    const name = searchable(nameOf(topic));
    const ranks = terms.map((term) => bestWords[row].findIndex((word) => isIn(searchable(word), term)));
    const inName = terms.map((term) => isIn(name, term));
    if (!terms.every((_, i) => inName[i] || ranks[i] >= 0)) return;
    const words = [...new Set(ranks.filter((rank) => rank >= 0))].map((rank) => bestWords[row][rank]);
    hits.push({ topic, words, named: inName.every(Boolean), place: d3.sum(ranks, (rank) => (rank < 0 ? bestWords[row].length : rank)) });
  });
  hits.sort((a, b) => a.place - b.place);
  return [hits.filter((hit) => hit.named), hits.filter((hit) => !hit.named)];
}

// ---- documents ----

const BETWEEN = '\0'; // no phrase matches across it

// Title and text of each document, made by the first search.
let contents = null;
const lowerTitles = [];

function bagOf(d) {
  return countedWords(d)
    .map(([word, n]) => `${report.words[word]}${BETWEEN}`.repeat(Math.min(n, COUNTED_TIMES)))
    .join('');
}

function readContents() {
  contents = d3.range(documentCount).map((d) => {
    const title = (documents.title && documents.title[d]) || '';
    const text = documents.text ? documents.text[d] : bagOf(d);
    return searchable(title || text.trim() ? `${title}${BETWEEN}${text}` : titleOf(d));
  });
}

function countsByDocument(term) {
  const counts = new Map();
  contents.forEach((text, d) => {
    const n = occurrencesOf(term, text).length;
    if (n) counts.set(d, n);
  });
  return counts;
}

let lastCounts = new Map(); // of the terms of the last search: most of them stay while the reader types

// Documents with all terms: [those with all in their titles, the others], by BM25.
function documentHits(terms) {
  if (!contents) readContents();
  lastCounts = new Map(
    terms.map((term) => {
      const key = JSON.stringify(term);
      return [key, lastCounts.get(key) || countsByDocument(term)];
    }),
  );
  const [rarest, ...others] = [...lastCounts.values()].sort((a, b) => a.size - b.size);
  const meanLength = d3.mean(contents, (text) => text.length);
  const weighted = [rarest, ...others].map((counts) => [counts, Math.log(1 + (documentCount - counts.size + 0.5) / (counts.size + 0.5))]);
  const score = (d) =>
    d3.sum(weighted, ([counts, weight]) => (weight * counts.get(d)) / (counts.get(d) + 0.3 + (0.9 * contents[d].length) / meanLength));
  const hits = [...rarest.keys()].filter((d) => others.every((counts) => counts.has(d))).map((d) => [d, score(d)]);
  const best = hits
    .filter(([d]) => passes(d))
    .sort((a, b) => b[1] - a[1])
    .map(([d]) => d);
  const titled = new Set(
    best.filter((d) => {
      lowerTitles[d] ??= searchable(titleOf(d));
      return terms.every((term) => isIn(lowerTitles[d], term));
    }),
  );
  return [[...titled], best.filter((d) => !titled.has(d))];
}

// The text around the first occurrence of a term, with all terms marked.
function passage(d, terms) {
  if (!documents.text) return null;
  const text = evenlySpaced(documents.text[d]);
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return null; // a few letters are longer in lower case, and positions would be wrong
  const marks = terms.flatMap((term) => occurrencesOf(term, lower).map((at) => [at, at + term.text.length])).sort((a, b) => a[0] - b[0]);
  if (!marks.length) return null;
  const from = marks[0][0] < PASSAGE / 3 ? 0 : text.lastIndexOf(' ', marks[0][0] - PASSAGE / 4) + 1;
  const end = text.lastIndexOf(' ', from + PASSAGE);
  const to = text.length <= from + PASSAGE ? text.length : Math.max(end, marks[0][1]);
  const parts = [];
  let at = from;
  for (const [start, stop] of marks) {
    if (start < at || stop > to) continue;
    parts.push(text.slice(at, start), element('mark', {}, text.slice(start, stop)));
    at = stop;
  }
  return element('p', { class: 'snippet' }, from > 0 ? '… ' : '', parts, text.slice(at, to), to < text.length ? ' …' : '');
}

// ---- all hits, in groups, and what was not searched ----

function hitGroups(terms) {
  const words = terms.length > 1 || terms[0].text.includes(' ') ? 'words' : 'word';
  const [named, withWords] = topicHits(terms);
  const [titled, mentioning] = documentHits(terms);
  return [
    { title: 'Topics', hits: named, line: ({ topic }) => topicLink(topic) },
    {
      title: `Topics with the ${words}`,
      hits: withWords,
      line: ({ topic, words: best }) => [topicLink(topic), element('span', { class: 'muted' }, ` ${best.join(' ')}`)],
    },
    { title: 'Documents', hits: titled, line: documentLink, below: (d) => passage(d, terms) },
    {
      title: `Documents with the ${words}${documents.text ? ' in the text' : ''}`,
      hits: mentioning,
      line: documentLink,
      below: (d) => passage(d, terms),
    },
  ].filter((group) => group.hits.length);
}

function unsearched() {
  const { corpus } = report;
  const said = [];
  if (!documents.text) said.push('Searched the most frequent words of each document: this page has no texts.');
  else if (corpus.cut) said.push(`Searched the first ${count(corpus.cut)} bytes of each text.`);
  if (filterMask)
    said.push(
      `Searched only the ${plural(d3.sum(filterMask), 'document')} that ${d3.sum(filterMask) === 1 ? 'passes' : 'pass'} the filter.`,
    );
  if (corpus.shown < corpus.documents)
    said.push(`Counts are among the ${plural(corpus.shown, 'document')} on this page, of ${count(corpus.documents)} in the corpus.`);
  return said.length ? element('p', { class: 'muted unsearched' }, said.join(' ')) : null;
}

function hitCount(groups) {
  return d3.sum(groups, (group) => group.hits.length);
}

// ---- below the box ----

const scrolledTo = new Map(); // query: where its results were left
const leftOpen = new Map(); // address: the query, and the hit that was opened from there

function drawResults() {
  const terms = termsOf(query.value);
  found.hidden = !terms.length;
  const groups = terms.length ? hitGroups(terms) : [];
  const total = hitCount(groups);
  const parts = groups.flatMap(({ title, hits, line }) => [
    element('h2', {}, `${title} (${count(hits.length)})`),
    element(
      'ul',
      {},
      hits.slice(0, SHOWN_HITS).map((hit) => element('li', {}, line(hit))),
    ),
  ]);
  if (!total) parts.push(element('p', { class: 'muted' }, 'Nothing found.'));
  if (groups.some((group) => group.hits.length > SHOWN_HITS)) {
    const wanted = query.value.replace(/\p{Cs}/gu, ''); // half a surrogate pair has no address
    parts.push(element('p', {}, element('a', { id: 'all-hits', href: address('search', wanted) }, `Show all ${count(total)} results`)));
  }
  found.replaceChildren(...[...parts, unsearched()].filter(Boolean));
  found.scrollTop = 0;
  document.getElementById('found-count').textContent = terms.length ? plural(total, 'result') : '';
}

function openResults() {
  if (!found.hidden) return;
  drawResults();
  found.scrollTop = scrolledTo.get(query.value) || 0;
}

function closeResults() {
  if (found.hidden) return;
  scrolledTo.set(query.value, found.scrollTop);
  found.hidden = true;
}

function dismissResults() {
  leftOpen.delete(location.hash);
  closeResults();
}

query.addEventListener('input', drawResults, { signal });
query.addEventListener('focus', openResults, { signal });
query.addEventListener('click', openResults, { signal });
document.addEventListener(
  'click',
  (event) => {
    if (!document.getElementById('search').contains(event.target)) dismissResults();
  },
  { signal },
);
found.addEventListener(
  'click',
  (event) => {
    const link = event.target.closest('a');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return; // a link that opens in another tab leaves this page unchanged
    if (link.hash !== location.hash) leftOpen.set(location.hash, [query.value, link.hash]);
    closeResults();
  },
  { signal },
);
addEventListener(
  'hashchange',
  () => {
    closeResults();
    const wentBack = history.state === 'seen';
    if (!wentBack) leftOpen.delete(location.hash);
    else if (leftOpen.has(location.hash)) setTimeout(reopenResults); // once the view is drawn and has taken the focus
  },
  { signal },
);

function reopenResults() {
  if (!leftOpen.has(location.hash)) return;
  const [wanted, followed] = leftOpen.get(location.hash);
  query.value = wanted;
  openResults();
  const link = [...found.querySelectorAll('a')].find((a) => a.hash === followed);
  if (link) link.focus({ preventScroll: true });
}

document.getElementById('search').addEventListener(
  'keydown',
  (event) => {
    if (event.isComposing) return; // Enter then selects a character
    const links = found.hidden ? [] : [...found.querySelectorAll('a')];
    const here = links.indexOf(document.activeElement);
    if (event.key === 'Escape') {
      query.value = '';
      dismissResults();
      query.focus();
    } else if (event.key === 'Enter' && document.activeElement === query && links.length) {
      links[0].click();
    } else if (event.key === 'ArrowDown' && here < links.length - 1) {
      links[here + 1].focus();
    } else if (event.key === 'ArrowUp' && here >= 0) {
      (here ? links[here - 1] : query).focus();
    } else return;
    event.preventDefault();
  },
  { signal },
);
document.addEventListener(
  'keydown',
  (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      query.focus();
    }
  },
  { signal },
);

// ---- the view of all hits ----

const shownHits = new Map(); // address and group: how many hits are shown, kept for the reader's next visit

function hitList({ title, hits, line, below }) {
  const key = `${location.hash} ${title}`;
  const list = element('ul', { class: 'plain hits' });
  const more = element('button', {
    type: 'button',
    on: {
      click: () => {
        const next = list.children.length;
        showMore(MORE_HITS);
        list.children[next].querySelector('a').focus();
      },
    },
  });
  function showMore(n) {
    const known = list.children.length;
    list.append(...hits.slice(known, known + n).map((hit) => element('li', {}, line(hit), below && below(hit))));
    const left = hits.length - list.children.length;
    shownHits.set(key, list.children.length);
    more.hidden = !left;
    more.textContent = `Show ${count(Math.min(MORE_HITS, left))} more`;
  }
  showMore(shownHits.get(key) || MORE_HITS);
  return element('section', {}, element('h3', {}, `${title} (${count(hits.length)})`), list, element('div', { class: 'tools' }, more));
}

views.search = {
  draw(main, value) {
    query.value = value || '';
    const terms = termsOf(query.value);
    const groups = terms.length ? hitGroups(terms) : [];
    main.append(
      element('h2', {}, terms.length ? `Search: ${value.trim()}` : 'Search'),
      element(
        'p',
        { class: 'muted' },
        terms.length ? `${groups.length ? plural(hitCount(groups), 'result') : 'Nothing found'}. ` : '',
        'Results contain all words of the query, in any order. Put a phrase in quotes to find it exactly.',
      ),
      ...[terms.length ? unsearched() : null].filter(Boolean),
      ...groups.map(hitList),
    );
  },
};
