// Topics over time in one plot.

import { shareLines } from './charts.js';
import { element } from './elements.js';
import { nameOf } from './names.js';
import { percent, plural } from './numbers.js';
import { topics } from './report.js';
import { riseOf, roundTop, series, timeChoices } from './time_series.js';
import { hideTip, showTip } from './tooltip.js';

const periodName = (data, i) => `${data.by === 'week' ? 'week of ' : ''}${data.labels[i]}`;

// The places along an axis that have room for a label: the first, the last, and some between. The labels at both ends
// extend inwards.
function labelledPlaces(data, x, room) {
  const last = data.dates.length - 1;
  const places = [0];
  for (let i = 1; i < last; i += 1) {
    const position = x(data.dates[i]);
    const before = places.at(-1);
    if (position - x(data.dates[before]) >= (before ? room : 1.5 * room) && x(data.dates[last]) - position >= 1.5 * room) places.push(i);
  }
  return [...places, last];
}

function periodLabels(svg, data, x, y) {
  const last = data.dates.length - 1;
  for (const i of labelledPlaces(data, x, 80)) {
    const anchor = i === 0 ? 'start' : i === last ? 'end' : 'middle';
    svg.append('text').attr('class', 'axis-name').attr('x', x(data.dates[i])).attr('y', y).attr('text-anchor', anchor).text(data.labels[i]);
  }
}

// The shares of a topic as a line, with the area below it if it is alone.
function shareLine(svg, shares, data, x, y, hue, isAlone) {
  const place = (_, i) => x(data.dates[i]);
  if (isAlone)
    svg
      .append('path')
      .attr('class', 'area')
      .attr('d', d3.area(place, y(0), (share) => y(share))(shares))
      .style('fill', hue);
  svg
    .append('path')
    .attr('class', 'line')
    .attr('d', d3.line(place, (share) => y(share))(shares))
    .style('stroke', hue);
}

// The text for a period: the share of the only topic, or of each.
function periodText(data, lines, shares, i) {
  if (lines.length === 1) return [`${periodName(data, i)}: ${percent(shares[0][i])}`, `of ${plural(data.documents[i], 'document')}`];
  return [
    `${periodName(data, i)}, ${plural(data.documents[i], 'document')}`,
    ...lines.map(([row], k) => `${percent(shares[k][i])} ${nameOf(topics[row])}`),
  ];
}

// A cursor, which the pointer and the arrow keys move from period to period: its dots and a tooltip show the values there.
function addCursor(svg, lines, shares, data, x, y) {
  const last = data.dates.length - 1;
  const [bottom, top] = y.range();
  const cursor = svg.insert('line', 'path').attr('class', 'cursor').attr('y1', bottom).attr('y2', top).attr('visibility', 'hidden');
  const dots = lines.map(([, hue]) =>
    svg.append('circle').attr('class', 'dot').attr('r', 3.5).attr('visibility', 'hidden').style('fill', hue),
  );
  let current = last;
  const setValue = () => svg.attr('aria-valuenow', current).attr('aria-valuetext', periodText(data, lines, shares, current).join(', '));
  setValue();
  const moveTo = (i, px, py) => {
    current = i;
    setValue();
    cursor.attr('visibility', null).attr('x1', x(data.dates[i])).attr('x2', x(data.dates[i]));
    dots.forEach((dot, k) => dot.attr('visibility', null).attr('cx', x(data.dates[i])).attr('cy', y(shares[k][i])));
    const box = dots[0].node().getBoundingClientRect();
    showTip(px ?? box.right, py ?? box.bottom, ...periodText(data, lines, shares, i));
  };
  const clear = () => {
    for (const shape of [cursor, ...dots]) shape.attr('visibility', 'hidden');
    hideTip();
  };
  svg.on('pointermove pointerdown', (event) => {
    const [px] = d3.pointer(event);
    const nearest = d3.minIndex(data.dates, (date) => Math.abs(x(date) - px));
    moveTo(nearest, event.clientX, event.clientY);
  });
  svg.on('pointerleave blur', clear);
  svg.on('focus', () => svg.node().matches(':focus-visible') && moveTo(current));
  svg.on('keydown', (event) => {
    const steps = { ArrowLeft: current - 1, ArrowDown: current - 1, ArrowRight: current + 1, ArrowUp: current + 1, Home: 0, End: last };
    if (event.key === 'Escape') clear();
    if (steps[event.key] === undefined) return;
    event.preventDefault();
    moveTo(Math.min(last, Math.max(0, steps[event.key])));
  });
}

// One or more lines [row, colour] on one scale; a tooltip shows the values under the pointer, or where the arrow keys lead.
export function timePlot(lines, data, top, { width = 250, height = 96, rise = null } = {}) {
  const [left, right] = [44, width - 10];
  const x = d3.scaleUtc(d3.extent(data.dates), [left, right]);
  const y = d3.scaleLinear([0, top], [height - 20, 9]).clamp(true);
  const shares = lines.map(([row]) => data.shares(row));
  const svg = d3
    .create('svg')
    .attr('viewBox', [0, 0, width, height])
    .attr('class', 'plot over-time')
    .attr('tabindex', 0)
    .attr('role', 'slider')
    .attr('aria-label', `${lines.map(([row]) => nameOf(topics[row])).join(', ')}: share by ${data.by}`)
    .attr('aria-valuemin', 0)
    .attr('aria-valuemax', data.dates.length - 1);
  shareLines(svg, y, height > 150 ? y.ticks(4) : [0, top], left, right);
  periodLabels(svg, data, x, height - 4);
  lines.forEach(([, hue], k) => shareLine(svg, shares[k], data, x, y, hue, lines.length === 1));
  const risen = rise === null ? -1 : data.labels.indexOf(rise.period);
  if (risen >= 0)
    svg.append('circle').attr('class', 'risen').attr('r', 3.5).attr('cx', x(data.dates[risen])).attr('cy', y(shares[0][risen]));
  addCursor(svg, lines, shares, data, x, y);
  return svg.node();
}

export function timeOfTopic(row) {
  const data = series(timeChoices().by);
  return element(
    'section',
    {},
    element('h3', {}, `By ${data.by}`),
    timePlot([[row, null]], data, roundTop([row], data), { width: 420, height: 140, rise: riseOf(row) }),
  );
}
