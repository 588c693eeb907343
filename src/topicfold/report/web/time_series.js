// Shares of topics by period.

import { documents } from './documents.js';
import { filterMask, perFilter, shownDocuments } from './filter.js';
import { meanShares } from './filtered.js';
import { perReport, report, topics } from './report.js';

export const TIME_TOPICS = 48; // plots at first, and with each "Show more"

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

// Shares by period, of the documents that pass the filter; null if fewer than two periods are left.
export const timeTable = perFilter(() => (report.time && filterMask ? filteredTime() : report.time));

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
    share: topics.map((_, row) => shares.map((ofPeriod) => ofPeriod[row])),
    rises: [],
  };
}

// The shares by period: those of the report, or their means over longer periods, weighted by documents.
function seriesOf(by) {
  const { by: reported, periods, documents: counted, share } = timeTable();
  const dates = periods.map((period) => new Date(period));
  const { start, format } = PERIODS[by];
  const middle = reported === 'week' ? WEEK / 2 : 0; // a week belongs to the month of its middle
  const groups =
    by === reported
      ? periods.map((_, i) => [i])
      : [...d3.group(d3.range(periods.length), (i) => Number(start(new Date(Number(dates[i]) + middle)))).values()];
  const starts = groups.map(([first]) => (by === reported ? dates[first] : start(new Date(Number(dates[first]) + middle))));
  const perPeriod = groups.map((group) => d3.sum(group, (i) => counted[i]));
  const usual = d3.median(perPeriod);
  return {
    by,
    dates: starts,
    labels: by === reported ? periods : starts.map((date) => format(date)),
    documents: perPeriod,
    // periods with very few documents are drawn, but do not affect the scale
    telling: d3.range(groups.length).filter((i) => perPeriod[i] >= usual / 10),
    shares: (row) =>
      groups.map((group, i) => (by === reported ? share[row][i] : d3.sum(group, (j) => counted[j] * share[row][j]) / perPeriod[i])),
  };
}

const seriesByPeriod = perFilter(() => new Map());

export function series(by) {
  if (!seriesByPeriod().has(by)) seriesByPeriod().set(by, seriesOf(by));
  return seriesByPeriod().get(by);
}

// The periods a reader can choose: each has at least two, and fewer than the next shorter one.
export function usablePeriods() {
  const all = Object.keys(PERIODS);
  const usable = [report.time.by];
  for (const by of all.slice(all.indexOf(report.time.by) + 1)) {
    const n = series(by).dates.length;
    if (n >= 2 && n < series(usable.at(-1)).dates.length) usable.push(by);
  }
  return usable;
}

export function tellingShares(row, data) {
  const shares = data.shares(row);
  return data.telling.map((i) => shares[i]);
}

// The top of an axis: the next round number.
export function roundTop(rows, data) {
  return d3.nice(0, d3.max(rows, (row) => d3.max(tellingShares(row, data))) || 1, 4)[1];
}

// What the reader has chosen, kept for the next visit to the view.
export const timeChoices = perReport(() => ({
  by: report.time ? report.time.shown : null,
  sameScale: false,
  plots: TIME_TOPICS,
  allRises: false,
  together: new Map(),
}));

export function riseOf(row) {
  return timeChoices().by === report.time.shown ? timeTable().rises.find((rise) => rise.topic === topics[row].id) || null : null;
}
