// The topics: a list, a tree that opens and closes, or themes over topics.

import { editBox, editTools } from '../edit_tools.js';
import { bar, element } from '../elements.js';
import { filterMask } from '../filter.js';
import { sizeOf } from '../filtered.js';
import { address, topicLink } from '../links.js';
import { furtherWords, nameOf, rankedWords, wordsHaveSizes } from '../names.js';
import { percent } from '../numbers.js';
import { childrenOf, highest, isFlat, isGraph, kindOf, kindsOf, lowest, report, roots, rowOfTopic, topics } from '../report.js';
import { shownGroups } from '../topic_groups.js';
import { asEnd, twoColumns } from '../two_columns.js';

const TREE_WORDS = 7;
const SHOWN_PARTS = 8;
const OPEN_AT_FIRST = 12; // roots of a tree: with more, all start closed
const openBranches = new Map(); // by the topic's id: whether the reader opened it, also after an edit

// The words of a topic; if the model scores words, larger words have higher scores, with P(w|topic) next to them.
function sizedWords(topic) {
  if (!wordsHaveSizes()) return element('span', { class: 'words muted' }, furtherWords(topic, 12));
  const best = rankedWords(topic).slice(0, TREE_WORDS);
  const top = best.length ? Math.max(best[0][2], 1e-12) : 1;
  return element(
    'span',
    { class: 'words' },
    best.map(([word, probability, score]) => [
      element(
        'span',
        { class: 'sized', style: { 'font-size': `${(0.82 + 0.5 * Math.sqrt(Math.max(score, 0) / top)).toFixed(2)}em` } },
        report.words[word],
      ),
      element('span', { class: 'muted p' }, probability.toFixed(2).replace(/^0/, '')),
      ' ',
    ]),
  );
}

function topicLine(topic, figure = percent(sizeOf(topic))) {
  const named = topic.name || !wordsHaveSizes();
  return [
    editBox(topic),
    element('span', { class: 'figure' }, figure),
    element(
      'span',
      { class: 'topic-name' },
      named
        ? topicLink(topic)
        : element('a', { href: address('topic', topic.id), 'aria-label': `${topic.id} ${nameOf(topic)}` }, `${topic.id}`),
    ),
    sizedWords(topic),
    topic.mark ? element('span', { class: 'junk muted', title: 'Read some documents before you rely on this topic' }, topic.mark) : null,
  ];
}

function setOpen(twisty, open) {
  openBranches.set(Number(twisty.dataset.topic), open);
  twisty.setAttribute('aria-expanded', String(open));
  twisty.closest('li').querySelector('ul').hidden = !open;
}

// A line with those below it. The button is next to the link: screen readers could not tell nested ones apart.
function branchOf(key, name, line, below, openAtFirst) {
  const open = openBranches.has(key) ? openBranches.get(key) : openAtFirst;
  const twisty = element('button', {
    type: 'button',
    'data-topic': key,
    class: 'twisty',
    'aria-expanded': String(open),
    'aria-label': `Topics below ${name}`,
    on: { click: () => setOpen(twisty, twisty.getAttribute('aria-expanded') === 'false') },
  });
  return element('li', {}, twisty, line, element('ul', { class: 'tree', hidden: !open }, below));
}

const branch = (topic, below, openAtFirst) => branchOf(topic.id, nameOf(topic), topicLine(topic), below, openAtFirst);

// A group of flat topics, which is no topic itself: its key is that of its first topic, below zero.
function groupItem({ rows, words }) {
  const inside = rows.map((row) => topics[row]).sort((a, b) => sizeOf(b) - sizeOf(a) || a.id - b.id);
  const name = words || nameOf(inside[0]);
  const line = [element('span', { class: 'figure' }, percent(d3.sum(inside, sizeOf))), element('strong', { class: 'topic-name' }, name)];
  const below = inside.map((topic) => treeItem(topic, false));
  return branchOf(-1 - Math.min(...inside.map((topic) => topic.id)), name, line, below, true);
}

function treeItem(topic, open) {
  const below = childrenOf.get(topic.id) || [];
  if (!below.length) return element('li', { class: 'leaf' }, topicLine(topic));
  return branch(
    topic,
    below.map((child) => treeItem(child, false)),
    open,
  );
}

function partsItem(topic, open) {
  const parts = (topic.parts || []).slice(0, SHOWN_PARTS);
  const heaviest = parts.length ? parts[0][1] : 1;
  const lines = parts.map(([id, weight]) => {
    const part = topics[rowOfTopic.get(id)];
    return element(
      'li',
      { class: 'leaf' },
      element('span', { class: 'weight' }, bar(weight / heaviest), weight.toFixed(2)),
      topicLink(part),
      ' ',
      element('span', { class: 'words muted' }, furtherWords(part, 10)),
    );
  });
  return branch(topic, lines, open);
}

function partsGraph() {
  const lower = [...topics.filter((topic) => topic.level === lowest)].sort((a, b) => b.size - a.size || a.id - b.id);
  const place = new Map(lower.map((topic, i) => [topic.id, i]));
  const links = roots.flatMap((topic, i) =>
    (topic.parts || [])
      .filter(([id]) => place.has(id))
      .map(([id, weight]) => ({
        left: i,
        right: place.get(id),
        weight,
        title: `${nameOf(topic)} – ${nameOf(topics[rowOfTopic.get(id)])}: ${weight.toFixed(2)}`,
      })),
  );
  links.sort((a, b) => a.weight - b.weight);
  return element(
    'section',
    {},
    element('h3', {}, `Which ${kindOf(lowest)}s make up each ${kindOf(highest)}`),
    element('p', { class: 'muted' }, 'The wider the line, the larger the share. Point at a topic to see only its lines.'),
    twoColumns(roots.map(asEnd), lower.map(asEnd), links, `${kindsOf(highest)} linked to their ${kindOf(lowest)}s`),
  );
}

function setAll(open) {
  for (const twisty of document.querySelectorAll('#main .twisty')) setOpen(twisty, open);
}

export const topicsView = {
  tab: 'Topics',
  draw(main) {
    const nested = report.exclusive || isFlat ? '' : ' A document can have several topics, so a topic can be larger than the one above it.';
    const legend = !wordsHaveSizes()
      ? nested
      : nested + ' The larger a word, the better it sets the topic apart; the number next to it is its probability in the topic.';
    const item = (topic) => (isGraph ? partsItem : treeItem)(topic, roots.length <= OPEN_AT_FIRST);
    const groups = shownGroups();
    const opened = (groups.length > 0 || !isFlat) && [
      element('button', { type: 'button', id: 'open-all', on: { click: () => setAll(true) } }, 'Open all'),
      element('button', { type: 'button', id: 'close-all', on: { click: () => setAll(false) } }, 'Close all'),
    ];
    main.append(
      element('h2', {}, 'Topics'),
      element(
        'p',
        { class: 'muted' },
        `The number is a topic’s share of the documents${filterMask ? ' that pass the filter' : ''}.${legend}`,
      ),
      element('div', { class: 'tools' }, opened),
      editTools(),
      element('ul', { class: 'tree top' }, groups.length ? groups.map(groupItem) : roots.map(item)),
    );
    if (isGraph) main.append(partsGraph());
  },
};
