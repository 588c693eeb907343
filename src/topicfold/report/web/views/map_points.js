// Points on a canvas: drawn by WebGL or, if there is none, by the 2D canvas. A point has a place and a colour.

import { documentCount, documents } from '../documents.js';
import { element } from '../elements.js';

const POINT_SHADERS = [
  [
    'VERTEX_SHADER',
    `
    attribute vec2 place;
    attribute vec4 tint;
    uniform vec2 grow, shift;
    uniform float size;
    varying vec4 colour;
    void main() {
      gl_Position = vec4(place * grow + shift, 0.0, 1.0);
      gl_PointSize = size;
      colour = tint;
    }`,
  ],
  [
    'FRAGMENT_SHADER',
    `
    precision mediump float;
    varying vec4 colour;
    void main() {
      vec2 from = gl_PointCoord * 2.0 - 1.0;
      if (dot(from, from) > 1.0) discard;
      gl_FragColor = vec4(colour.rgb * colour.a, colour.a);
    }`,
  ],
];

function pointProgram(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of POINT_SHADERS) {
    const shader = gl.createShader(gl[kind]);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

// A function that sets the values of an attribute of the program, one per point.
function pointAttribute(gl, program, name, size, type, normalised) {
  const place = gl.getAttribLocation(program, name);
  const buffer = gl.createBuffer();
  return (values) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, normalised, 0, 0);
  };
}

function webglPoints(canvas, places) {
  const gl = canvas.getContext('webgl', { antialias: false, preserveDrawingBuffer: true, powerPreference: 'low-power' });
  const program = gl && pointProgram(gl);
  if (!program) return null;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  pointAttribute(gl, program, 'place', 2, gl.FLOAT, false)(places);
  const setTints = pointAttribute(gl, program, 'tint', 4, gl.UNSIGNED_BYTE, true);
  const uniform = (name) => gl.getUniformLocation(program, name);
  const [grow, shift, size] = ['grow', 'shift', 'size'].map(uniform);
  return {
    tint: setTints,
    draw({ scale, left, top, radius, ratio, width, height }) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(grow, (2 * scale) / width, (-2 * scale) / height);
      gl.uniform2f(shift, (2 * left) / width - 1, 1 - (2 * top) / height);
      gl.uniform1f(size, 2 * radius * ratio);
      gl.drawArrays(gl.POINTS, 0, places.length / 2);
    },
  };
}

function canvasPoints(canvas, places) {
  const context = canvas.getContext('2d');
  let byTint = new Map();
  let tints = null;
  return {
    tint(newTints) {
      tints = newTints;
      const whole = new Uint32Array(tints.buffer);
      byTint = d3.group(d3.range(whole.length), (d) => whole[d]);
    },
    draw({ scale, left, top, radius, ratio, width, height }) {
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      for (const members of byTint.values()) {
        const [red, green, blue, alpha] = tints.subarray(4 * members[0], 4 * members[0] + 4);
        context.fillStyle = `rgba(${red}, ${green}, ${blue}, ${alpha / 255})`;
        for (const d of members) {
          const px = left + scale * places[2 * d];
          const py = top + scale * places[2 * d + 1];
          if (px > -9 && py > -9 && px < width + 9 && py < height + 9) context.fillRect(px - radius, py - radius, 2 * radius, 2 * radius);
        }
      }
    },
  };
}

let pointLayer = null;

export function pointsOfMap() {
  if (pointLayer) return pointLayer; // made once: a browser has few WebGL contexts, and does not give one back at once
  const places = new Float32Array(2 * documentCount);
  for (let d = 0; d < documentCount; d += 1) [places[2 * d], places[2 * d + 1]] = [documents.x[d], documents.y[d]];
  let canvas = element('canvas', { id: 'map-points', 'aria-hidden': 'true' });
  let points = webglPoints(canvas, places);
  if (!points) {
    canvas = element('canvas', { id: 'map-points', 'aria-hidden': 'true' }); // a canvas that failed once stays failed
    points = canvasPoints(canvas, places);
    canvas.dataset.drawnBy = 'canvas';
  } else canvas.dataset.drawnBy = 'webgl';
  pointLayer = { canvas, tints: new Uint8Array(4 * documentCount), ...points };
  return pointLayer;
}
