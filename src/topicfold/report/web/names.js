// Names of topics, and their words in order.

import { perReport, report, rowOfTopic, topics } from './report.js';

export const RELEVANCE = 0.6;

function relevanceOf([word, probability], weight) {
  return Math.log(probability) - (1 - weight) * Math.log(report.share[word]);
}

// The words of a topic, best first: by their score if they have one, else by relevance.
export function rankedWords(topic, weight = RELEVANCE, byScore = report.score !== 'relevance') {
  if (byScore) return topic.words.filter((word) => word[2] !== null).sort((a, b) => b[2] - a[2]);
  const usable = topic.words.filter(([word, probability]) => probability > 0 && report.share[word] > 0);
  return usable
    .map((word) => [word, relevanceOf(word, weight)])
    .sort((a, b) => b[1] - a[1])
    .map(([word]) => word);
}

export const bestWords = perReport(() => topics.map((topic) => rankedWords(topic).map(([word]) => report.words[word])));

// HLTA's topics are shown by words of different sizes, other topics by their names.
export function wordsHaveSizes() {
  return report.score === 'discerning index';
}

export function nameOf(topic) {
  return topic.name || topic.called || `topic ${topic.id}`;
}

export function wordsOf(topic, n) {
  return bestWords()[rowOfTopic.get(topic.id)].slice(0, n);
}

// The best words of a topic, without those that its automatic name already shows.
export function furtherWords(topic, n) {
  const called = ` ${topic.name ? '' : topic.called} `;
  return wordsOf(topic, n)
    .filter((word) => !called.includes(` ${word} `))
    .join(' ');
}
