// The map: one point per document. Pan, zoom, point at a document for its title, click to open it; draw around a region to
// see what it is about. Its parts are map_canvas.js (what is drawn), map_points.js, map_groups.js, map_moves.js (what the
// reader does) and map_tools.js (what is around it).

import { documentCount, documents, rowOfDocument } from '../documents.js';
import { element } from '../elements.js';
import { count } from '../numbers.js';
import { report } from '../report.js';
import { DocumentMap } from './map_canvas.js';
import { followPointer, makeMovable } from './map_moves.js';
import { drawLegend, mapTools } from './map_tools.js';

function noteOnMap() {
  const { corpus } = report;
  const sample = corpus.sample ? `A sample: ${count(documentCount)} of the ${count(corpus.documents)} documents. ` : '';
  const linked = documents.linked ? ' or are linked' : '';
  const neighbours = documents.linked ? `linked to it by ${report.graph}` : 'nearest by topic';
  return element(
    'p',
    { class: 'muted map-note' },
    sample,
    `Documents that are near each other have similar topics${linked}. Drag to move, scroll to zoom, click a document to open it. ` +
      'To see what a region is about, draw around it with the lasso, the box, or while holding Shift. ' +
      `Point at a document to see lines to the documents ${neighbours}.`,
  );
}

// The map follows the size of the window and the colours of the system; a function that ends this.
function followWindow(map, legend) {
  const resize = () => {
    map.fit();
    map.redraw();
  };
  const recolour = () => {
    map.tint();
    drawLegend(map, legend);
    map.redraw();
  };
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  addEventListener('resize', resize);
  scheme.addEventListener('change', recolour);
  return () => {
    removeEventListener('resize', resize);
    scheme.removeEventListener('change', recolour);
    cancelAnimationFrame(map.pending);
  };
}

// The map with a document marked, or with the corners of a region and what is to be shown below; or alone, without tools.
export function drawMap(main, { marked = null, corners = null, below = '', alone = false } = {}) {
  const map = new DocumentMap(marked === null ? undefined : rowOfDocument.get(marked), corners);
  const legend = element('div', { class: 'legend' });
  const layers = element('div', { class: 'layers' }, map.points.canvas, map.canvas);
  const showAll = makeMovable(map);
  followPointer(map);
  if (alone) main.append(layers);
  else
    main.append(
      element('h2', {}, corners ? 'A region of the map' : 'Map'),
      mapTools(map, legend, showAll),
      element('div', { class: 'map' }, layers, legend),
      noteOnMap(),
      below,
    );
  const leave = followWindow(map, legend);
  map.fit();
  map.group();
  drawLegend(map, legend);
  map.draw();
  return leave;
}

export const mapView = { tab: 'Map', draw: (main, value) => drawMap(main, { marked: value }) };
