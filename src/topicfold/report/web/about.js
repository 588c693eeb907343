// What was fitted on what, and how: parts of the overview, the summary and the comparison.

import { element } from './elements.js';
import { count, minus, plural } from './numbers.js';
import { highest, isFlat, lowest, report, topics } from './report.js';

export function facts() {
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

function aboutSample({ documents: all, shown, sample }) {
  const { best, in_best: inBest, over } = sample;
  const [drawn, others] = [shown - inBest, all - inBest];
  const spread = over.length < 2 ? over[0] : `${over.slice(0, -1).join(', ')} and ${over.at(-1)}`;
  const bestOfEach = best === 1 ? 'the most typical document' : `the ${count(best)} most typical documents`;
  const rest = drawn > 0 ? `, and ${count(drawn)} of the other ${count(others)}, spread evenly over ${spread}` : '';
  return (
    `This page shows a sample: ${count(shown)} of the ${count(all)} documents. ` +
    `It has ${bestOfEach} of each topic (${plural(inBest, 'document')})${rest}. ` +
    'Numbers are for the whole corpus, except on the map and with a filter.'
  );
}

export function notes() {
  const { corpus } = report;
  const texts = [];
  if (corpus.sample) texts.push(aboutSample(corpus));
  if (corpus.cut) texts.push(`Texts longer than ${count(corpus.cut)} bytes are cut.`);
  if (corpus.copies) {
    const are = corpus.copies === 1 ? 'document is a copy of an earlier one' : 'documents are copies of earlier ones';
    texts.push(`${count(corpus.copies)} ${are}; a list shows only one of each.`);
  }
  return texts.map((text) => element('p', { class: 'note' }, text));
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

export function convergence(model) {
  if (!model.steps.length) return null;
  const last = model.steps.at(-1)[1];
  const unit = model.unit ? ` (${model.unit})` : '';
  const steps = plural(model.iterations, 'step');
  return element(
    'section',
    {},
    element('h3', {}, 'Convergence'),
    linePlot(model.steps, { width: 460, height: 190, label: `The objective by step, from ${model.steps[0][1]} to ${last}` }),
    element('p', { class: 'muted' }, `Objective${unit} by step: ${steps} (${model.ending}), final value ${minus(last)}.`),
  );
}

// A table of names and values under a heading that opens it.
function folded(heading, rows) {
  return element(
    'details',
    {},
    element('summary', {}, heading),
    element(
      'table',
      { class: 'settings' },
      element(
        'tbody',
        {},
        rows.map(([key, value]) => element('tr', {}, element('th', { scope: 'row' }, key), element('td', {}, value))),
      ),
    ),
  );
}

export function settings(model) {
  return model.settings.length ? folded(`Settings of ${model.name}`, model.settings) : null; // a tree made without a model has none
}

export function dataCheck() {
  return folded('Data check', report.corpus.check);
}
