// Effects of metadata: differences between the values of a factor, and shares along a number, each with intervals.

import { axisLabel } from '../charts.js';
import { element } from '../elements.js';
import { filterMask } from '../filter.js';
import { address, topicLink } from '../links.js';
import { nameOf } from '../names.js';
import { perReport, report, rowOfTopic, topics } from '../report.js';

const CURVES = 12; // at first
const effectChoice = perReport(() => ({ shown: 0, all: false }));

// Topics that no edit has changed; for merged topics the intervals are not known.
const effectRow = (id) =>
  report.currentRows && report.became.size && [...report.became.values()].includes(id) ? undefined : rowOfTopic.get(id);

// One line per topic: the estimate and its interval, the largest first.
function forest(contrast) {
  const rows = contrast.topics.filter(([id]) => effectRow(id) !== undefined).sort((a, b) => b[1] - a[1]);
  const [width, left, line] = [680, 250, 22];
  const height = line * rows.length + 34;
  const reach = d3.extent(rows.flatMap(([, , low, high]) => [low, high, 0]));
  const x = d3.scaleLinear(reach, [left, width - 14]).nice(5);
  const said = `${contrast.column}: ${contrast.value} minus ${contrast.other}`;
  const svg = d3
    .create('svg')
    .attr('viewBox', [0, 0, width, height])
    .attr('class', 'plot forest')
    .attr('role', 'img')
    .attr('aria-label', `Difference in the share of each topic, ${said}; the table below has the figures`);
  for (const value of x.ticks(5)) {
    svg
      .append('line')
      .attr('class', value === 0 ? 'base' : 'grid')
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
      .text(value ? `${value > 0 ? '+' : '−'}${Number((100 * Math.abs(value)).toPrecision(3))}` : '0');
  }
  rows.forEach(([id, estimate, low, high], i) => {
    const y = line * i + line / 2;
    const name = nameOf(topics[effectRow(id)]);
    svg
      .append('a')
      .attr('href', address('topic', id))
      .append('text')
      .attr('x', left - 10)
      .attr('y', y + 4)
      .attr('text-anchor', 'end')
      .text(name.length > 34 ? `${name.slice(0, 33)}…` : name);
    svg
      .append('line')
      .attr('class', low > 0 || high < 0 ? 'interval sure' : 'interval')
      .attr('x1', x(low))
      .attr('x2', x(high))
      .attr('y1', y)
      .attr('y2', y);
    svg
      .append('circle')
      .attr('class', low > 0 || high < 0 ? 'estimate sure' : 'estimate')
      .attr('r', 4.5)
      .attr('cx', x(estimate))
      .attr('cy', y);
  });
  const figure = (share) => `${share < 0 ? '−' : '+'}${(100 * Math.abs(share)).toFixed(2)}`;
  return [
    element(
      'p',
      { class: 'muted' },
      `Difference in the share of a topic, in percentage points: ${contrast.value} minus ${contrast.other} (${contrast.column}), with the other columns held fixed. Lines are 95% intervals; dark ones exclude zero.`,
    ),
    svg.node(),
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          ['Topic', 'Points', 'From', 'To'].map((head) => element('th', { scope: 'col' }, head)),
        ),
      ),
      element(
        'tbody',
        {},
        rows.map(([id, ...numbers]) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, topicLink(topics[effectRow(id)])),
            numbers.map((number) => element('td', { class: 'number' }, figure(number))),
          ),
        ),
      ),
    ),
  ];
}

function effectCurve(points, values, label) {
  const [width, height, left] = [250, 110, 44];
  const x = d3.scaleLinear(d3.extent(points), [left, width - 10]);
  const y = d3
    .scaleLinear(
      [
        Math.min(
          0,
          d3.min(values, (value) => value[1]),
        ),
        d3.max(values, (value) => value[2]) || 1,
      ],
      [height - 20, 8],
    )
    .nice(3);
  const svg = d3
    .create('svg')
    .attr('viewBox', [0, 0, width, height])
    .attr('class', 'plot curve')
    .attr('role', 'img')
    .attr('aria-label', label);
  for (const value of [y.domain()[0], y.domain()[1]]) {
    svg
      .append('line')
      .attr('class', 'grid')
      .attr('x1', left)
      .attr('x2', width - 10)
      .attr('y1', y(value))
      .attr('y2', y(value));
    svg
      .append('text')
      .attr('class', 'axis-name')
      .attr('x', left - 5)
      .attr('y', y(value))
      .attr('dy', '0.32em')
      .attr('text-anchor', 'end')
      .text(axisLabel(value));
  }
  const ends = [points[0], points[points.length - 1]];
  ends.forEach((value, i) =>
    svg
      .append('text')
      .attr('class', 'axis-name')
      .attr('x', x(value))
      .attr('y', height - 4)
      .attr('text-anchor', i ? 'end' : 'start')
      .text(Number(value.toPrecision(6))),
  );
  svg
    .append('path')
    .attr('class', 'area')
    .attr(
      'd',
      d3.area(
        (_, i) => x(points[i]),
        (value) => y(value[1]),
        (value) => y(value[2]),
      )(values),
    );
  svg
    .append('path')
    .attr('class', 'line')
    .attr(
      'd',
      d3.line(
        (_, i) => x(points[i]),
        (value) => y(value[0]),
      )(values),
    );
  return svg.node();
}

// One plot per topic, those that change most first.
function curvesOf({ column, points, topics: list }, redraw) {
  const change = ([, values]) => d3.max(values, (value) => value[0]) - d3.min(values, (value) => value[0]);
  const sorted = list.filter(([id]) => effectRow(id) !== undefined).sort((a, b) => change(b) - change(a));
  const shown = effectChoice().all ? sorted : sorted.slice(0, CURVES);
  return [
    element(
      'p',
      { class: 'muted' },
      `Predicted share of a topic along ${column}, with the other columns held at their means or most frequent values; bands are 95% intervals. The topics that change most come first.`,
    ),
    element(
      'div',
      { class: 'multiples' },
      shown.map(([id, values]) =>
        element(
          'figure',
          {},
          element('figcaption', {}, topicLink(topics[effectRow(id)])),
          effectCurve(points, values, `${nameOf(topics[effectRow(id)])}: share along ${column}`),
        ),
      ),
    ),
    shown.length < sorted.length
      ? element(
          'button',
          {
            type: 'button',
            id: 'all-curves',
            on: {
              click: () => {
                effectChoice().all = true;
                redraw();
              },
            },
          },
          `Show all ${sorted.length}`,
        )
      : '',
  ];
}

export const effectsView = {
  tab: 'Effects',
  isPresent: () => Boolean(report.effects),
  draw(main) {
    const { contrasts, curves } = report.effects;
    const choices = [
      ...contrasts.map((contrast) => [`${contrast.column}: ${contrast.value} minus ${contrast.other}`, () => forest(contrast)]),
      ...curves.map((curve) => [`along ${curve.column}`, () => curvesOf(curve, draw)]),
    ];
    const body = element('div');
    const chooser = element(
      'select',
      {
        id: 'effect',
        on: {
          change: () => {
            effectChoice().shown = Number(chooser.value);
            draw();
          },
        },
      },
      choices.map(([title], i) => element('option', { value: i, selected: i === effectChoice().shown }, title)),
    );
    const draw = () => body.replaceChildren(...choices[effectChoice().shown][1]());
    main.append(
      element('h2', {}, 'Effects of metadata'),
      element('p', {}, 'Topic shares estimated with the formula ', element('code', {}, report.effects.formula)),
      filterMask ? element('p', { class: 'note' }, 'This view always shows all documents; the filter does not apply.') : '',
      element('div', { class: 'tools' }, element('label', {}, 'Show ', chooser)),
      body,
      ...report.effects.about
        .split('\n')
        .slice(1)
        .map((line) => element('p', { class: 'muted' }, `${line[0].toUpperCase()}${line.slice(1)}.`)),
    );
    draw();
  },
};
