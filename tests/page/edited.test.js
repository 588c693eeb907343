// Edits of topics, by the cases that Python's edits are tested with, too.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharesOf } from '../../src/topicfold/report/web/documents.js';
import { editedReport } from '../../src/topicfold/report/web/edited.js';
import { EditError } from '../../src/topicfold/report/web/replay.js';
import { setReport } from '../../src/topicfold/report/web/report.js';
import { openPage, readRepositoryFile, reportWith, topicWith } from './page.js';

const { trees, cases, errors } = JSON.parse(readRepositoryFile('tests/topics/edit_cases.json'));

// The report of a tree of the cases. Shares of documents are stored in thousandths, as [row, share].
function openTree({ vocabulary, exclusive, topics, parts, documents }) {
  const size = (row) => documents.reduce((sum, shares) => sum + shares[row], 0) / (100 * documents.length);
  const partsOf = (topic) => parts.filter(([above]) => above === topic.id).map(([, below, weight]) => [below, weight]);
  const report = reportWith({
    words: vocabulary,
    exclusive,
    next_id: Math.max(...topics.map((topic) => topic.id)) + 1,
    topics: topics.map((topic, row) =>
      topicWith({
        ...topic,
        size: size(row),
        words: topic.words.map((percent, word) => [word, percent / 100, null]),
        ...(parts ? { parts: partsOf(topic) } : {}),
      }),
    ),
  });
  const columnOf = (shares) => shares.map((percent, row) => `${row} ${10 * percent}`).join(' ');
  openPage(report, { id: documents.map((_, d) => `d${d}`), topics: documents.map(columnOf) });
  return report;
}

function assertClose(found, expected, what) {
  assert.equal(found.length, expected.length, what);
  found.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-3, `${what}: ${found}, expected ${expected}`));
}

function percentsOf(pairs, length) {
  const percents = new Array(length).fill(0);
  for (const [place, share] of pairs) percents[place] = 100 * share;
  return percents;
}

for (const { title, tree, edits, topics, documents, gone } of cases)
  test(`${tree}: ${title}`, () => {
    const report = openTree(trees[tree]);
    const edited = editedReport(report, edits);
    assert.deepEqual(
      edited.topics.map(({ id, name, parent, level }) => ({ id, name, parent, level })),
      topics.map(({ id, name, parent, level }) => ({ id, name, parent, level })),
    );
    edited.topics.forEach((topic, row) => {
      const words = topics[row].words ?? trees[tree].topics.find(({ id }) => id === topic.id).words;
      assertClose(percentsOf(topic.words, words.length), words, `words of ${topic.id}`);
      const parts = topics[row].parts ?? [];
      assert.deepEqual((topic.parts ?? []).map(([id]) => id).sort(), parts.map(([id]) => id).sort(), `parts of ${topic.id}`);
      const weights = new Map(topic.parts);
      assertClose(
        parts.map(([id]) => weights.get(id)),
        parts.map(([, weight]) => weight),
        `weights in ${topic.id}`,
      );
    });
    assert.deepEqual(Object.fromEntries(edited.became), gone);
    setReport(edited);
    documents.forEach((percents, d) => assertClose(percentsOf(sharesOf(d), topics.length), percents, `shares of d${d}`));
    if (report.exclusive)
      edited.topics.forEach((topic, row) => {
        const mean = documents.reduce((sum, percents) => sum + percents[row], 0) / documents.length;
        assertClose([100 * topic.size], [mean], `size of ${topic.id}`);
      });
  });

for (const { tree, edits, error } of errors)
  test(`${tree}: ${JSON.stringify(edits)} is refused: ${error}`, () => {
    assert.throws(() => editedReport(openTree(trees[tree]), edits), EditError);
  });

test('the last topic stays', () => {
  const report = openTree(trees.flat);
  assert.throws(() => editedReport(report, [{ drop: [0, 1, 2, 3] }]), /these edits would drop every topic/);
  assert.throws(() => editedReport(report, { 1: 'a' }), /expected a list of edits/);
});

test('without edits the report is as it was made', () => {
  const report = openTree(trees.flat);
  assert.equal(editedReport(report, []), report);
});
