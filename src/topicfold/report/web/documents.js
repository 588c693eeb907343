// The documents: columns with one value per document, and what they say about topics after edits.

import { beginning, numbersIn, tuplesIn } from './numbers.js';
import { highest, isGraph, lowest, originalReport, perReport, report, topics } from './report.js';

const TITLE = 70; // characters
const UNKNOWN = -2;

export let documents = null;
export let documentCount = 0;
export let rowOfDocument = new Map(); // by the document's id
export let metadata = []; // further columns: [{name, kind, names, values}]

export function openDocuments(columns) {
  documents = columns;
  documentCount = documents.id.length;
  rowOfDocument = new Map(documents.id.map((id, d) => [id, d]));
  metadata = originalReport.metadata.map((column, i) => ({ ...column, values: documents[`metadata${i}`] }));
}

// The first document on the page that a document is a copy of; itself, if it is no copy.
export function firstCopy(d) {
  return documents.copy ? d - documents.copy[d] : d;
}

const copyGroups = perReport(() => (documents.copy ? d3.group(d3.range(documentCount), firstCopy) : new Map()));

// The other documents of its group of copies.
export function copiesOf(d) {
  return (copyGroups().get(firstCopy(d)) || []).filter((other) => other !== d);
}

// The first of each group of copies, in a list of documents or of things that have one.
export function withoutCopies(list, documentOf = (d) => d) {
  if (!documents.copy) return list;
  const seen = new Set();
  return list.filter((item) => {
    const first = firstCopy(documentOf(item));
    return !seen.has(first) && seen.add(first);
  });
}

// The order of [document, share of a topic], the most typical first: how near a document is to the centres of its topics
// counts too, so that one of two words does not lead.
export function byTypicality([one, share], [other, otherShare]) {
  const typical = (d) => (documents.typical ? Math.max(documents.typical[d], 1) : 1);
  return otherShare * typical(other) - share * typical(one) || one - other;
}

// A document without a title is shown by the beginning of its text.
export function titleOf(d) {
  if (documents.title && documents.title[d]) return documents.title[d];
  const start = documents.text
    ? beginning(documents.text[d], 200).trim().replace(/\s+/g, ' ')
    : countedWords(d)
        .slice(0, 8)
        .map(([word]) => report.words[word])
        .join(' ');
  return (start.length > TITLE ? `${beginning(start, TITLE).replace(/\s+\S*$/, '')} …` : start) || documents.id[d];
}

// The words of a document without its text: [word, count, row of its topic].
export function countedWords(d) {
  return tuplesIn(documents.words[d], 3).map(([word, n, row]) => [word, n, currentRow(row)]);
}

// Documents refer to topics by their rows in the original report. After edits a topic has another row, or none: -1.
export function currentRow(row) {
  if (row < 0 || !report.currentRows) return row;
  return report.currentRows[row].length ? report.currentRows[row][0] : -1;
}

// The topics of a document, the largest first: [row, share].
export function sharesOf(d) {
  const shares = tuplesIn(documents.topics[d], 2).map(([row, share]) => [row, share / 1000]);
  if (!report.currentRows) return shares;
  const current = new Map();
  for (const [before, share] of shares)
    for (const row of report.currentRows[before])
      current.set(row, report.exclusive ? (current.get(row) || 0) + share : Math.max(current.get(row) || 0, share));
  return [...current].sort((a, b) => b[1] - a[1]);
}

export function shareOf(d, row) {
  return (sharesOf(d).find(([other]) => other === row) || [row, 0])[1];
}

export function levelShares(d, level) {
  return sharesOf(d).filter(([row]) => topics[row].level === level);
}

const mainTopics = perReport(() => new Int32Array(documentCount).fill(UNKNOWN)); // computed when needed

// The row of a document's largest topic, -1 if it has none.
export function mainTopic(d) {
  const known = mainTopics();
  if (known[d] === UNKNOWN) {
    const level = isGraph ? lowest : highest;
    const largestFirst = report.currentRows ? sharesOf(d).flat() : numbersIn(documents.topics[d]);
    known[d] = largestFirst.find((row, i) => i % 2 === 0 && topics[row].level === level) ?? -1;
  }
  return known[d];
}

// The value of a metadata column as text, '' if it is missing.
export function metadataValue({ kind, names, values }, d) {
  return String((kind === 'category' ? names[values[d]] : values[d]) ?? '');
}
