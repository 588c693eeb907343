// A summary on one long page, to read from top to bottom or to print: what each view shows first.

import { convergence, facts, notes, settings } from '../about.js';
import { topicSwatch } from '../colours.js';
import { documentCount } from '../documents.js';
import { element } from '../elements.js';
import { filter, filterColumns, filterMask } from '../filter.js';
import { sizeOf, topicDocuments, topicLabels } from '../filtered.js';
import { copyNote, documentLink, topicLink } from '../links.js';
import { furtherWords } from '../names.js';
import { minus, percent, plural } from '../numbers.js';
import { highest, isFlat, isGraph, kindsOf, lowest, report, rowOfTopic, topics } from '../report.js';
import { timePlot } from '../time_plot.js';
import { roundTop, series, tellingShares, timeChoices, timeTable } from '../time_series.js';
import { drawMap } from './map.js';

const SUMMARY_WORDS = 15;
const SUMMARY_DOCUMENTS = 3;
const SUMMARY_PLOTS = 12;

function summaryOf(topic) {
  const labels = topicLabels(topic)
    .slice(0, 3)
    .map(([label, share]) => `${report.labels[label]} ${percent(share, 0)}`);
  const figures = [
    percent(sizeOf(topic)),
    topic.coherence === null ? '' : `coherence ${minus(topic.coherence.toFixed(2))}`,
    topic.mark || '',
  ];
  return element(
    'section',
    { class: 'summary-topic' },
    element(
      'h4',
      {},
      topicSwatch(rowOfTopic.get(topic.id)),
      topicLink(topic),
      element('span', { class: 'muted' }, ` ${figures.filter(Boolean).join(', ')}`),
    ),
    element('p', { class: 'words' }, furtherWords(topic, SUMMARY_WORDS)),
    labels.length ? element('p', { class: 'muted' }, `Labels: ${labels.join(', ')}`) : null,
    element(
      'ul',
      { class: 'plain' },
      topicDocuments(topic)
        .slice(0, SUMMARY_DOCUMENTS)
        .map(([d, share]) => element('li', {}, documentLink(d), element('span', { class: 'muted' }, ` ${percent(share, 0)}`), copyNote(d))),
    ),
  );
}

function filterNote() {
  if (!filterMask) return '';
  const n = d3.sum(filterMask);
  const wanted = [...filter].map(([key, text]) => `${filterColumns().get(key).title} ${text}`);
  return element(
    'p',
    { class: 'note' },
    `Of the ${plural(n, 'document')} that ${n === 1 ? 'passes' : 'pass'} the filter: ${wanted.join(', ')}.`,
  );
}

function changesOverTime() {
  const data = series(timeChoices().by);
  const change = (row) => d3.max(tellingShares(row, data)) - d3.min(tellingShares(row, data));
  const most = d3
    .range(topics.length)
    .filter((row) => topics[row].level === (isGraph ? lowest : highest))
    .sort((a, b) => change(b) - change(a))
    .slice(0, SUMMARY_PLOTS);
  const figure = (row) => {
    const plot = timePlot([[row, null]], data, roundTop([row], data));
    return element('figure', {}, element('figcaption', {}, topicLink(topics[row])), plot);
  };
  return element(
    'section',
    {},
    element('h3', {}, 'Over time: the topics that changed most'),
    element('div', { class: 'multiples' }, most.map(figure)),
  );
}

function topicsOfLevel(level) {
  const sorted = topics.filter((topic) => topic.level === level).sort((a, b) => sizeOf(b) - sizeOf(a));
  return element('section', {}, element('h3', {}, kindsOf(level)), element('div', { class: 'summary-topics' }, sorted.map(summaryOf)));
}

export const summaryView = {
  draw(main) {
    const map = element('section', { class: 'small-map' }, element('h3', {}, 'The map'));
    const levels = isFlat ? [lowest] : isGraph ? [highest, lowest] : d3.range(highest, Math.max(lowest, highest - 1) - 1, -1);
    main.append(
      element('h2', {}, `${report.name}: a summary`),
      element('p', { class: 'tools' }, element('button', { type: 'button', id: 'print', on: { click: () => print() } }, 'Print')),
      facts(),
      ...notes(),
      filterNote(),
      map,
      ...levels.map(topicsOfLevel),
      timeTable() ? changesOverTime() : '',
      element('section', {}, convergence(report.model), settings(report.model)),
    );
    return documentCount > 1 ? drawMap(map, { alone: true }) : map.remove();
  },
};
