// Effects of metadata: differences between the values of a factor, and shares along a number, each with intervals.

import { namedLine, newPlot, shareLines, valueLines } from '../charts.js';
import { element } from '../elements.js';
import { filterMask } from '../filter.js';
import { topicLink } from '../links.js';
import { nameOf } from '../names.js';
import { perReport, report, rowOfTopic, topics } from '../report.js';

const CURVES = 12; // at first
const effectChoice = perReport(() => ({ shown: 0, all: false }));

// Topics that no edit has changed; for merged topics the intervals are not known.
function effectRow(id) {
  return report.currentRows && report.became.size && [...report.became.values()].includes(id) ? undefined : rowOfTopic.get(id);
}

// One line per topic: the estimate and its interval.
function intervalPlot(contrast, rows) {
  const [width, left, lineHeight] = [680, 250, 22];
  const height = lineHeight * rows.length + 34;
  const reach = d3.extent(rows.flatMap(([, , low, high]) => [low, high, 0]));
  const x = d3.scaleLinear(reach, [left, width - 14]).nice(5);
  const title = `${contrast.column}: ${contrast.value} minus ${contrast.other}`;
  const label = `Difference in the share of each topic, ${title}; the table below has the figures`;
  const svg = newPlot(width, height, 'plot forest', 'img', label);
  const points = (value) => (value ? `${value > 0 ? '+' : '−'}${Number((100 * Math.abs(value)).toPrecision(3))}` : '0');
  valueLines(svg, x, x.ticks(5), height, points, (value) => (value === 0 ? 'base' : 'grid'));
  rows.forEach(([id, estimate, low, high], i) => {
    const y = lineHeight * i + lineHeight / 2;
    const sure = low > 0 || high < 0 ? ' sure' : '';
    namedLine(svg, topics[effectRow(id)], left - 10, y, 34);
    svg.append('line').attr('class', `interval${sure}`).attr('x1', x(low)).attr('x2', x(high)).attr('y1', y).attr('y2', y);
    svg.append('circle').attr('class', `estimate${sure}`).attr('r', 4.5).attr('cx', x(estimate)).attr('cy', y);
  });
  return svg.node();
}

// What a factor does to each topic, the largest effect first.
function contrastOf(contrast) {
  const rows = contrast.topics.filter(([id]) => effectRow(id) !== undefined).sort((a, b) => b[1] - a[1]);
  const points = (share) => `${share < 0 ? '−' : '+'}${(100 * Math.abs(share)).toFixed(2)}`;
  const heads = ['Topic', 'Points', 'From', 'To'].map((head) => element('th', { scope: 'col' }, head));
  const row = ([id, ...figures]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, topicLink(topics[effectRow(id)])),
      figures.map((figure) => element('td', { class: 'number' }, points(figure))),
    );
  return [
    element(
      'p',
      { class: 'muted' },
      `Difference in the share of a topic, in percentage points: ${contrast.value} minus ${contrast.other} (${contrast.column}), ` +
        'with the other columns held fixed. Lines are 95% intervals; dark ones exclude zero.',
    ),
    intervalPlot(contrast, rows),
    element('table', {}, element('thead', {}, element('tr', {}, heads)), element('tbody', {}, rows.map(row))),
  ];
}

// Each value is [share, low, high].
function effectCurve(points, values, label) {
  const [width, height, left] = [250, 110, 44];
  const x = d3.scaleLinear(d3.extent(points), [left, width - 10]);
  const low = d3.min(values, (value) => value[1]);
  const high = d3.max(values, (value) => value[2]);
  const y = d3.scaleLinear([Math.min(0, low), high || 1], [height - 20, 8]).nice(3);
  const svg = newPlot(width, height, 'plot curve', 'img', label);
  shareLines(svg, y, y.domain(), left, width - 10, () => 'grid');
  [points[0], points.at(-1)].forEach((value, i) =>
    svg
      .append('text')
      .attr('class', 'axis-name')
      .attr('x', x(value))
      .attr('y', height - 4)
      .attr('text-anchor', i ? 'end' : 'start')
      .text(Number(value.toPrecision(6))),
  );
  const place = (_, i) => x(points[i]);
  const band = d3.area(
    place,
    (value) => y(value[1]),
    (value) => y(value[2]),
  );
  const line = d3.line(place, (value) => y(value[0]));
  svg.append('path').attr('class', 'area').attr('d', band(values));
  svg.append('path').attr('class', 'line').attr('d', line(values));
  return svg.node();
}

// One plot per topic along a number, those that change most first.
function curvesOf({ column, points, topics: curves }, redraw) {
  const change = ([, values]) => d3.max(values, (value) => value[0]) - d3.min(values, (value) => value[0]);
  const sorted = curves.filter(([id]) => effectRow(id) !== undefined).sort((a, b) => change(b) - change(a));
  const shown = effectChoice().all ? sorted : sorted.slice(0, CURVES);
  const showAll = () => {
    effectChoice().all = true;
    redraw();
  };
  const figure = ([id, values]) => {
    const topic = topics[effectRow(id)];
    const curve = effectCurve(points, values, `${nameOf(topic)}: share along ${column}`);
    return element('figure', {}, element('figcaption', {}, topicLink(topic)), curve);
  };
  return [
    element(
      'p',
      { class: 'muted' },
      `Predicted share of a topic along ${column}, with the other columns held at their means or most frequent values; bands are 95% ` +
        'intervals. The topics that change most come first.',
    ),
    element('div', { class: 'multiples' }, shown.map(figure)),
    shown.length < sorted.length
      ? element('button', { type: 'button', id: 'all-curves', on: { click: showAll } }, `Show all ${sorted.length}`)
      : '',
  ];
}

export const effectsView = {
  tab: 'Effects',
  isPresent: () => Boolean(report.effects),
  draw(main) {
    const { contrasts, curves } = report.effects;
    const choices = [
      ...contrasts.map((contrast) => [`${contrast.column}: ${contrast.value} minus ${contrast.other}`, () => contrastOf(contrast)]),
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
