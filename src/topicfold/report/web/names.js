// Names of topics, and their words in order.

import { perReport, report, rowOfTopic, topics } from './report.js';
import { inList, inOneLine, termsOfWords, withoutForms } from './terms.js';

export const RELEVANCE = 0.6;

function relevanceOf([word, probability], weight) {
  return Math.log(probability) - (1 - weight) * Math.log(report.share[word]);
}

// The words of a topic, best first: by their score if they have one, else by relevance.
export function rankedWords(topic, weight = RELEVANCE, byScore = report.score !== 'relevance') {
  const scored = topic.words.filter((word) => word[2] !== null).sort((a, b) => b[2] - a[2]);
  const usable = topic.words.filter(([word, probability]) => probability > 0 && report.share[word] > 0);
  const byRelevance = () =>
    usable
      .map((word) => [word, relevanceOf(word, weight)])
      .sort((a, b) => b[1] - a[1])
      .map(([word]) => word);
  return withoutForms(report, byScore ? scored : byRelevance(), ([word]) => word);
}

export const bestWords = perReport(() => topics.map((topic) => rankedWords(topic).map(([word]) => report.words[word])));

// HLTA's topics are shown by words of different sizes, other topics by their names.
export function wordsHaveSizes() {
  return report.score === 'discerning index';
}

export function nameOf(topic) {
  return topic.name || topic.called || `topic ${topic.id}`;
}

const bestTerms = perReport(() =>
  topics.map((topic) => {
    const words = rankedWords(topic).map(([word]) => word);
    return termsOfWords(report, words, topic.phrases).map(inList);
  }),
);

// The best words and phrases of a topic.
export function wordsOf(topic, n) {
  return bestTerms()[rowOfTopic.get(topic.id)].slice(0, n);
}

// Terms without those that a name already shows.
export function withoutThose(terms, name) {
  const named = new Set(name.toLowerCase().split(/[ ,]+/));
  return terms.filter(
    (term) =>
      !term
        .toLowerCase()
        .split(' ')
        .every((word) => named.has(word)),
  );
}

// The best words of a topic, without those that its automatic name already shows.
export function furtherWords(topic, n) {
  return inOneLine(withoutThose(wordsOf(topic, n), topic.name ? '' : topic.called));
}
