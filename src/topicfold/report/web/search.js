// Search: which topics and documents have all terms of a query, the best first.

import { countedWords, documentCount, documents, titleOf, withoutCopies } from './documents.js';
import { passes } from './filter.js';
import { bestWords, nameOf } from './names.js';
import { perReport, report, topics } from './report.js';

const COUNTED_TIMES = 5; // at most, per word of a bag: higher counts hardly change the score

// In scripts without spaces between words, a word may begin and end anywhere.
const UNSPACED = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar'].map((script) => `\\p{Script=${script}}`);
const LETTER = new RegExp(`(?![${UNSPACED.join('')}])[\\p{L}\\p{M}\\p{N}]`, 'u');

export function evenlySpaced(text) {
  return text.normalize('NFC').replace(/\s\s+|[^\S ]/g, ' ');
}

export function searchable(text) {
  return evenlySpaced(text).toLowerCase();
}

// The words and the phrases in quotes. The last one may still be being typed: words only have to begin with it.
export function termsOf(wanted) {
  const text = searchable(wanted);
  return [...text.matchAll(/["“”]([^"“”]*)(["“”]?)|[^\s"“”]+/g)]
    .map((match) => ({
      text: (match[1] ?? match[0].replace(/(?<=.)[,;]$/, '')).trim(),
      whole: Boolean(match[2]) || match.index + match[0].length < text.length,
    }))
    .filter((term) => term.text);
}

export function occurrencesOf(term, text) {
  const { length } = term.text;
  const startsWord = LETTER.test(term.text[0]);
  const endsWord = term.whole && LETTER.test(term.text[length - 1]);
  const places = [];
  for (let at = text.indexOf(term.text); at >= 0; at = text.indexOf(term.text, at + length)) {
    if (!(startsWord && at > 0 && LETTER.test(text[at - 1])) && !(endsWord && at + length < text.length && LETTER.test(text[at + length])))
      places.push(at);
  }
  return places;
}

export function isIn(text, term) {
  return occurrencesOf(term, text).length > 0;
}

// Topics with all terms: [those with all in their names, the others], by how high the words rank.
export function topicHits(terms) {
  const hits = [];
  topics.forEach((topic, row) => {
    const name = searchable(nameOf(topic));
    const ranks = terms.map((term) => bestWords()[row].findIndex((word) => isIn(searchable(word), term)));
    const inName = terms.map((term) => isIn(name, term));
    if (!terms.every((_, i) => inName[i] || ranks[i] >= 0)) return;
    const words = [...new Set(ranks.filter((rank) => rank >= 0))].map((rank) => bestWords()[row][rank]);
    hits.push({ topic, words, named: inName.every(Boolean), place: d3.sum(ranks, (rank) => (rank < 0 ? bestWords()[row].length : rank)) });
  });
  hits.sort((a, b) => a.place - b.place);
  return [hits.filter((hit) => hit.named), hits.filter((hit) => !hit.named)];
}

const BETWEEN = '\0'; // no phrase matches across it

// Title and text of each document.
const contents = perReport(() =>
  d3.range(documentCount).map((d) => {
    const title = (documents.title && documents.title[d]) || '';
    const text = documents.text ? documents.text[d] : bagOf(d);
    return searchable(title || text.trim() ? `${title}${BETWEEN}${text}` : titleOf(d));
  }),
);
const lowerTitles = perReport(() => []); // made when needed

function bagOf(d) {
  return countedWords(d)
    .map(([word, n]) => `${report.words[word]}${BETWEEN}`.repeat(Math.min(n, COUNTED_TIMES)))
    .join('');
}

function countsByDocument(term) {
  const counts = new Map();
  contents().forEach((text, d) => {
    const n = occurrencesOf(term, text).length;
    if (n) counts.set(d, n);
  });
  return counts;
}

// For the terms of the last search: most of them stay while the reader types.
const lastCounts = perReport(() => ({ byTerm: new Map() }));

// Documents with all terms, without copies: [those with all in their titles, the others], by BM25.
export function documentHits(terms) {
  const known = lastCounts().byTerm;
  const byTerm = new Map(terms.map(JSON.stringify).map((key, i) => [key, known.get(key) || countsByDocument(terms[i])]));
  lastCounts().byTerm = byTerm;
  const [rarest, ...others] = [...byTerm.values()].sort((a, b) => a.size - b.size);
  const lengths = contents().map((text) => text.length);
  const meanLength = d3.mean(lengths);
  const weighted = [rarest, ...others].map((counts) => [counts, Math.log(1 + (documentCount - counts.size + 0.5) / (counts.size + 0.5))]);
  const score = (d) =>
    d3.sum(weighted, ([counts, weight]) => (weight * counts.get(d)) / (counts.get(d) + 0.3 + (0.9 * lengths[d]) / meanLength));
  const hits = [...rarest.keys()].filter((d) => others.every((counts) => counts.has(d))).map((d) => [d, score(d)]);
  const best = hits
    .filter(([d]) => passes(d))
    .sort((a, b) => b[1] - a[1])
    .map(([d]) => d);
  const titled = new Set(
    best.filter((d) => {
      const title = (lowerTitles()[d] ??= searchable(titleOf(d)));
      return terms.every((term) => isIn(title, term));
    }),
  );
  const different = withoutCopies([...titled, ...best.filter((d) => !titled.has(d))]);
  return [different.filter((d) => titled.has(d)), different.filter((d) => !titled.has(d))];
}
