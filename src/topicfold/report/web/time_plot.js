// Topics over time in one plot.

import { axisLabel } from './charts.js';
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
  const found = [0];
  for (let i = 1; i < last; i += 1) {
    const at = x(data.dates[i]);
    const before = found[found.length - 1];
    if (at - x(data.dates[before]) >= (before ? room : 1.5 * room) && x(data.dates[last]) - at >= 1.5 * room) found.push(i);
  }
  return [...found, last];
}

// One or more lines [row, colour] on one scale; a tooltip shows the values under the pointer, or where the arrow keys lead.
export function timePlot(lines, data, top, { width = 250, height = 96, rise = null } = {}) {
  const [left, right, last] = [44, width - 10, data.dates.length - 1];
  const x = d3.scaleUtc(d3.extent(data.dates), [left, right]);
  const y = d3.scaleLinear([0, top], [height - 20, 9]).clamp(true);
  const alone = lines.length === 1;
  const values = lines.map(([row]) => data.shares(row));
  const svg = d3
    .create('svg')
    .attr('viewBox', [0, 0, width, height])
    .attr('class', 'plot over-time')
    .attr('tabindex', 0)
    .attr('role', 'slider');
  svg
    .attr('aria-label', `${lines.map(([row]) => nameOf(topics[row])).join(', ')}: share by ${data.by}`)
    .attr('aria-valuemin', 0)
    .attr('aria-valuemax', last);
  for (const value of height > 150 ? y.ticks(4) : [0, top]) {
    svg
      .append('line')
      .attr('class', value ? 'grid' : 'base')
      .attr('x1', left)
      .attr('x2', right)
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
  for (const i of labelledPlaces(data, x, 80)) {
    const anchor = i === 0 ? 'start' : i === last ? 'end' : 'middle';
    svg
      .append('text')
      .attr('class', 'axis-name')
      .attr('x', x(data.dates[i]))
      .attr('y', height - 4)
      .attr('text-anchor', anchor)
      .text(data.labels[i]);
  }
  const cursor = svg.append('line').attr('class', 'cursor').attr('y1', y(0)).attr('y2', y(top)).attr('visibility', 'hidden');
  const place = (_, i) => x(data.dates[i]);
  lines.forEach(([, hue], k) => {
    if (alone)
      svg
        .append('path')
        .attr('class', 'area')
        .attr('d', d3.area(place, y(0), (value) => y(value))(values[k]))
        .style('fill', hue);
    svg
      .append('path')
      .attr('class', 'line')
      .attr('d', d3.line(place, (value) => y(value))(values[k]))
      .style('stroke', hue);
  });
  const risen = rise === null ? -1 : data.labels.indexOf(rise.period);
  if (risen >= 0)
    svg.append('circle').attr('class', 'risen').attr('r', 3.5).attr('cx', x(data.dates[risen])).attr('cy', y(values[0][risen]));
  const dots = lines.map(([, hue]) =>
    svg.append('circle').attr('class', 'dot').attr('r', 3.5).attr('visibility', 'hidden').style('fill', hue),
  );
  const told = (i) =>
    alone
      ? [`${periodName(data, i)}: ${percent(values[0][i])}`, `of ${plural(data.documents[i], 'document')}`]
      : [
          `${periodName(data, i)}, ${plural(data.documents[i], 'document')}`,
          ...lines.map(([row], k) => `${percent(values[k][i])} ${nameOf(topics[row])}`),
        ];
  let at = last;
  const setValue = () => svg.attr('aria-valuenow', at).attr('aria-valuetext', told(at).join(', '));
  setValue();
  const mark = (i, px, py) => {
    at = i;
    setValue();
    cursor.attr('visibility', null).attr('x1', x(data.dates[i])).attr('x2', x(data.dates[i]));
    dots.forEach((dot, k) => dot.attr('visibility', null).attr('cx', x(data.dates[i])).attr('cy', y(values[k][i])));
    const box = dots[0].node().getBoundingClientRect();
    showTip(px ?? box.right, py ?? box.bottom, ...told(i));
  };
  const clear = () => {
    for (const shape of [cursor, ...dots]) shape.attr('visibility', 'hidden');
    hideTip();
  };
  svg.on('pointermove pointerdown', (event) => {
    const [px] = d3.pointer(event);
    mark(
      d3.minIndex(data.dates, (date) => Math.abs(x(date) - px)),
      event.clientX,
      event.clientY,
    );
  });
  svg.on('pointerleave blur', clear);
  svg.on('focus', () => svg.node().matches(':focus-visible') && mark(at));
  svg.on('keydown', (event) => {
    const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') clear();
    if (to === undefined) return;
    event.preventDefault();
    mark(Math.min(last, Math.max(0, to)));
  });
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
