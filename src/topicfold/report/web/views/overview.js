// The overview: what was fitted on what, how it converged, and how large and coherent the topics are.

import { convergence, dataCheck, facts, notes, settings } from '../about.js';
import { topicSwatch } from '../colours.js';
import { documentCount } from '../documents.js';
import { bar, element } from '../elements.js';
import { filterMask } from '../filter.js';
import { sizeOf } from '../filtered.js';
import { address, topicLink } from '../links.js';
import { furtherWords, nameOf } from '../names.js';
import { count, minus, percent } from '../numbers.js';
import { highest, isFlat, isGraph, kindsOf, lowest, report, rowOfTopic, topics } from '../report.js';
import { timeTable } from '../time_series.js';
import { hierarchySection } from './hierarchy.js';
import { drawMap } from './map.js';

const OVERVIEW_TOPICS = 60;

const ORDERS = {
  size: ['Size', (a, b) => sizeOf(b) - sizeOf(a)],
  coherence: ['Coherence', (a, b) => (b.coherence ?? -9) - (a.coherence ?? -9)],
  stability: ['Stability', (a, b) => (b.stability?.[0] ?? -1) - (a.stability?.[0] ?? -1)],
  name: ['Topic', (a, b) => nameOf(a).localeCompare(nameOf(b))],
};

function hasStability() {
  return topics.some((topic) => topic.stability);
}

function topicRow(topic, largest) {
  return element(
    'tr',
    {},
    element(
      'td',
      {},
      topicSwatch(rowOfTopic.get(topic.id)),
      topicLink(topic),
      topic.mark ? element('span', { class: 'junk muted' }, topic.mark) : null,
      element('div', { class: 'muted words' }, furtherWords(topic, 11)),
      trend(topic),
    ),
    element(
      'td',
      { class: 'figure' },
      bar(sizeOf(topic) / largest, null, filterMask ? topic.size / largest : null),
      element('span', {}, percent(sizeOf(topic))),
    ),
    element('td', { class: 'number' }, topic.coherence === null ? '–' : minus(topic.coherence.toFixed(2))),
    hasStability() ? element('td', { class: 'number' }, topic.stability ? topic.stability[0].toFixed(2) : '–') : null,
  );
}

// A table of topics that its heads sort.
function topicTable(list) {
  let order = 'size';
  let shown = OVERVIEW_TOPICS;
  const largest = Math.max(...list.flatMap((topic) => [topic.size, sizeOf(topic)]), 1e-9);
  const body = element('tbody');
  const head = (key) => {
    const sort = () => {
      order = key;
      draw();
    };
    return element(
      'th',
      { scope: 'col', class: key },
      element('button', { type: 'button', class: 'sort', on: { click: sort } }, ORDERS[key][0]),
    );
  };
  const heads = ['name', 'size', 'coherence', ...(hasStability() ? ['stability'] : [])].map(head);
  const showAll = () => {
    shown = list.length;
    draw();
  };
  const more = element('button', { type: 'button', on: { click: showAll } }, `Show all ${count(list.length)} topics`);
  function draw() {
    const direction = order === 'name' ? 'ascending' : 'descending';
    for (const cell of heads) cell.setAttribute('aria-sort', cell.className === order ? direction : 'none');
    const sorted = [...list].sort((a, b) => ORDERS[order][1](a, b) || a.id - b.id);
    body.replaceChildren(...sorted.slice(0, shown).map((topic) => topicRow(topic, largest)));
    more.hidden = shown >= list.length;
  }
  draw();
  const size = `share of the documents${filterMask ? ' that pass the filter; the mark is the share of all documents' : ''}`;
  const stable = hasStability()
    ? ' Stability: the share of its documents that a topic has in common with the most similar one of a fit to half of them.'
    : '';
  const line = timeTable() ? ' The small line is the share over time.' : '';
  return [
    element('table', { class: 'topic-table' }, element('thead', {}, element('tr', {}, heads)), body),
    more,
    element(
      'p',
      { class: 'muted' },
      `Size: ${size}. Coherence: how much the ten best words occur together in documents (mean NPMI, from −1 to 1).${stable}${line}`,
    ),
  ];
}

// The share of a topic over time, as a small line.
function trend(topic) {
  if (!timeTable()) return null;
  const shares = timeTable().share[rowOfTopic.get(topic.id)].map((share) => share || 0);
  const x = d3.scaleLinear([0, Math.max(1, shares.length - 1)], [1, 99]);
  const y = d3.scaleLinear([0, Math.max(...shares, 1e-9)], [15, 1]);
  return d3
    .create('svg')
    .attr('viewBox', [0, 0, 100, 16])
    .attr('class', 'trend')
    .attr('aria-hidden', 'true')
    .call((svg) =>
      svg
        .append('path')
        .attr('class', 'line')
        .attr('d', d3.line((share, i) => x(i), y)(shares)),
    )
    .node();
}

export const overviewView = {
  tab: 'Overview',
  draw(main) {
    const ofLevel = (level) => topics.filter((topic) => topic.level === level);
    const table = element('div', {}, topicTable(ofLevel(highest)));
    const chooser = element(
      'select',
      { id: 'level', on: { change: () => table.replaceChildren(...topicTable(ofLevel(Number(chooser.value)))) } },
      d3.range(highest, lowest - 1, -1).map((level) => element('option', { value: level }, `${level}`)),
    );
    const whole = element('section', { class: 'small-map' }, element('h3', {}, element('a', { href: address('map') }, 'The map')));
    main.append(
      element('h2', { class: 'hidden-title' }, 'Overview'),
      facts(),
      ...notes(),
      element('p', { class: 'to-summary' }, element('a', { href: address('summary') }, 'Summary to read or print')),
      dataCheck(),
      whole,
      element(
        'div',
        { class: 'two overview-columns' },
        element(
          'section',
          {},
          element('h3', {}, isGraph ? kindsOf(highest) : 'Topics'),
          isFlat || isGraph
            ? null
            : element('label', {}, 'Level ', chooser, element('span', { class: 'muted' }, ` ${highest} is the highest`)),
          table,
        ),
        element('div', {}, convergence(report.model), settings(report.model)),
      ),
      isGraph ? element('section', {}, element('h3', {}, kindsOf(lowest)), topicTable(ofLevel(lowest))) : '',
      hierarchySection() || '',
    );
    return documentCount > 1 ? drawMap(whole, { alone: true }) : whole.remove();
  },
};
