// Edits of topics, one after the other: which topics remain, and of which rows of the report each is made.

const EDIT_KINDS = ['rename', 'merge', 'drop', 'group'];
const OTHER_TOPICS = 'other topics';

export class EditError extends Error {}

// The kind of an edit, the ids in it, and its name.
function readEdit(edit) {
  const kinds = edit && typeof edit === 'object' ? EDIT_KINDS.filter((kind) => Object.hasOwn(edit, kind)) : [];
  const ids = kinds.length === 1 ? [edit[kinds[0]]].flat() : [];
  const name = (edit && edit.name) || '';
  if (!ids.length || typeof name !== 'string' || !ids.every(Number.isInteger))
    throw new EditError('it contains an entry that is not an edit');
  return { kind: kinds[0], ids, name };
}

// The topics of a report while edits are done to them.
class Replay {
  constructor(report) {
    this.report = report;
    // by id: the rows of the report that the topic is made of, its name, the topic above, and the group it was put in
    this.entries = new Map(report.topics.map(({ id, name, parent }, row) => [id, { id, rows: [row], name, parent, group: null }]));
    this.rest = report.next_id; // the group of all other topics
    this.groups = new Map([[this.rest, { id: this.rest, name: OTHER_TOPICS }]]);
    this.became = new Map(); // id of a topic that is gone: the id it was merged into, or null
  }

  entryOf(id) {
    if (!this.entries.has(id)) throw new EditError(`there is no topic ${id}`);
    return this.entries.get(id);
  }

  isGroup(id) {
    return this.groups.size > 1 && this.groups.has(id);
  }

  remove(id, successor, parent) {
    this.entries.delete(id);
    this.became.set(id, successor);
    for (const entry of this.entries.values()) if (entry.parent === id) entry.parent = parent;
  }

  rename([id], name) {
    if (this.isGroup(id)) this.groups.get(id).name = name;
    else this.entryOf(id).name = name || null;
  }

  merge(ids, name) {
    const [first, ...others] = [...new Set(ids)].map((id) => this.entryOf(id));
    const levels = new Set([first, ...others].map((entry) => this.report.topics[entry.rows[0]].level));
    if (!others.length || levels.size > 1) throw new EditError('a merge needs two or more topics of the same level');
    for (const other of others) {
      first.rows.push(...other.rows);
      this.remove(other.id, first.id, first.id);
    }
    if (name) first.name = name;
  }

  drop(ids) {
    for (const id of ids) {
      if (!this.isGroup(id)) this.remove(id, null, this.entryOf(id).parent);
      else for (const entry of this.entries.values()) if (entry.group === id) entry.group = null;
    }
    if (!this.entries.size) throw new EditError('these edits would drop every topic');
  }

  group(ids, name) {
    const { topics } = this.report;
    const isFlat = topics.every((topic) => topic.level === topics[0].level && !topic.parts);
    if (!isFlat) throw new EditError('only topics of one level can be put in groups');
    const id = this.rest + this.groups.size;
    for (const entry of ids.map((topic) => this.entryOf(topic))) entry.group = id;
    this.groups.set(id, { id, name });
  }

  // The groups that have topics, each with its members; none if no topic was put in one.
  groupsWithMembers() {
    const entries = [...this.entries.values()];
    if (entries.every((entry) => entry.group === null)) return [];
    const membersOf = (id) => entries.filter((entry) => (entry.group ?? this.rest) === id);
    return [...this.groups.values()].map((group) => ({ ...group, members: membersOf(group.id) })).filter((group) => group.members.length);
  }
}

// The remaining topics, the groups above them, and what became of the others.
export function replay(report, edits) {
  if (!Array.isArray(edits)) throw new EditError('expected a list of edits');
  const state = new Replay(report);
  for (const edit of edits) {
    const { kind, ids, name } = readEdit(edit);
    state[kind](ids, name);
  }
  const groups = state.groupsWithMembers();
  for (const group of groups) for (const member of group.members) member.parent = group.id;
  return { entries: [...state.entries.values()], groups, became: state.became };
}

// The id of a topic now; null if it was dropped.
export function currentId(id, became) {
  let current = id;
  while (became.has(current)) current = became.get(current);
  return current;
}
