// Groups of documents under one model, by labels or metadata: how large each topic is in each group, and with which words.

import { axisLabel } from '../charts.js';
import { colour, swatch } from '../colours.js';
import { bar, element } from '../elements.js';
import { filterMask } from '../filter.js';
import { address, topicLink } from '../links.js';
import { nameOf } from '../names.js';
import { count, percent } from '../numbers.js';
import { lowest, perReport, report, rowOfTopic, topics } from '../report.js';

const GROUP_WORDS = 8;
const FIRST_GROUPS = 10;
let allGroups = false; // kept for the reader's next visit to the page of a topic
const groupChoice = perReport(() => ({ by: 0, one: 0, other: report.groups[0].values.length === 2 ? 1 : -1 })); // -1: all other documents

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
  'Words: those that a group uses more often than the others in this topic, by weighted log-odds. The larger the word, the stronger the evidence (a z-score of at least 3).';

// On the page of a topic: its share in each group, and the words of each.
export function groupSection(topic) {
  const tables = report.groups.filter((table) => table.share.length);
  if (!tables.length) return null;
  const row = rowOfTopic.get(topic.id);
  const body = element('div');
  const draw = (table) => {
    const shares = table.share[row];
    const most = Math.max(...shares, 1e-9);
    const order = d3.range(table.values.length).sort((a, b) => shares[b] - shares[a]);
    const shown = allGroups ? order : order.slice(0, FIRST_GROUPS);
    body.replaceChildren(
      element(
        'table',
        { class: 'group-table' },
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            ['Group', 'Share', 'Words'].map((head) => element('th', { scope: 'col' }, head)),
          ),
        ),
        element(
          'tbody',
          {},
          shown.map((i) =>
            element(
              'tr',
              {},
              element('th', { scope: 'row' }, table.values[i]),
              element('td', { class: 'figure' }, bar(shares[i] / most), element('span', {}, percent(shares[i]))),
              element('td', {}, zWords(table.words[row + 1][i])),
            ),
          ),
        ),
      ),
      shown.length < order.length
        ? element(
            'button',
            {
              type: 'button',
              id: 'all-groups',
              on: {
                click: () => {
                  allGroups = true;
                  draw(table);
                },
              },
            },
            `Show all ${order.length}`,
          )
        : '',
    );
  };
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
  const line = 22;
  const height = line * rows.length + 34;
  const values = rows.map((row) => sharesOfGroups(table, row));
  const x = d3.scaleLinear([0, d3.max(values.flat()) || 1], [left, width - 14]).nice(5);
  const svg = d3
    .create('svg')
    .attr('viewBox', [0, 0, width, height])
    .attr('class', 'plot dumbbells')
    .attr('role', 'group')
    .attr('aria-label', `Share of each topic in ${names[0]} and in ${names[1]}; the table below has the figures`);
  for (const value of x.ticks(width / 130)) {
    svg
      .append('line')
      .attr('class', 'grid')
      .attr('x1', x(value))
      .attr('x2', x(value))
      .attr('y1', 0)
      .attr('y2', height - 24);
    svg
      .append('text')
      .attr('class', 'axis-name')
      .attr('x', x(value))
      .attr('y', height - 8)
      .attr('text-anchor', 'middle')
      .text(axisLabel(value));
  }
  rows.forEach((row, i) => {
    const y = line * i + line / 2;
    const name = nameOf(topics[row]);
    const link = svg.append('a').attr('href', address('topic', topics[row].id));
    link
      .append('text')
      .attr('x', left - 10)
      .attr('y', y + 4)
      .attr('text-anchor', 'end')
      .text(name.length > letters ? `${name.slice(0, letters - 1)}…` : name);
    svg.append('line').attr('class', 'bell').attr('x1', x(values[i][0])).attr('x2', x(values[i][1])).attr('y1', y).attr('y2', y);
    values[i].forEach((value, k) =>
      svg
        .append('circle')
        .attr('r', 5)
        .attr('cx', x(value))
        .attr('cy', y)
        .style('fill', colour(k))
        .append('title')
        .text(`${names[k]}: ${percent(value)}`),
    );
  });
  return svg.node();
}

function groupRow(table, row) {
  const [here, there] = sharesOfGroups(table, row);
  const { one, other } = groupChoice();
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, topicLink(topics[row])),
    element('td', { class: 'number' }, percent(here)),
    element('td', { class: 'number' }, percent(there)),
    element('td', {}, zWords(table.words[row + 1][one])),
    other < 0 ? null : element('td', {}, zWords(table.words[row + 1][other])),
  );
}

export const groupsView = {
  tab: 'Groups',
  isPresent: () => report.groups.length > 0,
  draw(main) {
    const drawing = element('div');
    const choosers = element('div', { class: 'tools' });
    function draw() {
      const table = report.groups[groupChoice().by];
      const names = [table.values[groupChoice().one], groupChoice().other < 0 ? 'all others' : table.values[groupChoice().other]];
      const difference = (row) => sharesOfGroups(table, row)[0] - sharesOfGroups(table, row)[1];
      const rows = d3
        .range(topics.length)
        .filter((row) => topics[row].level === lowest)
        .sort((a, b) => difference(b) - difference(a));
      const shown = rows.length <= 40 ? rows : [...rows.slice(0, 20), ...rows.slice(-20)];
      const option = (value, title, chosen) => element('option', { value, selected: value === chosen }, title);
      const select = (id, key, options, label) =>
        element(
          'label',
          {},
          `${label} `,
          element(
            'select',
            {
              id,
              on: {
                change: (event) => {
                  groupChoice()[key] = Number(event.target.value);
                  if (key === 'by')
                    [groupChoice().one, groupChoice().other] = [0, report.groups[groupChoice().by].values.length === 2 ? 1 : -1];
                  draw();
                  document.getElementById(id).focus();
                },
              },
            },
            options,
          ),
        );
      const values = table.values.map((value, i) => [i, `${value} (${count(table.documents[i])})`]);
      choosers.replaceChildren(
        select(
          'group-by',
          'by',
          report.groups.map((other, i) => option(i, byName(other), groupChoice().by)),
          'Groups by',
        ),
        select(
          'group-one',
          'one',
          values.map(([i, title]) => option(i, title, groupChoice().one)),
          'Compare',
        ),
        select(
          'group-other',
          'other',
          [option(-1, 'all others', groupChoice().other), ...values.map(([i, title]) => option(i, title, groupChoice().other))],
          'with',
        ),
      );
      const head = (text) => element('th', { scope: 'col' }, text);
      drawing.replaceChildren(
        element(
          'ul',
          { class: 'chips' },
          names.map((name, k) => element('li', {}, swatch(k), name)),
        ),
        dumbbells(table, shown, names),
        element('h3', {}, 'All topics together'),
        ...[groupChoice().one, groupChoice().other]
          .filter((i) => i >= 0)
          .map((i) => element('p', {}, element('strong', {}, `${table.values[i]}: `), zWords(table.words[0][i]))),
        element('h3', {}, 'Topic by topic'),
        element(
          'table',
          { class: 'groups' },
          element(
            'thead',
            {},
            element('tr', {}, [
              head('Topic'),
              head(names[0]),
              head(names[1]),
              head(`Words: ${names[0]}`),
              groupChoice().other < 0 ? null : head(`Words: ${names[1]}`),
            ]),
          ),
          element(
            'tbody',
            {},
            shown.map((row) => groupRow(table, row)),
          ),
        ),
        element(
          'p',
          { class: 'muted' },
          `Shares of all documents of a group${filterMask ? '; the filter does not apply' : ''}. ${WORDS_NOTE} A group’s words are compared with those of all other documents.${shown.length < rows.length ? ` The 20 topics with the largest differences either way, of ${count(rows.length)}.` : ''}`,
        ),
      );
    }
    main.append(element('h2', {}, 'Groups'), choosers, drawing);
    draw();
  },
};
