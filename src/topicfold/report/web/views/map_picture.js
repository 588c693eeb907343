// The map as SVG.

import { colourValue } from '../colours.js';
import { serialized } from '../pictures.js';

// The map as SVG: one circle per document that passes the filter, and the names on it.
export function mapAsSvg(width, height, circles, names) {
  const svg = d3
    .create('svg')
    .attr('xmlns', 'http://www.w3.org/2000/svg')
    .attr('viewBox', [0, 0, width, height])
    .attr('width', width)
    .attr('height', height);
  svg.append('rect').attr('width', width).attr('height', height).attr('fill', colourValue('--page'));
  for (const [x, y, radius, fill] of circles)
    svg
      .append('circle')
      .attr('cx', x.toFixed(1))
      .attr('cy', y.toFixed(1))
      .attr('r', radius.toFixed(1))
      .attr('fill', fill)
      .attr('fill-opacity', 0.85);
  const family = getComputedStyle(document.body).fontFamily;
  for (const [text, x, y, font] of names) {
    svg
      .append('text')
      .attr('x', x)
      .attr('y', y)
      .attr('text-anchor', 'middle')
      .attr('font-family', family)
      .attr('font-size', font.size)
      .attr('font-weight', font.weight)
      .attr('font-style', font.style)
      .attr('fill', colourValue('--ink'))
      .attr('stroke', colourValue('--page'))
      .attr('stroke-width', 4)
      .attr('stroke-linejoin', 'round')
      .attr('paint-order', 'stroke')
      .text(text);
  }
  return serialized(svg.node());
}
