import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { filterColumns, filterText, passes, perFilter, readFilter, shownDocuments } from '../../src/topicfold/report/web/filter.js';
import { sizeOf, topicDocuments, topicLabels } from '../../src/topicfold/report/web/filtered.js';
import { setReport, topics } from '../../src/topicfold/report/web/report.js';
import { openPage, reportWith, topicWith } from './page.js';

let report = null;

beforeEach(() => {
  const metadata = [
    { name: 'stars', kind: 'number' },
    { name: 'size', kind: 'category', names: ['big', 'small'] },
    { name: 'note', kind: 'text' },
  ];
  report = reportWith({
    words: ['w'],
    labels: ['sky', 'sea'],
    metadata,
    topics: [topicWith({ id: 0, size: 0.5, labels: [] }), topicWith({ id: 7, size: 0.5, labels: [] })],
  });
  openPage(report, {
    id: ['a', 'b', 'c', 'd'],
    topics: ['0 900 1 100', '1 600 0 400', '1 1000', '0 700 1 300'],
    labels: ['0', '0 1', '', '1'],
    date: ['1990-05-01', '1991', null, '1992-12-31'],
    metadata0: [1, null, 3, 4.5],
    metadata1: [0, 1, 1, null],
    metadata2: ['x', 'y', 'z', ''],
  });
  readFilter([]);
});

function shown(...wanted) {
  readFilter(wanted);
  return shownDocuments();
}

test('documents can be filtered by all columns but texts', () => {
  assert.deepEqual([...filterColumns().keys()], ['topic', 'label', 'date', 'm.stars', 'm.size']);
  assert.deepEqual(shown(), [0, 1, 2, 3]);
  assert.deepEqual(shown(['label', 'sea']), [1, 3]);
  assert.deepEqual(shown(['m.size', 'small']), [1, 2]);
  assert.deepEqual(shown(['topic', '7']), [1, 2]);
  assert.deepEqual(shown(['topic', '7'], ['label', 'sky']), [1]);
  assert.ok(passes(1));
  assert.ok(!passes(0));
});

test('spans may be open, and dates as long as their ends', () => {
  assert.deepEqual(shown(['m.stars', '3..']), [2, 3]);
  assert.deepEqual(shown(['m.stars', '..3']), [0, 2]);
  assert.deepEqual(shown(['m.stars', '3']), [2]);
  assert.deepEqual(shown(['date', '1990..1991']), [0, 1]);
  assert.deepEqual(shown(['date', '1991..1992-12']), [1, 3]);
});

test('what is not in the report does not filter', () => {
  for (const [key, value] of [
    ['label', 'nothing'],
    ['topic', '1'],
    ['m.stars', 'x..2'],
    ['m.note', 'x'],
    ['__proto__', 'x'],
    ['label', ''],
  ])
    assert.deepEqual(shown([key, value]), [0, 1, 2, 3], `${key}=${value}`);
  assert.equal(filterText, '');
});

test('figures of topics are those of the documents that pass', () => {
  assert.equal(sizeOf(topics[0]), 0.5);
  readFilter([['label', 'sky']]);
  assert.ok(Math.abs(sizeOf(topics[0]) - 0.65) < 1e-9);
  assert.deepEqual(topicDocuments(topics[1]), [
    [1, 0.6],
    [0, 0.1],
  ]);
  assert.deepEqual(topicLabels(topics[1]), [
    [0, 1, 1],
    [1, 0.6 / 0.7, 0.5],
  ]);
});

test('what depends on the filter is computed once for each, and again after an edit', () => {
  let times = 0;
  const computed = perFilter(() => {
    times += 1;
    return filterText;
  });
  const wanted = [['label', 'sea']];
  assert.deepEqual([computed(), computed(), times], ['', '', 1]);
  readFilter(wanted);
  assert.deepEqual([computed(), times], ['&label=sea', 2]);
  readFilter([]);
  assert.deepEqual([computed(), times], ['', 2]);
  setReport({ ...report, topics: report.topics.slice(0, 1), currentRows: [[0], []], became: new Map([[7, null]]) });
  readFilter([['topic', '7']]);
  assert.deepEqual([computed(), times], ['', 3]);
});

test('a typical document comes before one that has more of the topic', () => {
  openPage(report, {
    id: ['a', 'b', 'c', 'd'],
    topics: ['0 900', '0 600 1 400', '', '0 700 1 300'],
    typical: [100, 300, 900, 0],
    metadata0: [1, 1, 1, 1],
    metadata1: [0, 0, 0, 0],
    metadata2: ['x', 'x', 'x', 'x'],
  });
  readFilter([['m.stars', '1']]);
  assert.deepEqual(topicDocuments(topics[0]), [
    [1, 0.6],
    [0, 0.9],
    [3, 0.7],
  ]);
});
