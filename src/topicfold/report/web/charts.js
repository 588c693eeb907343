// Parts that several charts share.

import { bar, element } from './elements.js';
import { percent } from './numbers.js';

export function shortened(text, letters) {
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

export const axisLabel = (share) => (share ? `${Number((100 * share).toPrecision(3))}%` : '0');

export function groupTable(title, rows, nameFor) {
  if (!rows.length) return null;
  const most = Math.max(...rows.flatMap(([, here, all]) => [here, all]));
  return element(
    'section',
    {},
    element('h3', {}, title),
    element(
      'table',
      { class: 'label-table' },
      element(
        'tbody',
        {},
        rows.map(([member, here, all]) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, nameFor(member)),
            element('td', { class: 'figure' }, bar(here / most, null, all / most), element('span', {}, percent(here))),
            element('td', { class: 'muted' }, `${percent(all)} overall`),
          ),
        ),
      ),
    ),
  );
}
