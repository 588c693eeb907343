// Edits as a small file that Python reads too.

import { editedReport } from './edited.js';
import { EditError } from './replay.js';
import { originalReport } from './report.js';

const EDITS_FORMAT = 'topicfold edits 1';

// A name for the report in the browser's storage: other topics, or other names, have another one.
export function fingerprintOf(report) {
  const topics = report.topics.map((topic) => [topic.id, topic.name, topic.called]);
  return hashOf(JSON.stringify([report.name, report.model, report.edits, topics]));
}

// FNV-1a of the text's units.
export function hashOf(text) {
  let value = 0xcbf29ce484222325n;
  for (let i = 0; i < text.length; i += 1) value = BigInt.asUintN(64, (value ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n);
  return value.toString(36);
}

// All edits: those that the report was made with, and those of the reader.
export function editsAsJson(edits) {
  return JSON.stringify({ format: EDITS_FORMAT, edits: [...originalReport.edits, ...edits] }, null, 1);
}

// The reader's edits after loading a file of edits, or a file of names, {"12": "name"}, in which names of unknown topics
// are left out.
export function editsFrom(text, edits) {
  const contents = JSON.parse(text);
  if (contents === null || typeof contents !== 'object' || Array.isArray(contents))
    throw new SyntaxError(`expected {"format": "${EDITS_FORMAT}", ...}`);
  if (contents.format === EDITS_FORMAT && Array.isArray(contents.edits)) {
    const before = contents.edits.slice(0, originalReport.edits.length);
    if (JSON.stringify(before) !== JSON.stringify(originalReport.edits)) throw new EditError('the edits were made for other topics');
    const loaded = contents.edits.slice(originalReport.edits.length);
    editedReport(originalReport, loaded); // throws if they cannot be applied
    return loaded;
  }
  const ids = new Set(originalReport.topics.map((topic) => topic.id));
  const names = Object.entries(contents).filter(
    ([id, name]) => /^\d+$/.test(id) && ids.has(Number(id)) && typeof name === 'string' && name.trim(),
  );
  return [...edits, ...names.map(([id, name]) => ({ rename: Number(id), name: name.trim() }))];
}
