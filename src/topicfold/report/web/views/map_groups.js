// The groups of documents on the map, topics or labels: their colours, and names with their places.

import { chosenTopics, colourValue, hueOf, topicColour } from '../colours.js';
import { documentCount, documents, levelShares, mainTopic } from '../documents.js';
import { passes } from '../filter.js';
import { nameOf } from '../names.js';
import { highest, isFlat, isGraph, lowest, perReport, report, topics } from '../report.js';

const LEVEL_ZOOMS = [1, 2.2, 5]; // the zoom at which the names of further levels of a tree appear
const GRID_ZOOMS = [2.5, 5, 10]; // and the words of neighbourhoods, coarse to fine

// What the reader has chosen on the map, and the place to which they moved it.
export const mapChoices = perReport(() => ({ by: 'topic', tool: 'move', labels: [], transform: null }));

// The group of each document, and the names of the groups.
export function groupsOfDocuments() {
  if (mapChoices().by === 'label')
    return { of: documents.labels.map((text) => (text ? Number(text.split(' ')[0]) : -1)), names: report.labels };
  return { of: d3.range(documentCount).map(mainTopic), names: topics.map(nameOf) };
}

// The groups that the reader has set apart.
export function chosenGroups() {
  return mapChoices().by === 'topic' ? chosenTopics() : mapChoices().labels;
}

export function groupColour(group) {
  if (mapChoices().by === 'topic') return topicColour(group);
  const place = mapChoices().labels.indexOf(group);
  return place >= 0 ? colourValue(`--c${place}`) : hueOf(group).formatHex();
}

// The place for the name of a group: where its documents are densest.
function anchorOf(members) {
  const cell = (d) => `${Math.round(documents.x[d] / 500)} ${Math.round(documents.y[d] / 500)}`;
  const cells = d3.group(members, cell);
  const [best] = [...cells.values()].sort((a, b) => b.length - a.length);
  return [d3.mean(best, (d) => documents.x[d]), d3.mean(best, (d) => documents.y[d])];
}

// Names with their places, the most important first, as there may not be room for all:
// {text, x, y, zoom, kind, group}, where zoom is the least at which the name is shown.
export function placedNames(groups) {
  const placed = [];
  const add = (of, names, zoom, kind) => {
    const members = d3.group(
      d3.range(documentCount).filter((d) => of[d] >= 0 && passes(d)),
      (d) => of[d],
    );
    for (const [group, list] of [...members].sort((a, b) => b[1].length - a[1].length)) {
      const [x, y] = anchorOf(list);
      placed.push({ text: names[group], x, y, zoom, kind, group });
    }
  };
  add(groups.of, groups.names, 0, 'group');
  if (mapChoices().by === 'topic' && !isFlat) {
    const levels = isGraph ? [] : d3.range(highest - 1, lowest - 1, -1);
    levels.slice(0, 2).forEach((level, i) =>
      add(
        d3.range(documentCount).map((d) => (levelShares(d, level)[0] || [-1])[0]),
        groups.names,
        LEVEL_ZOOMS[i + 1],
        'finer',
      ),
    );
  }
  for (const [grid, x, y, ...words] of report.neighbourhoods)
    placed.push({ text: words.join(' '), x, y, zoom: GRID_ZOOMS[grid], kind: 'words', group: null });
  return placed;
}
