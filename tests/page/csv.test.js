import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { csvCell } from '../../src/topicfold/report/web/csv_cells.js';

const cases = JSON.parse(readFileSync(new URL('../engine/csv_cells.json', import.meta.url), 'utf8'));

function unquoted(cell) {
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

test('texts that look like formulas are guarded as in Python', () => {
  for (const [text, cell] of cases) assert.equal(unquoted(csvCell(text)), cell);
});

test('cells with separators are quoted', () => {
  assert.equal(csvCell('a,b'), '"a,b"');
  assert.equal(csvCell('say "yes"'), '"say ""yes"""');
  assert.equal(csvCell('a\nb'), '"a\nb"');
});
