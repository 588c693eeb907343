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
      `For each topic, its largest rise over the previous ${shown} with enough documents, if chance alone does not explain it. The words are those that became more frequent in the topic’s documents of that ${shown}.`,
    ),
    list,
    rises.length > RISES ? button : null,
  );
}

export const timeView = {
  tab: 'Over time',
  isPresent: () => Boolean(report.time),
  draw(main) {
    if (!timeTable())
      return showNotFound(main, 'The documents that pass the filter span fewer than two periods, so there is nothing to plot.');
    const { together } = timeChoices();
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
          const first = timeChoices().plots;
          timeChoices().plots += TIME_TOPICS;
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
      const data = series(timeChoices().by);
      const change = new Map(rows.map((row) => [row, d3.max(tellingShares(row, data)) - d3.min(tellingShares(row, data))]));
      const shown = [...rows].sort((a, b) => change.get(b) - change.get(a) || a - b).slice(0, timeChoices().plots);
      const common = timeChoices().sameScale ? roundTop(shown, data) : null;
      const scale = `${timeChoices().sameScale ? 'All plots have the same scale' : 'Each plot has its own scale'}${data.telling.length < data.dates.length ? ', set by the periods with enough documents' : ''}.`;
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
      const data = series(timeChoices().by);
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
            timeChoices().by = chooser.value;
            drawPlots();
            drawTogether();
          },
        },
      },
      usable.map((by) => element('option', { value: by, selected: by === timeChoices().by }, by)),
    );
    const scale = element('input', {
      type: 'checkbox',
      id: 'same-scale',
      checked: timeChoices().sameScale,
      on: {
        change: () => {
          timeChoices().sameScale = scale.checked;
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
