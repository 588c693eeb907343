// Which topics belong together: a tree over flat topics that can be cut at any height, and the similarity of each pair.

import { shortened } from '../charts.js';
import { colourValue, topicColour } from '../colours.js';
import { element } from '../elements.js';
import { address } from '../links.js';
import { nameOf } from '../names.js';
import { percent, plural } from '../numbers.js';
import { report, topics } from '../report.js';
import { groupsAt } from '../topic_groups.js';
import { hideTip, showTip } from '../tooltip.js';

const LEAF = 24; // pixels per line

// From a little before the first fork to the last: topics are far apart, and forks are close together.
function forkHeights() {
  const [low, high] = d3.extent(report.hierarchy.forks, (fork) => fork[2]);
  return [low - 0.12 * Math.max(high - low, 1e-6), high];
}

// The height at which the tree falls into the groups that the list of topics shows; without groups, half of the forks.
function firstCut() {
  const heights = report.hierarchy.forks.map((fork) => fork[2]).sort((a, b) => a - b);
  const joined = report.hierarchy.groups ? topics.length - report.hierarchy.groups : heights.length / 2;
  return (heights[Math.floor(joined)] + heights[Math.max(0, Math.ceil(joined) - 1)]) / 2;
}

function dendrogram(cut) {
  const { forks, order } = report.hierarchy;
  const lineOf = new Map(order.map((row, line) => [row, line]));
  const [width, names, letters] = innerWidth < 600 ? [380, 210, 21] : [720, 330, 40];
  const x = d3.scaleLinear(forkHeights(), [width - names, 10]);
  const leaves = width - names;
  const height = LEAF * order.length + 8;
  const svg = d3
    .create('svg')
    .attr('viewBox', [0, 0, width, height])
    .attr('class', 'plot dendrogram')
    .attr('role', 'group')
    .attr('aria-label', 'Topics that belong together, as a tree');
  const places = topics.map((_, row) => [leaves, LEAF * lineOf.get(row) + LEAF / 2 + 4]);
  forks.forEach(([one, other, distance, words]) => {
    const [a, b] = [places[one], places[other]];
    const at = x(distance);
    svg
      .append('path')
      .attr('class', distance <= cut ? 'fork joined' : 'fork')
      .attr('d', `M${a[0]},${a[1]}H${at}V${b[1]}H${b[0]}`)
      .append('title')
      .text(words);
    places.push([at, (a[1] + b[1]) / 2]);
  });
  svg.append('line').attr('class', 'cut').attr('x1', x(cut)).attr('x2', x(cut)).attr('y1', 0).attr('y2', height);
  for (const row of order) {
    const link = svg.append('a').attr('href', address('topic', topics[row].id));
    link
      .append('circle')
      .attr('r', 4)
      .attr('cx', leaves + 8)
      .attr('cy', places[row][1])
      .attr('fill', topicColour(row));
    link
      .append('text')
      .attr('x', leaves + 18)
      .attr('y', places[row][1] + 4)
      .text(shortened(nameOf(topics[row]), letters));
  }
  return svg.node();
}

// Similarity of each pair of topics, in the order of the tree.
function likenessMatrix() {
  const { order, likeness } = report.hierarchy;
  const cell = Math.max(4, Math.min(16, Math.floor(420 / order.length)));
  const side = cell * order.length;
  const canvas = element('canvas', {
    width: side,
    height: side,
    class: 'likeness',
    role: 'img',
    'aria-label': 'Similarity of each pair of topics; the page of a topic lists those most similar to it',
  });
  const context = canvas.getContext('2d');
  const shade = d3.interpolateRgb(colourValue('--page'), colourValue('--c0'));
  order.forEach((row, i) =>
    order.forEach((other, j) => {
      context.fillStyle = row === other ? topicColour(row) : shade(Math.max(0, likeness[row][other]) / 100);
      context.fillRect(i * cell, j * cell, cell, cell);
    }),
  );
  const pairAt = (event) => [event.offsetX, event.offsetY].map((place) => order[Math.floor((place / canvas.clientWidth) * order.length)]);
  canvas.addEventListener('pointermove', (event) => {
    const [one, other] = pairAt(event);
    if (one === undefined || other === undefined) return hideTip();
    const similarity = one === other ? '' : `similarity ${(likeness[one][other] / 100).toFixed(2)}`;
    return showTip(event.clientX, event.clientY, nameOf(topics[one]), one === other ? '' : nameOf(topics[other]), similarity);
  });
  canvas.addEventListener('pointerleave', hideTip);
  canvas.addEventListener('click', (event) => {
    const [one] = pairAt(event);
    if (one !== undefined) location.hash = address('topic', topics[one].id);
  });
  return canvas;
}

export function hierarchySection() {
  if (!report.hierarchy) return null;
  const drawing = element('div');
  const output = element('output', { for: 'cut' });
  const list = element('ul', { class: 'plain', id: 'cut-groups' });
  const slider = element('input', {
    type: 'range',
    id: 'cut',
    min: String(forkHeights()[0]),
    max: String(forkHeights()[1]),
    step: 'any',
    value: String(firstCut()),
    on: { input: draw },
  });
  function draw() {
    const cut = Number(slider.value);
    const groups = groupsAt(cut);
    output.textContent = plural(groups.length, 'group');
    drawing.replaceChildren(dendrogram(cut));
    list.replaceChildren(
      ...groups
        .filter((group) => group.rows.length > 1)
        .map((group) =>
          element(
            'li',
            {},
            element('strong', {}, group.words || 'all topics'),
            element(
              'span',
              { class: 'muted' },
              ` ${percent(d3.sum(group.rows, (row) => topics[row].size))}: ${group.rows.map((row) => nameOf(topics[row])).join(' · ')}`,
            ),
          ),
        ),
    );
  }
  draw();
  return element(
    'section',
    { id: 'hierarchy' },
    element('h3', {}, 'Topics that belong together'),
    element(
      'div',
      { class: 'slider' },
      element('label', { for: 'cut' }, 'Cut the tree'),
      element('span', { class: 'muted' }, 'many groups'),
      slider,
      element('span', { class: 'muted' }, 'few'),
      output,
    ),
    element(
      'div',
      { class: 'two' },
      drawing,
      element(
        'div',
        {},
        likenessMatrix(),
        element('p', { class: 'muted' }, 'Similarity of each pair of topics, by the words of their documents, in the order of the tree.'),
      ),
    ),
    list,
  );
}
