import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { currentAddress, plainAddress } from '../../src/topicfold/report/web/address.js';
import { polygonOf, polygonText } from '../../src/topicfold/report/web/polygon.js';

function parsed(hash) {
  globalThis.location = { hash };
  return currentAddress();
}

afterEach(() => {
  delete globalThis.location;
});

test('an address has a view, a value and a filter', () => {
  assert.deepEqual(parsed(''), ['overview', null, []]);
  assert.deepEqual(parsed('#topics'), ['topics', null, []]);
  assert.deepEqual(parsed('#topic=3&label=sky&m.stars=2..4'), [
    'topic',
    '3',
    [
      ['label', 'sky'],
      ['m.stars', '2..4'],
    ],
  ]);
});

test('values may hold the signs of addresses', () => {
  for (const value of ['a=b&c', '#x?y', '50% of “that”', '', '__proto__'])
    assert.deepEqual(parsed(plainAddress('document', value)), ['document', value, []]);
  assert.deepEqual(parsed('#search=a=b'), ['search', 'a=b', []]);
  assert.equal(plainAddress('map'), '#map');
});

test('an address that is cut off in a character leads to the overview', () => {
  assert.deepEqual(parsed('#document=%E0%A4%A'), ['overview', null, []]);
  assert.deepEqual(parsed('#map&label=%'), ['overview', null, []]);
});

test('a region is written as its corners', () => {
  const corners = [
    [0.4, 10],
    [20, -3.6],
    [5, 5],
  ];
  assert.equal(polygonText(corners), '0,10;20,-4;5,5');
  assert.deepEqual(polygonOf('0,10;20,-4;5,5'), [
    [0, 10],
    [20, -4],
    [5, 5],
  ]);
  for (const text of [null, '', '1,2;3,4', '1,2;3,4;x,6', '1,2;3,4;5', '1,2;3,4;5,6,7', '1,2;3,4;5,Infinity'])
    assert.equal(polygonOf(text), null, text);
});

test('a region has at most 60 corners in its address', () => {
  const corners = Array.from({ length: 1000 }, (_, i) => [i, i]);
  assert.ok(polygonOf(polygonText(corners)).length <= 60);
});
