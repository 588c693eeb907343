// A region of the map: which documents are in it, and what they are about, compared with all documents on the page.

import { groupTable } from '../charts.js';
import { topicSwatch } from '../colours.js';
import { documentsAsCsv } from '../csv.js';
import { countedWords, documentCount, documents, mainTopic } from '../documents.js';
import { download } from '../download.js';
import { element, showNotFound } from '../elements.js';
import { passes } from '../filter.js';
import { address, documentLink, topicLink } from '../links.js';
import { numbersIn, percent, plural } from '../numbers.js';
import { polygonOf } from '../polygon.js';
import { perReport, report, topics } from '../report.js';
import { drawMap } from './map.js';

const REGION_LIST = 40; // documents shown at once
const REGION_WORDS = 24;
const REGION_GROUPS = 8;
const YEAR_LABELS = 8;

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

// For each document, the numbers of its distinct words. Only words on the page's list: the words of the topics, without
// those that every text has.
const wordsByDocument = perReport(() => {
  const number = new Map(report.words.map((word, i) => [word.toLowerCase(), i]));
  return d3.range(documentCount).map((d) => {
    if (!documents.text) return new Set(countedWords(d).map(([word]) => word));
    const words = new Set();
    for (const [token] of documents.text[d].toLowerCase().matchAll(/[\p{L}\p{N}_]+/gu)) if (number.has(token)) words.add(number.get(token));
    return words;
  });
});

function documentsWithWord(rows) {
  const words = wordsByDocument();
  const counts = new Uint32Array(report.words.length);
  for (const d of rows) for (const word of words[d]) counts[word] += 1;
  return counts;
}

const wordTotals = perReport(() => documentsWithWord(d3.range(documentCount)));

// How much being in the region tells about whether a document has the word, in nats per document: topics rank words the same way.
function keynessOf(shareInside, shareOfAll) {
  const [q, p] = [shareInside, shareOfAll].map((share) => Math.min(Math.max(share, 1e-12), 1 - 1e-12));
  return q <= p ? 0 : q * Math.log(q / p) + (1 - q) * Math.log((1 - q) / (1 - p));
}

// [word, keyness, documents in the region that have it], the best first.
function keyWords(inside) {
  const counts = documentsWithWord(inside);
  return d3
    .range(counts.length)
    .filter((word) => counts[word] >= Math.min(3, inside.length))
    .map((word) => [word, keynessOf(counts[word] / inside.length, wordTotals()[word] / documentCount), counts[word]])
    .filter(([, score]) => score > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, REGION_WORDS);
}

function sharesInside(inside, groupOf) {
  const all = d3.rollup(d3.range(documentCount), (list) => list.length, groupOf);
  return [...d3.rollup(inside, (list) => list.length, groupOf)]
    .filter(([member]) => member >= 0)
    .map(([member, n]) => [member, n / inside.length, all.get(member) / documentCount])
    .sort((a, b) => b[1] - a[1])
    .slice(0, REGION_GROUPS);
}

function yearsInside(inside) {
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
      groupTable('Topics', sharesInside(inside, mainTopic), (row) => [topicSwatch(row), topicLink(topics[row])]),
      element(
        'div',
        {},
        documents.labels
          ? groupTable(
              'Labels',
              sharesInside(inside, (d) => numbersIn(documents.labels[d])[0] ?? -1),
              (label) => report.labels[label],
            )
          : null,
        yearsInside(inside),
      ),
    ),
    element('h3', {}, 'Documents in this region'),
    element(
      'p',
      { class: 'tools' },
      element(
        'button',
        { type: 'button', id: 'region-csv', on: { click: () => download('region.csv', documentsAsCsv(inside)) } },
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

export const regionView = {
  draw(main, value) {
    const corners = polygonOf(value);
    if (!corners) return showNotFound(main, 'This address does not describe a region of the map.');
    return drawMap(main, { corners, below: regionPanel(documentsIn(corners)) });
  },
};
