// The map as a picture to save.

import { colourValue } from '../colours.js';
import { documentCount } from '../documents.js';
import { download, downloadAddress } from '../download.js';
import { element } from '../elements.js';
import { passes } from '../filter.js';
import { serialized } from '../pictures.js';

// One circle per document that passes the filter, and the names on it.
function mapAsSvg(width, height, circles, names) {
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

export function saveMapAsSvg(map) {
  const radius = map.pointRadius();
  const circles = d3
    .range(documentCount)
    .filter(passes)
    .map((d) => {
      const [r, g, b] = map.points.tints.subarray(4 * d, 4 * d + 3);
      return [...map.pixelsOf(d), radius, `rgb(${r},${g},${b})`];
    });
  download('map.svg', mapAsSvg(map.canvas.clientWidth, map.canvas.clientHeight, circles, map.drawnNames));
}

export function saveMapAsPng(map) {
  const picture = element('canvas', { width: map.canvas.width, height: map.canvas.height });
  const context = picture.getContext('2d');
  context.fillStyle = colourValue('--page');
  context.fillRect(0, 0, picture.width, picture.height);
  for (const layer of [map.points.canvas, map.canvas]) context.drawImage(layer, 0, 0);
  downloadAddress('map.png', picture.toDataURL('image/png'));
}
