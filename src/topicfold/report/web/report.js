// The report: as it was made, and as the views show it, with the reader's edits. After each edit `setReport` renews all of this.

export let originalReport = null; // as Python made it
export let report = null;
export let topics = [];
export let rowOfTopic = new Map(); // by the topic's id
export let childrenOf = new Map(); // by the id of the topic above; the largest first
export let roots = [];
export let isGraph = false; // topics of the upper level are made of those of the lower one, which can be part of several
export let lowest = 0; // level
export let highest = 0;
export let isFlat = true;

export function openReport(data) {
  originalReport = data;
  setReport(data);
}

export function setReport(edited) {
  report = edited;
  topics = report.topics;
  rowOfTopic = new Map(topics.map((topic, row) => [topic.id, row]));
  childrenOf = new Map();
  for (const topic of topics) {
    if (!childrenOf.has(topic.parent)) childrenOf.set(topic.parent, []);
    childrenOf.get(topic.parent).push(topic);
  }
  for (const children of childrenOf.values()) children.sort((a, b) => b.size - a.size || a.id - b.id);
  roots = childrenOf.get(-1) || [];
  isGraph = topics.some((topic) => topic.parts !== undefined);
  lowest = Math.min(...topics.map((topic) => topic.level));
  highest = Math.max(...topics.map((topic) => topic.level));
  isFlat = lowest === highest;
}

// A function that returns a value computed when it is first asked for, and anew once an edit has changed the report. It is
// for what is derived from the report, and for what the reader chooses in a view until topics change.
export function perReport(compute) {
  let computedFor = null;
  let value = null;
  return () => {
    if (computedFor !== report) [computedFor, value] = [report, compute()];
    return value;
  };
}

// The name for topics of a level, such as "theme".
export function kindOf(level) {
  return report.levels[level] || 'topic';
}

export function kindsOf(level) {
  return `${kindOf(level)[0].toUpperCase()}${kindOf(level).slice(1)}s`;
}

// Rows of a topic and of all topics below it, whose words count as its words.
export function rowsUnder(topic) {
  const rows = new Set([rowOfTopic.get(topic.id)]);
  const below = topic.parts ? topic.parts.map(([id]) => topics[rowOfTopic.get(id)]) : childrenOf.get(topic.id) || [];
  for (const child of below) for (const row of rowsUnder(child)) rows.add(row);
  return rows;
}
