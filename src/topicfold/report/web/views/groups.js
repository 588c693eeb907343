// Groups of documents under one model, by labels or metadata: how large each topic is in each group, and with which words.

import { axisLabel, namedLine, newPlot, valueLines } from '../charts.js';
import { colour, swatch } from '../colours.js';
import { bar, element } from '../elements.js';
import { filterMask } from '../filter.js';
import { topicLink } from '../links.js';
import { count, percent } from '../numbers.js';
import { lowest, perReport, report, rowOfTopic, topics } from '../report.js';

const GROUP_WORDS = 8;
const FIRST_GROUPS = 10; // on the page of a topic, at first
const MOST_TOPICS = 40; // in a comparison

// What is compared: groups by which table, one of them, and another (-1: all other documents); and whether the page of a
// topic has all groups.
const groupChoice = perReport(() => {
  const [one, other] = firstPair(report.groups[0]);
  return { by: 0, one, other, all: false };
});

function firstPair(table) {
  return [0, table.values.length === 2 ? 1 : -1];
}

function zWords(list, n = GROUP_WORDS) {
  if (!list.length) return element('span', { class: 'muted' }, '–');
  const most = list[0][1];
  return element(
    'span',
    { class: 'words' },
    list
      .slice(0, n)
      .map(([word, z]) => [
        element(
          'span',
          { class: 'sized', title: `z = ${z.toFixed(1)}`, style: { 'font-size': `${(0.82 + 0.3 * Math.sqrt(z / most)).toFixed(2)}em` } },
          report.words[word],
        ),
        ' ',
      ]),
  );
}

function byName(table) {
  return table.by === 'labels' ? 'label' : table.by;
}

const WORDS_NOTE =
  'Words: those that a group uses more often than the others in this topic, by weighted log-odds. ' +
  'The larger the word, the stronger the evidence (a z-score of at least 3).';

function groupsOfTopic(table, row, redraw) {
  const shares = table.share[row];
  const most = Math.max(...shares, 1e-9);
  const order = d3.range(table.values.length).sort((a, b) => shares[b] - shares[a]);
  const shown = groupChoice().all ? order : order.slice(0, FIRST_GROUPS);
  const heads = ['Group', 'Share', 'Words'].map((head) => element('th', { scope: 'col' }, head));
  const line = (i) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, table.values[i]),
      element('td', { class: 'figure' }, bar(shares[i] / most), element('span', {}, percent(shares[i]))),
      element('td', {}, zWords(table.words[row + 1][i])),
    );
  const showAll = () => {
    groupChoice().all = true;
    redraw();
  };
  return [
    element('table', { class: 'group-table' }, element('thead', {}, element('tr', {}, heads)), element('tbody', {}, shown.map(line))),
    shown.length < order.length
      ? element('button', { type: 'button', id: 'all-groups', on: { click: showAll } }, `Show all ${order.length}`)
      : '',
  ];
}

// On the page of a topic: its share in each group, and the words of each.
export function groupSection(topic) {
  const tables = report.groups.filter((table) => table.share.length);
  if (!tables.length) return null;
  const row = rowOfTopic.get(topic.id);
  const body = element('div');
  const draw = (table) => body.replaceChildren(...groupsOfTopic(table, row, () => draw(table)));
  const chooser = element(
    'select',
    { id: 'groups-by', on: { change: () => draw(tables[Number(chooser.value)]) } },
    tables.map((table, i) => element('option', { value: i }, byName(table))),
  );
  draw(tables[0]);
  return element(
    'section',
    { id: 'topic-groups' },
    element('h3', {}, 'The topic in each group'),
    tables.length > 1 ? element('label', {}, 'By ', chooser) : element('p', { class: 'muted' }, `By ${byName(tables[0])}`),
    body,
    element('p', { class: 'muted' }, `Share of the topic in the documents of each group. ${WORDS_NOTE}`),
  );
}

// The share of a topic in one group and in another, or in all others.
function sharesOfGroups(table, row) {
  const { one, other } = groupChoice();
  const rest = d3.range(table.values.length).filter((i) => i !== one);
  const mean = d3.sum(rest, (i) => table.share[row][i] * table.documents[i]) / (d3.sum(rest, (i) => table.documents[i]) || 1);
  return [table.share[row][one], other < 0 ? mean : table.share[row][other]];
}

// One line per topic from its share in one group to that in the other, the largest difference first.
function dumbbells(table, rows, names) {
  const [width, left, letters] = innerWidth < 600 ? [380, 150, 17] : [680, 250, 34];
  const lineHeight = 22;
  const height = lineHeight * rows.length + 34;
  const shares = rows.map((row) => sharesOfGroups(table, row));
  const x = d3.scaleLinear([0, d3.max(shares.flat()) || 1], [left, width - 14]).nice(5);
  const label = `Share of each topic in ${names[0]} and in ${names[1]}; the table below has the figures`;
  const svg = newPlot(width, height, 'plot dumbbells', 'group', label);
  valueLines(svg, x, x.ticks(width / 130), height, axisLabel);
  rows.forEach((row, i) => {
    const y = lineHeight * i + lineHeight / 2;
    namedLine(svg, topics[row], left - 10, y, letters);
    svg.append('line').attr('class', 'bell').attr('x1', x(shares[i][0])).attr('x2', x(shares[i][1])).attr('y1', y).attr('y2', y);
    shares[i].forEach((share, k) =>
      svg
        .append('circle')
        .attr('r', 5)
        .attr('cx', x(share))
        .attr('cy', y)
        .style('fill', colour(k))
        .append('title')
        .text(`${names[k]}: ${percent(share)}`),
    );
  });
  return svg.node();
}

function groupRow(table, row) {
  const [shareInOne, shareInOther] = sharesOfGroups(table, row);
  const { one, other } = groupChoice();
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, topicLink(topics[row])),
    element('td', { class: 'number' }, percent(shareInOne)),
    element('td', { class: 'number' }, percent(shareInOther)),
    element('td', {}, zWords(table.words[row + 1][one])),
    other < 0 ? null : element('td', {}, zWords(table.words[row + 1][other])),
  );
}

function chooserOfGroup(id, key, label, options, redraw) {
  const change = (event) => {
    const choice = groupChoice();
    choice[key] = Number(event.target.value);
    if (key === 'by') [choice.one, choice.other] = firstPair(report.groups[choice.by]);
    redraw();
    document.getElementById(id).focus();
  };
  const option = ([value, title]) => element('option', { value, selected: value === groupChoice()[key] }, title);
  return element('label', {}, `${label} `, element('select', { id, on: { change } }, options.map(option)));
}

function groupChoosers(table, redraw) {
  const tables = report.groups.map((other, i) => [i, byName(other)]);
  const values = table.values.map((value, i) => [i, `${value} (${count(table.documents[i])})`]);
  return [
    chooserOfGroup('group-by', 'by', 'Groups by', tables, redraw),
    chooserOfGroup('group-one', 'one', 'Compare', values, redraw),
    chooserOfGroup('group-other', 'other', 'with', [[-1, 'all others'], ...values], redraw),
  ];
}

function groupTable(table, rows, names) {
  const heads = ['Topic', ...names, `Words: ${names[0]}`, ...(groupChoice().other < 0 ? [] : [`Words: ${names[1]}`])];
  return element(
    'table',
    { class: 'groups' },
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        heads.map((head) => element('th', { scope: 'col' }, head)),
      ),
    ),
    element(
      'tbody',
      {},
      rows.map((row) => groupRow(table, row)),
    ),
  );
}

// Two groups next to each other: a drawing, the words of all topics, and a table of the topics.
function groupComparison(table) {
  const { one, other } = groupChoice();
  const names = [table.values[one], other < 0 ? 'all others' : table.values[other]];
  const difference = (row) => sharesOfGroups(table, row)[0] - sharesOfGroups(table, row)[1];
  const rows = d3
    .range(topics.length)
    .filter((row) => topics[row].level === lowest)
    .sort((a, b) => difference(b) - difference(a));
  const shown = rows.length <= MOST_TOPICS ? rows : [...rows.slice(0, MOST_TOPICS / 2), ...rows.slice(-MOST_TOPICS / 2)];
  const leftOut = ` The ${MOST_TOPICS / 2} topics with the largest differences either way, of ${count(rows.length)}.`;
  return [
    element(
      'ul',
      { class: 'chips' },
      names.map((name, k) => element('li', {}, swatch(k), name)),
    ),
    dumbbells(table, shown, names),
    element('h3', {}, 'All topics together'),
    ...[one, other]
      .filter((i) => i >= 0)
      .map((i) => element('p', {}, element('strong', {}, `${table.values[i]}: `), zWords(table.words[0][i]))),
    element('h3', {}, 'Topic by topic'),
    groupTable(table, shown, names),
    element(
      'p',
      { class: 'muted' },
      `Shares of all documents of a group${filterMask ? '; the filter does not apply' : ''}. ${WORDS_NOTE} ` +
        `A group’s words are compared with those of all other documents.${shown.length < rows.length ? leftOut : ''}`,
    ),
  ];
}

export const groupsView = {
  tab: 'Groups',
  isPresent: () => report.groups.length > 0,
  draw(main) {
    const choosers = element('div', { class: 'tools' });
    const comparison = element('div');
    const draw = () => {
      const table = report.groups[groupChoice().by];
      choosers.replaceChildren(...groupChoosers(table, draw));
      comparison.replaceChildren(...groupComparison(table));
    };
    main.append(element('h2', {}, 'Groups'), choosers, comparison);
    draw();
  },
};
