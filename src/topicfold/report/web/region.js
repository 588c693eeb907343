// A region of the map: which documents are in it, and what they are about, compared with all documents on the page.

const REGION_LIST = 40; // documents shown at once
const REGION_WORDS = 24;
const REGION_GROUPS = 8;
const MOST_CORNERS = 60;
const YEAR_LABELS = 8;

// A polygon as written in the address: "x,y;x,y;...", in the units of the map.
function polygonText(corners) {
  const step = Math.max(1, Math.ceil(corners.length / MOST_CORNERS));
  return corners
    .filter((_, i) => i % step === 0)
    .map((corner) => corner.map(Math.round).join(','))
    .join(';');
}

function polygonOf(text) {
  const corners = (text || '').split(';').map((pair) => pair.split(',').map(Number));
  return corners.length >= 3 && corners.every((corner) => corner.length === 2 && corner.every(Number.isFinite)) ? corners : null;
}

function documentsIn(corners) {
  const [left, right] = d3.extent(corners, (corner) => corner[0]);
  const [top, bottom] = d3.extent(corners, (corner) => corner[1]);
  const inside = [];
  for (let d = 0; d < documentCount; d += 1) {
    const [x, y] = [documents.x[d], documents.y[d]];
    if (x >= left && x <= right && y >= top && y <= bottom && passes(d) && d3.polygonContains(corners, [x, y])) inside.push(d);
  }
  return inside;
}

// ---- words of documents ----

let documentWords = null; // for each document, the numbers of its distinct words

// Only words on the page's list: the words of the topics, without those that every text has.
function wordsByDocument() {
  if (documentWords) return documentWords;
  const number = new Map(report.words.map((word, i) => [word.toLowerCase(), i]));
  documentWords = d3.range(documentCount).map((d) => {
    if (!documents.text) return new Set(countedWords(d).map(([word]) => word));
    const found = new Set();
    for (const [token] of documents.text[d].toLowerCase().matchAll(/[\p{L}\p{N}_]+/gu)) if (number.has(token)) found.add(number.get(token));
    return found;
  });
  return documentWords;
}

let wordTotals = null;

// How much being in the region tells about whether a document has the word, in nats per document: topics rank words the same way.
function keynessOf(here, all) {
  const [q, p] = [here, all].map((share) => Math.min(Math.max(share, 1e-12), 1 - 1e-12));
  return q <= p ? 0 : q * Math.log(q / p) + (1 - q) * Math.log((1 - q) / (1 - p));
}

function keyWords(inside) {
  const words = wordsByDocument();
  const counted = (some) => {
    const counts = new Uint32Array(report.words.length);
    for (const d of some) for (const word of words[d]) counts[word] += 1;
    return counts;
  };
  wordTotals = wordTotals || counted(d3.range(documentCount));
  const here = counted(inside);
  return d3
    .range(here.length)
    .filter((word) => here[word] >= Math.min(3, inside.length))
    .map((word) => [word, keynessOf(here[word] / inside.length, wordTotals[word] / documentCount), here[word]])
    .filter(([, score]) => score > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, REGION_WORDS);
}

// ---- what is shown ----

function sharesHere(inside, groupOf) {
  const all = d3.rollup(d3.range(documentCount), (list) => list.length, groupOf);
  return [...d3.rollup(inside, (list) => list.length, groupOf)]
    .filter(([member]) => member >= 0)
    .map(([member, n]) => [member, n / inside.length, all.get(member) / documentCount])
    .sort((a, b) => b[1] - a[1])
    .slice(0, REGION_GROUPS);
}

function groupTable(title, rows, nameFor) {
  if (!rows.length) return null;
  const most = Math.max(...rows.flatMap(([, here, all]) => [here, all]));
  return element(
    'section',
    {},
    element('h3', {}, title),
    element(
      'table',
      { class: 'label-table' },
      element(
        'tbody',
        {},
        rows.map(([member, here, all]) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, nameFor(member)),
            element('td', { class: 'figure' }, bar(here / most, null, all / most), element('span', {}, percent(here))),
            element('td', { class: 'muted' }, `${percent(all)} overall`),
          ),
        ),
      ),
    ),
  );
}

function yearsHere(inside) {
  if (!documents.date) return null;
  const counts = d3.rollup(
    inside.filter((d) => documents.date[d]),
    (list) => list.length,
    (d) => Number(documents.date[d].slice(0, 4)),
  );
  if (counts.size < 2) return null;
  const [first, last] = d3.extent(counts.keys());
  const years = d3.range(first, last + 1);
  const labelled = Math.ceil(years.length / YEAR_LABELS); // every how many years there is a label
  const column = (year, i) => {
    const n = counts.get(year) || 0;
    return element(
      'div',
      { title: `${year}: ${plural(n, 'document')}` },
      element('span', { class: 'column', style: { height: `${(100 * n) / d3.max(counts.values())}%` } }),
      element('span', { class: 'year' }, i % labelled ? '\u00a0' : year),
    );
  };
  return element(
    'section',
    {},
    element('h3', {}, 'By year'),
    element(
      'div',
      {
        class: 'years',
        role: 'img',
        'aria-label': [...counts]
          .sort((a, b) => a[0] - b[0])
          .map(([year, n]) => `${year}: ${n}`)
          .join(', '),
      },
      years.map(column),
    ),
  );
}

function csvOf(rows) {
  // a cell that begins like a formula would be run by a spreadsheet
  const cell = (text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  const line = (d) => [
    documents.id[d],
    titleOf(d),
    mainTopic(d) < 0 ? '' : nameOf(topics[mainTopic(d)]),
    documents.labels
      ? numbers(documents.labels[d])
          .map((label) => report.labels[label])
          .join('; ')
      : '',
    documents.date ? documents.date[d] : '',
    ...metadata.map((column) => metadataValue(column, d)),
  ];
  return [['id', 'title', 'topic', 'labels', 'date', ...metadata.map((column) => column.name)], ...rows.map(line)]
    .map((cells) => cells.map(cell).join(','))
    .join('\r\n');
}

function regionPanel(inside) {
  if (!inside.length) return element('p', { class: 'muted' }, 'There are no documents in this region.');
  let shown = REGION_LIST;
  const list = element('ul', { class: 'documents plain' });
  const more = element(
    'button',
    {
      type: 'button',
      on: {
        click: () => {
          shown += REGION_LIST;
          drawList();
        },
      },
    },
    'Show more',
  );
  function drawList() {
    list.replaceChildren(...inside.slice(0, shown).map((d) => element('li', {}, documentLink(d))));
    more.hidden = shown >= inside.length;
  }
  drawList();
  const words = keyWords(inside);
  const most = words.length ? words[0][1] : 1;
  return element(
    'div',
    { class: 'region', id: 'region' },
    element(
      'h3',
      { id: 'region-title' },
      `What is this region about? ${plural(inside.length, 'document')}, ${percent(inside.length / documentCount)} of those on the page`,
    ),
    words.length ? null : element('p', { class: 'muted' }, 'No word is more frequent here than in all documents.'),
    element(
      'p',
      { class: 'region-words' },
      words.map(([word, score, n]) => [
        element(
          'span',
          {
            class: 'sized',
            title: `in ${plural(n, 'document')} here`,
            style: { 'font-size': `${(0.85 + 0.6 * Math.sqrt(score / most)).toFixed(2)}em` },
          },
          report.words[word],
        ),
        ' ',
      ]),
    ),
    element(
      'div',
      { class: 'two' },
      groupTable('Topics', sharesHere(inside, mainTopic), (row) => [topicSwatch(row), topicLink(topics[row])]),
      element(
        'div',
        {},
        documents.labels
          ? groupTable(
              'Labels',
              sharesHere(inside, (d) => numbers(documents.labels[d])[0] ?? -1),
              (label) => report.labels[label],
            )
          : null,
        yearsHere(inside),
      ),
    ),
    element('h3', {}, 'Documents in this region'),
    element(
      'p',
      { class: 'tools' },
      element(
        'button',
        { type: 'button', id: 'region-csv', on: { click: () => download('region.csv', csvOf(inside)) } },
        'Download as CSV',
      ),
      element('a', { href: address('map') }, 'Clear the region'),
    ),
    list,
    more,
    element(
      'p',
      { class: 'muted' },
      'Words that occur in a larger share of these documents than of all documents on the page; the larger a word, the more it sets the region apart. A link to this address restores the region.',
    ),
  );
}
