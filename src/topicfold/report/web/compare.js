// Two models of the corpus side by side: which topics match, which split, and the words of two topics.

const KINDS = {
  match: 'Match: most documents of each are in the other',
  split: 'Split: one topic here is several there',
  merge: 'Merge: several topics here are one there',
  inside: 'Inside: most of the topic’s documents are in one larger topic there',
  holds: 'Contains: most documents of a smaller topic there are in this one',
  alone: 'No counterpart: its documents are spread over several topics',
};
const SMALL_FLOW = 0.2; // a line is hidden if it carries less than this share of the documents of both topics
const PAIR_WORDS = 20;

if (report.compare) {
  const there = new Map(report.compare.topics.map((topic) => [topic.id, topic]));
  const thereLine = (topic) => [
    element('strong', {}, topic.name),
    ' ',
    element(
      'span',
      { class: 'muted words' },
      topic.words
        .filter((word) => !` ${topic.name} `.includes(` ${word} `))
        .slice(0, 7)
        .join(' '),
    ),
  ];
  const here = (id) => topics[rowOfTopic.get(id)];
  const flows = report.compare.links.map(([a, b, ofLeft, ofRight]) => ({ a, b, ofLeft, ofRight, weight: Math.max(ofLeft, ofRight) }));
  const flowsOfLeft = d3.group(flows, (flow) => flow.a);
  const flowsOfRight = d3.group(flows, (flow) => flow.b);
  const strongest = (some, part) => (some ? d3.greatest(some, (flow) => flow[part]) : null);
  // a topic's largest flow is always drawn
  const kept = new Set([
    ...[...flowsOfLeft.values()].map((some) => strongest(some, 'ofLeft')),
    ...[...flowsOfRight.values()].map((some) => strongest(some, 'ofRight')),
  ]);
  const isSmall = (flow) => flow.weight < SMALL_FLOW && !kept.has(flow);
  let showSmall = false; // kept for the reader's next visit to the view

  // Each topic on the right is placed next to the one on the left that has most of its documents; if several share one,
  // they are ordered by where the rest of their documents are.
  const rightOrder = (placeLeft) => {
    const keys = new Map(
      report.compare.topics.map((topic) => {
        const own = flowsOfRight.get(topic.id) || [];
        const best = strongest(own, 'ofRight');
        const mean = d3.sum(own, (flow) => flow.ofRight * placeLeft.get(flow.a)) / (d3.sum(own, (flow) => flow.ofRight) || 1);
        return [topic.id, own.length ? [placeLeft.get(best.a), mean] : [Infinity, 0]];
      }),
    );
    return [...report.compare.topics].sort(
      (s, t) => d3.ascending(keys.get(s.id)[0], keys.get(t.id)[0]) || keys.get(s.id)[1] - keys.get(t.id)[1] || s.id - t.id,
    );
  };

  // ---- the words of two topics ----

  const dock = element('section', {
    class: 'dock',
    id: 'pair',
    'aria-label': 'Words of two topics',
    'aria-live': 'polite',
    tabindex: '-1',
    hidden: true,
  });
  let opener = null; // what had the focus when a button opened the words

  const closePair = () => {
    dock.hidden = true;
    if (opener && opener.isConnected) opener.focus();
    opener = null;
  };

  const showPair = (a, b) => {
    const words = [wordsOf(here(a), PAIR_WORDS), there.get(b).words.slice(0, PAIR_WORDS)];
    const both = new Set(words[0].filter((word) => words[1].includes(word)));
    const flow = (flowsOfLeft.get(a) || []).find((found) => found.b === b);
    const column = (title, list, kind) =>
      element(
        'div',
        { class: kind },
        element('h4', {}, `${title} (${list.length})`),
        element('p', { class: 'words' }, list.join(' ') || '–'),
      );
    dock.replaceChildren(
      element('button', { type: 'button', class: 'remove', 'aria-label': 'Close', on: { click: closePair } }, '×'),
      element('h3', {}, topicLink(here(a)), ' – ', there.get(b).name),
      flow
        ? element(
            'p',
            { class: 'muted' },
            `${percent(flow.ofLeft, 0)} of the documents of the first are in the second, ${percent(flow.ofRight, 0)} of those of the second in the first. Of the ${PAIR_WORDS} best words of each:`,
          )
        : null,
      element(
        'div',
        { class: 'word-columns' },
        column(
          `Only in “${report.model.title}”`,
          words[0].filter((word) => !both.has(word)),
          'only-left',
        ),
        column('Shared', [...both], 'shared'),
        column(
          `Only in “${report.compare.model.title}”`,
          words[1].filter((word) => !both.has(word)),
          'only-right',
        ),
      ),
    );
    dock.hidden = false;
  };

  const pairButton = (a, b) =>
    element(
      'button',
      {
        type: 'button',
        class: 'pair-words',
        'aria-label': `Compare the words of ${nameOf(here(a))} and ${there.get(b).name}`,
        on: {
          click: (event) => {
            opener = event.currentTarget;
            showPair(a, b);
          },
        },
      },
      'Compare words',
    );

  // ---- the drawing and the lists ----

  const drawing = () => {
    const left = topics.filter((topic) => topic.level === lowest).sort((a, b) => b.size - a.size || a.id - b.id);
    const placeLeft = new Map(left.map((topic, i) => [topic.id, i]));
    const right = rightOrder(placeLeft);
    const placeRight = new Map(right.map((topic, i) => [topic.id, i]));
    const links = flows
      .filter((flow) => showSmall || !isSmall(flow))
      .map((flow) => ({
        ...flow,
        left: placeLeft.get(flow.a),
        right: placeRight.get(flow.b),
        title: `${nameOf(here(flow.a))} – ${there.get(flow.b).name}: ${percent(flow.ofLeft, 0)} of the first is in the second, ${percent(flow.ofRight, 0)} of the second in the first`,
      }))
      .sort((a, b) => a.weight - b.weight);
    const ends = right.map((topic) => ({ name: topic.name, title: topic.words.slice(0, 10).join(' '), id: topic.id }));
    const drawn = twoColumns(
      left.map((topic) => ({ ...asEnd(topic), id: topic.id, isLeft: true })),
      ends,
      links,
      `Topics of ${report.model.title} linked to those of ${report.compare.model.title}`,
    );
    const svg = d3.select(drawn).select('svg');
    const lines = svg.selectAll('.link');
    lines
      .on('pointerenter click', (_, link) => {
        lines.classed('strong', (other) => other === link);
        showPair(link.a, link.b);
      })
      .on('pointerleave', () => lines.classed('strong', false));
    const showBest = (_, end) => {
      const best = end.isLeft ? strongest(flowsOfLeft.get(end.id), 'ofLeft') : strongest(flowsOfRight.get(end.id), 'ofRight');
      if (best) showPair(best.a, best.b);
    };
    svg.selectAll('.end').on('pointerenter.pair focus.pair', showBest);
    svg
      .selectAll('g.end')
      .attr('tabindex', 0)
      .attr('role', 'button')
      .attr('aria-label', (end) => `${end.name}: compare words`)
      .on('click', showBest)
      .on('keydown', (event, end) => ['Enter', ' '].includes(event.key) && (event.preventDefault(), showBest(event, end)));
    return drawn;
  };

  const relationRow = ({ left, right }) =>
    element(
      'tr',
      {},
      element(
        'td',
        {},
        left.map((id) =>
          element(
            'div',
            {},
            topicLink(here(id)),
            ' ',
            element('span', { class: 'muted words' }, furtherWords(here(id), 10)),
            left.length > 1 && right.length ? [' ', pairButton(id, right[0])] : null,
          ),
        ),
      ),
      element(
        'td',
        {},
        right.map((id) => element('div', {}, thereLine(there.get(id)), left.length === 1 ? [' ', pairButton(left[0], id)] : null)),
      ),
    );

  const relationTable = (kind, list) =>
    list.length
      ? element(
          'section',
          {},
          element('h3', {}, `${KINDS[kind]} (${list.length})`),
          element(
            'table',
            { class: 'relations' },
            element(
              'thead',
              {},
              element(
                'tr',
                {},
                element('th', { scope: 'col' }, report.model.title),
                element('th', { scope: 'col' }, report.compare.model.title),
              ),
            ),
            element('tbody', {}, list.map(relationRow)),
          ),
        )
      : null;

  views.compare = {
    tab: 'Compare',
    draw(main) {
      const nSmall = flows.filter(isSmall).length;
      const drawn = element('div', {}, drawing());
      const all = element('input', {
        type: 'checkbox',
        id: 'small-flows',
        checked: showSmall,
        on: {
          change: () => {
            showSmall = all.checked;
            drawn.replaceChildren(drawing());
          },
        },
      });
      dock.hidden = true;
      main.append(
        element('h2', {}, `${report.model.title} and ${report.compare.model.title}`),
        element(
          'p',
          { class: 'muted' },
          `${plural(topics.filter((topic) => topic.level === lowest).length, 'topic')} here, ${plural(report.compare.topics.length, 'topic')} there.`,
        ),
        filterMask ? element('p', { class: 'note' }, 'This view always shows all documents; the filter does not apply.') : '',
        element(
          'p',
          { class: 'muted with-drawing' },
          'The wider a line, the more documents two topics share. Point at a line or a topic to compare words.',
        ),
        nSmall
          ? element(
              'div',
              { class: 'tools with-drawing' },
              element(
                'label',
                {},
                all,
                ` Show all lines, including ${count(nSmall)} with less than ${percent(SMALL_FLOW, 0)} of either topic’s documents`,
              ),
            )
          : '',
        drawn,
        ...Object.keys(KINDS)
          .map((kind) =>
            relationTable(
              kind,
              report.compare.relations.filter((relation) => relation.kind === kind),
            ),
          )
          .filter(Boolean),
        settings(report.compare.model),
        dock,
      );
      const escape = (event) => event.key === 'Escape' && !dock.hidden && closePair();
      document.addEventListener('keydown', escape);
      return () => document.removeEventListener('keydown', escape);
    },
  };
}
