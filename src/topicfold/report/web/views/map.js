// The map: one point per document. Pan, zoom, point at a document for its title, click to open it; draw around a region to
// see what it is about. Points have their own layer (map_points.js); names and all else are on the canvas above it.

import { chosenTopics, COLOURS, colourValue, hueOf, topicColour } from '../colours.js';
import { documentCount, documents, mainTopic, rowOfDocument, titleOf } from '../documents.js';
import { download, downloadAddress } from '../download.js';
import { element } from '../elements.js';
import { passes } from '../filter.js';
import { address } from '../links.js';
import { nameOf } from '../names.js';
import { count, numbersIn } from '../numbers.js';
import { polygonText } from '../polygon.js';
import { perReport, report, topics } from '../report.js';
import { hideTip, showTip } from '../tooltip.js';
import { groupsOf, placedNames } from './map_names.js';
import { mapAsSvg } from './map_picture.js';
import { pointsOfMap } from './map_points.js';

const MAP_TOPICS = 400; // choices in the list of topics
const NAME_LINES = [0, 17, -17, 34, -34]; // pixels below a cluster's centre where its name can be
const CLICK = 14; // pixels from a document that count as on it
const mapChoices = perReport(() => ({ by: 'topic', tool: 'move', labels: [], transform: null })); // as the reader left the map

// With the corners of a region, and what is below the map; or alone, without the tools.
export function drawMap(main, value, corners = null, below = null, alone = false) {
  const { x: xs, y: ys } = documents;
  const canvas = element('canvas', {
    id: 'map-canvas',
    tabindex: '0',
    role: 'application',
    'aria-label':
      'Map of documents. Arrow keys move, plus and minus zoom, zero shows all, Enter opens the document nearest the centre, R shows what the visible region is about.',
  });
  const context = canvas.getContext('2d');
  const points = pointsOfMap();
  const legend = element('div', { class: 'legend' });
  const tree = d3.quadtree(
    d3.range(documentCount),
    (d) => xs[d],
    (d) => ys[d],
  );
  const chosenDocument = value === null ? undefined : rowOfDocument.get(value);
  let groups = null; // which group each document is in, and the names of the groups
  let sizes = null;
  let placed = [];
  let transform = mapChoices().transform || d3.zoomIdentity;
  let scale = 1;
  let offset = [0, 0];
  let pending = 0;
  let hovered = -1;
  let hoveredGroup = -1;
  let drawnNames = []; // on the map: [text, x, y, font]
  let drawn = null; // corners of the region being drawn, in pixels

  const chosen = () => (mapChoices().by === 'topic' ? chosenTopics() : mapChoices().labels);

  function group() {
    groups = groupsOf(mapChoices().by);
    sizes = d3.rollup(
      d3.range(documentCount).filter(passes),
      (list) => list.length,
      (d) => groups.of[d],
    );
    placed = placedNames(groups, mapChoices().by === 'topic');
    tint();
  }

  const labelColour = (member) =>
    mapChoices().labels.includes(member) ? colourValue(`--c${mapChoices().labels.indexOf(member)}`) : hueOf(member).formatHex();

  // The colours of all points. If some groups are chosen, or one is pointed at, the others fade.
  function tint() {
    const colours = new Map();
    const picked = hoveredGroup >= 0 ? [hoveredGroup] : chosen();
    const grey = d3.color(colourValue('--grey'));
    for (let d = 0; d < documentCount; d += 1) {
      const member = groups.of[d];
      if (!colours.has(member))
        colours.set(member, member < 0 ? grey : d3.color(mapChoices().by === 'topic' ? topicColour(member) : labelColour(member)));
      const { r, g, b } = colours.get(member);
      const near = passes(d) ? (!picked.length || picked.includes(member) ? 215 : 50) : 14;
      points.tints.set([r, g, b, near], 4 * d);
    }
    points.tint(points.tints);
  }

  const at = (d) => [transform.applyX(offset[0] + scale * xs[d]), transform.applyY(offset[1] + scale * ys[d])];
  const ontoMap = ([px, py]) => [(transform.invertX(px) - offset[0]) / scale, (transform.invertY(py) - offset[1]) / scale];

  function fit() {
    const box = { width: canvas.clientWidth, height: canvas.clientHeight };
    const ratio = devicePixelRatio || 1;
    for (const layer of [canvas, points.canvas])
      [layer.width, layer.height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const width = Math.max(d3.max(xs) || 0, 1);
    const height = Math.max(d3.max(ys) || 0, 1);
    scale = Math.min((box.width - 40) / width, (box.height - 40) / height);
    offset = [(box.width - scale * width) / 2, (box.height - scale * height) / 2];
  }

  function pointRadius() {
    return Math.max(1.1, Math.min(5, (documentCount > 20000 ? 1.1 : documentCount > 5000 ? 1.6 : 2.4) * Math.sqrt(transform.k)));
  }

  function drawPoints() {
    points.draw({
      scale: scale * transform.k,
      left: transform.applyX(offset[0]),
      top: transform.applyY(offset[1]),
      radius: pointRadius(),
      ratio: devicePixelRatio || 1,
      width: canvas.clientWidth,
      height: canvas.clientHeight,
    });
  }

  function drawNames() {
    const family = getComputedStyle(document.body).fontFamily;
    const [ink, muted, ground] = ['--ink', '--muted', '--page'].map(colourValue);
    context.textAlign = 'center';
    context.lineJoin = 'round';
    context.lineWidth = 4;
    context.strokeStyle = ground;
    const taken = []; // boxes of the names drawn so far: one that would cover another is left out
    const picked = chosen();
    drawnNames = [];
    for (const [text, x, y, zoom, kind, member] of placed) {
      if (transform.k < zoom) continue;
      const px = transform.applyX(offset[0] + scale * x);
      const py = transform.applyY(offset[1] + scale * y);
      if (px < 0 || px > canvas.clientWidth || py < 0 || py > canvas.clientHeight) continue;
      context.font = kind === 'group' ? `600 13px ${family}` : kind === 'finer' ? `600 12px ${family}` : `italic 12px ${family}`;
      const short = text.length > 32 ? `${text.slice(0, 31)}…` : text;
      const half = context.measureText(short).width / 2;
      const middle = Math.min(Math.max(px, half + 4), canvas.clientWidth - half - 4);
      const isFree = (line) => !taken.some(([tx, ty, reach]) => Math.abs(tx - middle) < reach + half + 6 && Math.abs(ty - line) < 17);
      const line = (kind === 'group' ? NAME_LINES : [0]).map((below) => py + below).find(isFree);
      if (line === undefined) continue;
      taken.push([middle, line, half]);
      drawnNames.push([
        short,
        middle,
        line,
        kind === 'words' ? { size: 12, weight: 400, style: 'italic' } : { size: kind === 'group' ? 13 : 12, weight: 600, style: 'normal' },
      ]);
      context.strokeText(short, middle, line);
      context.fillStyle = kind === 'words' || (kind === 'group' && picked.length && !picked.includes(member)) ? muted : ink;
      context.fillText(short, middle, line);
    }
    canvas.dataset.names = drawnNames.length;
  }

  function drawEdgesOf(d) {
    const others = numbersIn((documents.linked || documents.near)[d]);
    context.strokeStyle = colourValue('--ink');
    context.globalAlpha = 0.55;
    context.lineWidth = 1;
    context.beginPath();
    for (const other of others) {
      context.moveTo(...at(d));
      context.lineTo(...at(other));
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  function ring(d, width) {
    context.strokeStyle = colourValue('--ink');
    context.lineWidth = width;
    context.beginPath();
    context.arc(...at(d), 8, 0, 2 * Math.PI);
    context.stroke();
  }

  function outline(pixels) {
    context.strokeStyle = colourValue('--c1');
    context.lineWidth = 2;
    context.setLineDash([6, 4]);
    context.beginPath();
    pixels.forEach((pixel, i) => (i ? context.lineTo(...pixel) : context.moveTo(...pixel)));
    context.closePath();
    context.stroke();
    context.setLineDash([]);
  }

  const ontoCanvas = ([x, y]) => [transform.applyX(offset[0] + scale * x), transform.applyY(offset[1] + scale * y)];

  function draw() {
    pending = 0;
    drawPoints();
    context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    drawNames();
    if (corners) outline(corners.map(ontoCanvas));
    if (drawn) outline(drawn);
    for (const [d, width] of [
      [chosenDocument, 3],
      [hovered, 2],
    ]) {
      if (d === undefined || d < 0) continue;
      drawEdgesOf(d);
      ring(d, width);
    }
  }

  function redraw() {
    if (!pending) pending = requestAnimationFrame(draw);
  }

  function nearestTo(px, py, reach) {
    const [x, y] = ontoMap([px, py]);
    const found = tree.find(x, y, reach / (scale * transform.k));
    return found === undefined || !passes(found) ? -1 : found;
  }

  function showDocumentTip(d, px, py) {
    if (d === hovered) return undefined;
    hovered = d;
    canvas.dataset.hovered = d < 0 ? '' : documents.id[d];
    redraw();
    if (d < 0) return hideTip();
    const box = canvas.getBoundingClientRect();
    const labels = documents.labels
      ? numbersIn(documents.labels[d])
          .map((label) => report.labels[label])
          .join(', ')
      : '';
    const start = documents.title && documents.text ? documents.text[d].slice(0, 140).trim() : '';
    return showTip(
      box.left + px,
      box.top + py,
      titleOf(d),
      mainTopic(d) < 0 ? '' : nameOf(topics[mainTopic(d)]),
      [labels, documents.date ? documents.date[d] : ''].filter(Boolean).join(' · '),
      start && `${start} …`,
    );
  }

  // ---- moving, and drawing around a region ----

  const draws = (event) => mapChoices().tool !== 'move' || event.shiftKey;
  const zoom = d3
    .zoom()
    .scaleExtent([0.5, 60])
    .filter((event) => event.type === 'wheel' || !(draws(event) || event.button))
    .on('zoom', (event) => {
      transform = event.transform;
      mapChoices().transform = transform;
      canvas.dataset.zoom = transform.k.toFixed(3);
      hovered = -1;
      hideTip();
      redraw();
    });
  const zoomed = d3.select(canvas).call(zoom);
  zoomed.on('dblclick.zoom', null);
  zoomed.property('__zoom', transform);

  function openRegion(pixels) {
    location.hash = address('region', polygonText(pixels.map(ontoMap)));
  }

  let from = null;
  canvas.addEventListener('pointerdown', (event) => {
    if (!draws(event) || event.button) return;
    from = [event.offsetX, event.offsetY];
    drawn = [from];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    const here = [event.offsetX, event.offsetY];
    if (from) {
      drawn = mapChoices().tool === 'box' ? [from, [here[0], from[1]], here, [from[0], here[1]]] : [...drawn, here];
      redraw();
    } else if (!event.buttons) showDocumentTip(nearestTo(...here, CLICK), ...here);
  });
  canvas.addEventListener('pointerup', () => {
    const pixels = drawn;
    from = null;
    drawn = null;
    if (pixels && pixels.length >= 3 && Math.abs(d3.polygonArea(pixels)) > 60) openRegion(pixels);
    else redraw();
  });
  canvas.addEventListener('pointerleave', () => showDocumentTip(-1));
  canvas.addEventListener('click', (event) => {
    if (draws(event)) return;
    const d = nearestTo(event.offsetX, event.offsetY, CLICK);
    if (d >= 0) location.hash = address('document', documents.id[d]);
  });
  canvas.addEventListener('keydown', (event) => {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (moves[event.key]) zoom.translateBy(zoomed, moves[event.key][0] / transform.k, moves[event.key][1] / transform.k);
    else if (event.key === '+' || event.key === '=') zoom.scaleBy(zoomed, 1.4);
    else if (event.key === '-') zoom.scaleBy(zoomed, 1 / 1.4);
    else if (event.key === '0') zoom.transform(zoomed, d3.zoomIdentity);
    else if (event.key === 'Enter' && hovered >= 0) location.hash = address('document', documents.id[hovered]);
    else if (event.key === 'r' || event.key === 'R')
      openRegion([
        [0, 0],
        [width, 0],
        [width, height],
        [0, height],
      ]);
    else return;
    event.preventDefault();
    showDocumentTip(nearestTo(width / 2, height / 2, 1e9), width / 2, height / 2);
  });

  // ---- next to the map ----

  function drawLegend() {
    const order = chosen();
    const all = [...sizes.keys()]
      .filter((member) => member >= 0)
      .sort((a, b) => sizes.get(b) - sizes.get(a) || a - b)
      .slice(0, MAP_TOPICS);
    const toggle = (member) => {
      const place = order.indexOf(member);
      if (place >= 0) order.splice(place, 1);
      else if (order.push(member) > COLOURS) order.shift();
      tint();
      drawLegend();
      redraw();
    };
    const point = (member) => {
      hoveredGroup = member;
      tint();
      redraw();
    };
    legend.replaceChildren(
      element(
        'p',
        { class: 'muted' },
        `Documents on this page by their ${mapChoices().by === 'topic' ? 'largest topic' : 'first label'}. Choose up to ${COLOURS} to set apart:`,
      ),
      element(
        'ul',
        {},
        all.map((member) => {
          const mark = element('span', {
            class: 'swatch',
            style: { background: mapChoices().by === 'topic' ? topicColour(member) : labelColour(member) },
          });
          return element(
            'li',
            {},
            element(
              'button',
              {
                type: 'button',
                'aria-pressed': String(order.includes(member)),
                on: { click: () => toggle(member), pointerenter: () => point(member), pointerleave: () => point(-1) },
              },
              mark,
              `${groups.names[member]} `,
              element('span', { class: 'muted' }, count(sizes.get(member))),
            ),
          );
        }),
      ),
    );
  }

  const by = element(
    'select',
    {
      id: 'colour-by',
      on: {
        change: () => {
          mapChoices().by = by.value;
          group();
          drawLegend();
          redraw();
        },
      },
    },
    element('option', { value: 'topic', selected: mapChoices().by === 'topic' }, 'topic'),
    documents.labels ? element('option', { value: 'label', selected: mapChoices().by === 'label' }, 'label') : null,
  );
  const tools = ['move', 'lasso', 'box'].map((tool) =>
    element(
      'button',
      {
        type: 'button',
        id: `tool-${tool}`,
        'aria-pressed': String(mapChoices().tool === tool),
        on: {
          click: () => {
            mapChoices().tool = tool;
            for (const other of tools) other.setAttribute('aria-pressed', String(other.id === `tool-${tool}`));
          },
        },
      },
      { move: 'Move', lasso: 'Lasso', box: 'Box' }[tool],
    ),
  );
  const layers = element('div', { class: 'layers' }, points.canvas, canvas);
  if (alone) main.append(layers);
  else
    main.append(
      element('h2', {}, corners ? 'A region of the map' : 'Map'),
      element(
        'div',
        { class: 'tools' },
        element('label', {}, 'Colour by ', by),
        element('span', { role: 'group', 'aria-label': 'What dragging does' }, tools),
        element('button', { type: 'button', id: 'map-all', on: { click: () => zoom.transform(zoomed, d3.zoomIdentity) } }, 'Show all'),
        element(
          'span',
          { role: 'group', 'aria-label': 'Save the map' },
          element(
            'button',
            { type: 'button', id: 'map-picture', 'aria-label': 'Save the map as PNG', on: { click: () => savePicture() } },
            'PNG',
          ),
          element(
            'button',
            { type: 'button', id: 'map-svg', 'aria-label': 'Save the map as SVG', on: { click: () => saveDrawing() } },
            'SVG',
          ),
        ),
      ),
      element('div', { class: 'map' }, layers, legend),
      element(
        'p',
        { class: 'muted map-note' },
        report.corpus.sample ? `A sample: ${count(documentCount)} of the ${count(report.corpus.documents)} documents. ` : '',
        `Documents that are near each other have similar topics${documents.linked ? ' or are linked' : ''}. Drag to move, scroll to zoom, click a document to open it. To see what a region is about, draw around it with the lasso, the box, or while holding Shift. Point at a document to see lines to the documents ${documents.linked ? `linked to it by ${report.graph}` : 'nearest by topic'}.`,
      ),
      below || '',
    );

  // the names as they were last drawn
  function saveDrawing() {
    const size = pointRadius();
    const circles = d3
      .range(documentCount)
      .filter(passes)
      .map((d) => {
        const [r, g, b] = points.tints.subarray(4 * d, 4 * d + 3);
        return [...at(d), size, `rgb(${r},${g},${b})`];
      });
    download('map.svg', mapAsSvg(canvas.clientWidth, canvas.clientHeight, circles, drawnNames));
  }

  function savePicture() {
    const whole = element('canvas', { width: canvas.width, height: canvas.height });
    const picture = whole.getContext('2d');
    picture.fillStyle = colourValue('--page');
    picture.fillRect(0, 0, whole.width, whole.height);
    for (const layer of [points.canvas, canvas]) picture.drawImage(layer, 0, 0);
    downloadAddress('map.png', whole.toDataURL('image/png'));
  }

  const resize = () => {
    fit();
    redraw();
  };
  const recolour = () => {
    tint();
    drawLegend();
    redraw();
  };
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  addEventListener('resize', resize);
  scheme.addEventListener('change', recolour);
  fit();
  group();
  drawLegend();
  draw();
  return () => {
    removeEventListener('resize', resize);
    scheme.removeEventListener('change', recolour);
    cancelAnimationFrame(pending);
  };
}

export const mapView = { tab: 'Map', draw: (main, value) => drawMap(main, value) };
