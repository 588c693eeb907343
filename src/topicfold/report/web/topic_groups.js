// Groups of flat topics that belong together: where the tree of the topics is cut.

import { perReport, report, topics } from './report.js';

// The groups if the tree is cut at a height, the largest first: the topics of each, and the words of its fork.
export function groupsAt(cut) {
  return joinedBy(report.hierarchy.forks.filter((fork) => fork[2] <= cut).length);
}

// The groups that the list of topics shows; none if the topics are few, or have a hierarchy.
export const shownGroups = perReport(() => {
  const { groups, forks } = report.hierarchy || {};
  return groups ? joinedBy(forks.length + 1 - groups) : [];
});

// The groups after so many forks.
function joinedBy(joined) {
  const groups = new Map(topics.map((_, row) => [row, { rows: [row], words: '' }]));
  report.hierarchy.forks.slice(0, joined).forEach(([one, other, , words], i) => {
    groups.set(topics.length + i, { rows: [...groups.get(one).rows, ...groups.get(other).rows], words });
    groups.delete(one);
    groups.delete(other);
  });
  return d3.sort(groups.values(), (group) => -d3.sum(group.rows, (row) => topics[row].size));
}
