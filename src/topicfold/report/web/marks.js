// The words of a text that have a topic.

import { currentRow, documents } from './documents.js';
import { numbersIn, tuplesIn } from './numbers.js';

const WORD = /[^\0-/:-@[-^`{-\u00bf\u2000-\u206f\u3000-\u303f]+/g; // the same pattern as in the code that makes the report

// The words that have a topic. They are stored as one sign per word of the text, after the rows that the signs stand for; or,
// if words are not separated by spaces, as the number of characters skipped, the length and the row of each.
export function marksOf(d) {
  const signs = documents.marks[d];
  const colon = signs.indexOf(':');
  const marks = [];
  if (colon >= 0) {
    const rows = numbersIn(signs.slice(0, colon));
    let at = colon + 1;
    for (const { 0: word, index: start } of documents.text[d].matchAll(WORD)) {
      if (at >= signs.length) break;
      if (signs[at] !== '.') marks.push({ start, end: start + word.length, row: currentRow(rows[signs.charCodeAt(at) - 48]) });
      at += 1;
    }
    return marks.filter((mark) => mark.row >= 0);
  }
  let at = 0;
  for (const [skipped, length, row] of tuplesIn(signs, 3)) {
    marks.push({ start: at + skipped, end: at + skipped + length, row: currentRow(row) });
    at += skipped + length;
  }
  return marks.filter((mark) => mark.row >= 0);
}

// A piece of a text in parts: what is between the marks as it is, and each marked word as `draw(word, mark)`.
export function withMarks(text, from, to, marks, draw) {
  const parts = [];
  let end = from;
  for (const mark of marks) {
    if (mark.start < end || mark.end > to) continue;
    parts.push(text.slice(end, mark.start), draw(text.slice(mark.start, mark.end), mark));
    end = mark.end;
  }
  parts.push(text.slice(end, to));
  return parts;
}
