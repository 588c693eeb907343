// Two models of the corpus side by side: which topics match, which split, and the words of two topics.

import { settings } from '../about.js';
import { element } from '../elements.js';
import { filterMask } from '../filter.js';
import { topicLink } from '../links.js';
import { furtherWords, nameOf, withoutThose, wordsOf } from '../names.js';
import { inOneLine } from '../terms.js';
import { count, percent, plural } from '../numbers.js';
import { lowest, perReport, report, rowOfTopic, topics } from '../report.js';
import { asEnd, twoColumns } from '../two_columns.js';

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
const compareChoices = perReport(() => ({ smallFlows: false })); // kept for the reader's next visit to the view

// What the drawing and the lists are made of.
const comparison = perReport(() => {
  const otherTopics = new Map(report.compare.topics.map((topic) => [topic.id, topic]));
  const flows = report.compare.links.map(([a, b, ofLeft, ofRight]) => ({ a, b, ofLeft, ofRight, weight: Math.max(ofLeft, ofRight) }));
  const flowsOfLeft = d3.group(flows, (flow) => flow.a);
  const flowsOfRight = d3.group(flows, (flow) => flow.b);
  // a topic's largest flow is always drawn
  const largest = new Set([
    ...[...flowsOfLeft.values()].map((ofTopic) => strongest(ofTopic, 'ofLeft')),
    ...[...flowsOfRight.values()].map((ofTopic) => strongest(ofTopic, 'ofRight')),
  ]);
  const isSmall = (flow) => flow.weight < SMALL_FLOW && !largest.has(flow);
  return { otherTopics, flows, flowsOfLeft, flowsOfRight, isSmall };
});

function strongest(flows, part) {
  return flows ? d3.greatest(flows, (flow) => flow[part]) : null;
}

// A topic of this model, by its id.
function topicOf(id) {
  return topics[rowOfTopic.get(id)];
}

// Each topic on the right is placed next to the one on the left that has most of its documents; if several share one,
// they are ordered by where the rest of their documents are.
function rightOrder(placeLeft) {
  const { flowsOfRight } = comparison();
  const keys = new Map(
    report.compare.topics.map((topic) => {
      const flows = flowsOfRight.get(topic.id) || [];
      const best = strongest(flows, 'ofRight');
      const mean = d3.sum(flows, (flow) => flow.ofRight * placeLeft.get(flow.a)) / (d3.sum(flows, (flow) => flow.ofRight) || 1);
      return [topic.id, flows.length ? [placeLeft.get(best.a), mean] : [Infinity, 0]];
    }),
  );
  return [...report.compare.topics].sort(
    (s, t) => d3.ascending(keys.get(s.id)[0], keys.get(t.id)[0]) || keys.get(s.id)[1] - keys.get(t.id)[1] || s.id - t.id,
  );
}

// ---- the words of two topics ----

let dock = null; // where they are shown
let opener = null; // what had the focus when a button opened them

function drawDock() {
  dock = element('section', {
    class: 'dock',
    id: 'pair',
    'aria-label': 'Words of two topics',
    'aria-live': 'polite',
    tabindex: '-1',
    hidden: true,
  });
  return dock;
}

function closePair() {
  dock.hidden = true;
  if (opener && opener.isConnected) opener.focus();
  opener = null;
}

function showPair(a, b) {
  const { otherTopics, flowsOfLeft } = comparison();
  const [wordsOfLeft, wordsOfRight] = [wordsOf(topicOf(a), PAIR_WORDS), otherTopics.get(b).words.slice(0, PAIR_WORDS)];
  const shared = wordsOfLeft.filter((word) => wordsOfRight.includes(word));
  const flow = (flowsOfLeft.get(a) || []).find((other) => other.b === b);
  const column = (title, words, kind) =>
    element(
      'div',
      { class: kind },
      element('h4', {}, `${title} (${words.length})`),
      element('p', { class: 'words' }, inOneLine(words) || '–'),
    );
  const onlyIn = (model, words, kind) =>
    column(
      `Only in “${model.title}”`,
      words.filter((word) => !shared.includes(word)),
      kind,
    );
  const flowText = (ofLeft, ofRight) =>
    `${percent(ofLeft, 0)} of the documents of the first are in the second, ${percent(ofRight, 0)} of those of the second in the first. ` +
    `Of the ${PAIR_WORDS} best words of each:`;
  dock.replaceChildren(
    element('button', { type: 'button', class: 'remove', 'aria-label': 'Close', on: { click: closePair } }, '×'),
    element('h3', {}, topicLink(topicOf(a)), ' – ', otherTopics.get(b).name),
    ...(flow ? [element('p', { class: 'muted' }, flowText(flow.ofLeft, flow.ofRight))] : []),
    element(
      'div',
      { class: 'word-columns' },
      onlyIn(report.model, wordsOfLeft, 'only-left'),
      column('Shared', shared, 'shared'),
      onlyIn(report.compare.model, wordsOfRight, 'only-right'),
    ),
  );
  dock.hidden = false;
}

function pairButton(a, b) {
  return element(
    'button',
    {
      type: 'button',
      class: 'pair-words',
      'aria-label': `Compare the words of ${nameOf(topicOf(a))} and ${comparison().otherTopics.get(b).name}`,
      on: {
        click: (event) => {
          opener = event.currentTarget;
          showPair(a, b);
        },
      },
    },
    'Compare words',
  );
}

// ---- the drawing ----

function flowLinks(placeLeft, placeRight) {
  const { otherTopics, flows, isSmall } = comparison();
  const title = ({ a, b, ofLeft, ofRight }) =>
    `${nameOf(topicOf(a))} – ${otherTopics.get(b).name}: ` +
    `${percent(ofLeft, 0)} of the first is in the second, ${percent(ofRight, 0)} of the second in the first`;
  return flows
    .filter((flow) => compareChoices().smallFlows || !isSmall(flow))
    .map((flow) => ({ ...flow, left: placeLeft.get(flow.a), right: placeRight.get(flow.b), title: title(flow) }))
    .sort((a, b) => a.weight - b.weight);
}

function drawFlows() {
  const left = topics.filter((topic) => topic.level === lowest).sort((a, b) => b.size - a.size || a.id - b.id);
  const placeLeft = new Map(left.map((topic, i) => [topic.id, i]));
  const right = rightOrder(placeLeft);
  const placeRight = new Map(right.map((topic, i) => [topic.id, i]));
  const drawing = twoColumns(
    left.map((topic) => ({ ...asEnd(topic), id: topic.id, isLeft: true })),
    right.map((topic) => ({ name: topic.name, title: inOneLine(topic.words.slice(0, 10)), id: topic.id })),
    flowLinks(placeLeft, placeRight),
    `Topics of ${report.model.title} linked to those of ${report.compare.model.title}`,
  );
  showPairsOnPointing(d3.select(drawing).select('svg'));
  return drawing;
}

function showPairsOnPointing(svg) {
  const { flowsOfLeft, flowsOfRight } = comparison();
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
}

// ---- the lists ----

function otherTopicLine(topic) {
  const furtherWordsOfOther = withoutThose(topic.words, topic.name).slice(0, 7);
  return [element('strong', {}, topic.name), ' ', element('span', { class: 'muted words' }, inOneLine(furtherWordsOfOther))];
}

function relationRow({ left, right }) {
  const leftLine = (id) =>
    element(
      'div',
      {},
      topicLink(topicOf(id)),
      ' ',
      element('span', { class: 'muted words' }, furtherWords(topicOf(id), 10)),
      left.length > 1 && right.length ? [' ', pairButton(id, right[0])] : null,
    );
  const rightLine = (id) =>
    element('div', {}, otherTopicLine(comparison().otherTopics.get(id)), left.length === 1 ? [' ', pairButton(left[0], id)] : null);
  return element('tr', {}, element('td', {}, left.map(leftLine)), element('td', {}, right.map(rightLine)));
}

function relationSection(kind) {
  const relations = report.compare.relations.filter((relation) => relation.kind === kind);
  if (!relations.length) return null;
  const heads = [report.model, report.compare.model].map((model) => element('th', { scope: 'col' }, model.title));
  return element(
    'section',
    {},
    element('h3', {}, `${KINDS[kind]} (${relations.length})`),
    element(
      'table',
      { class: 'relations' },
      element('thead', {}, element('tr', {}, heads)),
      element('tbody', {}, relations.map(relationRow)),
    ),
  );
}

// ---- the view ----

function smallFlowsBox(redraw) {
  const { flows, isSmall } = comparison();
  const smallCount = flows.filter(isSmall).length;
  if (!smallCount) return '';
  const box = element('input', {
    type: 'checkbox',
    id: 'small-flows',
    checked: compareChoices().smallFlows,
    on: {
      change: () => {
        compareChoices().smallFlows = box.checked;
        redraw();
      },
    },
  });
  const text = ` Show all lines, including ${count(smallCount)} with less than ${percent(SMALL_FLOW, 0)} of either topic’s documents`;
  return element('div', { class: 'tools with-drawing' }, element('label', {}, box, text));
}

export const compareView = {
  tab: 'Compare',
  isPresent: () => Boolean(report.compare),
  draw(main) {
    const drawing = element('div', {}, drawFlows());
    const nTopics = topics.filter((topic) => topic.level === lowest).length;
    main.append(
      element('h2', {}, `${report.model.title} and ${report.compare.model.title}`),
      element('p', { class: 'muted' }, `${plural(nTopics, 'topic')} here, ${plural(report.compare.topics.length, 'topic')} there.`),
      filterMask ? element('p', { class: 'note' }, 'This view always shows all documents; the filter does not apply.') : '',
      element(
        'p',
        { class: 'muted with-drawing' },
        'The wider a line, the more documents two topics share. Point at a line or a topic to compare words.',
      ),
      smallFlowsBox(() => drawing.replaceChildren(drawFlows())),
      drawing,
      ...Object.keys(KINDS).map(relationSection).filter(Boolean),
      settings(report.compare.model) || '',
      drawDock(),
    );
    const closeByKey = (event) => event.key === 'Escape' && !dock.hidden && closePair();
    document.addEventListener('keydown', closeByKey);
    return () => document.removeEventListener('keydown', closeByKey);
  },
};
