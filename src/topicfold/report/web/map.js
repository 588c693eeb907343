// The map: a point a document, on a canvas. Pan, zoom, point at one for its title, open it with a click.

const MAP_TOPICS = 400; // choices in the list of what to colour
const EDGE_REST = 120; // milliseconds after the last move before edges are drawn

const mapChoice = { by: 'topic', edges: false, chosen: { topic: null, label: null } };

function groupsOf(by) {
  if (by === 'label') {
    const first = documents.labels.map((text) => (text ? Number(text.split(' ')[0]) : -1));
    return { of: first, names: report.labels };
  }
  return { of: d3.range(documentCount).map(mainTopic), names: topics.map(nameOf) };
}

function edgePairs() {
  const lists = (documents.linked || documents.near).map(numbers);
  const edges = [];
  lists.forEach((others, d) => {
    for (const other of others) if (d < other || !lists[other].includes(d)) edges.push([d, other]);
  });
  return edges;
}

function drawMap(main, value) {
  const { x: xs, y: ys } = documents;
  const canvas = element('canvas', { id: 'map-canvas', tabindex: '0', role: 'application', 'aria-label': 'Map of documents. Arrow keys move, plus and minus zoom, zero shows all, Enter opens the document nearest the centre.' });
  const context = canvas.getContext('2d');
  const legend = element('div', { class: 'legend' });
  const tree = d3.quadtree(d3.range(documentCount), (d) => xs[d], (d) => ys[d]);
  const chosenDocument = value === null ? undefined : rowOfDocument.get(value);
  let groups = null; // which group each document is in, and the names of the groups
  let sizes = null;
  let lists = null; // documents by colour, made anew when the choice of colours changes
  let edges = null;
  let transform = d3.zoomIdentity;
  let scale = 1;
  let offset = [0, 0];
  let pending = 0;
  let restTimer = 0;
  let hovered = -1;

  function chosen() {
    if (!mapChoice.chosen[mapChoice.by]) {
      const order = [...sizes.keys()].filter((member) => member >= 0).sort((a, b) => sizes.get(b) - sizes.get(a) || a - b);
      mapChoice.chosen[mapChoice.by] = order.slice(0, COLOURS);
    }
    return mapChoice.chosen[mapChoice.by];
  }

  function group() {
    groups = groupsOf(mapChoice.by);
    sizes = d3.rollup(groups.of, (list) => list.length, (member) => member);
    lists = null;
  }

  const at = (d) => [transform.applyX(offset[0] + scale * xs[d]), transform.applyY(offset[1] + scale * ys[d])];

  function fit() {
    const box = { width: canvas.clientWidth, height: canvas.clientHeight };
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(box.width * ratio);
    canvas.height = Math.round(box.height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const width = Math.max(d3.max(xs) || 0, 1);
    const height = Math.max(d3.max(ys) || 0, 1);
    scale = Math.min((box.width - 40) / width, (box.height - 40) / height);
    offset = [(box.width - scale * width) / 2, (box.height - scale * height) / 2];
  }

  function drawEdges() {
    edges = edges || edgePairs();
    context.strokeStyle = colourValue('--edge');
    context.lineWidth = 0.6;
    context.beginPath();
    for (const [a, b] of edges) {
      const [ax, ay] = at(a);
      const [bx, by] = at(b);
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
    }
    context.stroke();
  }

  function drawPoints() {
    const order = chosen();
    const size = Math.max(1.6, Math.min(5, (documentCount > 5000 ? 1.7 : 2.4) * Math.sqrt(transform.k)));
    const [grow, left, top] = [scale * transform.k, transform.applyX(offset[0]), transform.applyY(offset[1])];
    const [right, bottom] = [canvas.clientWidth + 9, canvas.clientHeight + 9];
    const square = documentCount > 5000 && size < 2.5; // too small to be told from a disc, and several times faster
    lists = lists || d3.group(d3.range(documentCount), (d) => order.indexOf(groups.of[d]));
    for (const index of [-1, ...d3.range(order.length)]) {
      context.fillStyle = index < 0 ? colourValue('--grey') : colourValue(`--c${index}`);
      context.globalAlpha = index < 0 ? 0.45 : 0.85;
      context.beginPath();
      for (const d of lists.get(index) || []) {
        const px = left + grow * xs[d];
        const py = top + grow * ys[d];
        if (px < -9 || py < -9 || px > right || py > bottom) continue;
        if (square) {
          context.fillRect(px - size, py - size, 2 * size, 2 * size);
        } else {
          context.moveTo(px + size, py);
          context.arc(px, py, size, 0, 2 * Math.PI);
        }
      }
      if (!square) context.fill();
    }
    context.globalAlpha = 1;
    return order;
  }

  function drawNames(order) {
    context.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
    context.textAlign = 'center';
    context.lineJoin = 'round';
    const taken = []; // boxes of the names drawn so far: one that would cover another is left out
    order.forEach((member, index) => {
      const members = lists.get(index);
      if (!members) return;
      const px = transform.applyX(offset[0] + scale * d3.median(members, (d) => xs[d]));
      const py = transform.applyY(offset[1] + scale * d3.median(members, (d) => ys[d]));
      const name = groups.names[member];
      const text = name.length > 28 ? `${name.slice(0, 27)}…` : name;
      const half = context.measureText(text).width / 2;
      if (px < 0 || px > canvas.clientWidth) return;
      const middle = Math.min(Math.max(px, half + 4), canvas.clientWidth - half - 4);
      if (taken.some(([x, y, reach]) => Math.abs(x - middle) < reach + half + 4 && Math.abs(y - py) < 16)) return;
      taken.push([middle, py, half]);
      context.lineWidth = 4;
      context.strokeStyle = colourValue('--page');
      context.strokeText(text, middle, py);
      context.fillStyle = colourValue('--ink');
      context.fillText(text, middle, py);
    });
  }

  function ring(d, width) {
    const [px, py] = at(d);
    context.strokeStyle = colourValue('--ink');
    context.lineWidth = width;
    context.beginPath();
    context.arc(px, py, 8, 0, 2 * Math.PI);
    context.stroke();
  }

  function draw(atRest) {
    pending = 0;
    context.fillStyle = colourValue('--page'); // a ground of its own: a dark map is printed as it is
    context.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    if (mapChoice.edges && atRest) drawEdges();
    drawNames(drawPoints());
    if (chosenDocument !== undefined) ring(chosenDocument, 3);
    if (hovered >= 0) ring(hovered, 2);
  }

  // Edges are many: they are drawn when the map has come to rest.
  function redraw() {
    if (!pending) pending = requestAnimationFrame(() => draw(!mapChoice.edges));
    clearTimeout(restTimer);
    if (mapChoice.edges) restTimer = setTimeout(() => requestAnimationFrame(() => draw(true)), EDGE_REST);
  }

  function nearestTo(px, py, reach) {
    const found = tree.find((transform.invertX(px) - offset[0]) / scale, (transform.invertY(py) - offset[1]) / scale, reach / (scale * transform.k));
    return found === undefined ? -1 : found;
  }

  function tell(d, px, py) {
    if (d === hovered) return undefined;
    hovered = d;
    canvas.dataset.hovered = d < 0 ? '' : documents.id[d];
    redraw();
    if (d < 0) return hideTip();
    const box = canvas.getBoundingClientRect();
    const labels = documents.labels ? numbers(documents.labels[d]).map((label) => report.labels[label]).join(', ') : '';
    return showTip(box.left + px, box.top + py, titleOf(d), mainTopic(d) < 0 ? '' : nameOf(topics[mainTopic(d)]), labels);
  }

  const zoom = d3.zoom().scaleExtent([0.5, 60]).on('zoom', (event) => {
    transform = event.transform;
    canvas.dataset.zoom = transform.k.toFixed(3);
    hovered = -1;
    hideTip();
    redraw();
  });
  const zoomed = d3.select(canvas).call(zoom);
  zoomed.on('dblclick.zoom', null);
  canvas.addEventListener('pointermove', (event) => {
    if (!event.buttons) tell(nearestTo(event.offsetX, event.offsetY, 14), event.offsetX, event.offsetY);
  });
  canvas.addEventListener('pointerleave', () => tell(-1));
  canvas.addEventListener('click', (event) => {
    const d = nearestTo(event.offsetX, event.offsetY, 14);
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
    else return;
    event.preventDefault();
    tell(nearestTo(width / 2, height / 2, 1e9), width / 2, height / 2);
  });

  function drawLegend() {
    const order = chosen();
    const all = [...sizes.keys()].filter((member) => member >= 0).sort((a, b) => sizes.get(b) - sizes.get(a) || a - b).slice(0, MAP_TOPICS);
    const toggle = (member) => {
      const list = chosen();
      const place = list.indexOf(member);
      lists = null;
      mapChoice.chosen[mapChoice.by] = place >= 0 ? list.filter((other) => other !== member) : [...list.slice(-COLOURS + 1), member];
      drawLegend();
      redraw();
    };
    legend.replaceChildren(
      element('p', { class: 'muted' }, `Documents on this page by their ${mapChoice.by === 'topic' ? 'largest topic' : 'first label'}. Choose up to ${COLOURS} to colour:`),
      element(
        'ul',
        {},
        all.map((member) => {
          const index = order.indexOf(member);
          return element('li', {}, element('button', { type: 'button', 'aria-pressed': String(index >= 0), on: { click: () => toggle(member) } }, swatch(index), `${groups.names[member]} `, element('span', { class: 'muted' }, count(sizes.get(member)))));
        }),
      ),
    );
  }

  const by = element(
    'select',
    { id: 'colour-by', on: { change: () => {
      mapChoice.by = by.value;
      group();
      drawLegend();
      redraw();
    } } },
    element('option', { value: 'topic', selected: mapChoice.by === 'topic' }, 'topic'),
    documents.labels ? element('option', { value: 'label', selected: mapChoice.by === 'label' }, 'label') : null,
  );
  const edgeName = documents.linked ? report.graph : 'nearest by topic';
  const edgeBox = element('input', { type: 'checkbox', id: 'edges', checked: mapChoice.edges, on: { change: () => { mapChoice.edges = edgeBox.checked; redraw(); } } });
  main.append(
    element('h2', {}, 'Map'),
    element(
      'div',
      { class: 'tools' },
      element('label', {}, 'Colour by ', by),
      element('label', { class: 'check', title: 'Of a document with very many, the heaviest' }, edgeBox, ` Edges (${edgeName})`),
      element('button', { type: 'button', on: { click: () => zoom.transform(zoomed, d3.zoomIdentity) } }, 'Show all'),
    ),
    element('div', { class: 'map' }, canvas, legend),
    element('p', { class: 'muted map-note' }, report.corpus.sample ? `A sample: ${count(documentCount)} of the ${count(report.corpus.documents)} documents. ` : '', 'Documents with similar topics, or joined in the graph, are near each other. Drag to move, scroll to zoom, click a document to open it.'),
  );
  group();
  drawLegend();
  const resize = () => { fit(); redraw(); };
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  addEventListener('resize', resize);
  scheme.addEventListener('change', redraw);
  fit();
  draw(true);
  return () => {
    removeEventListener('resize', resize);
    scheme.removeEventListener('change', redraw);
    cancelAnimationFrame(pending);
    clearTimeout(restTimer);
  };
}

views.map = { tab: 'Map', draw: drawMap };
