// Topics over time: what rose most, a small plot of each topic, and one plot of the topics that the reader chooses.

const TIME_TOPICS = 48; // plots at first, and with each "Show more"
const RISES = 8; // shown at first
const WEEK = 7 * 24 * 3600 * 1000;

// From short to long.
const PERIODS = {
  day: { start: (date) => d3.utcDay(date), format: d3.utcFormat('%Y-%m-%d') },
  week: { start: (date) => new Date(Math.floor(date / WEEK) * WEEK), format: d3.utcFormat('%Y-%m-%d') },
  month: { start: (date) => d3.utcMonth(date), format: d3.utcFormat('%Y-%m') },
  quarter: { start: (date) => d3.utcMonth.every(3)(date), format: d3.utcFormat('%Y Q%q') },
  year: { start: (date) => d3.utcYear(date), format: d3.utcFormat('%Y') },
  decade: { start: (date) => d3.utcYear.every(10)(date), format: (date) => `${d3.utcFormat('%Y')(date)}s` },
};

const timeTables = new Map(); // by the filter

// Shares by period, of the documents that pass the filter; null if fewer than two periods are left.
function timeTable() {
  if (!report.time || !filterMask) return report.time;
  if (!timeTables.has(filterText)) timeTables.set(filterText, filteredTime());
  return timeTables.get(filterText);
}

function filteredTime() {
  const { by, shown } = report.time;
  const { start, format } = PERIODS[by];
  const groups = d3.group(
    shownDocuments().filter((d) => documents.date[d]),
    (d) => format(start(new Date(documents.date[d]))),
  );
  const periods = report.time.periods.filter((period) => groups.has(period));
  if (periods.length < 2) return null;
  const shares = periods.map((period) => meanShares(groups.get(period)));
  return {
    by,
    shown,
    periods,
    documents: periods.map((period) => groups.get(period).length),
    share: topics.map((_, row) => shares.map((some) => some[row])),
    rises: [],
  };
}

// The shares by period: those of the report, or their means over longer periods, weighted by documents.
function madeSeries(by) {
  const { by: given, periods, documents: counted, share } = timeTable();
  const dates = periods.map((period) => new Date(period));
  const { start, format } = PERIODS[by];
  const middle = given === 'week' ? WEEK / 2 : 0; // a week belongs to the month of its middle
  const groups =
    by === given
      ? periods.map((_, i) => [i])
      : [...d3.group(d3.range(periods.length), (i) => Number(start(new Date(Number(dates[i]) + middle)))).values()];
  const starts = groups.map(([first]) => (by === given ? dates[first] : start(new Date(Number(dates[first]) + middle))));
  const perPeriod = groups.map((group) => d3.sum(group, (i) => counted[i]));
  const usual = d3.median(perPeriod);
  return {
    by,
    dates: starts,
    labels: by === given ? periods : starts.map((date) => format(date)),
    documents: perPeriod,
    // periods with very few documents are drawn, but do not affect the scale
    telling: d3.range(groups.length).filter((i) => perPeriod[i] >= usual / 10),
    shares: (row) =>
      groups.map((group, i) => (by === given ? share[row][i] : d3.sum(group, (j) => counted[j] * share[row][j]) / perPeriod[i])),
  };
}

const seriesBy = new Map();

function series(by) {
  const key = by + filterText;
  if (!seriesBy.has(key)) seriesBy.set(key, madeSeries(by));
  return seriesBy.get(key);
}

// The periods a reader can choose: each has at least two, and fewer than the next shorter one.
function usablePeriods() {
  const all = Object.keys(PERIODS);
  const found = [report.time.by];
  for (const by of all.slice(all.indexOf(report.time.by) + 1)) {
    const n = series(by).dates.length;
    if (n >= 2 && n < series(found[found.length - 1]).dates.length) found.push(by);
  }
  return found;
}

function tellingShares(row, data) {
  const shares = data.shares(row);
  return data.telling.map((i) => shares[i]);
}

// The top of an axis: the next round number.
function roundTop(rows, data) {
  return d3.nice(0, d3.max(rows, (row) => d3.max(tellingShares(row, data))) || 1, 4)[1];
}

const axisLabel = (share) => (share ? `${Number((100 * share).toPrecision(3))}%` : '0');
const periodName = (data, i) => `${data.by === 'week' ? 'week of ' : ''}${data.labels[i]}`;

// The places along an axis that have room for a label: the first, the last, and some between. The labels at both ends
// extend inwards.
function labelledPlaces(data, x, room) {
  const last = data.dates.length - 1;
  const found = [0];
  for (let i = 1; i < last; i += 1) {
    const at = x(data.dates[i]);
    const before = found[found.length - 1];
    if (at - x(data.dates[before]) >= (before ? room : 1.5 * room) && x(data.dates[last]) - at >= 1.5 * room) found.push(i);
  }
  return [...found, last];
}

// One or more lines [row, colour] on one scale; a tooltip shows the values under the pointer, or where the arrow keys lead.
function timePlot(lines, data, top, { width = 250, height = 96, rise = null } = {}) {
  const [left, right, last] = [44, width - 10, data.dates.length - 1];
  const x = d3.scaleUtc(d3.extent(data.dates), [left, right]);
  const y = d3.scaleLinear([0, top], [height - 20, 9]).clamp(true);
  const alone = lines.length === 1;
  const values = lines.map(([row]) => data.shares(row));
  const svg = d3
    .create('svg')
    .attr('viewBox', [0, 0, width, height])
    .attr('class', 'plot over-time')
    .attr('tabindex', 0)
    .attr('role', 'slider');
  svg
    .attr('aria-label', `${lines.map(([row]) => nameOf(topics[row])).join(', ')}: share by ${data.by}`)
    .attr('aria-valuemin', 0)
    .attr('aria-valuemax', last);
  for (const value of height > 150 ? y.ticks(4) : [0, top]) {
    svg
      .append('line')
      .attr('class', value ? 'grid' : 'base')
      .attr('x1', left)
      .attr('x2', right)
      .attr('y1', y(value))
      .attr('y2', y(value));
    svg
      .append('text')
      .attr('class', 'axis-name')
      .attr('x', left - 5)
      .attr('y', y(value))
      .attr('dy', '0.32em')
      .attr('text-anchor', 'end')
      .text(axisLabel(value));
  }
  for (const i of labelledPlaces(data, x, 80)) {
    const anchor = i === 0 ? 'start' : i === last ? 'end' : 'middle';
    svg
      .append('text')
      .attr('class', 'axis-name')
      .attr('x', x(data.dates[i]))
      .attr('y', height - 4)
      .attr('text-anchor', anchor)
      .text(data.labels[i]);
  }
  const cursor = svg.append('line').attr('class', 'cursor').attr('y1', y(0)).attr('y2', y(top)).attr('visibility', 'hidden');
  const place = (_, i) => x(data.dates[i]);
  lines.forEach(([, hue], k) => {
    if (alone)
      svg
        .append('path')
        .attr('class', 'area')
        .attr('d', d3.area(place, y(0), (value) => y(value))(values[k]))
        .style('fill', hue);
    svg
      .append('path')
      .attr('class', 'line')
      .attr('d', d3.line(place, (value) => y(value))(values[k]))
      .style('stroke', hue);
  });
  const risen = rise === null ? -1 : data.labels.indexOf(rise.period);
  if (risen >= 0)
    svg.append('circle').attr('class', 'risen').attr('r', 3.5).attr('cx', x(data.dates[risen])).attr('cy', y(values[0][risen]));
  const dots = lines.map(([, hue]) =>
    svg.append('circle').attr('class', 'dot').attr('r', 3.5).attr('visibility', 'hidden').style('fill', hue),
  );
  const told = (i) =>
    alone
      ? [`${periodName(data, i)}: ${percent(values[0][i])}`, `of ${plural(data.documents[i], 'document')}`]
      : [
          `${periodName(data, i)}, ${plural(data.documents[i], 'document')}`,
          ...lines.map(([row], k) => `${percent(values[k][i])} ${nameOf(topics[row])}`),
        ];
  let at = last;
  const setValue = () => svg.attr('aria-valuenow', at).attr('aria-valuetext', told(at).join(', '));
  setValue();
  const mark = (i, px, py) => {
    at = i;
    setValue();
    cursor.attr('visibility', null).attr('x1', x(data.dates[i])).attr('x2', x(data.dates[i]));
    dots.forEach((dot, k) => dot.attr('visibility', null).attr('cx', x(data.dates[i])).attr('cy', y(values[k][i])));
    const box = dots[0].node().getBoundingClientRect();
    showTip(px ?? box.right, py ?? box.bottom, ...told(i));
  };
  const clear = () => {
    for (const shape of [cursor, ...dots]) shape.attr('visibility', 'hidden');
    hideTip();
  };
  svg.on('pointermove pointerdown', (event) => {
    const [px] = d3.pointer(event);
    mark(
      d3.minIndex(data.dates, (date) => Math.abs(x(date) - px)),
      event.clientX,
      event.clientY,
    );
  });
  svg.on('pointerleave blur', clear);
  svg.on('focus', () => svg.node().matches(':focus-visible') && mark(at));
  svg.on('keydown', (event) => {
    const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') clear();
    if (to === undefined) return;
    event.preventDefault();
    mark(Math.min(last, Math.max(0, to)));
  });
  return svg.node();
}

function timeOfTopic(row) {
  const data = series(timeChoices.by);
  return element(
    'section',
    {},
    element('h3', {}, `By ${data.by}`),
    timePlot([[row, null]], data, roundTop([row], data), { width: 420, height: 140, rise: riseOf(row) }),
  );
}

// What the reader has chosen, kept for the next visit to the view.
const timeChoices = {
  by: report.time ? report.time.shown : null,
  sameScale: false,
  plots: TIME_TOPICS,
  allRises: false,
  together: new Map(),
};

function riseOf(row) {
  return timeChoices.by === report.time.shown ? timeTable().rises.find((rise) => rise.topic === topics[row].id) || null : null;
}

function riseList() {
  const { rises, shown } = timeTable();
  if (!rises.length) return null;
  const item = ({ topic, period, rise, words }) =>
    element(
      'li',
      {},
      element('span', { class: 'period' }, `${shown === 'week' ? 'Week of ' : ''}${period}: `),
      topicLink(topics[rowOfTopic.get(topic)]),
      ` (+${(100 * rise).toFixed(100 * rise < 0.95 ? 2 : 1)} points)`,
      words.length ? [': ', element('span', { class: 'muted' }, words.join(', '))] : null,
    );
  const list = element('ul', { class: 'plain rises' });
  const fill = () => list.replaceChildren(...(timeChoices.allRises ? rises : rises.slice(0, RISES)).map(item));
  const button = element('button', {
    type: 'button',
    id: 'all-rises',
    'aria-expanded': String(timeChoices.allRises),
    on: {
      click: () => {
        timeChoices.allRises = !timeChoices.allRises;
        label();
        fill();
      },
    },
  });
  const label = () => {
    button.textContent = timeChoices.allRises ? 'Show fewer' : `Show all ${rises.length}`;
    button.setAttribute('aria-expanded', String(timeChoices.allRises));
  };
  label();
  fill();
  return element(
    'section',
    {},
    element('h3', {}, 'Largest rises'),
    element(
      'p',
      { class: 'muted' },
      `For each topic, its largest rise over the previous ${shown} with enough documents, if chance alone does not explain it. The words are those that became more frequent in the topic’s documents of that ${shown}.`,
    ),
    list,
    rises.length > RISES ? button : null,
  );
}

if (report.time) {
  views.time = {
    tab: 'Over time',
    draw(main) {
      if (!timeTable())
        return missing(main, 'The documents that pass the filter span fewer than two periods, so there is nothing to plot.');
      const { together } = timeChoices;
      const level = isGraph ? lowest : highest;
      const rows = d3.range(topics.length).filter((row) => topics[row].level === level);
      const about = element('p', { class: 'muted', id: 'about-time' });
      const plots = element('div', { class: 'multiples' });
      const dock = element('section', { class: 'dock', id: 'together', 'aria-label': 'Chosen topics in one plot', tabindex: '-1' });
      const more = element('button', {
        type: 'button',
        id: 'more-plots',
        on: {
          click: () => {
            const first = timeChoices.plots;
            timeChoices.plots += TIME_TOPICS;
            drawPlots();
            plots.children[first].querySelector('input').focus();
          },
        },
      });

      function choose(row, wanted) {
        const used = new Set(together.values());
        if (wanted)
          together.set(
            row,
            d3.range(COLOURS).find((index) => !used.has(index)),
          );
        else together.delete(row);
        markBoxes();
        drawTogether();
      }

      function markBoxes() {
        for (const box of plots.querySelectorAll('input')) {
          const row = Number(box.value);
          box.checked = together.has(row);
          box.disabled = !box.checked && together.size >= COLOURS;
          box.style.setProperty('accent-color', box.checked ? colour(together.get(row)) : 'auto');
        }
      }

      function drawPlots() {
        const data = series(timeChoices.by);
        const change = new Map(rows.map((row) => [row, d3.max(tellingShares(row, data)) - d3.min(tellingShares(row, data))]));
        const shown = [...rows].sort((a, b) => change.get(b) - change.get(a) || a - b).slice(0, timeChoices.plots);
        const common = timeChoices.sameScale ? roundTop(shown, data) : null;
        const scale = `${timeChoices.sameScale ? 'All plots have the same scale' : 'Each plot has its own scale'}${data.telling.length < data.dates.length ? ', set by the periods with enough documents' : ''}.`;
        const marked = data.by === report.time.shown && timeTable().rises.length ? ' A ring marks the largest rise.' : '';
        about.textContent = `Share of the documents of each ${data.by}${filterMask ? ' that pass the filter' : ''}, ${data.labels[0]} to ${data.labels[data.labels.length - 1]}. ${scale}${marked} The topics that changed most come first${shown.length < rows.length ? `, ${shown.length} of ${count(rows.length)}` : ''}.`;
        plots.replaceChildren(
          ...shown.map((row) => {
            const box = element('input', {
              type: 'checkbox',
              value: row,
              'aria-label': `Add ${nameOf(topics[row])} to the common plot`,
              on: { change: () => choose(row, box.checked) },
            });
            return element(
              'figure',
              {},
              element('figcaption', {}, box, ' ', topicLink(topics[row])),
              timePlot([[row, null]], data, common ?? roundTop([row], data), { rise: riseOf(row) }),
            );
          }),
        );
        more.hidden = shown.length >= rows.length;
        more.textContent = `Show ${Math.min(TIME_TOPICS, rows.length - shown.length)} more`;
        markBoxes();
      }

      function drawTogether() {
        dock.hidden = !together.size;
        if (dock.hidden) return dock.replaceChildren();
        const data = series(timeChoices.by);
        const lines = [...together].map(([row, index]) => [row, colour(index)]);
        const remove = (row, name) =>
          element(
            'button',
            {
              type: 'button',
              class: 'remove',
              'aria-label': `Remove ${name}`,
              on: {
                click: () => {
                  choose(row, false);
                  (dock.querySelector('.remove') || main).focus();
                },
              },
            },
            '×',
          );
        dock.replaceChildren(
          timePlot(lines, data, roundTop([...together.keys()], data), {
            width: Math.max(320, Math.min(900, main.clientWidth - 80)),
            height: innerWidth < 600 ? 160 : 210,
          }),
          element(
            'ul',
            { class: 'chips' },
            [...together].map(([row, index]) =>
              element('li', {}, swatch(index), topicLink(topics[row]), ' ', remove(row, nameOf(topics[row]))),
            ),
          ),
        );
        return undefined;
      }

      const usable = usablePeriods();
      const chooser = element(
        'select',
        {
          id: 'period',
          on: {
            change: () => {
              timeChoices.by = chooser.value;
              drawPlots();
              drawTogether();
            },
          },
        },
        usable.map((by) => element('option', { value: by, selected: by === timeChoices.by }, by)),
      );
      const scale = element('input', {
        type: 'checkbox',
        id: 'same-scale',
        checked: timeChoices.sameScale,
        on: {
          change: () => {
            timeChoices.sameScale = scale.checked;
            drawPlots();
          },
        },
      });
      main.append(
        element('h2', {}, 'Over time'),
        about,
        ...[riseList()].filter(Boolean),
        element(
          'div',
          { class: 'tools' },
          usable.length > 1 ? element('label', {}, 'Period ', chooser) : null,
          element('label', {}, scale, ' Same scale for all plots'),
          element('span', { class: 'muted' }, `Tick up to ${COLOURS} topics to see them in one plot.`),
        ),
        plots,
        more,
        dock,
      );
      drawPlots();
      drawTogether();
      return undefined;
    },
  };
}
