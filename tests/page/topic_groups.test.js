import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editedReport } from '../../src/topicfold/report/web/edited.js';
import { setReport } from '../../src/topicfold/report/web/report.js';
import { groupsAt, shownGroups } from '../../src/topicfold/report/web/topic_groups.js';
import { openPage, reportWith, topicWith } from './page.js';

const rowsOf = (groups) => groups.map((group) => group.rows);
const likeness = [
  [100, 80, 10, 0],
  [80, 100, 20, 0],
  [10, 20, 100, 60],
  [0, 0, 60, 100],
];

// Topics of these sizes; 0 and 1 are joined first, then 2 and 3.
function openTopics(sizes, groups) {
  const hierarchy = {
    forks: [
      [0, 1, 0.6, 'a b'],
      [2, 3, 0.9, 'c d'],
      [4, 5, 1.8, ''],
    ],
    groups,
    order: [0, 1, 2, 3],
    likeness,
  };
  const topics = sizes.map((size, id) => topicWith({ id, size }));
  const report = reportWith({ words: ['a'], topics, hierarchy });
  openPage(report, { id: [] });
  return report;
}

test('groups are those of the forks below the cut, the largest first', () => {
  openTopics([0.1, 0.1, 0.3, 0.5], 0);
  assert.deepEqual(rowsOf(groupsAt(0)), [[3], [2], [0], [1]]);
  assert.deepEqual(rowsOf(groupsAt(0.7)), [[3], [2], [0, 1]]);
  assert.deepEqual(rowsOf(groupsAt(2)), [[0, 1, 2, 3]]);
});

test('the list shows as many groups as the report says, and none if it says none', () => {
  openTopics([0.1, 0.1, 0.3, 0.5], 2);
  assert.deepEqual(rowsOf(shownGroups()), [
    [2, 3],
    [0, 1],
  ]);
  assert.equal(shownGroups()[1].words, 'a b');
  openTopics([0.1, 0.1, 0.3, 0.5], 0);
  assert.deepEqual(shownGroups(), []);
});

test('merged topics are grouped again, by Ward linkage', () => {
  const report = openTopics([0.1, 0.1, 0.3, 0.5], 2);
  setReport(editedReport(report, [{ merge: [0, 1] }]));
  assert.deepEqual(rowsOf(shownGroups()), [[1, 2], [0]]);
});

test('with groups of the reader there are no others', () => {
  const report = openTopics([0.1, 0.1, 0.3, 0.5], 2);
  setReport(editedReport(report, [{ group: [0, 2], name: 'mine' }]));
  assert.deepEqual(shownGroups(), []);
});
