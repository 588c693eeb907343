// Two models of the corpus side by side: which topics match, which split.

const KINDS = {
  match: 'Match: most documents of each are in the other',
  split: 'Split: one topic here is several there',
  merge: 'Merge: several topics here are one there',
  inside: 'Inside: most of its documents are in one topic there, which has more',
  holds: 'Holds: most documents of the topic there are in this one, which has more',
  alone: 'No counterpart: its documents are spread over several',
};

if (report.compare) {
  const there = new Map(report.compare.topics.map((topic) => [topic.id, topic]));
  const thereLine = (topic) => [element('strong', {}, topic.name), ' ', element('span', { class: 'muted words' }, topic.words.slice(3).join(' '))];

  const relationTable = (kind, list) =>
    list.length
      ? element(
          'section',
          {},
          element('h3', {}, `${KINDS[kind]} (${list.length})`),
          element(
            'table',
            { class: 'relations' },
            element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, report.model.title), element('th', { scope: 'col' }, report.compare.model.title))),
            element(
              'tbody',
              {},
              list.map((relation) =>
                element(
                  'tr',
                  {},
                  element('td', {}, relation.left.map((id) => element('div', {}, topicLink(topics[rowOfTopic.get(id)]), ' ', element('span', { class: 'muted words' }, furtherWords(topics[rowOfTopic.get(id)], 10))))),
                  element('td', {}, relation.right.map((id) => element('div', {}, thereLine(there.get(id))))),
                ),
              ),
            ),
          ),
        )
      : null;

  const drawing = () => {
    const left = topics.filter((topic) => topic.level === lowest).sort((a, b) => b.size - a.size || a.id - b.id);
    const placeLeft = new Map(left.map((topic, i) => [topic.id, i]));
    // on the right each stands about where most of its documents are on the left
    const pull = new Map(report.compare.topics.map((topic) => {
      const own = report.compare.links.filter((link) => link[1] === topic.id);
      const weight = d3.sum(own, (link) => link[3]);
      return [topic.id, weight ? d3.sum(own, (link) => link[3] * placeLeft.get(link[0])) / weight : left.length];
    }));
    const right = [...report.compare.topics].sort((a, b) => pull.get(a.id) - pull.get(b.id) || a.id - b.id);
    const placeRight = new Map(right.map((topic, i) => [topic.id, i]));
    const links = report.compare.links.map(([a, b, ofLeft, ofRight]) => ({
      left: placeLeft.get(a),
      right: placeRight.get(b),
      weight: Math.max(ofLeft, ofRight),
      title: `${nameOf(topics[rowOfTopic.get(a)])} – ${there.get(b).name}: ${percent(ofLeft, 0)} of the first is in the second, ${percent(ofRight, 0)} of the second in the first`,
    }));
    links.sort((a, b) => a.weight - b.weight);
    const ends = right.map((topic) => ({ name: topic.name, title: topic.words.join(' ') }));
    return twoColumns(left.map(asEnd), ends, links, `Topics of ${report.model.title} joined to those of ${report.compare.model.title}`);
  };

  views.compare = {
    tab: 'Compare',
    draw(main) {
      main.append(
        element('h2', {}, `${report.model.title} and ${report.compare.model.title}`),
        element('p', { class: 'muted' }, `${plural(topics.filter((topic) => topic.level === lowest).length, 'topic')} here, ${plural(report.compare.topics.length, 'topic')} there. A line is as wide as the part of a topic’s documents that the other has.`),
        drawing(),
        ...Object.keys(KINDS).map((kind) => relationTable(kind, report.compare.relations.filter((relation) => relation.kind === kind))).filter(Boolean),
        settings(report.compare.model),
      );
    },
  };
}
