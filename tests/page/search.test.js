import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { readFilter } from '../../src/topicfold/report/web/filter.js';
import { documentHits, isIn, occurrencesOf, searchable, termsOf, topicHits } from '../../src/topicfold/report/web/search.js';
import { openPage, reportWith, topicWith } from './page.js';

beforeEach(() => {
  const words = ['star', 'moon', 'soup', 'starfish'];
  const topics = [
    topicWith({ id: 0, name: 'Night sky', words: words.map((_, word) => [word, [0.6, 0.3, 0.05, 0.05][word], null]) }),
    topicWith({ id: 1, called: 'soup starfish', words: words.map((_, word) => [word, [0.1, 0.1, 0.5, 0.3][word], null]) }),
  ];
  openPage(reportWith({ words, topics, labels: ['sky', 'sea'] }), {
    id: ['a', 'b', 'c', 'd'],
    title: ['The moon', 'Fish', 'Soup of stars', 'Tides'],
    text: ['Star by star the night falls.', 'A starfish, and the moon.', 'Boil the soup.', 'The moon makes them. Moon, moon!'],
    topics: ['0 1000', '1 1000', '1 1000', '0 1000'],
    labels: ['0', '1', '1', '0'],
  });
  readFilter([]);
});

const found = (query) => documentHits(termsOf(query));

test('a query has words and phrases, the last of which may be unfinished', () => {
  const term = (text, whole = true) => ({ text, whole });
  assert.deepEqual(termsOf('Star moo'), [term('star'), term('moo', false)]);
  assert.deepEqual(termsOf('“night sky”, star '), [term('night sky'), term(','), term('star')]);
  assert.deepEqual(termsOf('"open phra'), [term('open phra', false)]);
  assert.deepEqual(termsOf('a, b; c'), [term('a'), term('b'), term('c', false)]);
  assert.deepEqual(termsOf(' "" '), []);
});

test('text is compared in lower case, normalised and evenly spaced', () => {
  assert.equal(searchable('CAFE\u0301\n\n AU\tLAIT'), 'café au lait');
});

test('words begin at words; only the one being typed may go on', () => {
  const text = 'starfish and star, costar';
  assert.deepEqual(occurrencesOf({ text: 'star', whole: true }, text), [13]);
  assert.deepEqual(occurrencesOf({ text: 'star', whole: false }, text), [0, 13]);
  assert.deepEqual(occurrencesOf({ text: '-', whole: true }, 'a-b'), [1]);
});

test('words of scripts without spaces are found anywhere', () => {
  assert.ok(isIn('東京都に行く', { text: '京都', whole: true }));
  assert.ok(!isIn('городок', { text: 'род', whole: true }));
});

test('topics have all terms in their names or words', () => {
  const [named, withWords] = topicHits(termsOf('star'));
  assert.deepEqual(
    named.map(({ topic }) => topic.id),
    [1],
  ); // "starfish" is in its name
  assert.deepEqual(
    withWords.map(({ topic, words }) => [topic.id, words]),
    [[0, ['star']]],
  );
  assert.deepEqual(
    topicHits(termsOf('night star')).map((hits) => hits.map(({ topic }) => topic.id)),
    [[], [0]],
  );
});

test('documents have all terms; those with all in the title come first, then by how much they have of them', () => {
  assert.deepEqual(found('moon '), [[0], [3, 1]]);
  assert.deepEqual(found('moon starf'), [[], [1]]);
  assert.deepEqual(found('"the moon"'), [[0], [1, 3]]);
  assert.deepEqual(found('nothing'), [[], []]);
});

test('a phrase does not go from the title into the text', () => {
  assert.deepEqual(found('"moon star"'), [[], []]);
});

test('documents that the filter leaves out are not found', () => {
  readFilter([['label', 'sea']]);
  assert.deepEqual(found('moon '), [[], [1]]);
});
