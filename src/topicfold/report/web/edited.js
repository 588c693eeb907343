// The report after edits. Numbers of merged topics are computed from the data on the page: sizes are exact, words and
// best documents come from the lists of the topics that were merged. `explore --edits` makes a page with exact lists.

import { byTypicality, documents, withoutCopies } from './documents.js';
import { BEST_DOCUMENTS, LABELS } from './filtered.js';
import { tuplesIn } from './numbers.js';
import { currentId, replay } from './replay.js';
import { nameOfWords } from './terms.js';

// Items of several lists, added up with the weights of the lists: [key, values], the largest first value first.
function mixedLists(lists, weights, valuesOf) {
  const mixed = new Map();
  lists.forEach((list, i) =>
    list.forEach((item) => {
      const sums = mixed.get(item[0]) || valuesOf(item).map(() => 0);
      valuesOf(item).forEach((value, j) => {
        sums[j] += weights[i] * (value || 0);
      });
      mixed.set(item[0], sums);
    }),
  );
  return [...mixed].sort((a, b) => b[1][0] - a[1][0]);
}

// The documents among the best of the topics, with their shares in the topics together.
function documentsOfRows(report, rows) {
  const wanted = new Set(rows);
  const shareOfRows = (d) => {
    const shares = tuplesIn(documents.topics[d], 2)
      .filter(([row]) => wanted.has(row))
      .map(([, share]) => share / 1000);
    return report.exclusive ? d3.sum(shares) : d3.max(shares) || 0;
  };
  const candidates = new Set(rows.flatMap((row) => report.topics[row].documents.map(([d]) => d)));
  const best = [...candidates]
    .map((d) => [d, shareOfRows(d)])
    .filter(([, share]) => share > 0)
    .sort(byTypicality);
  return withoutCopies(best, ([d]) => d).slice(0, BEST_DOCUMENTS);
}

// One topic made of several rows of the report.
function topicOfRows(report, rows) {
  const merged = rows.map((row) => report.topics[row]);
  const [first] = merged;
  const size = d3.sum(merged, (topic) => topic.size);
  const weights = merged.map((topic) => (size > 0 ? topic.size / size : 1 / merged.length));
  const mixed = (field, valuesOf) =>
    mixedLists(
      merged.map((topic) => topic[field] || []),
      weights,
      valuesOf,
    );
  const scored = report.score !== 'relevance';
  const words = mixed('words', ([, probability, score]) => [probability, score]).map(([word, [probability, score]]) => [
    word,
    probability,
    scored ? score : null,
  ]);
  const best = [...words].sort((a, b) => (scored ? b[2] - a[2] : 0) || b[1] - a[1]).map(([word]) => word);
  const phrases = [...new Map(merged.flatMap((one) => (one.phrases || []).map((phrase) => [phrase[0], phrase]))).values()];
  const topic = {
    ...first,
    name: null,
    called: nameOfWords(report, best, phrases),
    phrases,
    size: report.exclusive ? size : Math.min(1, size),
    coherence: null,
    mark: undefined,
    stability: undefined,
    words,
    documents: documentsOfRows(report, rows),
    similar: mixed('similar', ([, likeness]) => [likeness]).map(([id, [likeness]]) => [id, likeness]),
  };
  if (first.labels) {
    const shareOfAll = new Map(merged.flatMap(({ labels }) => labels.map(([label, , share]) => [label, share])));
    topic.labels = mixed('labels', ([, share]) => [share])
      .map(([label, [share]]) => [label, share, shareOfAll.get(label)])
      .slice(0, LABELS);
  }
  if (first.parts) topic.parts = mixed('parts', ([, weight]) => [weight]).map(([id, [weight]]) => [id, weight]);
  return topic;
}

// Lists of [topic, value] with the current ids of topics; the values of merged topics are combined.
function withCurrentIds(list, became, omitted, combine) {
  const values = new Map();
  for (const [before, value] of list) {
    const id = currentId(before, became);
    if (id !== null && id !== omitted) values.set(id, values.has(id) ? combine(values.get(id), value) : value);
  }
  return [...values].sort((a, b) => b[1] - a[1]);
}

// Ward linkage of topics, from the similarity of the rows they contain.
function editedHierarchy(report, rowLists) {
  if (!report.hierarchy || rowLists.length < 2) return null;
  const alike = (one, other) => d3.mean(one.flatMap((a) => other.map((b) => report.hierarchy.likeness[a][b]))) / 100;
  const likeness = rowLists.map((one) => rowLists.map((other) => Math.round(100 * alike(one, other))));
  const apart = (one, other) => {
    const squared = alike(one, one) + alike(other, other) - 2 * alike(one, other);
    return Math.sqrt(Math.max(0, ((2 * one.length * other.length) / (one.length + other.length)) * squared));
  };
  let open = rowLists.map((rows, i) => ({ number: i, rows, order: [i] }));
  const forks = [];
  while (open.length > 1) {
    const pairs = open.flatMap((one, i) => open.slice(i + 1).map((other) => [one, other, apart(one.rows, other.rows)]));
    const [one, other, distance] = d3.least(pairs, (pair) => pair[2]);
    const rows = [...one.rows, ...other.rows];
    forks.push([one.number, other.number, distance, topicOfRows(report, rows).called]);
    open = [
      ...open.filter((node) => node !== one && node !== other),
      { number: rowLists.length + forks.length - 1, rows, order: [...one.order, ...other.order] },
    ];
  }
  return { forks, groups: Math.min(report.hierarchy.groups, rowLists.length - 1), order: open[0].order, likeness };
}

function editedTime(time, rowLists, became, exclusive) {
  if (!time) return time;
  const combine = exclusive ? d3.sum : d3.max;
  const share = rowLists.map((rows) => time.periods.map((_, i) => combine(rows, (row) => time.share[row][i])));
  const rises = new Map();
  for (const rise of time.rises) {
    const topic = currentId(rise.topic, became);
    if (topic !== null && !rises.has(topic)) rises.set(topic, { ...rise, topic });
  }
  return { ...time, share, rises: [...rises.values()] };
}

function editedComparison(compare, sizes, became) {
  if (!compare) return compare;
  const flowOf = (links) => {
    const size = d3.sum(new Set(links.map(([a]) => a)), (a) => sizes.get(a)) || 1;
    const ofLeft = d3.sum(links, ([a, , part]) => part * sizes.get(a)) / size;
    const ofRight = d3.sum(links, ([, , , part]) => part);
    return [ofLeft, Math.min(1, ofRight)];
  };
  const flows = d3.rollups(
    compare.links.filter(([a]) => currentId(a, became) !== null),
    flowOf,
    ([a]) => currentId(a, became),
    ([, b]) => b,
  );
  const currentIds = (ids) => [...new Set(ids.map((id) => currentId(id, became)).filter((id) => id !== null))];
  const relations = compare.relations
    .map((relation) => ({ ...relation, left: currentIds(relation.left) }))
    .filter((relation) => relation.left.length || relation.kind === 'alone' || relation.kind === 'holds');
  return { ...compare, links: flows.flatMap(([a, ofA]) => ofA.map(([b, flow]) => [a, b, ...flow])), relations };
}

// Shares and words of groups; merged topics have the words with the highest z-scores of any of them.
function editedGroups(table, rowLists, exclusive) {
  const combine = exclusive ? d3.sum : d3.max;
  const words = (rows) =>
    table.values.map((_, group) => {
      const best = d3.rollup(
        rows.flatMap((row) => table.words[row + 1][group]),
        (scores) => d3.max(scores, ([, z]) => z),
        ([word]) => word,
      );
      return [...best].sort((a, b) => b[1] - a[1]);
    });
  const share = rowLists.map((rows) => table.values.map((_, group) => combine(rows, (row) => table.share[row][group])));
  return { ...table, share, words: [table.words[0], ...rowLists.map(words)] };
}

// The topics after edits: those of the report, those merged from several of them, and the groups above.
function editedTopics(report, { entries, groups, became }) {
  const remaining = entries.map(({ id, rows, name, parent }) => {
    const topic = rows.length > 1 ? topicOfRows(report, rows) : report.topics[rows[0]];
    return { ...topic, id, name, parent };
  });
  const above = groups.map(({ id, name, members }) => {
    const topic = topicOfRows(
      report,
      members.flatMap((member) => member.rows),
    );
    return { ...topic, id, name, parent: -1, level: topic.level + 1, similar: [] };
  });
  const all = [...remaining, ...above];
  const isTwin = (topic) => all.some((other) => other !== topic && other.level === topic.level && other.called === topic.called);
  return all.map((topic) => {
    const similar = withCurrentIds(topic.similar, became, topic.id, Math.max);
    const parts = topic.parts && withCurrentIds(topic.parts, became, null, (a, b) => a + b);
    const called = topic.called && isTwin(topic) ? `${topic.called} (${topic.id})` : topic.called;
    return { ...topic, called, similar, ...(parts ? { parts } : {}) };
  });
}

// The report as the views show it. `currentRows` are the rows of its topics that a row of the report is now part of.
export function editedReport(report, edits) {
  const replayed = replay(report, edits);
  if (!edits.length) return report;
  const { entries, groups, became } = replayed;
  const rowLists = [...entries.map((entry) => entry.rows), ...groups.map(({ members }) => members.flatMap((member) => member.rows))];
  const currentRows = report.topics.map(() => []);
  rowLists.forEach((rows, current) => rows.forEach((row) => currentRows[row].push(current)));
  const { level } = report.topics[0];
  return {
    ...report,
    topics: editedTopics(report, replayed),
    currentRows,
    became,
    levels: groups.length ? { [level]: 'topic', [level + 1]: 'group' } : report.levels,
    time: editedTime(report.time, rowLists, became, report.exclusive),
    hierarchy: groups.length ? null : editedHierarchy(report, rowLists),
    groups: report.groups.map((table) => editedGroups(table, rowLists, report.exclusive)),
    compare: editedComparison(report.compare, new Map(report.topics.map((topic) => [topic.id, topic.size])), became),
  };
}
