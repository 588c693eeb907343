// Topics over time: what rose most, a small plot of each topic, and one plot of the topics that the reader chooses.

import { colour, COLOURS, swatch } from '../colours.js';
import { element, showNotFound } from '../elements.js';
import { filterMask } from '../filter.js';
import { topicLink } from '../links.js';
import { nameOf } from '../names.js';
import { count } from '../numbers.js';
import { highest, isGraph, lowest, report, rowOfTopic, topics } from '../report.js';
import { timePlot } from '../time_plot.js';
import { riseOf, roundTop, series, tellingShares, TIME_TOPICS, timeChoices, timeTable, usablePeriods } from '../time_series.js';

const RISES = 8; // shown at first

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
  const fill = () => list.replaceChildren(...(timeChoices().allRises ? rises : rises.slice(0, RISES)).map(item));
  const button = element('button', {
    type: 'button',
    id: 'all-rises',
    'aria-expanded': String(timeChoices().allRises),
    on: {
      click: () => {
        timeChoices().allRises = !timeChoices().allRises;
        label();
        fill();
      },
    },
  });
  const label = () => {
    button.textContent = timeChoices().allRises ? 'Show fewer' : `Show all ${rises.length}`;
    button.setAttribute('aria-expanded', String(timeChoices().allRises));
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
      `For each topic, its largest rise over the previous ${shown} with enough documents, if chance alone does not explain it. ` +
        `The words are those that became more frequent in the topic’s documents of that ${shown}.`,
    ),
    list,
    rises.length > RISES ? button : null,
  );
}

// The small plots, one per topic, those that changed most first. A box adds a topic to the common plot.
function topicPlots(rows, data, choose) {
  const change = new Map(rows.map((row) => [row, d3.max(tellingShares(row, data)) - d3.min(tellingShares(row, data))]));
  const shown = [...rows].sort((a, b) => change.get(b) - change.get(a) || a - b).slice(0, timeChoices().plots);
  const commonTop = timeChoices().sameScale ? roundTop(shown, data) : null;
  return shown.map((row) => {
    const name = nameOf(topics[row]);
    const box = element('input', {
      type: 'checkbox',
      value: row,
      'aria-label': `Add ${name} to the common plot`,
      on: { change: () => choose(row, box.checked) },
    });
    return element(
      'figure',
      {},
      element('figcaption', {}, box, ' ', topicLink(topics[row])),
      timePlot([[row, null]], data, commonTop ?? roundTop([row], data), { rise: riseOf(row) }),
    );
  });
}

function aboutPlots(data, shown, all) {
  const which = filterMask ? ' that pass the filter' : '';
  const scale = timeChoices().sameScale ? 'All plots have the same scale' : 'Each plot has its own scale';
  const setBy = data.telling.length < data.dates.length ? ', set by the periods with enough documents' : '';
  const ring = data.by === report.time.shown && timeTable().rises.length ? ' A ring marks the largest rise.' : '';
  const part = shown < all ? `, ${shown} of ${count(all)}` : '';
  return (
    `Share of the documents of each ${data.by}${which}, ${data.labels[0]} to ${data.labels.at(-1)}. ` +
    `${scale}${setBy}.${ring} The topics that changed most come first${part}.`
  );
}

// Ticks the boxes of the topics in the common plot; if it is full, no other can be ticked.
function markBoxes(plots) {
  const { together } = timeChoices();
  for (const box of plots.querySelectorAll('input')) {
    const row = Number(box.value);
    box.checked = together.has(row);
    box.disabled = !box.checked && together.size >= COLOURS;
    box.style.setProperty('accent-color', box.checked ? colour(together.get(row)) : 'auto');
  }
}

// Adds a topic to the common plot, in a colour that no other has there, or removes it.
function chooseTopic(row, wanted) {
  const { together } = timeChoices();
  const used = new Set(together.values());
  const free = d3.range(COLOURS).find((index) => !used.has(index));
  if (wanted) together.set(row, free);
  else together.delete(row);
}

// The common plot, with the names of its topics below.
function commonPlot(main, remove) {
  const { by, together } = timeChoices();
  const data = series(by);
  const lines = [...together].map(([row, index]) => [row, colour(index)]);
  const size = { width: Math.max(320, Math.min(900, main.clientWidth - 80)), height: innerWidth < 600 ? 160 : 210 };
  const chip = ([row, index]) => {
    const label = `Remove ${nameOf(topics[row])}`;
    const button = element('button', { type: 'button', class: 'remove', 'aria-label': label, on: { click: () => remove(row) } }, '×');
    return element('li', {}, swatch(index), topicLink(topics[row]), ' ', button);
  };
  return [timePlot(lines, data, roundTop([...together.keys()], data), size), element('ul', { class: 'chips' }, [...together].map(chip))];
}

function timeTools(redraw) {
  const usable = usablePeriods();
  const choosePeriod = () => {
    timeChoices().by = chooser.value;
    redraw();
  };
  const option = (by) => element('option', { value: by, selected: by === timeChoices().by }, by);
  const chooser = element('select', { id: 'period', on: { change: choosePeriod } }, usable.map(option));
  const chooseScale = () => {
    timeChoices().sameScale = scale.checked;
    redraw();
  };
  const scale = element('input', {
    type: 'checkbox',
    id: 'same-scale',
    checked: timeChoices().sameScale,
    on: { change: chooseScale },
  });
  return element(
    'div',
    { class: 'tools' },
    usable.length > 1 ? element('label', {}, 'Period ', chooser) : null,
    element('label', {}, scale, ' Same scale for all plots'),
    element('span', { class: 'muted' }, `Tick up to ${COLOURS} topics to see them in one plot.`),
  );
}

// The parts of the view that what the reader chooses redraws.
function drawTime(main) {
  const level = isGraph ? lowest : highest;
  const rows = d3.range(topics.length).filter((row) => topics[row].level === level);
  const about = element('p', { class: 'muted', id: 'about-time' });
  const plots = element('div', { class: 'multiples' });
  const more = element('button', { type: 'button', id: 'more-plots', on: { click: () => showMore() } });
  const dock = element('section', { class: 'dock', id: 'together', 'aria-label': 'Chosen topics in one plot', tabindex: '-1' });
  const drawCommon = () => {
    dock.hidden = !timeChoices().together.size;
    dock.replaceChildren(...(dock.hidden ? [] : commonPlot(main, remove)));
  };
  const choose = (row, wanted) => {
    chooseTopic(row, wanted);
    markBoxes(plots);
    drawCommon();
  };
  const remove = (row) => {
    choose(row, false);
    (dock.querySelector('.remove') || main).focus();
  };
  const drawPlots = () => {
    const data = series(timeChoices().by);
    plots.replaceChildren(...topicPlots(rows, data, choose));
    const shown = plots.children.length;
    about.textContent = aboutPlots(data, shown, rows.length);
    more.hidden = shown >= rows.length;
    more.textContent = `Show ${Math.min(TIME_TOPICS, rows.length - shown)} more`;
    markBoxes(plots);
  };
  const showMore = () => {
    const first = timeChoices().plots;
    timeChoices().plots += TIME_TOPICS;
    drawPlots();
    plots.children[first].querySelector('input').focus();
  };
  const redraw = () => {
    drawPlots();
    drawCommon();
  };
  main.append(element('h2', {}, 'Over time'), about, ...[riseList()].filter(Boolean), timeTools(redraw), plots, more, dock);
  redraw();
}

export const timeView = {
  tab: 'Over time',
  isPresent: () => Boolean(report.time),
  draw(main) {
    if (timeTable()) drawTime(main);
    else showNotFound(main, 'The documents that pass the filter span fewer than two periods, so there is nothing to plot.');
  },
};
