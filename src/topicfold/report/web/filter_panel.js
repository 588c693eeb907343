// The panel of the filter: a list of choices or a histogram for each column.

import { documentsAsCsv } from './csv.js';
import { documentCount } from './documents.js';
import { download } from './download.js';
import { element } from './elements.js';
import { filter, filterColumns, filterMask, setFilter, shownDocuments, spanOf } from './filter.js';
import { nameOf } from './names.js';
import { count } from './numbers.js';
import { report, rowOfTopic, topics } from './report.js';

const FILTER_BINS = 36;
const FILTER_CHOICES = 400;

function wholeList(column) {
  const counts = column.kind === 'topic' ? null : new Map();
  if (counts) for (let d = 0; d < documentCount; d += 1) for (const value of column.of(d)) counts.set(value, (counts.get(value) || 0) + 1);
  if (column.kind === 'topic')
    return [...topics]
      .sort((a, b) => b.level - a.level || b.size - a.size)
      .slice(0, FILTER_CHOICES)
      .map((topic) => [String(topic.id), nameOf(topic)]);
  return column.names.slice(0, FILTER_CHOICES).map((name, i) => [name, `${name} (${count(counts.get(i) || 0)})`]);
}

function chooserOf(column) {
  const id = `filter-${column.key}`;
  const chooser = element(
    'select',
    { id, on: { change: () => setFilter(column.key, chooser.value) } },
    element('option', { value: '' }, 'all'),
    wholeList(column).map(([value, title]) => element('option', { value, selected: filter.get(column.key) === value }, title)),
  );
  return element('label', {}, `${column.title} `, chooser);
}

const asDate = (text) => Number(new Date(text));

// A histogram of the values with a brush, and the same span as text.
function brushOf(column) {
  const isDate = column.kind === 'date';
  const known = column.values.filter((value) => value !== null && value !== '');
  const [low, high] = d3.extent(known);
  const [from, to] = filter.has(column.key) ? spanOf(filter.get(column.key)) : ['', ''];
  const field = (end, value, hint) =>
    element('input', {
      type: 'text',
      id: `filter-${column.key === 'date' ? '' : `${column.key}-`}${end}`,
      size: isDate ? 10 : 6,
      value,
      placeholder: String(hint),
      'aria-label': `${column.title} ${end}`,
      on: { change: () => setFilter(column.key, `${fields[0].value.trim()}..${fields[1].value.trim()}`) },
    });
  const fields = [field('from', from, low), field('to', to, high)];
  const [width, height] = [190, 34];
  const x = d3.scaleLinear(isDate ? [asDate(low), asDate(high)] : [low, high], [1, width - 1]);
  if (low === high || !known.length) return element('span', { class: 'span-filter' }, `${column.title} `, fields[0], '–', fields[1]);
  const bins = d3.bin().domain(x.domain()).thresholds(x.ticks(FILTER_BINS))(isDate ? known.map(asDate) : known);
  const y = d3.scaleLinear([0, d3.max(bins, (bin) => bin.length)], [height, 2]);
  const svg = d3
    .create('svg')
    .attr('viewBox', [0, 0, width, height])
    .attr('width', width)
    .attr('height', height)
    .attr('class', 'brush')
    .attr('aria-hidden', 'true');
  svg
    .selectAll('rect')
    .data(bins)
    .join('rect')
    .attr('class', 'bin')
    .attr('x', (bin) => x(bin.x0))
    .attr('width', (bin) => Math.max(1, x(bin.x1) - x(bin.x0) - 0.5))
    .attr('y', (bin) => y(bin.length))
    .attr('height', (bin) => height - y(bin.length));
  const text = (place) =>
    isDate ? new Date(x.invert(place)).toISOString().slice(0, known[0].length) : String(Number(x.invert(place).toPrecision(4)));
  const brush = d3
    .brushX()
    .extent([
      [0, 0],
      [width, height],
    ])
    .on('end', (event) => {
      if (event.sourceEvent) setFilter(column.key, event.selection ? event.selection.map(text).join('..') : '');
    });
  const layer = svg.append('g').call(brush);
  const at = (value, otherwise) => (value === '' ? otherwise : x(isDate ? asDate(value) : Number(value)));
  if (filter.has(column.key))
    brush.move(
      layer,
      [at(from, 0), at(to, width)].map((place) => Math.min(width, Math.max(0, place || 0))),
    );
  return element('span', { class: 'span-filter' }, element('span', {}, column.title), svg.node(), fields[0], '–', fields[1]);
}

let panelOpen = false; // as the reader left it

export function drawFilter(open) {
  const panel = document.getElementById('filter');
  if (documentCount < 2) return panel.replaceChildren();
  const focused = panel.contains(document.activeElement) ? document.activeElement.id : null;
  const n = filterMask ? d3.sum(filterMask) : documentCount;
  const chip = ([key, text]) => {
    const column = filterColumns().get(key);
    const shown = column.kind === 'topic' ? nameOf(topics[rowOfTopic.get(Number(text))]) : text.replace('..', ' – ');
    return element(
      'li',
      {},
      `${column.title}: ${shown} `,
      element(
        'button',
        { type: 'button', class: 'remove', 'aria-label': `Remove the filter ${column.title}`, on: { click: () => setFilter(key, null) } },
        '×',
      ),
    );
  };
  const details = element(
    'details',
    {
      open: open || panelOpen || filter.size > 0,
      on: {
        toggle: () => {
          panelOpen = details.open && !open && !filter.size;
        },
      },
    },
    element(
      'summary',
      {},
      filter.size ? `Filter: ${count(n)} of ${count(documentCount)} documents${report.corpus.sample ? ' on this page' : ''}` : 'Filter',
    ),
    element(
      'div',
      { class: 'filter-tools' },
      [...filterColumns().values()].map((column) => (['topic', 'category'].includes(column.kind) ? chooserOf(column) : brushOf(column))),
    ),
    filter.size
      ? element(
          'ul',
          { class: 'filter-chips' },
          [...filter].map(chip),
          element(
            'li',
            {},
            element(
              'button',
              { type: 'button', id: 'filter-csv', on: { click: () => download('documents.csv', documentsAsCsv(shownDocuments())) } },
              'Download as CSV',
            ),
          ),
        )
      : null,
  );
  panel.replaceChildren(details);
  if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
  return undefined;
}
