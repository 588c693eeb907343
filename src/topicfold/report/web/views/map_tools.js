// What is around the map: the list of groups next to it, and the buttons above it.

import { COLOURS } from '../colours.js';
import { documents } from '../documents.js';
import { element } from '../elements.js';
import { count } from '../numbers.js';
import { chosenGroups, groupColour, mapChoices } from './map_groups.js';
import { saveMapAsPng, saveMapAsSvg } from './map_picture.js';

const MAP_TOPICS = 400; // choices in the list of groups
const TOOLS = { move: 'Move', lasso: 'Lasso', box: 'Box' };

export function drawLegend(map, legend) {
  const chosen = chosenGroups();
  const groups = [...map.sizes.keys()]
    .filter((group) => group >= 0)
    .sort((a, b) => map.sizes.get(b) - map.sizes.get(a) || a - b)
    .slice(0, MAP_TOPICS);
  const toggle = (group) => {
    const place = chosen.indexOf(group);
    if (place >= 0) chosen.splice(place, 1);
    else if (chosen.push(group) > COLOURS) chosen.shift();
    map.tint();
    drawLegend(map, legend);
    map.redraw();
  };
  const pointAt = (group) => {
    map.hoveredGroup = group;
    map.tint();
    map.redraw();
  };
  const line = (group) =>
    element(
      'li',
      {},
      element(
        'button',
        {
          type: 'button',
          'aria-pressed': String(chosen.includes(group)),
          on: { click: () => toggle(group), pointerenter: () => pointAt(group), pointerleave: () => pointAt(-1) },
        },
        element('span', { class: 'swatch', style: { background: groupColour(group) } }),
        `${map.groups.names[group]} `,
        element('span', { class: 'muted' }, count(map.sizes.get(group))),
      ),
    );
  const kind = mapChoices().by === 'topic' ? 'largest topic' : 'first label';
  const about = `Documents on this page by their ${kind}. Choose up to ${COLOURS} to set apart:`;
  legend.replaceChildren(element('p', { class: 'muted' }, about), element('ul', {}, groups.map(line)));
}

function colourChooser(map, legend) {
  const option = (value) => element('option', { value, selected: mapChoices().by === value }, value);
  const change = () => {
    mapChoices().by = chooser.value;
    map.group();
    drawLegend(map, legend);
    map.redraw();
  };
  const chooser = element('select', { id: 'colour-by', on: { change } }, option('topic'), documents.labels ? option('label') : null);
  return element('label', {}, 'Colour by ', chooser);
}

function toolButtons() {
  const buttons = Object.keys(TOOLS).map((tool) => {
    const click = () => {
      mapChoices().tool = tool;
      for (const button of buttons) button.setAttribute('aria-pressed', String(button.id === `tool-${tool}`));
    };
    const isPressed = String(mapChoices().tool === tool);
    return element('button', { type: 'button', id: `tool-${tool}`, 'aria-pressed': isPressed, on: { click } }, TOOLS[tool]);
  });
  return element('span', { role: 'group', 'aria-label': 'What dragging does' }, buttons);
}

function saveButtons(map) {
  const button = (id, format, click) =>
    element('button', { type: 'button', id, 'aria-label': `Save the map as ${format}`, on: { click } }, format);
  return element(
    'span',
    { role: 'group', 'aria-label': 'Save the map' },
    button('map-picture', 'PNG', () => saveMapAsPng(map)),
    button('map-svg', 'SVG', () => saveMapAsSvg(map)),
  );
}

export function mapTools(map, legend, showAll) {
  return element(
    'div',
    { class: 'tools' },
    colourChooser(map, legend),
    toolButtons(),
    element('button', { type: 'button', id: 'map-all', on: { click: showAll } }, 'Show all'),
    saveButtons(map),
  );
}
