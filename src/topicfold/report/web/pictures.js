// Saves any chart, and any table with bars, as SVG or PNG, with the buttons below it.

import { colourValue } from './colours.js';
import { download, downloadAddress } from './download.js';
import { element } from './elements.js';

const PICTURE_STYLES = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'opacity',
  'fill-opacity',
  'font-family',
  'font-size',
  'font-weight',
  'font-style',
  'text-anchor',
  'visibility',
];

const PICTURE_SCALE = 2; // pixels of a PNG per unit of the drawing

// A drawing as text, without the control characters that XML does not allow.
export function serialized(node) {
  return new XMLSerializer().serializeToString(node).replace(/[^\P{Cc}\t\n\r]|\p{Cs}/gu, '');
}

// The drawing as standalone text: it includes its styles and no longer needs the page's style sheet.
function standaloneSvg(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((node, i) => {
    const style = getComputedStyle(from[i]);
    for (const name of PICTURE_STYLES) node.style.setProperty(name, style.getPropertyValue(name));
    for (const name of ['href', 'tabindex', 'class']) node.removeAttribute(name);
  });
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', width);
  copy.setAttribute('height', height);
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of Object.entries({ width, height, fill: colourValue('--page') })) ground.setAttribute(name, value);
  copy.prepend(ground);
  return serialized(copy);
}

async function savePng(fileName, text, width, height) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = element('canvas', { width: Math.round(PICTURE_SCALE * width), height: Math.round(PICTURE_SCALE * height) });
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  downloadAddress(fileName, canvas.toDataURL('image/png'));
}

// The lines of a text as the page has broken it: [text, left, top, height] each.
function linesOf(node) {
  const lines = [];
  const range = document.createRange();
  for (const word of node.data.matchAll(/\S+/g)) {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const place = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (last && Math.abs(last[2] - place.top) < 2) last[0] += ` ${word[0]}`;
    else if (place.width) lines.push([word[0], place.left, place.top, place.height]);
  }
  return lines;
}

// A table with bars as a drawing: bars and texts where they stand on the page.
function tableAsSvg(table) {
  const frame = table.getBoundingClientRect();
  const [width, height] = [Math.ceil(frame.width), Math.ceil(frame.height)];
  const svg = d3
    .create('svg')
    .attr('xmlns', 'http://www.w3.org/2000/svg')
    .attr('viewBox', [0, 0, width, height])
    .attr('width', width)
    .attr('height', height);
  svg.append('rect').attr('width', width).attr('height', height).attr('fill', colourValue('--page'));
  for (const part of table.querySelectorAll('.bar, .bar .fill, .bar .marker')) {
    const place = part.getBoundingClientRect();
    svg
      .append('rect')
      .attr('x', place.left - frame.left)
      .attr('y', place.top - frame.top)
      .attr('width', place.width)
      .attr('height', place.height)
      .attr('fill', getComputedStyle(part).backgroundColor);
  }
  const texts = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const style = getComputedStyle(texts.currentNode.parentElement);
    for (const [text, left, top, size] of linesOf(texts.currentNode)) {
      svg
        .append('text')
        .attr('x', left - frame.left)
        .attr('y', top - frame.top + size / 2)
        .attr('dominant-baseline', 'central')
        .attr('font-family', style.fontFamily)
        .attr('font-size', style.fontSize)
        .attr('font-weight', style.fontWeight)
        .attr('fill', style.color)
        .text(text);
    }
  }
  return { text: serialized(svg.node()), width, height };
}

// What a table is of: the name of the topic and the heading above it.
function labelOfTable(table) {
  const headings = [document.getElementById('topic-title'), table.closest('section')?.querySelector('h2, h3, h4')];
  return (
    headings
      .map((heading) => heading?.textContent)
      .filter(Boolean)
      .join(': ') || 'Table'
  );
}

function fileNameOf(label) {
  return (
    (label || 'chart')
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 60) || 'chart'
  );
}

function pictureButtons(chart) {
  const isTable = chart.tagName === 'TABLE';
  const label = isTable ? labelOfTable(chart) : chart.getAttribute('aria-label') || 'chart';
  const name = fileNameOf(label);
  const button = (kind, action) =>
    element(
      'button',
      { type: 'button', class: `save-${kind}`, 'aria-label': `Save as ${kind.toUpperCase()}: ${label}`, on: { click: action } },
      kind.toUpperCase(),
    );
  if (chart.tagName === 'CANVAS') return [button('png', () => downloadAddress(`${name}.png`, chart.toDataURL('image/png')))];
  const drawing = () =>
    isTable ? tableAsSvg(chart) : { text: standaloneSvg(chart), width: chart.viewBox.baseVal.width, height: chart.viewBox.baseVal.height };
  return [
    button('svg', () => download(`${name}.svg`, drawing().text)),
    button('png', () => {
      const { text, width, height } = drawing();
      savePng(`${name}.png`, text, width, height);
    }),
  ];
}

// Charts come and go as the reader changes views: each gets its buttons when it appears.
export function addPictureButtons() {
  for (const chart of document.querySelectorAll('#main :is(svg.plot, svg.columns, canvas.likeness, table):not([data-saved])')) {
    if (chart.tagName === 'TABLE' && !chart.querySelector('.bar')) continue;
    chart.dataset.saved = '';
    chart.after(element('div', { class: 'save' }, pictureButtons(chart)));
  }
}

export function watchCharts() {
  new MutationObserver(addPictureButtons).observe(document.getElementById('main'), { childList: true, subtree: true });
}
