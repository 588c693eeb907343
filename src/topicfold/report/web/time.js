// Topics over time: small plots on one scale.

const TIME_TOPICS = 48;

function timePlot(row, highestShare, { width = 250, height = 92 } = {}) {
  const { periods, share, documents: perPeriod } = report.time;
  const values = share[row];
  const x = d3.scalePoint(periods, [8, width - 8]);
  const y = d3.scaleLinear([0, highestShare], [height - 18, 6]);
  const label = `${nameOf(topics[row])}: ${percent(values[0])} in ${periods[0]}, ${percent(values[values.length - 1])} in ${periods[periods.length - 1]}`;
  const svg = d3.create('svg').attr('viewBox', [0, 0, width, height]).attr('class', 'plot').attr('role', 'img').attr('aria-label', label);
  const place = (_, i) => x(periods[i]);
  svg.append('path').attr('class', 'area').attr('d', d3.area(place, y(0), (value) => y(value))(values));
  svg.append('path').attr('class', 'line').attr('d', d3.line(place, (value) => y(value))(values));
  svg.append('line').attr('class', 'base').attr('x1', 8).attr('x2', width - 8).attr('y1', y(0)).attr('y2', y(0));
  svg.append('text').attr('x', 8).attr('y', height - 4).text(periods[0]);
  svg.append('text').attr('x', width - 8).attr('y', height - 4).attr('text-anchor', 'end').text(periods[periods.length - 1]);
  const dot = svg.append('circle').attr('class', 'dot').attr('r', 3).attr('visibility', 'hidden');
  svg.on('pointermove', (event) => {
    const [px] = d3.pointer(event);
    const i = d3.minIndex(periods, (period) => Math.abs(x(period) - px));
    dot.attr('visibility', null).attr('cx', x(periods[i])).attr('cy', y(values[i]));
    showTip(event.clientX, event.clientY, `${periods[i]}: ${percent(values[i])}`, `of ${plural(perPeriod[i], 'document')}`);
  });
  svg.on('pointerleave', () => {
    dot.attr('visibility', 'hidden');
    hideTip();
  });
  return svg.node();
}

function timeOfTopic(row) {
  return element('section', {}, element('h3', {}, `By ${report.time.by}`), timePlot(row, d3.max(report.time.share[row]) || 1, { width: 420, height: 130 }));
}

if (report.time) {
  views.time = {
    tab: 'Over time',
    draw(main) {
      const { share, by, periods } = report.time;
      const change = (row) => d3.max(share[row]) - d3.min(share[row]);
      const level = isGraph ? lowest : highest;
      const rows = d3.range(topics.length).filter((row) => topics[row].level === level).sort((a, b) => change(b) - change(a) || a - b);
      const shown = rows.slice(0, TIME_TOPICS);
      const highestShare = d3.max(shown, (row) => d3.max(share[row])) || 1;
      main.append(
        element('h2', {}, 'Over time'),
        element('p', { class: 'muted' }, `Share of the documents of each ${by}, ${periods[0]} to ${periods[periods.length - 1]}; all plots have one scale, up to ${percent(highestShare)}. Those that moved most come first${shown.length < rows.length ? `, ${shown.length} of ${rows.length}` : ''}.`),
        element('div', { class: 'multiples' }, shown.map((row) => element('figure', {}, element('figcaption', {}, topicLink(topics[row])), timePlot(row, highestShare)))),
      );
    },
  };
}
