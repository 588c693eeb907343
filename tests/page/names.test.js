import assert from 'node:assert/strict';
import { test } from 'node:test';
import { furtherWords, nameOf, rankedWords, wordsOf } from '../../src/topicfold/report/web/names.js';
import { openPage, reportWith, topicWith } from './page.js';

const words = ['the', 'star', 'moon', 'comet'];

// The first topic has "the" most often, but so have all texts.
function openTopics(score, scores = [null, null, null, null]) {
  const topic = topicWith({
    called: 'star moon',
    words: [0.5, 0.3, 0.15, 0.05].map((probability, word) => [word, probability, scores[word]]),
  });
  openPage(reportWith({ words, score, share: [0.6, 0.05, 0.02, 0.001], topics: [topic] }), { id: [] });
  return topic;
}

test('words are ranked by relevance, between their probability and their lift', () => {
  const topic = openTopics('relevance');
  const ranked = (weight) => rankedWords(topic, weight).map(([word]) => words[word]);
  assert.deepEqual(ranked(1), ['the', 'star', 'moon', 'comet']);
  assert.deepEqual(ranked(0), ['comet', 'moon', 'star', 'the']);
  assert.deepEqual(wordsOf(topic, 2), ['star', 'comet']);
});

test('words with a score are ranked by it; those without are left out', () => {
  const topic = openTopics('keyness', [-1, 2, null, 3]);
  assert.deepEqual(wordsOf(topic, 9), ['comet', 'star', 'the']);
  assert.deepEqual(
    rankedWords(topic, 1, false).map(([word]) => words[word]),
    ['the', 'star', 'moon', 'comet'],
  );
});

test('a topic is called by its name, by its words or by its number', () => {
  const topic = openTopics('relevance');
  assert.equal(nameOf(topic), 'star moon');
  assert.equal(nameOf({ ...topic, name: 'sky' }), 'sky');
  assert.equal(nameOf({ ...topic, called: '' }), 'topic 0');
});

test('words that an automatic name shows are not repeated', () => {
  const topic = openTopics('relevance');
  assert.equal(furtherWords(topic, 3), 'comet');
  assert.equal(furtherWords({ ...topic, name: 'sky' }, 3), 'star comet moon');
});
