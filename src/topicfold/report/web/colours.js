// Seven colours can be told apart with any colour vision: they are for what the reader has chosen. In addition, each
// topic has its own hue, a golden angle from that of the next smaller topic; topics of the upper level come first.

import { element } from './elements.js';
import { perReport, topics } from './report.js';

export const COLOURS = 7;
const HUE_STEP = 137.508;
export const chosenTopics = perReport(() => []); // rows, chosen by the reader on the map

const hueRank = perReport(() => {
  const rows = [...topics.keys()].sort((a, b) => topics[b].level - topics[a].level || topics[b].size - topics[a].size);
  return new Map(rows.map((row, rank) => [row, rank]));
});

function isDark() {
  return matchMedia('(prefers-color-scheme: dark)').matches;
}

export function hueOf(rank) {
  const turn = Math.floor((rank * HUE_STEP) / 360); // every other turn is a little lighter
  return d3.hcl((30 + rank * HUE_STEP) % 360, 48, (isDark() ? 70 : 52) + (turn % 2 ? 8 : 0));
}

export function topicColour(row) {
  const place = chosenTopics().indexOf(row);
  if (place >= 0) return colourValue(`--c${place}`);
  return hueOf(hueRank().get(row)).formatHex();
}

export function topicSwatch(row) {
  return element('span', { class: 'swatch', style: { background: topicColour(row) } });
}

export function colour(index) {
  return index < 0 || index >= COLOURS ? 'var(--grey)' : `var(--c${index})`;
}

export function swatch(index) {
  return element('span', { class: 'swatch', style: { background: colour(index) } });
}

export function colourValue(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
