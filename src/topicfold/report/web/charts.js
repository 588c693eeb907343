// Parts that several charts and tables share.

import { bar, element } from './elements.js';
import { address } from './links.js';
import { nameOf } from './names.js';
import { beginning, percent } from './numbers.js';

export function shortened(text, letters) {
  return text.length > letters ? `${beginning(text, letters - 1)}…` : text;
}

export function axisLabel(share) {
  return share ? `${Number((100 * share).toPrecision(3))}%` : '0';
}

export function newPlot(width, height, kind, role, label) {
  return d3.create('svg').attr('viewBox', [0, 0, width, height]).attr('class', kind).attr('role', role).attr('aria-label', label);
}

// A horizontal line at each share, with its label at the left.
export function shareLines(svg, y, shares, left, right, kindOfLine = (share) => (share ? 'grid' : 'base')) {
  for (const share of shares) {
    svg.append('line').attr('class', kindOfLine(share)).attr('x1', left).attr('x2', right).attr('y1', y(share)).attr('y2', y(share));
    svg
      .append('text')
      .attr('class', 'axis-name')
      .attr('x', left - 5)
      .attr('y', y(share))
      .attr('dy', '0.32em')
      .attr('text-anchor', 'end')
      .text(axisLabel(share));
  }
}

// A vertical line at each value, with its label below.
export function valueLines(svg, x, values, height, labelOf, kindOfLine = () => 'grid') {
  for (const value of values) {
    svg
      .append('line')
      .attr('class', kindOfLine(value))
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
      .text(labelOf(value));
  }
}

// The name of a topic to the left of its line in a chart.
export function namedLine(svg, topic, x, y, letters) {
  svg
    .append('a')
    .attr('href', address('topic', topic.id))
    .append('text')
    .attr('x', x)
    .attr('y', y + 4)
    .attr('text-anchor', 'end')
    .text(shortened(nameOf(topic), letters));
}

// Shares among some documents, next to those of all: [member, share among them, share of all].
export function shareSection(title, rows, nameFor) {
  if (!rows.length) return null;
  const most = Math.max(...rows.flatMap(([, share, shareOfAll]) => [share, shareOfAll]), 1e-9);
  const line = ([member, share, shareOfAll]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, nameFor(member)),
      element('td', { class: 'figure' }, bar(share / most, null, shareOfAll / most), element('span', {}, percent(share))),
      element('td', { class: 'muted' }, `${percent(shareOfAll)} overall`),
    );
  const table = element('table', { class: 'label-table' }, element('tbody', {}, rows.map(line)));
  return element('section', {}, element('h3', {}, title), table);
}
