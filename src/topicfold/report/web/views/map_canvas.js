// The map on its canvas: names, and lines to the neighbours of a document. The points are on a layer of their own below it.

import { shortened } from '../charts.js';
import { colourValue } from '../colours.js';
import { documentCount, documents } from '../documents.js';
import { element } from '../elements.js';
import { passes } from '../filter.js';
import { numbersIn } from '../numbers.js';
import { chosenGroups, groupColour, groupsOfDocuments, mapChoices, placedNames } from './map_groups.js';
import { pointsOfMap } from './map_points.js';

const NAME_LINES = [0, 17, -17, 34, -34]; // pixels below a group's centre where its name can be
const NAME_LETTERS = 32;
const NAME_FONTS = {
  group: { size: 13, weight: 600, style: 'normal' },
  finer: { size: 12, weight: 600, style: 'normal' },
  words: { size: 12, weight: 400, style: 'italic' },
};
const LABEL =
  'Map of documents. Arrow keys move, plus and minus zoom, zero shows all, Enter opens the document nearest the centre, ' +
  'R shows what the visible region is about.';

export class DocumentMap {
  // `chosen` is a document, or undefined; `corners` those of a region, or null.
  constructor(chosen, corners) {
    this.chosen = chosen;
    this.corners = corners;
    this.canvas = element('canvas', { id: 'map-canvas', tabindex: '0', role: 'application', 'aria-label': LABEL });
    this.context = this.canvas.getContext('2d');
    this.points = pointsOfMap();
    this.tree = d3.quadtree(
      d3.range(documentCount),
      (d) => documents.x[d],
      (d) => documents.y[d],
    );
    this.groups = null;
    this.sizes = null; // documents of each group that pass the filter
    this.names = []; // with their places
    this.drawnNames = []; // those that had room: [text, x, y, font]
    this.transform = mapChoices().transform || d3.zoomIdentity;
    this.scale = 1;
    this.offset = [0, 0];
    this.pending = 0; // request of an animation frame
    this.hovered = -1; // document
    this.hoveredGroup = -1;
    this.outlined = null; // corners of the region that is being drawn, in pixels
  }

  // ---- places ----

  fit() {
    const { canvas, context, points } = this;
    const box = { width: canvas.clientWidth, height: canvas.clientHeight };
    const ratio = devicePixelRatio || 1;
    for (const layer of [canvas, points.canvas])
      [layer.width, layer.height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const width = Math.max(d3.max(documents.x) || 0, 1);
    const height = Math.max(d3.max(documents.y) || 0, 1);
    this.scale = Math.min((box.width - 40) / width, (box.height - 40) / height);
    this.offset = [(box.width - this.scale * width) / 2, (box.height - this.scale * height) / 2];
  }

  toPixels([x, y]) {
    return [this.transform.applyX(this.offset[0] + this.scale * x), this.transform.applyY(this.offset[1] + this.scale * y)];
  }

  fromPixels([px, py]) {
    return [(this.transform.invertX(px) - this.offset[0]) / this.scale, (this.transform.invertY(py) - this.offset[1]) / this.scale];
  }

  pixelsOf(d) {
    return this.toPixels([documents.x[d], documents.y[d]]);
  }

  // The document nearest a pixel, -1 if none is within reach.
  nearestTo(pixel, reach) {
    const [x, y] = this.fromPixels(pixel);
    const d = this.tree.find(x, y, reach / (this.scale * this.transform.k));
    return d === undefined || !passes(d) ? -1 : d;
  }

  pointRadius() {
    const radius = documentCount > 20000 ? 1.1 : documentCount > 5000 ? 1.6 : 2.4;
    return Math.max(1.1, Math.min(5, radius * Math.sqrt(this.transform.k)));
  }

  // ---- groups and colours ----

  group() {
    this.groups = groupsOfDocuments();
    this.sizes = d3.rollup(
      d3.range(documentCount).filter(passes),
      (list) => list.length,
      (d) => this.groups.of[d],
    );
    this.names = placedNames(this.groups);
    this.tint();
  }

  // The colours of all points. If some groups are chosen, or one is pointed at, the others fade.
  tint() {
    const colours = new Map();
    const brightGroups = this.hoveredGroup >= 0 ? [this.hoveredGroup] : chosenGroups();
    const grey = d3.color(colourValue('--grey'));
    for (let d = 0; d < documentCount; d += 1) {
      const group = this.groups.of[d];
      if (!colours.has(group)) colours.set(group, group < 0 ? grey : d3.color(groupColour(group)));
      const { r, g, b } = colours.get(group);
      const opacity = passes(d) ? (!brightGroups.length || brightGroups.includes(group) ? 215 : 50) : 14;
      this.points.tints.set([r, g, b, opacity], 4 * d);
    }
    this.points.tint(this.points.tints);
  }

  // ---- drawing ----

  draw() {
    this.pending = 0;
    this.drawPoints();
    this.context.clearRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    this.drawNames();
    if (this.corners) this.outline(this.corners.map((corner) => this.toPixels(corner)));
    if (this.outlined) this.outline(this.outlined);
    for (const [d, width] of [
      [this.chosen, 3],
      [this.hovered, 2],
    ]) {
      if (d === undefined || d < 0) continue;
      this.drawEdgesOf(d);
      this.ring(d, width);
    }
  }

  redraw() {
    if (!this.pending) this.pending = requestAnimationFrame(() => this.draw());
  }

  drawPoints() {
    this.points.draw({
      scale: this.scale * this.transform.k,
      left: this.transform.applyX(this.offset[0]),
      top: this.transform.applyY(this.offset[1]),
      radius: this.pointRadius(),
      ratio: devicePixelRatio || 1,
      width: this.canvas.clientWidth,
      height: this.canvas.clientHeight,
    });
  }

  drawNames() {
    const { canvas, context } = this;
    const family = getComputedStyle(document.body).fontFamily;
    const [ink, muted, ground] = ['--ink', '--muted', '--page'].map(colourValue);
    context.textAlign = 'center';
    context.lineJoin = 'round';
    context.lineWidth = 4;
    context.strokeStyle = ground;
    const taken = []; // boxes of the names drawn so far: one that would cover another is left out
    const chosen = chosenGroups();
    this.drawnNames = [];
    for (const { text, x, y, zoom, kind, group } of this.names) {
      if (this.transform.k < zoom) continue;
      const [px, py] = this.toPixels([x, y]);
      if (px < 0 || px > canvas.clientWidth || py < 0 || py > canvas.clientHeight) continue;
      const font = NAME_FONTS[kind];
      context.font = `${font.style} ${font.weight} ${font.size}px ${family}`;
      const short = shortened(text, NAME_LETTERS);
      const half = context.measureText(short).width / 2;
      const middle = Math.min(Math.max(px, half + 4), canvas.clientWidth - half - 4);
      const isFree = (line) => !taken.some(([tx, ty, reach]) => Math.abs(tx - middle) < reach + half + 6 && Math.abs(ty - line) < 17);
      const line = (kind === 'group' ? NAME_LINES : [0]).map((below) => py + below).find(isFree);
      if (line === undefined) continue;
      taken.push([middle, line, half]);
      this.drawnNames.push([short, middle, line, font]);
      context.strokeText(short, middle, line);
      context.fillStyle = kind === 'words' || (kind === 'group' && chosen.length && !chosen.includes(group)) ? muted : ink;
      context.fillText(short, middle, line);
    }
    canvas.dataset.names = this.drawnNames.length;
  }

  drawEdgesOf(d) {
    const { context } = this;
    context.strokeStyle = colourValue('--ink');
    context.globalAlpha = 0.55;
    context.lineWidth = 1;
    context.beginPath();
    for (const other of numbersIn((documents.linked || documents.near)[d])) {
      context.moveTo(...this.pixelsOf(d));
      context.lineTo(...this.pixelsOf(other));
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  ring(d, width) {
    const { context } = this;
    context.strokeStyle = colourValue('--ink');
    context.lineWidth = width;
    context.beginPath();
    context.arc(...this.pixelsOf(d), 8, 0, 2 * Math.PI);
    context.stroke();
  }

  outline(pixels) {
    const { context } = this;
    context.strokeStyle = colourValue('--c1');
    context.lineWidth = 2;
    context.setLineDash([6, 4]);
    context.beginPath();
    pixels.forEach((pixel, i) => (i ? context.lineTo(...pixel) : context.moveTo(...pixel)));
    context.closePath();
    context.stroke();
    context.setLineDash([]);
  }
}
