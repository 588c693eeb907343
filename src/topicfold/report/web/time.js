// Topics over time: small plots on one scale.

const TIME_TOPICS = 48;

// Periods with so few documents that a share says little: they are drawn, but set no scale.
const dates = report.time ? report.time.periods.map((period) => new Date(period)) : [];
const usual = report.time ? d3.median(report.time.documents) : 0;
const telling = report.time ? d3.range(dates.length).filter((i) => report.time.documents[i] >= usual / 10) : [];

const tellingShares = (row) => telling.map((i) => report.time.share[row][i]);

function timePlot(row, highestShare, { width = 250, height = 92 } = {}) {
  const { periods, share, documents: perPeriod, by } = report.time;
  const values = share[row];
  const x = d3.scaleUtc(d3.extent(dates), [8, width - 8]);
  const y = d3.scaleLinear([0, highestShare], [height - 18, 14]).clamp(true);
  const label = `${nameOf(topics[row])}: ${percent(values[0])} in ${periods[0]}, ${percent(values[values.length - 1])} in ${periods[periods.length - 1]}`;
  const svg = d3.create('svg').attr('viewBox', [0, 0, width, height]).attr('class', 'plot').attr('role', 'img').attr('aria-label', label);
  const place = (_, i) => x(dates[i]);
  svg.append('path').attr('class', 'area').attr('d', d3.area(place, y(0), (value) => y(value))(values));
  svg.append('path').attr('class', 'line').attr('d', d3.line(place, (value) => y(value))(values));
  svg.append('line').attr('class', 'base').attr('x1', 8).attr('x2', width - 8).attr('y1', y(0)).attr('y2', y(0));
  svg.append('text').attr('class', 'axis-name').attr('x', 8).attr('y', 10).text(percent(highestShare));
  svg.append('text').attr('x', 8).attr('y', height - 4).text(periods[0]);
  svg.append('text').attr('x', width - 8).attr('y', height - 4).attr('text-anchor', 'end').text(periods[periods.length - 1]);
  const dot = svg.append('circle').attr('class', 'dot').attr('r', 3).attr('visibility', 'hidden');
  svg.on('pointermove', (event) => {
    const [px] = d3.pointer(event);
    const i = d3.minIndex(dates, (date) => Math.abs(x(date) - px));
    dot.attr('visibility', null).attr('cx', x(dates[i])).attr('cy', y(values[i]));
    showTip(event.clientX, event.clientY, `${by === 'week' ? 'week of ' : ''}${periods[i]}: ${percent(values[i])}`, `of ${plural(perPeriod[i], 'document')}`);
  });
  svg.on('pointerleave', () => {
    dot.attr('visibility', 'hidden');
    hideTip();
  });
  return svg.node();
}

function timeOfTopic(row) {
  return element('section', {}, element('h3', {}, `By ${report.time.by}`), timePlot(row, d3.max(tellingShares(row)) || 1, { width: 420, height: 130 }));
}

if (report.time) {
  views.time = {
    tab: 'Over time',
    draw(main) {
      const { by, periods } = report.time;
      const change = (row) => d3.max(tellingShares(row)) - d3.min(tellingShares(row));
      const level = isGraph ? lowest : highest;
      const rows = d3.range(topics.length).filter((row) => topics[row].level === level).sort((a, b) => change(b) - change(a) || a - b);
      const shown = rows.slice(0, TIME_TOPICS);
      const highestShare = d3.max(shown, (row) => d3.max(tellingShares(row))) || 1;
      main.append(
        element('h2', {}, 'Over time'),
        element('p', { class: 'muted' }, `Share of the documents of each ${by}, ${periods[0]} to ${periods[periods.length - 1]}; all plots have one scale${telling.length < dates.length ? ', set by the periods with enough documents' : ''}. Those that moved most come first${shown.length < rows.length ? `, ${shown.length} of ${rows.length}` : ''}.`),
        element('div', { class: 'multiples' }, shown.map((row) => element('figure', {}, element('figcaption', {}, topicLink(topics[row])), timePlot(row, highestShare)))),
      );
    },
  };
}
