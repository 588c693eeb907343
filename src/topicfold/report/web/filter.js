// The filter: which documents the views show. It is part of the address, so that a link restores it:
// #view=value&label=sky&date=1990..1995&m.stars=2..4

const FILTER_BINS = 36;
const FILTER_CHOICES = 400;

const filterColumns = [
  { key: 'topic', title: 'Topic', kind: 'topic' },
  ...(documents.labels
    ? [{ key: 'label', title: 'Label', kind: 'category', names: report.labels, of: (d) => numbers(documents.labels[d]) }]
    : []),
  ...(documents.date && documents.date.some(Boolean) ? [{ key: 'date', title: 'Date', kind: 'date', values: documents.date }] : []),
  ...metadata
    .filter((column) => column.kind !== 'text')
    .map((column) => ({ key: `m.${column.name}`, title: column.name, ...column, of: (d) => [column.values[d]] })),
];
const filterColumn = new Map(filterColumns.map((column) => [column.key, column]));

let filter = new Map(); // key: the wanted value, as text
let filterText = ''; // as in the address
let filterMask = null; // 1 for each document that passes; null: all do
let stayHere = false; // the next change of the address only changes the filter

function textOfFilter(wanted) {
  return [...wanted].map(([key, value]) => `&${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('');
}

// ---- which documents pass ----

function spanOf(text) {
  const [from, to] = text.split('..');
  return [from.trim(), (to === undefined ? from : to).trim()];
}

// A test of whether a document passes one column of the filter; null if the wanted value is invalid.
function testOf(column, text) {
  if (column.kind === 'topic') {
    const row = rowOfTopic.get(Number(text));
    if (row === undefined) return null;
    if (!report.exclusive) return (d) => sharesOf(d).some(([other, share]) => other === row && share >= 0.5);
    return (d) => (levelShares(d, topics[row].level)[0] || [-1])[0] === row;
  }
  if (column.kind === 'category') {
    const wanted = column.names.indexOf(text);
    return wanted < 0 ? null : (d) => column.of(d).includes(wanted);
  }
  const [from, to] = spanOf(text);
  if (column.kind === 'date')
    return (d) => Boolean(column.values[d]) && (!from || column.values[d] >= from) && (!to || column.values[d].slice(0, to.length) <= to);
  const [low, high] = [from === '' ? -Infinity : Number(from), to === '' ? Infinity : Number(to)];
  if (Number.isNaN(low) || Number.isNaN(high)) return null;
  return (d) => column.values[d] !== null && column.values[d] >= low && column.values[d] <= high;
}

// Reads the filter from the address; unknown columns and values are left out.
function readFilter(parts) {
  const wanted = new Map();
  const tests = [];
  for (const [key, text] of parts) {
    const test = filterColumn.has(key) && text ? testOf(filterColumn.get(key), text) : null;
    if (test) {
      wanted.set(key, text);
      tests.push(test);
    }
  }
  filter = wanted;
  const text = textOfFilter(wanted);
  if (text === filterText && (filterMask || !tests.length)) return;
  filterText = text;
  filterMask = tests.length ? Uint8Array.from({ length: documentCount }, (_, d) => (tests.every((test) => test(d)) ? 1 : 0)) : null;
  filteredSizes = null;
}

function passes(d) {
  return !filterMask || filterMask[d] === 1;
}

function shownDocuments() {
  const all = d3.range(documentCount);
  return filterMask ? all.filter(passes) : all;
}

function setFilter(key, text) {
  const wanted = new Map(filter);
  if (text === null || text === '' || text === '..') wanted.delete(key);
  else wanted.set(key, text);
  const [view, value] = currentAddress();
  stayHere = true;
  location.hash = `${plainAddress(view, value)}${textOfFilter(wanted)}`;
}

// ---- figures of the documents that pass ----

let filteredSizes = null;

// Mean share of each topic in some documents; if topics exclude each other, the shares of a level add up to one.
function meanShares(some) {
  const sums = new Float64Array(topics.length);
  for (const d of some) for (const [row, share] of sharesOf(d)) sums[row] += share;
  if (!report.exclusive) return sums.map((sum) => sum / Math.max(1, some.length));
  const totals = d3.rollup(
    d3.range(topics.length),
    (rows) => d3.sum(rows, (row) => sums[row]),
    (row) => topics[row].level,
  );
  return sums.map((sum, row) => sum / (totals.get(topics[row].level) || 1));
}

// The share of a topic in all documents, or in those that pass the filter.
function sizeOf(topic) {
  if (!filterMask) return topic.size;
  filteredSizes = filteredSizes || meanShares(shownDocuments());
  return filteredSizes[rowOfTopic.get(topic.id)];
}

// ---- the panel ----

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

function drawFilter(open) {
  const panel = document.getElementById('filter');
  if (documentCount < 2) return panel.replaceChildren();
  const focused = panel.contains(document.activeElement) ? document.activeElement.id : null;
  const n = filterMask ? d3.sum(filterMask) : documentCount;
  const chip = ([key, text]) => {
    const column = filterColumn.get(key);
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
      filterColumns.map((column) => (['topic', 'category'].includes(column.kind) ? chooserOf(column) : brushOf(column))),
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
              { type: 'button', id: 'filter-csv', on: { click: () => download('documents.csv', csvOf(shownDocuments())) } },
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
