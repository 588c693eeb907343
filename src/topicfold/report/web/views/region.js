// A region of the map: which documents are in it, and what they are about, compared with all documents on the page.

import { shareSection } from '../charts.js';
import { topicSwatch } from '../colours.js';
import { documentsAsCsv } from '../csv.js';
import { documentCount, documents, mainTopic, withoutCopies } from '../documents.js';
import { download } from '../download.js';
import { element, showNotFound } from '../elements.js';
import { passes } from '../filter.js';
import { keyWords } from '../keyness.js';
import { address, copyNote, documentLink, topicLink } from '../links.js';
import { numbersIn, percent, plural } from '../numbers.js';
import { polygonOf } from '../polygon.js';
import { report, topics } from '../report.js';
import { drawMap } from './map.js';

const REGION_LIST = 40; // documents shown at once
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

function wordCloud(inside) {
  const words = keyWords(inside);
  if (!words.length) return element('p', { class: 'muted' }, 'No word is more frequent here than in all documents.');
  const most = words[0][1];
  const sized = ([word, score, n]) => {
    const size = `${(0.85 + 0.6 * Math.sqrt(score / most)).toFixed(2)}em`;
    const title = `in ${plural(n, 'document')} here`;
    return [element('span', { class: 'sized', title, style: { 'font-size': size } }, report.words[word]), ' '];
  };
  return element('p', { class: 'region-words' }, words.map(sized));
}

function groupSections(inside) {
  const topicShares = sharesInside(inside, mainTopic);
  const labelShares = documents.labels ? sharesInside(inside, (d) => numbersIn(documents.labels[d])[0] ?? -1) : [];
  return element(
    'div',
    { class: 'two' },
    shareSection('Topics', topicShares, (row) => [topicSwatch(row), topicLink(topics[row])]),
    element(
      'div',
      {},
      shareSection('Labels', labelShares, (label) => report.labels[label]),
      yearsInside(inside),
    ),
  );
}

function documentList(inside) {
  const different = withoutCopies(inside);
  const list = element('ul', { class: 'documents plain' });
  const more = element('button', { type: 'button', on: { click: () => showMore() } }, 'Show more');
  const showMore = () => {
    const shown = list.children.length;
    list.append(...different.slice(shown, shown + REGION_LIST).map((d) => element('li', {}, documentLink(d), copyNote(d))));
    more.hidden = list.children.length >= different.length;
  };
  showMore();
  return [list, more];
}

function regionPanel(inside) {
  if (!inside.length) return element('p', { class: 'muted' }, 'There are no documents in this region.');
  const part = percent(inside.length / documentCount);
  const saveCsv = () => download('region.csv', documentsAsCsv(inside));
  return element(
    'div',
    { class: 'region', id: 'region' },
    element('h3', { id: 'region-title' }, `What is this region about? ${plural(inside.length, 'document')}, ${part} of those on the page`),
    wordCloud(inside),
    groupSections(inside),
    element('h3', {}, 'Documents in this region'),
    element(
      'p',
      { class: 'tools' },
      element('button', { type: 'button', id: 'region-csv', on: { click: saveCsv } }, 'Download as CSV'),
      element('a', { href: address('map') }, 'Clear the region'),
    ),
    documentList(inside),
    element(
      'p',
      { class: 'muted' },
      'Words that occur in a larger share of these documents than of all documents on the page; the larger a word, the more it sets ' +
        'the region apart. A link to this address restores the region.',
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
