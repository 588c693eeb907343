// Two columns of topics with lines between them.

import { shortened } from './charts.js';
import { element } from './elements.js';
import { address } from './links.js';
import { nameOf, wordsOf } from './names.js';
import { inOneLine } from './terms.js';

// Two columns of topics with lines between them, whose width is their weight. Each side: [{name, title, href or none}].
export function twoColumns(left, right, links, label) {
  const gap = 21;
  const width = 900;
  const inset = 300;
  const height = gap * Math.max(left.length, right.length) + 10;
  const place = (list) => (i) => 12 + ((i + 0.5) * (height - 14)) / list.length - 5;
  const [yLeft, yRight] = [place(left), place(right)];
  const svg = d3
    .create('svg')
    .attr('viewBox', [0, 0, width, height])
    .attr('class', 'columns')
    .attr('role', 'group')
    .attr('aria-label', label);
  const curve = d3.linkHorizontal();
  const lines = svg
    .append('g')
    .selectAll('path')
    .data(links)
    .join('path')
    .attr('class', 'link')
    .attr('stroke-width', (link) => Math.max(0.75, 14 * link.weight))
    .attr('d', (link) => curve({ source: [inset + 8, yLeft(link.left)], target: [width - inset - 8, yRight(link.right)] }));
  lines.append('title').text((link) => link.title);
  const side = (list, y, anchor, at, end) => {
    const linked = list.some((item) => item.href);
    const items = svg
      .append('g')
      .selectAll('.end')
      .data(list)
      .join(linked ? 'a' : 'g')
      .attr('class', 'end');
    if (linked) items.attr('href', (item) => item.href);
    items
      .append('text')
      .attr('x', at)
      .attr('y', (_, i) => y(i))
      .attr('dy', '0.35em')
      .attr('text-anchor', anchor)
      .text((item) => shortened(item.name, 40));
    items.append('title').text((item) => item.title);
    const mark = (i) => lines.classed('strong', (link) => link[end] === i).classed('faint', (link) => i !== null && link[end] !== i);
    items.on('pointerenter focus', (event, item) => mark(list.indexOf(item))).on('pointerleave blur', () => mark(null));
  };
  side(left, yLeft, 'end', inset, 'left');
  side(right, yRight, 'start', width - inset, 'right');
  return element('div', { class: 'wide' }, svg.node());
}

export function asEnd(topic) {
  return { name: nameOf(topic), href: address('topic', topic.id), title: inOneLine(wordsOf(topic, 10)) };
}
