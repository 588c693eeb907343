// Moving the map, pointing at documents and drawing around a region, by pointer and by keyboard.

import { documents, mainTopic, titleOf } from '../documents.js';
import { address } from '../links.js';
import { nameOf } from '../names.js';
import { beginning, numbersIn } from '../numbers.js';
import { polygonText } from '../polygon.js';
import { report, topics } from '../report.js';
import { hideTip, showTip } from '../tooltip.js';
import { mapChoices } from './map_groups.js';

const CLICK = 14; // pixels from a document that count as on it

function showDocumentTip(map, d, px, py) {
  if (d === map.hovered) return undefined;
  map.hovered = d;
  map.canvas.dataset.hovered = d < 0 ? '' : documents.id[d];
  map.redraw();
  if (d < 0) return hideTip();
  const box = map.canvas.getBoundingClientRect();
  const labels = documents.labels
    ? numbersIn(documents.labels[d])
        .map((label) => report.labels[label])
        .join(', ')
    : '';
  const start = documents.title && documents.text ? beginning(documents.text[d], 140).trim() : '';
  return showTip(
    box.left + px,
    box.top + py,
    titleOf(d),
    mainTopic(d) < 0 ? '' : nameOf(topics[mainTopic(d)]),
    [labels, documents.date ? documents.date[d] : ''].filter(Boolean).join(' · '),
    start && `${start} …`,
  );
}

function openDocument(d) {
  if (d >= 0) location.hash = address('document', documents.id[d]);
}

function openRegion(map, pixels) {
  location.hash = address('region', polygonText(pixels.map((pixel) => map.fromPixels(pixel))));
}

// Dragging draws around a region, instead of moving the map.
function drawsRegion(event) {
  return mapChoices().tool !== 'move' || event.shiftKey;
}

// The map follows what d3.zoom says; a function that shows all of it again.
export function makeMovable(map) {
  const zoom = d3
    .zoom()
    .scaleExtent([0.5, 60])
    .filter((event) => event.type === 'wheel' || !(drawsRegion(event) || event.button))
    .on('zoom', (event) => {
      map.transform = event.transform;
      mapChoices().transform = event.transform;
      map.canvas.dataset.zoom = event.transform.k.toFixed(3);
      map.hovered = -1;
      hideTip();
      map.redraw();
    });
  const canvas = d3.select(map.canvas).call(zoom);
  canvas.on('dblclick.zoom', null);
  canvas.property('__zoom', map.transform);
  const showAll = () => zoom.transform(canvas, d3.zoomIdentity);
  map.canvas.addEventListener('keydown', (event) => {
    if (!actByKey(map, event.key, zoom, canvas, showAll)) return;
    event.preventDefault();
    const centre = [map.canvas.clientWidth / 2, map.canvas.clientHeight / 2];
    showDocumentTip(map, map.nearestTo(centre, 1e9), ...centre);
  });
  return showAll;
}

// Whether the key does something on the map.
function actByKey(map, key, zoom, canvas, showAll) {
  const [width, height] = [map.canvas.clientWidth, map.canvas.clientHeight];
  const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  if (moves[key]) zoom.translateBy(canvas, moves[key][0] / map.transform.k, moves[key][1] / map.transform.k);
  else if (key === '+' || key === '=') zoom.scaleBy(canvas, 1.4);
  else if (key === '-') zoom.scaleBy(canvas, 1 / 1.4);
  else if (key === '0') showAll();
  else if (key === 'Enter' && map.hovered >= 0) openDocument(map.hovered);
  else if (key === 'r' || key === 'R')
    openRegion(map, [
      [0, 0],
      [width, 0],
      [width, height],
      [0, height],
    ]);
  else return false;
  return true;
}

export function followPointer(map) {
  const { canvas } = map;
  let start = null; // of the region that is being drawn, in pixels
  canvas.addEventListener('pointerdown', (event) => {
    if (!drawsRegion(event) || event.button) return;
    start = [event.offsetX, event.offsetY];
    map.outlined = [start];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    const pixel = [event.offsetX, event.offsetY];
    if (start) {
      const isBox = mapChoices().tool === 'box';
      map.outlined = isBox ? [start, [pixel[0], start[1]], pixel, [start[0], pixel[1]]] : [...map.outlined, pixel];
      map.redraw();
    } else if (!event.buttons) showDocumentTip(map, map.nearestTo(pixel, CLICK), ...pixel);
  });
  canvas.addEventListener('pointerup', () => {
    const pixels = map.outlined;
    start = null;
    map.outlined = null;
    if (pixels && pixels.length >= 3 && Math.abs(d3.polygonArea(pixels)) > 60) openRegion(map, pixels);
    else map.redraw();
  });
  canvas.addEventListener('pointerleave', () => showDocumentTip(map, -1));
  canvas.addEventListener('click', (event) => {
    if (!drawsRegion(event)) openDocument(map.nearestTo([event.offsetX, event.offsetY], CLICK));
  });
}
