// Edits of topics, one after the other: which topics remain, and of which rows of the report each is made.

const EDIT_KINDS = ['rename', 'merge', 'drop', 'group'];
const OTHER_TOPICS = 'other topics';

export class EditError extends Error {}

// The kind of an edit, the ids in it, and its name.
function readEdit(edit) {
  const kinds = edit && typeof edit === 'object' ? EDIT_KINDS.filter((kind) => Object.hasOwn(edit, kind)) : [];
  if (kinds.length !== 1) throw new EditError(`an entry is not an edit: expected one of ${EDIT_KINDS.join(', ')}`);
  const [kind] = kinds;
  const isRename = kind === 'rename';
  const ids = isRename ? [edit.rename] : edit[kind];
  if (!Array.isArray(ids) || !ids.every(Number.isInteger))
    throw new EditError(`${kind} has ${JSON.stringify(edit[kind])}: expected ${isRename ? 'the id of a topic' : 'a list of topic ids'}`);
  const name = edit.name ?? null;
  if (typeof name !== 'string' && (isRename || name !== null))
    throw new EditError(`${kind} has the name ${JSON.stringify(name)}: expected a string`);
  return { kind, ids, name: name || null };
}

// The weight of some topics in one that is made of others; rows of the report.
function weightOfPart({ topics }, rows, partRows) {
  const size = d3.sum(rows, (row) => topics[row].size);
  const ids = new Set(partRows.map((row) => topics[row].id));
  return d3.sum(rows, (row) => {
    const share = size > 0 ? topics[row].size / size : 1 / rows.length;
    return share * d3.sum(topics[row].parts || [], ([id, weight]) => (ids.has(id) ? weight : 0));
  });
}

// The topics of a report while edits are done to them.
class Replay {
  constructor(report) {
    this.report = report;
    // by id: the rows of the report that the topic is made of, its name, the topic above, and the group it was put in
    this.entries = new Map(report.topics.map(({ id, name, parent }, row) => [id, { id, rows: [row], name, parent, group: null }]));
    this.rest = report.next_id; // the group of all other topics
    this.groups = new Map([[this.rest, { id: this.rest, name: OTHER_TOPICS }]]);
    this.hasParts = report.topics.some((topic) => topic.parts); // themes of shared topics
    this.became = new Map(); // id of a topic that is gone: the id it was merged into, or null
  }

  entryOf(id) {
    if (!this.entries.has(id)) throw new EditError(`there is no topic ${id}`);
    return this.entries.get(id);
  }

  isGroup(id) {
    return this.groups.size > 1 && this.groups.has(id);
  }

  // `parentOf` says which topic is now above one that was below the removed one.
  remove(id, successor, parentOf) {
    this.entries.delete(id);
    this.became.set(id, successor);
    for (const entry of this.entries.values()) if (entry.parent === id) entry.parent = parentOf(entry);
  }

  rename([id], name) {
    if (this.isGroup(id)) this.groups.get(id).name = name;
    else this.entryOf(id).name = name;
  }

  merge(ids, name) {
    const merged = [...new Set(ids)].map((id) => this.entryOf(id));
    const levels = new Set(merged.map((entry) => this.report.topics[entry.rows[0]].level));
    if (merged.length < 2 || levels.size > 1) throw new EditError('a merge needs two or more topics of the same level');
    const [first, ...others] = merged;
    for (const other of others) {
      first.rows.push(...other.rows);
      this.remove(other.id, first.id, () => first.id);
    }
    if (name) first.name = name;
  }

  drop(ids) {
    for (const id of new Set(ids)) {
      if (this.isGroup(id)) {
        for (const entry of this.entries.values()) if (entry.group === id) entry.group = null;
      } else {
        const { parent } = this.entryOf(id);
        this.remove(id, null, (entry) => this.heaviestAbove(entry) ?? parent);
      }
    }
    if (!this.entries.size) throw new EditError('these edits would drop every topic');
  }

  // The topic that an entry is the largest part of, if topics are made of others.
  heaviestAbove(entry) {
    if (!this.hasParts) return null;
    const weightIn = (other) => weightOfPart(this.report, other.rows, entry.rows);
    const best = d3.greatest(this.entries.values(), weightIn);
    return weightIn(best) > 0 ? best.id : null;
  }

  group(ids, name) {
    const hasLevels = [...this.entries.values()].some((entry) => entry.parent >= 0);
    if (hasLevels || this.hasParts) throw new EditError('only topics of one level can be put in groups');
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
