// The report after edits. Numbers of merged topics are computed from the data on the page: sizes are exact, words and
// best documents come from the lists of the topics that were merged. `explore --edits` makes a page with exact lists.

const EDIT_KINDS = ['rename', 'merge', 'drop', 'group'];
const OTHER_TOPICS = 'other topics';

class EditError extends Error {}

// The remaining topics, each with the rows of the report that it now contains, and the groups above them.
function replayed(report, list) {
  if (!Array.isArray(list)) throw new EditError('expected a list of edits');
  const entries = new Map(
    report.topics.map((topic, row) => [topic.id, { id: topic.id, rows: [row], name: topic.name, parent: topic.parent }]),
  );
  const isFlat = report.topics.every((topic) => topic.level === report.topics[0].level) && !report.topics.some((topic) => topic.parts);
  const rest = report.next_id;
  const groups = new Map([[rest, { name: OTHER_TOPICS }]]);
  const became = new Map();
  const entryOf = (id) => {
    if (!entries.has(id)) throw new EditError(`there is no topic ${id}`);
    return entries.get(id);
  };
  const reparent = (from, to) => {
    for (const entry of entries.values()) if (entry.parent === from) entry.parent = to;
  };
  for (const edit of list) {
    const kinds = edit && typeof edit === 'object' ? EDIT_KINDS.filter((kind) => Object.hasOwn(edit, kind)) : [];
    const ids = kinds.length === 1 ? [edit[kinds[0]]].flat() : [];
    const name = (edit && edit.name) || '';
    if (!ids.length || typeof name !== 'string' || !ids.every(Number.isInteger))
      throw new EditError('it contains an entry that is not an edit');
    if ('rename' in edit && groups.size > 1 && groups.has(ids[0])) groups.get(ids[0]).name = name;
    else if ('rename' in edit) entryOf(ids[0]).name = name || null;
    else if ('merge' in edit) {
      const [first, ...others] = [...new Set(ids)].map(entryOf);
      const levels = new Set([first, ...others].map((entry) => report.topics[entry.rows[0]].level));
      if (!others.length || levels.size > 1) throw new EditError('a merge needs two or more topics of the same level');
      for (const other of others) {
        first.rows.push(...other.rows);
        entries.delete(other.id);
        reparent(other.id, first.id);
        became.set(other.id, first.id);
      }
      if (name) first.name = name;
    } else if ('drop' in edit) {
      for (const id of ids) {
        if (groups.size > 1 && groups.has(id))
          for (const entry of entries.values()) entry.group = entry.group === id ? undefined : entry.group;
        else {
          reparent(id, entryOf(id).parent);
          entries.delete(id);
          became.set(id, null);
        }
      }
      if (!entries.size) throw new EditError('these edits would drop every topic');
    } else {
      if (!isFlat) throw new EditError('only topics of one level can be put in groups');
      const group = rest + groups.size;
      ids.map(entryOf).forEach((entry) => {
        entry.group = group;
      });
      groups.set(group, { name });
    }
  }
  const left = [...entries.values()];
  const inGroups = left.some((entry) => entry.group !== undefined);
  const grouped = !inGroups
    ? []
    : [...groups]
        .map(([id, { name }]) => ({ id, name, members: left.filter((entry) => (entry.group ?? rest) === id) }))
        .filter((group) => group.members.length);
  for (const group of grouped) for (const member of group.members) member.parent = group.id;
  return { entries: left, grouped, became };
}

// Pairs [key, values] of several lists, added up with the weights of the lists.
function mixedLists(lists, weights, keyOf, valuesOf) {
  const found = new Map();
  lists.forEach((list, i) =>
    list.forEach((item) => {
      const sums = found.get(keyOf(item)) || valuesOf(item).map(() => 0);
      valuesOf(item).forEach((value, j) => {
        sums[j] += weights[i] * (value || 0);
      });
      found.set(keyOf(item), sums);
    }),
  );
  return [...found];
}

// One topic made of several rows of the report.
function topicOfRows(report, rows) {
  const some = rows.map((row) => report.topics[row]);
  const size = d3.sum(some, (topic) => topic.size);
  const weights = some.map((topic) => (size > 0 ? topic.size / size : 1 / some.length));
  const mixed = (field, values) =>
    mixedLists(
      some.map((topic) => topic[field] || []),
      weights,
      ([key]) => key,
      values,
    ).sort((a, b) => b[1][0] - a[1][0]);
  const scored = report.score !== 'relevance';
  const words = mixed('words', ([, probability, score]) => [probability, score]).map(([word, [probability, score]]) => [
    word,
    probability,
    scored ? score : null,
  ]);
  const best = [...words].sort((a, b) => (scored ? b[2] - a[2] : 0) || b[1] - a[1]).slice(0, 3);
  const wanted = new Set(rows);
  const sharesIn = (d) => {
    const flat = documents.topics[d] ? documents.topics[d].split(' ').map(Number) : [];
    const shares = flat.filter((_, i) => i % 2 === 1 && wanted.has(flat[i - 1])).map((share) => share / 1000);
    return report.exclusive ? d3.sum(shares) : d3.max(shares) || 0;
  };
  const candidates = [...new Set(some.flatMap((topic) => topic.documents.map(([d]) => d)))];
  return {
    ...some[0],
    name: null,
    called: best.map(([word]) => report.words[word]).join(' '),
    size: report.exclusive ? size : Math.min(1, size),
    coherence: null,
    mark: undefined,
    words,
    documents: candidates
      .map((d) => [d, sharesIn(d)])
      .filter(([, share]) => share > 0)
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, 30),
    similar: mixed('similar', ([, likeness]) => [likeness]).map(([id, [likeness]]) => [id, likeness]),
    ...(some[0].labels
      ? {
          labels: mixed('labels', ([, here]) => [here])
            .map(([label, [here]]) => [label, here, some.flatMap((topic) => topic.labels).find(([other]) => other === label)[2]])
            .slice(0, 8),
        }
      : {}),
    ...(some[0].parts ? { parts: mixed('parts', ([, weight]) => [weight]).map(([id, [weight]]) => [id, weight]) } : {}),
  };
}

// Lists of [topic, value] with the current ids of topics; the values of merged topics are combined.
function withIdsNow(list, became, own, together) {
  const found = new Map();
  for (const [id, value] of list) {
    let now = id;
    while (became.has(now)) now = became.get(now);
    if (now !== null && now !== own) found.set(now, found.has(now) ? together(found.get(now), value) : value);
  }
  return [...found].sort((a, b) => b[1] - a[1]);
}

// Average linkage of topics, whose similarity is that of the rows they contain.
function hierarchyOf(report, lists, words) {
  if (!report.hierarchy || lists.length < 2) return null;
  const alike = (one, other) => d3.mean(one.flatMap((a) => other.map((b) => report.hierarchy.likeness[a][b])));
  const likeness = lists.map((one) => lists.map((other) => Math.round(alike(one, other))));
  let open = lists.map((rows, i) => ({ number: i, rows, order: [i] }));
  const forks = [];
  while (open.length > 1) {
    const pairs = open.flatMap((one, i) => open.slice(i + 1).map((other) => [one, other, alike(one.rows, other.rows)]));
    const [one, other, value] = d3.greatest(pairs, (pair) => pair[2]);
    const rows = [...one.rows, ...other.rows];
    forks.push([one.number, other.number, 1 - value / 100, words(rows)]);
    open = [
      ...open.filter((node) => node !== one && node !== other),
      { number: lists.length + forks.length - 1, rows, order: [...one.order, ...other.order] },
    ];
  }
  return { forks, order: open[0].order, likeness };
}

function editedTime(time, lists, idNow, exclusive) {
  if (!time) return time;
  const together = exclusive ? d3.sum : d3.max;
  const share = lists.map((rows) => time.periods.map((_, i) => together(rows, (row) => time.share[row][i])));
  const rises = new Map();
  for (const rise of time.rises)
    if (idNow(rise.topic) !== null && !rises.has(idNow(rise.topic))) rises.set(idNow(rise.topic), { ...rise, topic: idNow(rise.topic) });
  return { ...time, share, rises: [...rises.values()] };
}

function editedComparison(compare, sizes, idNow) {
  if (!compare) return compare;
  const flows = d3.rollups(
    compare.links.filter(([a]) => idNow(a) !== null),
    (links) => [
      d3.sum(links, ([a, , ofLeft]) => ofLeft * sizes.get(a)) / (d3.sum(new Set(links.map(([a]) => a)), (a) => sizes.get(a)) || 1),
      Math.min(
        1,
        d3.sum(links, (link) => link[3]),
      ),
    ],
    ([a]) => idNow(a),
    ([, b]) => b,
  );
  const relations = compare.relations
    .map((relation) => ({ ...relation, left: [...new Set(relation.left.map(idNow).filter((id) => id !== null))] }))
    .filter((relation) => relation.left.length || relation.kind === 'alone' || relation.kind === 'holds');
  return { ...compare, links: flows.flatMap(([a, some]) => some.map(([b, parts]) => [a, b, ...parts])), relations };
}

// Shares and words of groups; merged topics have the words with the highest z-scores of any of them.
function editedGroups(table, lists, exclusive) {
  const together = exclusive ? d3.sum : d3.max;
  const words = (rows) =>
    table.values.map((_, group) => {
      const best = d3.rollup(
        rows.flatMap((row) => table.words[row + 1][group]),
        (some) => d3.max(some, ([, z]) => z),
        ([word]) => word,
      );
      return [...best].sort((a, b) => b[1] - a[1]);
    });
  const share = lists.map((rows) => table.values.map((_, group) => together(rows, (row) => table.share[row][group])));
  return { ...table, share, words: [table.words[0], ...lists.map(words)] };
}

function edited(report, list) {
  const { entries, grouped, became } = replayed(report, list);
  if (!list.length) return report;
  const idNow = (id) => {
    let now = id;
    while (became.has(now)) now = became.get(now);
    return now;
  };
  const made = entries.map(({ rows, name, parent, id }) => ({
    ...(rows.length > 1 ? topicOfRows(report, rows) : report.topics[rows[0]]),
    id,
    name,
    parent,
  }));
  const above = grouped.map(({ id, name, members }) => ({
    ...topicOfRows(
      report,
      members.flatMap((member) => member.rows),
    ),
    id,
    name,
    parent: -1,
    level: report.topics[0].level + 1,
    similar: [],
  }));
  const topics = [...made, ...above].map((topic) => ({
    ...topic,
    similar: withIdsNow(topic.similar, became, topic.id, Math.max),
    ...(topic.parts ? { parts: withIdsNow(topic.parts, became, null, (a, b) => a + b) } : {}),
  }));
  const lists = [...entries.map((entry) => entry.rows), ...grouped.map(({ members }) => members.flatMap((member) => member.rows))];
  const rowsNow = report.topics.map(() => []);
  lists.forEach((rows, now) => rows.forEach((row) => rowsNow[row].push(now)));
  const words = (rows) => topicOfRows(report, rows).called;
  return {
    ...report,
    topics,
    rowsNow,
    became,
    levels: grouped.length ? { [report.topics[0].level]: 'topic', [report.topics[0].level + 1]: 'group' } : report.levels,
    time: editedTime(report.time, lists, idNow, report.exclusive),
    hierarchy: grouped.length ? null : hierarchyOf(report, lists, words),
    groups: report.groups.map((table) => editedGroups(table, lists, report.exclusive)),
    compare: editedComparison(report.compare, new Map(report.topics.map((topic) => [topic.id, topic.size])), idNow),
  };
}
