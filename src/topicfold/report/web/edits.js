// Edits of topics: stored in the browser for this report, undone one by one, downloaded and loaded as one small file that
// Python reads too. This file runs once; after each edit the page is redrawn by `explorer`, which the other scripts form.

const EDITS_FORMAT = 'topicfold edits 1';
const acrossEdits = { editing: false, chosen: new Set(), openBranches: new Map(), pointLayer: null, status: '' }; // outlives an edit
const editsKey = `topicfold edits ${hash(JSON.stringify([given.name, given.model, given.edits, given.topics.map((topic) => [topic.id, topic.name, topic.called])]))}`;
let edits = []; // made here; those that the report came with are in given.edits
let life = null; // of the page as drawn: its listeners are removed when it is redrawn

// Edits are stored for this report only: the same topics with the same names.
function hash(text) {
  let value = 0xcbf29ce484222325n; // FNV-1a
  for (let i = 0; i < text.length; i += 1) value = BigInt.asUintN(64, (value ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n);
  return value.toString(36);
}

function setEdits(list) {
  edits = list;
  stored((storage) => (edits.length ? storage.setItem(editsKey, JSON.stringify(edits)) : storage.removeItem(editsKey)));
  acrossEdits.chosen.clear();
  const place = scrollY;
  restart();
  scrollTo(0, place);
}

// Adds an edit; a second name for the same topic replaces the first.
function addEdit(edit) {
  const last = edits[edits.length - 1];
  const again = last && 'rename' in last && last.rename === edit.rename;
  setEdits([...(again ? edits.slice(0, -1) : edits), edit]);
}

function editsAsJson() {
  return JSON.stringify({ format: EDITS_FORMAT, edits: [...given.edits, ...edits] }, null, 1);
}

// The edits in a file of edits, or in a file of names, {"12": "name"}; names of unknown topics are left out.
function parsedEdits(text) {
  const read = JSON.parse(text);
  if (read === null || typeof read !== 'object' || Array.isArray(read))
    throw new SyntaxError(`expected {"format": "${EDITS_FORMAT}", ...}`);
  if (read.format === EDITS_FORMAT && Array.isArray(read.edits)) {
    const before = JSON.stringify(given.edits);
    if (JSON.stringify(read.edits.slice(0, given.edits.length)) !== before) throw new EditError('the edits were made for other topics');
    const own = read.edits.slice(given.edits.length);
    edited(given, own); // throws if they cannot be applied
    return own;
  }
  const known = new Set(given.topics.map((topic) => topic.id));
  const named = Object.entries(read).filter(
    ([id, name]) => /^\d+$/.test(id) && known.has(Number(id)) && typeof name === 'string' && name.trim(),
  );
  return [...edits, ...named.map(([id, name]) => ({ rename: Number(id), name: name.trim() }))];
}

function restart() {
  if (life) life.abort();
  life = new AbortController();
  explorer(edited(given, edits), life.signal);
}

function takeKeptEdits() {
  const text = stored((storage) => storage.getItem(editsKey));
  if (!text) return;
  try {
    const list = JSON.parse(text);
    edited(given, list);
    edits = list;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof EditError)) throw error;
    stored((storage) => storage.removeItem(editsKey)); // not ours
  }
}
