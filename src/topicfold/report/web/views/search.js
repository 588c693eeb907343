// All results of a search.

import { element } from '../elements.js';
import { hitCount, hitGroups, unsearched } from '../hits.js';
import { count, plural } from '../numbers.js';
import { perReport } from '../report.js';
import { queryBox } from '../search_box.js';
import { termsOf } from '../search.js';

const MORE_HITS = 50; // of a group, in the view, at a time
const shownHits = perReport(() => new Map()); // address and group: how many hits are shown, for the reader's next visit

function hitList({ title, hits, line, below }) {
  const key = `${location.hash} ${title}`;
  const list = element('ul', { class: 'plain hits' });
  const more = element('button', {
    type: 'button',
    on: {
      click: () => {
        const next = list.children.length;
        showMore(MORE_HITS);
        list.children[next].querySelector('a').focus();
      },
    },
  });
  function showMore(n) {
    const known = list.children.length;
    list.append(...hits.slice(known, known + n).map((hit) => element('li', {}, line(hit), below && below(hit))));
    const left = hits.length - list.children.length;
    shownHits().set(key, list.children.length);
    more.hidden = !left;
    more.textContent = `Show ${count(Math.min(MORE_HITS, left))} more`;
  }
  showMore(shownHits().get(key) || MORE_HITS);
  return element('section', {}, element('h3', {}, `${title} (${count(hits.length)})`), list, element('div', { class: 'tools' }, more));
}

export const searchView = {
  draw(main, value) {
    const query = value || '';
    queryBox().value = query;
    const terms = termsOf(query);
    const groups = terms.length ? hitGroups(terms) : [];
    main.append(
      element('h2', {}, terms.length ? `Search: ${query.trim()}` : 'Search'),
      element(
        'p',
        { class: 'muted' },
        terms.length ? `${groups.length ? plural(hitCount(groups), 'result') : 'Nothing found'}. ` : '',
        'Results contain all words of the query, in any order. Put a phrase in quotes to find it exactly.',
      ),
      ...[terms.length ? unsearched() : null].filter(Boolean),
      ...groups.map(hitList),
    );
  },
};
