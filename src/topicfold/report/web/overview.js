// The overview: what was fitted on what, how it converged, and how large and coherent the topics are.

const OVERVIEW_TOPICS = 60;

function facts() {
  const { corpus, model, labels } = report;
  const rows = [
    ['Documents', count(corpus.documents)],
    ['Words', count(corpus.words)],
    ['Tokens', count(corpus.tokens)],
    ['Segments', corpus.segments && count(corpus.segments)],
    ['Links', corpus.links && count(corpus.links)],
    ['Labels', labels && count(labels.length)],
    [
      'Topics',
      isFlat
        ? count(topics.length)
        : d3
            .range(highest, lowest - 1, -1)
            .map((level) => count(topics.filter((t) => t.level === level).length))
            .join(' above '),
    ],
    ['Model', model.name],
  ];
  return element(
    'dl',
    { class: 'facts' },
    rows.filter(([, value]) => value).map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
}

function notes() {
  const { corpus } = report;
  const said = [];
  if (corpus.sample) {
    const { best, in_best: inBest, over } = corpus.sample;
    const drawn = corpus.shown - inBest;
    const others = corpus.documents - inBest;
    const spread = over.length < 2 ? over[0] : `${over.slice(0, -1).join(', ')} and ${over[over.length - 1]}`;
    said.push(
      `This page shows a sample: ${count(corpus.shown)} of the ${count(corpus.documents)} documents. It has ${best === 1 ? 'the best document' : `the ${count(best)} best documents`} of each topic (${plural(inBest, 'document')})${drawn > 0 ? `, and ${count(drawn)} of the other ${count(others)}, spread evenly over ${spread}` : ''}. Numbers are for the whole corpus, except on the map and with a filter.`,
    );
  }
  if (corpus.cut) said.push(`Texts longer than ${count(corpus.cut)} bytes are cut.`);
  return said.map((text) => element('p', { class: 'note' }, text));
}

function linePlot(steps, { width, height, label }) {
  const margin = { top: 8, right: 12, bottom: 34, left: 60 };
  const x = d3.scaleLinear(
    d3.extent(steps, (step) => step[0]),
    [margin.left, width - margin.right],
  );
  const y = d3
    .scaleLinear(
      d3.extent(steps, (step) => step[1]),
      [height - margin.bottom, margin.top],
    )
    .nice(4);
  const svg = d3.create('svg').attr('viewBox', [0, 0, width, height]).attr('class', 'plot').attr('role', 'img').attr('aria-label', label);
  svg
    .append('g')
    .attr('transform', `translate(0,${height - margin.bottom})`)
    .call(d3.axisBottom(x).ticks(5).tickSizeOuter(0));
  svg.append('g').attr('transform', `translate(${margin.left},0)`).call(d3.axisLeft(y).ticks(4).tickSizeOuter(0));
  svg
    .append('path')
    .attr('class', 'line')
    .attr(
      'd',
      d3.line(
        (step) => x(step[0]),
        (step) => y(step[1]),
      )(steps),
    );
  if (steps.length === 1) svg.append('circle').attr('class', 'dot').attr('r', 3).attr('cx', x(steps[0][0])).attr('cy', y(steps[0][1]));
  svg
    .append('text')
    .attr('class', 'axis-name')
    .attr('x', width - margin.right)
    .attr('y', height - 4)
    .attr('text-anchor', 'end')
    .text('step');
  return svg.node();
}

function convergence(model) {
  if (!model.steps.length) return null;
  const last = model.steps[model.steps.length - 1][1];
  return element(
    'section',
    {},
    element('h3', {}, 'Convergence'),
    linePlot(model.steps, { width: 460, height: 190, label: `The objective by step, from ${model.steps[0][1]} to ${last}` }),
    element(
      'p',
      { class: 'muted' },
      `Objective${model.unit ? ` (${model.unit})` : ''} by step: ${plural(model.iterations, 'step')} (${model.ending}), final value ${minus(last)}.`,
    ),
  );
}

function settings(model) {
  if (!model.settings.length) return null; // a tree that was made without a model
  return element(
    'details',
    {},
    element('summary', {}, `Settings of ${model.name}`),
    element(
      'table',
      { class: 'settings' },
      element(
        'tbody',
        {},
        model.settings.map(([key, value]) => element('tr', {}, element('th', { scope: 'row' }, key), element('td', {}, value))),
      ),
    ),
  );
}

const ORDERS = {
  size: ['Size', (a, b) => sizeOf(b) - sizeOf(a)],
  coherence: ['Coherence', (a, b) => (b.coherence ?? -9) - (a.coherence ?? -9)],
  name: ['Topic', (a, b) => nameOf(a).localeCompare(nameOf(b))],
};

function topicTable(list) {
  let order = 'size';
  let all = list.length <= OVERVIEW_TOPICS;
  const largest = Math.max(...list.flatMap((topic) => [topic.size, sizeOf(topic)]), 1e-9);
  const body = element('tbody');
  const heads = ['name', 'size', 'coherence'].map((key) =>
    element(
      'th',
      { scope: 'col', class: key },
      element(
        'button',
        {
          type: 'button',
          class: 'sort',
          on: {
            click: () => {
              order = key;
              draw();
            },
          },
        },
        ORDERS[key][0],
      ),
    ),
  );
  const more = element(
    'button',
    {
      type: 'button',
      on: {
        click: () => {
          all = true;
          draw();
        },
      },
    },
    `Show all ${count(list.length)} topics`,
  );
  function draw() {
    heads.forEach((head, i) =>
      head.setAttribute('aria-sort', ['name', 'size', 'coherence'][i] === order ? (order === 'name' ? 'ascending' : 'descending') : 'none'),
    );
    const sorted = [...list].sort((a, b) => ORDERS[order][1](a, b) || a.id - b.id);
    body.replaceChildren(
      ...(all ? sorted : sorted.slice(0, OVERVIEW_TOPICS)).map((topic) =>
        element(
          'tr',
          {},
          element(
            'td',
            {},
            topicSwatch(rowOfTopic.get(topic.id)),
            topicLink(topic),
            topic.mark ? element('span', { class: 'junk muted' }, topic.mark) : null,
            element('div', { class: 'muted words' }, furtherWords(topic, 11)),
            trend(topic),
          ),
          element(
            'td',
            { class: 'figure' },
            bar(sizeOf(topic) / largest, null, filterMask ? topic.size / largest : null),
            element('span', {}, percent(sizeOf(topic))),
          ),
          element('td', { class: 'number' }, topic.coherence === null ? '–' : minus(topic.coherence.toFixed(2))),
        ),
      ),
    );
    more.hidden = all;
  }
  draw();
  return [
    element('table', { class: 'topic-table' }, element('thead', {}, element('tr', {}, heads)), body),
    more,
    element(
      'p',
      { class: 'muted' },
      `Size: share of the documents${filterMask ? ' that pass the filter; the mark is the share of all documents' : ''}. Coherence: how much the ten best words occur together in documents (mean NPMI, from −1 to 1).${timeTable() ? ' The small line is the share over time.' : ''}`,
    ),
  ];
}

// The share of a topic over time, as a small line.
function trend(topic) {
  if (!timeTable()) return null;
  const shares = timeTable().share[rowOfTopic.get(topic.id)].map((share) => share || 0);
  const x = d3.scaleLinear([0, Math.max(1, shares.length - 1)], [1, 99]);
  const y = d3.scaleLinear([0, Math.max(...shares, 1e-9)], [15, 1]);
  return d3
    .create('svg')
    .attr('viewBox', [0, 0, 100, 16])
    .attr('class', 'trend')
    .attr('aria-hidden', 'true')
    .call((svg) =>
      svg
        .append('path')
        .attr('class', 'line')
        .attr('d', d3.line((share, i) => x(i), y)(shares)),
    )
    .node();
}

views.overview = {
  tab: 'Overview',
  draw(main) {
    const ofLevel = (level) => topics.filter((topic) => topic.level === level);
    const table = element('div', {}, topicTable(ofLevel(highest)));
    const chooser = element(
      'select',
      { id: 'level', on: { change: () => table.replaceChildren(...topicTable(ofLevel(Number(chooser.value)))) } },
      d3.range(highest, lowest - 1, -1).map((level) => element('option', { value: level }, `${level}`)),
    );
    const whole = element('section', { class: 'small-map' }, element('h3', {}, element('a', { href: address('map') }, 'The map')));
    main.append(
      element('h2', { class: 'hidden-title' }, 'Overview'),
      facts(),
      ...notes(),
      element('p', { class: 'to-summary' }, element('a', { href: address('summary') }, 'Summary to read or print')),
      whole,
      element(
        'div',
        { class: 'two overview-columns' },
        element(
          'section',
          {},
          element('h3', {}, isGraph ? kindsOf(highest) : 'Topics'),
          isFlat || isGraph
            ? null
            : element('label', {}, 'Level ', chooser, element('span', { class: 'muted' }, ` ${highest} is the highest`)),
          table,
        ),
        element('div', {}, convergence(report.model), settings(report.model)),
      ),
      isGraph ? element('section', {}, element('h3', {}, kindsOf(lowest)), topicTable(ofLevel(lowest))) : '',
      hierarchySection() || '',
    );
    return documentCount > 1 ? drawMap(whole, null, null, true) : whole.remove();
  },
};
