import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axisLabel, shortened } from '../../src/topicfold/report/web/charts.js';
import { beginning, count, minus, numbersIn, percent, plural, tuplesIn } from '../../src/topicfold/report/web/numbers.js';

test('columns hold numbers as text', () => {
  assert.deepEqual(numbersIn('3 -1 20'), [3, -1, 20]);
  assert.deepEqual(numbersIn(''), []);
  assert.deepEqual(tuplesIn('1 2 3 4 5 6', 3), [
    [1, 2, 3],
    [4, 5, 6],
  ]);
  assert.deepEqual(tuplesIn('', 2), []);
});

test('shares are percentages', () => {
  assert.equal(percent(0.12345), '12.3%');
  assert.equal(percent(0.126, 0), '13%');
  assert.equal(percent(0), '0.0%');
  assert.equal(percent(0.0004), '<0.1%');
  assert.equal(axisLabel(0.0125), '1.25%');
  assert.equal(axisLabel(0), '0');
});

test('numbers have a true minus sign, separators, and the right plural', () => {
  assert.equal(minus('-0.25'), '−0.25');
  assert.equal(minus(3), '3');
  assert.equal(count(1234567), '1,234,567');
  assert.equal(plural(1, 'topic'), '1 topic');
  assert.equal(plural(0, 'topic'), '0 topics');
  assert.equal(plural(2000, 'match', 'matches'), '2,000 matches');
});

test('long names are cut', () => {
  assert.equal(shortened('abcdef', 6), 'abcdef');
  assert.equal(shortened('abcdef', 5), 'abcd…');
});

test('a text is not cut within a letter of two code units', () => {
  assert.equal(beginning('a💩b', 1), 'a');
  assert.equal(beginning('a💩b', 2), 'a');
  assert.equal(beginning('a💩b', 3), 'a💩');
  assert.equal(shortened('abc💩def', 5), 'abc…');
});
