import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editedReport } from '../../src/topicfold/report/web/edited.js';
import { furtherWords, rankedWords, wordsOf } from '../../src/topicfold/report/web/names.js';
import { inOneLine } from '../../src/topicfold/report/web/terms.js';
import { openPage, reportWith, topicWith } from './page.js';

const words = ['minister', 'taxes', 'prime', 'tax', 'nato', 'summit'];

function openTopics(values = {}) {
  const topicOf = (id, order) =>
    topicWith({
      id,
      called: 'Prime Minister, taxes',
      words: order.map((word, place) => [word, 0.3 - 0.05 * place, 9 - place]),
      phrases: [['Prime Minister', ['minister', 'prime']]],
      ...values,
    });
  const topics = [topicOf(0, [0, 1, 2, 3, 4, 5]), topicOf(1, [1, 0, 2, 4, 3, 5])];
  const report = reportWith({ words, score: 'keyness', topics, stems: { 3: ['taxes'] }, written: { 4: 'NATO' } });
  openPage(report, { id: [], topics: [] });
  return report;
}

test('the words of a phrase are one term, and so are forms of a word', () => {
  const { topics } = openTopics();
  assert.deepEqual(wordsOf(topics[0], 9), ['prime minister', 'taxes', 'nato', 'summit']);
  assert.deepEqual(
    rankedWords(topics[0]).map(([word]) => words[word]),
    ['minister', 'taxes', 'prime', 'nato', 'summit'],
  );
  assert.equal(furtherWords(topics[0], 9), 'nato summit');
  assert.equal(furtherWords({ ...topics[0], called: '' }, 9), 'prime minister, taxes, nato, summit');
});

test('words without phrases stay as they are', () => {
  const { topics } = openTopics({ phrases: undefined });
  assert.deepEqual(wordsOf(topics[0], 3), ['minister', 'taxes', 'prime']);
});

test('a merged topic is called by its best terms, as the texts write them', () => {
  const [merged] = editedReport(openTopics(), [{ merge: [0, 1] }]).topics;
  assert.equal(merged.called, 'Prime Minister, taxes, NATO');
});

test('topics of a level that an edit would call the same have their ids', () => {
  const called = editedReport(openTopics(), [{ group: [0] }]).topics.map((topic) => topic.called);
  assert.equal(new Set(called.slice(0, 2)).size, 2);
});

test('a term with a space needs commas', () => {
  assert.equal(inOneLine(['a', 'b']), 'a b');
  assert.equal(inOneLine(['a b', 'c']), 'a b, c');
});
