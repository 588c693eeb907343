// Tools to edit topics: boxes to tick in the list of topics, buttons next to the name of a topic, undo, and the file.

import { download } from './download.js';
import { editsAsJson, editsFrom } from './edit_file.js';
import { addEdit, edits, setEdits } from './edits.js';
import { element } from './elements.js';
import { address } from './links.js';
import { nameOf } from './names.js';
import { plural } from './numbers.js';
import { EditError } from './replay.js';
import { originalReport, perReport, rowOfTopic, topics } from './report.js';
import { showView } from './router.js';

let isEditing = false;
let loadStatus = ''; // of the file that was loaded last
let showChoice = () => {}; // tells the buttons which topics are ticked
const chosenIds = perReport(() => new Set()); // of the topics that are ticked

function canGroup() {
  return originalReport.topics.every((topic) => topic.level === originalReport.topics[0].level && !topic.parts);
}

const groupIds = perReport(
  () => new Set(canGroup() ? topics.filter((topic) => topic.level > originalReport.topics[0].level).map((topic) => topic.id) : []),
);

export function rename(id, name) {
  const before = topics[rowOfTopic.get(id)].name || '';
  if (name.trim() !== before) addEdit({ rename: id, name: name.trim() });
}

// What an edit did, with the names that topics had when the report was made.
export function descriptionOf(edit) {
  const called = (id) => {
    const topic = originalReport.topics.find((other) => other.id === id);
    return topic ? topic.name || topic.called : 'a group';
  };
  if ('rename' in edit)
    return edit.name ? `renamed “${called(edit.rename)}” to “${edit.name}”` : `removed the name of “${called(edit.rename)}”`;
  if ('merge' in edit) return `merged ${edit.merge.map((id) => `“${called(id)}”`).join(' and ')}`;
  if ('drop' in edit) return `dropped ${edit.drop.map((id) => `“${called(id)}”`).join(' and ')}`;
  return `grouped ${plural(edit.group.length, 'topic')}${edit.name ? ` as “${edit.name}”` : ''}`;
}

export function editBox(topic) {
  if (!isEditing) return null;
  const box = element('input', {
    type: 'checkbox',
    class: 'edit-box',
    checked: chosenIds().has(topic.id),
    'aria-label': `Choose ${nameOf(topic)}`,
    on: {
      change: () => {
        if (box.checked) chosenIds().add(topic.id);
        else chosenIds().delete(topic.id);
        showChoice();
      },
    },
  });
  return box;
}

// The buttons for the topics that are ticked, and a field for the name of the merged topic or group.
function chosenTools() {
  const name = element('input', {
    type: 'text',
    id: 'edit-name',
    maxlength: '120',
    placeholder: 'Name (optional)',
    'aria-label': 'Name of the merged topic or the group',
  });
  const button = (id, title, editOf) =>
    element('button', { type: 'button', id, on: { click: () => addEdit(editOf([...chosenIds()], name.value.trim())) } }, title);
  const named = (edit, text) => (text ? { ...edit, name: text } : edit);
  const merge = button('merge', 'Merge', (ids, text) =>
    named({ merge: ids.sort((a, b) => topics[rowOfTopic.get(b)].size - topics[rowOfTopic.get(a)].size) }, text),
  );
  const group = button('group', 'Group', (ids, text) => ({ group: ids, name: text }));
  const drop = button('drop', 'Drop', (ids) => ({ drop: ids }));
  const status = element('span', { class: 'muted' });
  showChoice = () => {
    const ids = [...chosenIds()];
    const levels = new Set(ids.map((id) => topics[rowOfTopic.get(id)].level));
    const someGroup = ids.some((id) => groupIds().has(id));
    merge.disabled = ids.length < 2 || levels.size > 1 || someGroup;
    group.disabled = !ids.length || someGroup;
    drop.disabled = !ids.length || (!someGroup && ids.length >= topics.length);
    status.textContent = ids.length
      ? `${plural(ids.length, 'topic')} chosen`
      : `Tick topics to merge${canGroup() ? ', group' : ''} or drop them.`;
  };
  showChoice();
  return [merge, canGroup() ? group : null, drop, name, status];
}

function loadTools() {
  const status = element('span', { class: 'muted', role: 'status' }, loadStatus);
  loadStatus = '';
  const chooser = element('input', {
    type: 'file',
    accept: '.json,application/json',
    hidden: true,
    'aria-label': 'File with edits',
    on: {
      change: async () => {
        if (!chooser.files.length) return;
        const before = edits.length;
        try {
          const list = editsFrom(await chooser.files[0].text(), edits);
          const n = list.length - (list.slice(0, before).every((edit, i) => edit === edits[i]) ? before : 0);
          loadStatus = `${plural(n, 'edit')} loaded`;
          setEdits(list);
        } catch (error) {
          if (!(error instanceof SyntaxError || error instanceof EditError)) throw error;
          status.textContent = `This file cannot be used: ${error.message}`;
        }
      },
    },
  });
  return [element('button', { type: 'button', on: { click: () => chooser.click() } }, 'Load edits'), chooser, status];
}

function toggleEditing() {
  isEditing = !isEditing;
  chosenIds().clear();
  showView();
  document.getElementById('edit-topics').focus();
}

function undoLast() {
  setEdits(edits.slice(0, -1));
  (document.getElementById('undo') || document.getElementById('edit-topics') || document.getElementById('main')).focus();
}

function editList(all) {
  return element(
    'details',
    { id: 'edits' },
    element('summary', {}, plural(all.length, 'edit')),
    element(
      'ol',
      {},
      all.map((edit) => element('li', {}, descriptionOf(edit))),
    ),
    element(
      'p',
      { class: 'muted' },
      'Words and documents of merged topics are combined from those on this page. For a page with exact numbers, download the edits and ' +
        'run: topicfold explore MODEL INPUT --edits topic-edits.json. The file also works with topicfold assign and TopicTree.apply.',
    ),
  );
}

// Above the list of topics.
export function editTools() {
  const button = (id, title, click, attributes = {}) => element('button', { type: 'button', id, ...attributes, on: { click } }, title);
  const all = [...originalReport.edits, ...edits];
  const save = () => download('topic-edits.json', editsAsJson(edits));
  return element(
    'div',
    { class: 'edit-tools' },
    element(
      'div',
      { class: 'tools' },
      button('edit-topics', 'Edit topics', toggleEditing, { 'aria-pressed': String(isEditing) }),
      isEditing ? chosenTools() : null,
      edits.length ? button('undo', 'Undo', undoLast, { title: descriptionOf(edits.at(-1)) }) : null,
      all.length ? button('download-edits', 'Download edits', save) : null,
      loadTools(),
    ),
    all.length ? editList(all) : null,
  );
}

// Next to the name of a topic: merge it with another one, or drop it.
export function topicEditTools(topic) {
  if (groupIds().has(topic.id))
    return [element('button', { type: 'button', id: 'ungroup', on: { click: () => addEdit({ drop: [topic.id] }) } }, 'Ungroup')];
  const others = topics.filter((other) => other !== topic && other.level === topic.level);
  if (!others.length) return [];
  const alike = topic.similar.map(([id]) => topics[rowOfTopic.get(id)]).filter((other) => other && other.level === topic.level);
  const order = [...new Set([...alike, ...others.sort((a, b) => nameOf(a).localeCompare(nameOf(b)))])];
  const chooser = element(
    'select',
    {
      id: 'merge-with',
      'aria-label': 'Merge with another topic',
      on: { change: () => chooser.value && addEdit({ merge: [topic.id, Number(chooser.value)] }) },
    },
    element('option', { value: '' }, 'Merge with …'),
    order.map((other) => element('option', { value: other.id }, nameOf(other))),
  );
  const drop = element(
    'button',
    {
      type: 'button',
      id: 'drop-topic',
      on: {
        click: () => {
          addEdit({ drop: [topic.id] });
          location.hash = address('topics');
        },
      },
    },
    'Drop',
  );
  return [chooser, drop];
}
