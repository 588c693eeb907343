// The words that set some documents apart from all.

import { countedWords, documentCount, documents } from './documents.js';
import { perReport, report } from './report.js';

const KEY_WORDS = 24;

// For each document, the numbers of its distinct words. Only words on the page's list: the words of the topics, without
// those that every text has.
const wordsByDocument = perReport(() => {
  const number = new Map(report.words.map((word, i) => [word.toLowerCase(), i]));
  return d3.range(documentCount).map((d) => {
    if (!documents.text) return new Set(countedWords(d).map(([word]) => word));
    const words = new Set();
    for (const [token] of documents.text[d].toLowerCase().matchAll(/[\p{L}\p{N}_]+/gu)) if (number.has(token)) words.add(number.get(token));
    return words;
  });
});

function documentsWithWord(rows) {
  const words = wordsByDocument();
  const counts = new Uint32Array(report.words.length);
  for (const d of rows) for (const word of words[d]) counts[word] += 1;
  return counts;
}

const wordTotals = perReport(() => documentsWithWord(d3.range(documentCount)));

// How much being in the region tells about whether a document has the word, in nats per document: topics rank words the same way.
export function keynessOf(shareInside, shareOfAll) {
  const [q, p] = [shareInside, shareOfAll].map((share) => Math.min(Math.max(share, 1e-12), 1 - 1e-12));
  return q <= p ? 0 : q * Math.log(q / p) + (1 - q) * Math.log((1 - q) / (1 - p));
}

// [word, keyness, documents in the region that have it], the best first.
export function keyWords(inside) {
  const counts = documentsWithWord(inside);
  return d3
    .range(counts.length)
    .filter((word) => counts[word] >= Math.min(3, inside.length))
    .map((word) => [word, keynessOf(counts[word] / inside.length, wordTotals()[word] / documentCount), counts[word]])
    .filter(([, score]) => score > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, KEY_WORDS);
}
