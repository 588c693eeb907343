import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { documentsAsCsv } from '../../src/topicfold/report/web/csv.js';
import { countedWords, mainTopic, sharesOf, titleOf } from '../../src/topicfold/report/web/documents.js';
import { editedReport } from '../../src/topicfold/report/web/edited.js';
import { keynessOf, keyWords } from '../../src/topicfold/report/web/keyness.js';
import { marksOf, withMarks } from '../../src/topicfold/report/web/marks.js';
import { perReport, setReport } from '../../src/topicfold/report/web/report.js';
import { unpack } from '../../src/topicfold/report/web/unpack.js';
import { openPage, reportWith, topicWith } from './page.js';

const words = ['star', 'moon', 'soup'];

function openDocumentsOf(columns, values = {}) {
  const topics = words.map((word, id) => topicWith({ id, called: word, size: 1 / 3 }));
  const report = reportWith({ words, topics, ...values });
  openPage(report, columns);
  return report;
}

test('blocks of documents are unpacked in order, and leave the page', async () => {
  const removed = [];
  const block = (columns) => ({
    textContent: deflateSync(JSON.stringify(columns)).toString('base64'),
    remove: () => removed.push(columns.id[0]),
  });
  const columns = await unpack([block({ id: ['a', 'b'], text: ['ä', '😀\u2028'] }), block({ id: ['c'], text: [''] })]);
  assert.deepEqual(columns, { id: ['a', 'b', 'c'], text: ['ä', '😀\u2028', ''] });
  assert.deepEqual(removed, ['a', 'c']);
});

test('a document has a title, the beginning of its text, its words, or its id', () => {
  openDocumentsOf({ id: ['a', 'b'], title: ['Title', ''], text: ['x', '  a  long\ntext '.padEnd(200, 'word ')] });
  assert.equal(titleOf(0), 'Title');
  assert.match(titleOf(1), /^a long text word .* …$/);
  assert.ok(titleOf(1).length <= 72);
  openDocumentsOf({ id: ['a', 'b'], words: ['1 3 0 0 1 2', ''] });
  assert.deepEqual([titleOf(0), titleOf(1)], ['moon star', 'b']);
});

test('documents follow their topics through edits', () => {
  const report = openDocumentsOf({ id: ['a', 'b'], topics: ['0 500 2 300 1 200', '1 1000'], words: ['0 2 0 2 1 2', '1 1 1'] });
  assert.deepEqual(sharesOf(0), [
    [0, 0.5],
    [2, 0.3],
    [1, 0.2],
  ]);
  assert.equal(mainTopic(0), 0);
  setReport(editedReport(report, [{ merge: [1, 2] }, { drop: [0] }]));
  assert.deepEqual(sharesOf(0), [[0, 0.5]]);
  assert.equal(mainTopic(0), 0);
  assert.deepEqual(countedWords(0), [
    [0, 2, -1],
    [2, 1, 0],
  ]);
});

test('what depends on the report is computed again after an edit alone', () => {
  const report = openDocumentsOf({ id: [], topics: [] });
  let times = 0;
  const computed = perReport(() => (times += 1));
  assert.deepEqual([computed(), computed()], [1, 1]);
  setReport(editedReport(report, [{ drop: [1] }]));
  assert.deepEqual([computed(), computed()], [2, 2]);
});

test('words have marks, by signs or by positions', () => {
  openDocumentsOf({ id: ['a', 'b'], text: ['Star, 😀 moon_2 soup', '東京都'], marks: ['2 0:0.1', '0 2 1 0 1 2'] });
  assert.deepEqual(marksOf(0), [
    { start: 0, end: 4, row: 2 },
    { start: 9, end: 15, row: 0 },
  ]);
  assert.deepEqual(marksOf(1), [
    { start: 0, end: 2, row: 1 },
    { start: 2, end: 3, row: 2 },
  ]);
});

test('a piece of text is put together from its marked words and what is between them', () => {
  const marks = [
    { start: 0, end: 1 },
    { start: 2, end: 4 },
    { start: 3, end: 5 },
    { start: 6, end: 9 },
  ];
  assert.deepEqual(
    withMarks('abcdefgh', 1, 8, marks, (word) => [word]),
    ['b', ['cd'], 'efgh'],
  );
});

test('key words are more frequent in some documents than in all', () => {
  assert.equal(keynessOf(0.1, 0.1), 0);
  assert.equal(keynessOf(0.1, 0.2), 0);
  assert.ok(keynessOf(0.3, 0.1) > keynessOf(0.2, 0.1));
  openDocumentsOf({ id: ['a', 'b', 'c'], text: ['Star moon.', 'STAR moon', 'moon soup'] });
  assert.deepEqual(
    keyWords([0, 1]).map(([word, , n]) => [words[word], n]),
    [['star', 2]],
  );
});

test('no spreadsheet takes a cell for a formula', () => {
  openDocumentsOf(
    { id: ['=1+1', 'b'], title: ['say "hi", you', '@x'], topics: ['0 1000', ''], labels: ['0 1', ''], metadata0: [-3, null] },
    { labels: ['-a', 'b'], metadata: [{ name: 'n', kind: 'number' }] },
  );
  const lines = [
    'id,title,topic,labels,date,n', // a negative number stays one
    '\'=1+1,"say ""hi"", you",star,"\'-a; b",,-3',
    "b,'@x,,,,",
  ];
  assert.equal(documentsAsCsv([0, 1]), lines.join('\r\n'));
});
