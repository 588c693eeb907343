// The reader's edits of topics: kept in the browser for this report, and undone one by one. After each, the view is drawn anew.

import { fingerprintOf } from './edit_file.js';
import { editedReport } from './edited.js';
import { EditError } from './replay.js';
import { originalReport, setReport } from './report.js';
import { showView } from './router.js';
import { stored } from './storage.js';

export let edits = []; // without those that the report was made with
let storageKey = null;

export function restoreEdits() {
  storageKey = `topicfold edits ${fingerprintOf(originalReport)}`;
  const text = stored((storage) => storage.getItem(storageKey));
  if (!text) return;
  try {
    const restored = JSON.parse(text);
    setReport(editedReport(originalReport, restored));
    edits = restored;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof EditError)) throw error;
    stored((storage) => storage.removeItem(storageKey)); // not ours
  }
}

export function setEdits(list) {
  edits = list;
  stored((storage) => (edits.length ? storage.setItem(storageKey, JSON.stringify(edits)) : storage.removeItem(storageKey)));
  const place = scrollY;
  setReport(editedReport(originalReport, edits));
  showView();
  scrollTo(0, place);
}

// Adds an edit; a second name for the same topic replaces the first.
export function addEdit(edit) {
  const last = edits.at(-1);
  const isSecondName = last && 'rename' in last && last.rename === edit.rename;
  setEdits([...(isSecondName ? edits.slice(0, -1) : edits), edit]);
}
