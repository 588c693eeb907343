// The filter: which documents the views show. It is part of the address, so that a link restores it:
// #view=value&label=sky&date=1990..1995&m.stars=2..4

import { currentAddress, plainAddress } from './address.js';
import { documentCount, documents, levelShares, metadata, sharesOf } from './documents.js';
import { numbersIn } from './numbers.js';
import { perReport, report, rowOfTopic, topics } from './report.js';

export let filter = new Map(); // key: the wanted value, as text
export let filterText = ''; // as in the address
export let filterMask = null; // 1 for each document that passes; null: all do
let filteredReport = null; // the report that the mask was made for
let filterChanges = false; // whether the coming change of the address is one of the filter alone

// The columns that can be filtered, by their keys.
export const filterColumns = perReport(() => {
  const columns = [{ key: 'topic', title: 'Topic', kind: 'topic' }];
  if (documents.labels) {
    const labelsOf = (d) => numbersIn(documents.labels[d]);
    columns.push({ key: 'label', title: 'Label', kind: 'category', names: report.labels, of: labelsOf });
  }
  if (documents.date && documents.date.some(Boolean)) columns.push({ key: 'date', title: 'Date', kind: 'date', values: documents.date });
  for (const column of metadata)
    if (column.kind !== 'text') columns.push({ key: `m.${column.name}`, title: column.name, ...column, of: (d) => [column.values[d]] });
  return new Map(columns.map((column) => [column.key, column]));
});

function textOfFilter(wanted) {
  return [...wanted].map(([key, value]) => `&${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('');
}

export function spanOf(text) {
  const [from, to] = text.split('..');
  return [from.trim(), (to === undefined ? from : to).trim()];
}

// A test of whether a document passes one column of the filter; null if the wanted value is invalid.
function testOf(column, text) {
  if (column.kind === 'topic') {
    const row = rowOfTopic.get(Number(text));
    if (row === undefined) return null;
    if (!report.exclusive) return (d) => sharesOf(d).some(([other, share]) => other === row && share >= 0.5);
    return (d) => (levelShares(d, topics[row].level)[0] || [-1])[0] === row;
  }
  if (column.kind === 'category') {
    const wanted = column.names.indexOf(text);
    return wanted < 0 ? null : (d) => column.of(d).includes(wanted);
  }
  const [from, to] = spanOf(text);
  if (column.kind === 'date')
    return (d) => Boolean(column.values[d]) && (!from || column.values[d] >= from) && (!to || column.values[d].slice(0, to.length) <= to);
  const [low, high] = [from === '' ? -Infinity : Number(from), to === '' ? Infinity : Number(to)];
  if (Number.isNaN(low) || Number.isNaN(high)) return null;
  return (d) => column.values[d] !== null && column.values[d] >= low && column.values[d] <= high;
}

// Reads the filter from the address; unknown columns and values are left out.
export function readFilter(parts) {
  const wanted = new Map();
  const tests = [];
  for (const [key, text] of parts) {
    const test = filterColumns().has(key) && text ? testOf(filterColumns().get(key), text) : null;
    if (test) {
      wanted.set(key, text);
      tests.push(test);
    }
  }
  filter = wanted;
  const text = textOfFilter(wanted);
  if (text === filterText && report === filteredReport) return;
  filterText = text;
  filteredReport = report;
  filterMask = tests.length ? Uint8Array.from({ length: documentCount }, (_, d) => (tests.every((test) => test(d)) ? 1 : 0)) : null;
}

export function passes(d) {
  return !filterMask || filterMask[d] === 1;
}

export function shownDocuments() {
  const all = d3.range(documentCount);
  return filterMask ? all.filter(passes) : all;
}

export function setFilter(key, text) {
  const wanted = new Map(filter);
  if (text === null || text === '' || text === '..') wanted.delete(key);
  else wanted.set(key, text);
  const [view, value] = currentAddress();
  filterChanges = true;
  location.hash = `${plainAddress(view, value)}${textOfFilter(wanted)}`;
}

// Whether the address was just changed by setFilter; then the reader stays where they are.
export function takeFilterChange() {
  const changes = filterChanges;
  filterChanges = false;
  return changes;
}

// As perReport, and computed for each filter.
export function perFilter(compute) {
  const byFilter = perReport(() => new Map());
  return () => {
    if (!byFilter().has(filterText)) byFilter().set(filterText, compute());
    return byFilter().get(filterText);
  };
}
