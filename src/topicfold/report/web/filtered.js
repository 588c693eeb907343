// Figures of topics among the documents that pass the filter; without a filter those of the report.

import { byTypicality, documents, shareOf, sharesOf, withoutCopies } from './documents.js';
import { filterMask, perFilter, shownDocuments } from './filter.js';
import { numbersIn } from './numbers.js';
import { report, rowOfTopic, topics } from './report.js';

export const BEST_DOCUMENTS = 30; // of a topic
export const LABELS = 8; // of a topic

// Mean share of each topic in some documents; if topics exclude each other, the shares of a level add up to one.
export function meanShares(rows) {
  const sums = new Float64Array(topics.length);
  for (const d of rows) for (const [row, share] of sharesOf(d)) sums[row] += share;
  if (!report.exclusive) return sums.map((sum) => sum / Math.max(1, rows.length));
  const totals = d3.rollup(
    d3.range(topics.length),
    (ofLevel) => d3.sum(ofLevel, (row) => sums[row]),
    (row) => topics[row].level,
  );
  return sums.map((sum, row) => sum / (totals.get(topics[row].level) || 1));
}

const filteredSizes = perFilter(() => meanShares(shownDocuments()));

// The share of a topic in all documents, or in those that pass the filter.
export function sizeOf(topic) {
  return filterMask ? filteredSizes()[rowOfTopic.get(topic.id)] : topic.size;
}

// [label, share of the topic's documents, share of all]; with a filter, of those that pass.
export function topicLabels(topic) {
  if (!filterMask || !topic.labels) return topic.labels || [];
  const row = rowOfTopic.get(topic.id);
  const shown = shownDocuments();
  const [inTopic, inAll] = [new Map(), new Map()];
  let total = 0;
  for (const d of shown) {
    const share = shareOf(d, row);
    total += share;
    for (const label of numbersIn(documents.labels[d])) {
      inTopic.set(label, (inTopic.get(label) || 0) + share);
      inAll.set(label, (inAll.get(label) || 0) + 1);
    }
  }
  return [...inTopic]
    .map(([label, sum]) => [label, sum / (total || 1), inAll.get(label) / shown.length])
    .filter(([, share]) => share >= 0.005)
    .sort((a, b) => b[1] - a[1])
    .slice(0, LABELS);
}

// [document, share], the most typical first.
export function topicDocuments(topic) {
  if (!filterMask) return topic.documents;
  const row = rowOfTopic.get(topic.id);
  const best = shownDocuments()
    .map((d) => [d, shareOf(d, row)])
    .filter(([, share]) => share > 0)
    .sort(byTypicality);
  return withoutCopies(best, ([d]) => d).slice(0, BEST_DOCUMENTS);
}
