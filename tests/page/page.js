// What the tests share: d3, as the page has it, and a report that holds what a test gives it.

import { readFileSync } from 'node:fs';
import { runInThisContext } from 'node:vm';
import { openDocuments } from '../../src/topicfold/report/web/documents.js';
import { openReport } from '../../src/topicfold/report/web/report.js';

const root = new URL('../../', import.meta.url);

export function readRepositoryFile(path) {
  return readFileSync(new URL(path, root), 'utf8');
}

runInThisContext(readRepositoryFile('src/topicfold/report/web/vendor/d3-7.9.0.min.js'));

// A topic with its words as [number of the word, P(word | topic), score].
export function topicWith(values) {
  return { id: 0, parent: -1, level: 1, size: 0.5, name: null, called: '', words: [], documents: [], similar: [], ...values };
}

export function reportWith(values) {
  return {
    name: 'test',
    model: { name: 'PLSA' },
    corpus: {},
    edits: [],
    exclusive: true,
    groups: [],
    hierarchy: null,
    compare: null,
    labels: null,
    levels: {},
    metadata: [],
    score: 'relevance',
    share: values.words.map(() => 1 / values.words.length),
    time: null,
    next_id: values.topics.length,
    ...values,
  };
}

// The state of a page that shows this report, with columns of documents as strings.
export function openPage(report, columns) {
  openReport(report);
  openDocuments(columns);
}
