// The names on the map.

import { documentCount, documents, levelShares, mainTopic } from '../documents.js';
import { passes } from '../filter.js';
import { nameOf } from '../names.js';
import { highest, isFlat, isGraph, lowest, report, topics } from '../report.js';

const LEVEL_ZOOMS = [1, 2.2, 5]; // the zoom at which the names of further levels of a tree appear
const GRID_ZOOMS = [2.5, 5, 10]; // and the words of neighbourhoods, coarse to fine

export function groupsOf(by) {
  if (by === 'label') return { of: documents.labels.map((text) => (text ? Number(text.split(' ')[0]) : -1)), names: report.labels };
  return { of: d3.range(documentCount).map(mainTopic), names: topics.map(nameOf) };
}

// The place for the name of a group: where its documents are densest.
function anchorOf(members) {
  const cell = (d) => `${Math.round(documents.x[d] / 500)} ${Math.round(documents.y[d] / 500)}`;
  const cells = d3.group(members, cell);
  const [best] = [...cells.values()].sort((a, b) => b.length - a.length);
  return [d3.mean(best, (d) => documents.x[d]), d3.mean(best, (d) => documents.y[d])];
}

// Names with their places, the most important first, as there may not be room for all: [text, x, y, zoom, kind].
export function placedNames(groups, byTopic) {
  const placed = [];
  const add = (of, names, zoom, kind) => {
    const members = d3.group(
      d3.range(documentCount).filter((d) => of[d] >= 0 && passes(d)),
      (d) => of[d],
    );
    for (const [member, list] of [...members].sort((a, b) => b[1].length - a[1].length))
      placed.push([names[member], ...anchorOf(list), zoom, kind, member]);
  };
  add(groups.of, groups.names, 0, 'group');
  if (byTopic && !isFlat) {
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
  for (const [grid, x, y, ...words] of report.neighbourhoods) placed.push([words.join(' '), x, y, GRID_ZOOMS[grid], 'words']);
  return placed;
}
