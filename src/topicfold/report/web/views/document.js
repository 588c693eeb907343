// The page of a document: its text with each word in the colour of its topic, its mix of topics, and its neighbours.

import { COLOURS, topicColour, topicSwatch } from '../colours.js';
import {
  copiesOf,
  countedWords,
  currentRow,
  documents,
  levelShares,
  mainTopic,
  metadata,
  metadataValue,
  rowOfDocument,
  sharesOf,
  titleOf,
} from '../documents.js';
import { element, showNotFound } from '../elements.js';
import { address, documentLink, topicLink } from '../links.js';
import { marksOf, withMarks } from '../marks.js';
import { nameOf } from '../names.js';
import { count, numbersIn, percent, plural, tuplesIn } from '../numbers.js';
import { highest, isGraph, kindOf, kindsOf, lowest, report, rowOfTopic, topics } from '../report.js';

const SHOWN_NEIGHBOURS = 8;
const SHOWN_PATHS = 8;

// Where each segment begins, with its topics of both levels; empty if the model has no segments.
function partsOf(d) {
  return documents.parts
    ? tuplesIn(documents.parts[d], 3).map(([start, row, above]) => ({ start, row: currentRow(row), above: currentRow(above) }))
    : [];
}

// The topics with their own colour on this page: of the candidates, those with the most words in the document, then
// those with the largest shares.
function colouredTopics(d, rows, candidates) {
  const words = new Map();
  for (const row of rows) words.set(row, (words.get(row) || 0) + 1);
  const shares = new Map(levelShares(d, lowest));
  for (const row of shares.keys()) if (!words.has(row)) words.set(row, 0);
  const order = [...words.keys()]
    .filter((row) => !candidates || candidates.has(row))
    .sort((a, b) => words.get(b) - words.get(a) || (shares.get(b) || 0) - (shares.get(a) || 0));
  return new Set(order.slice(0, COLOURS));
}

// Pointing at a topic, or moving to it by keyboard, shows only the colours of its words.
function showWordsOnPointing(list) {
  const alone = (row) => {
    const words = [...document.querySelectorAll('#main .word')];
    const hasWords = words.some((word) => Number(word.dataset.row) === row); // a topic of the upper level has no words itself
    for (const word of words) word.classList.toggle('faint', hasWords && Number(word.dataset.row) !== row);
  };
  for (const link of list.querySelectorAll('a')) {
    for (const event of ['pointerenter', 'focus']) link.addEventListener(event, () => alone(Number(link.dataset.row)));
    for (const event of ['pointerleave', 'blur']) link.addEventListener(event, () => alone(null));
  }
  return list;
}

// Rows of the topics above a topic, from the top down.
function rowsAbove(row) {
  const above = rowOfTopic.get(topics[row].parent);
  return above === undefined ? [] : [...rowsAbove(above), above];
}

// The most informative topics of a document, each with its path, and the other topics. Those of the lowest level come first,
// rare ones before frequent ones: nearly all documents have the large topics.
function placesOf(d) {
  const informative = ([row, share]) => share * Math.log(1 / Math.min(1, Math.max(topics[row].size, 1e-6)));
  const sorted = sharesOf(d).sort((a, b) => topics[a[0]].level - topics[b[0]].level || informative(b) - informative(a));
  const shown = new Set(); // rows, of topics and of those above them
  const paths = [];
  for (const [row, share] of sorted) {
    if (paths.length === SHOWN_PATHS) break;
    if (shown.has(row)) continue;
    const above = rowsAbove(row);
    paths.push({ row, share, above });
    for (const other of [row, ...above]) shown.add(other);
  }
  return { paths, shown, rest: sorted.filter(([row]) => !shown.has(row)) };
}

function placeSection({ paths, rest }, colours) {
  if (!paths.length) return element('p', { class: 'muted' }, 'No topic has a noticeable share of this document.');
  const link = (row) => [colours.has(row) ? topicSwatch(row) : null, topicLink(topics[row], { 'data-row': row })];
  const figure = (share) => element('span', { class: 'muted' }, ` ${percent(share, 0)}`);
  const crumbs = (above) =>
    element(
      'ol',
      { class: 'crumbs muted', 'aria-label': 'Topics above it, from the top' },
      above.map((row) => element('li', {}, link(row))),
    );
  const list = element(
    'ol',
    { class: 'paths' },
    paths.map(({ row, share, above }) =>
      element('li', {}, above.length ? crumbs(above) : null, element('div', { class: 'path-end' }, link(row), figure(share))),
    ),
  );
  const more = rest.length
    ? element(
        'details',
        {},
        element('summary', {}, plural(rest.length, 'more topic')),
        element(
          'ul',
          { class: 'chips' },
          rest.map(([row, share]) => element('li', {}, link(row), figure(share))),
        ),
      )
    : null;
  return showWordsOnPointing(element('div', {}, list, more));
}

// The topics of a document, which add up to one, as a bar and as a list, with their colours if they have any.
function mixture(d, level, colours) {
  const colourOf = (row) => (colours.has(row) ? topicColour(row) : 'var(--grey)');
  const shares = sharesOf(d)
    .filter(([row]) => topics[row].level === level)
    .sort((a, b) => colours.has(b[0]) - colours.has(a[0]) || b[1] - a[1]);
  if (!shares.length && !colours.size) return element('p', { class: 'muted' }, 'No topic has a noticeable share of this document.');
  const known = new Set(shares.map(([row]) => row));
  const lines = [
    ...shares.map(([row, share]) => [row, percent(share, 0)]),
    ...[...colours.keys()].filter((row) => !known.has(row)).map((row) => [row, '<1%']), // some words have these topics, too
  ];
  const rest = 1 - d3.sum(shares, ([, share]) => share);
  const chips = element(
    'ul',
    { class: 'chips' },
    lines.map(([row, figure]) =>
      element(
        'li',
        {},
        element('span', { class: 'swatch', style: { background: colourOf(row) } }),
        topicLink(topics[row], { 'data-row': row }),
        element('span', { class: 'muted' }, ` ${figure}`),
      ),
    ),
    rest >= 0.01 ? element('li', { class: 'muted' }, `others ${percent(rest, 0)}`) : null,
  );
  showWordsOnPointing(chips);
  const stack = element(
    'div',
    {
      class: 'stack',
      role: 'img',
      'aria-label': `Topics: ${shares.map(([row, share]) => `${nameOf(topics[row])} ${percent(share, 0)}`).join(', ')}`,
    },
    shares.map(([row, share]) =>
      element('span', {
        title: `${nameOf(topics[row])} ${percent(share, 0)}`,
        style: { width: `${100 * share}%`, background: colourOf(row) },
      }),
    ),
  );
  return [stack, chips];
}

function tintedWord(text, row, colours) {
  // if it is not one of the seven, it is underlined in grey
  const look = colours.has(row) ? { class: 'word tinted', style: { '--tint': topicColour(row) } } : { class: 'word' };
  return element('span', { ...look, 'data-row': row, title: nameOf(topics[row]) }, text);
}

function tinted(text, from, to, marks, colours) {
  return withMarks(text, from, to, marks, (word, mark) => tintedWord(word, mark.row, colours));
}

function textSection(d, marks, colours) {
  const text = documents.text[d];
  const parts = partsOf(d);
  const rest = documents.length[d] - text.length;
  const bytes = new TextEncoder().encode(text).length;
  const ending =
    rest > 0
      ? element(
          'p',
          { class: 'note' },
          `The text goes on for ${plural(rest, 'character')}. This page has only the first ${count(bytes)} bytes of it; ` +
            'make the page with a larger --texts-mb to keep more.',
        )
      : null;
  const body = parts.length
    ? parts.map((part, i) => {
        const to = i + 1 < parts.length ? parts[i + 1].start : text.length;
        const inside = marks.filter((mark) => mark.start >= part.start && mark.end <= to);
        const tags = [
          [kindOf(highest), part.above],
          [kindOf(lowest), part.row],
        ].filter(([, row]) => row >= 0);
        return element(
          'div',
          { class: 'paragraph' },
          element(
            'p',
            { class: 'tags' },
            tags.map(([kind, row]) =>
              element('span', { class: 'tag' }, element('span', { class: 'muted' }, `${kind} `), topicLink(topics[row])),
            ),
          ),
          element(
            'div',
            { class: 'text' },
            tinted(text, part.start, part.start + text.slice(part.start, to).trimEnd().length, inside, colours),
          ),
        );
      })
    : element('div', { class: 'text' }, tinted(text, 0, text.length, marks, colours));
  return element('section', { id: 'text' }, element('h3', {}, 'Text'), body, ending);
}

function bagSection(d, colours) {
  return element(
    'section',
    { id: 'text' },
    element('h3', {}, 'Words'),
    element('p', { class: 'muted' }, `These are the most frequent words of the document. ${report.no_texts}`),
    element(
      'div',
      { class: 'text bag' },
      countedWords(d).map(([word, n, row]) => {
        const shown = n > 1 ? `${report.words[word]} ×${n}` : report.words[word];
        return [row < 0 ? shown : tintedWord(shown, row, colours), ' '];
      }),
    ),
  );
}

function neighbourSection(title, rows) {
  if (!rows.length) return null;
  return element(
    'section',
    {},
    element('h3', {}, title),
    element(
      'ul',
      { class: 'plain' },
      rows.map((other) =>
        element(
          'li',
          {},
          documentLink(other),
          element('div', { class: 'muted' }, mainTopic(other) < 0 ? '' : nameOf(topics[mainTopic(other)])),
        ),
      ),
    ),
  );
}

function metadataOf(d) {
  return metadata.map((column) => metadataValue(column, d) && `${column.name}: ${metadataValue(column, d)}`);
}

export const documentView = {
  draw(main, value) {
    const d = rowOfDocument.get(value);
    if (d === undefined) {
      const sample = report.corpus.shown < report.corpus.documents ? ', which shows only a sample of them' : '';
      return showNotFound(main, `There is no document “${value}” on this page${sample}.`);
    }
    const marks = documents.text ? marksOf(d) : [];
    const rows = documents.text
      ? marks.map((mark) => mark.row)
      : countedWords(d)
          .map((word) => word[2])
          .filter((row) => row >= 0);
    const places = report.exclusive ? null : placesOf(d);
    const colours = colouredTopics(d, rows, places && places.shown);
    const labels = documents.labels ? numbersIn(documents.labels[d]).map((label) => report.labels[label]) : [];
    const known = [`Document ${documents.id[d]}`, documents.date && documents.date[d], ...labels, ...metadataOf(d)].filter(Boolean);
    main.append(
      element('h2', {}, titleOf(d)),
      element(
        'p',
        { class: 'muted' },
        known.map((fact, i) => [i ? ' · ' : '', element('bdi', {}, fact)]),
      ),
      element(
        'section',
        { id: 'mixture' },
        element('h3', {}, isGraph ? kindsOf(lowest) : 'Topics'),
        places ? placeSection(places, colours) : mixture(d, lowest, colours),
      ),
      isGraph
        ? element(
            'section',
            {},
            element('h3', {}, kindsOf(highest)),
            mixture(
              d,
              highest,
              new Set(
                levelShares(d, highest)
                  .slice(0, COLOURS)
                  .map(([row]) => row),
              ),
            ),
          )
        : '',
      element(
        'div',
        { class: 'two' },
        documents.text ? textSection(d, marks, colours) : bagSection(d, colours),
        element(
          'div',
          {},
          neighbourSection('Copies', copiesOf(d).slice(0, SHOWN_NEIGHBOURS)),
          neighbourSection('Nearest by topic', numbersIn(documents.near[d])),
          documents.linked
            ? neighbourSection(`Nearest by ${report.graph}`, numbersIn(documents.linked[d]).slice(0, SHOWN_NEIGHBOURS))
            : null,
          element('p', {}, element('a', { href: address('map', documents.id[d]) }, 'Show on the map')),
        ),
      ),
    );
    return undefined;
  },
};
