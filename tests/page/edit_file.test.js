import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { editsAsJson, editsFrom, fingerprintOf, hashOf } from '../../src/topicfold/report/web/edit_file.js';
import { openPage, reportWith, topicWith } from './page.js';

const made = [{ rename: 1, name: 'one' }];
const file = (edits) => JSON.stringify({ format: 'topicfold edits 1', edits });
let report = null;

beforeEach(() => {
  report = reportWith({ words: ['w'], edits: made, topics: [0, 1, 2].map((id) => topicWith({ id })) });
  openPage(report, { id: ['a'], topics: ['0 1000'] });
});

test('texts have the hashes of FNV-1a', () => {
  assert.equal(hashOf(''), 0xcbf29ce484222325n.toString(36));
  assert.equal(hashOf('a'), 0xaf63dc4c8601ec8cn.toString(36));
  assert.equal(hashOf('foobar'), 0x85944171f73967e8n.toString(36));
});

test('edits are kept for a report with the same topics and names', () => {
  assert.equal(fingerprintOf(report), fingerprintOf(structuredClone(report)));
  assert.notEqual(fingerprintOf(report), fingerprintOf({ ...report, edits: [] }));
  assert.notEqual(fingerprintOf(report), fingerprintOf({ ...report, topics: report.topics.slice(1) }));
});

test('a file has the edits that the report was made with, and those of the reader', () => {
  const edits = [{ drop: [2] }];
  assert.deepEqual(JSON.parse(editsAsJson(edits)), { format: 'topicfold edits 1', edits: [...made, ...edits] });
  assert.deepEqual(editsFrom(editsAsJson(edits), [{ drop: [0] }]), edits);
});

test('a file of names is added to the edits', () => {
  const names = { 1: ' first ', 2: '', 9: 'unknown', x: 'no id', __proto__: 'p', 0: 5 };
  assert.deepEqual(editsFrom(JSON.stringify(names), [{ drop: [2] }]), [{ drop: [2] }, { rename: 1, name: 'first' }]);
});

test('other files are refused', () => {
  for (const text of ['', '{', '[]', 'null', '7', '"x"']) assert.throws(() => editsFrom(text, []), SyntaxError, text);
  assert.throws(() => editsFrom(file([{ drop: [1] }]), []), /the edits were made for other topics/);
  assert.throws(() => editsFrom(file([...made, { drop: [7] }]), []), /there is no topic 7/);
  assert.throws(() => editsFrom(file([...made, { drop: 'x' }]), []), /drop has "x": expected a list of topic ids/);
});
