// The search box in the header, with the best results below it.

import { element } from './elements.js';
import { hitCount, hitGroups, unsearched } from './hits.js';
import { address } from './links.js';
import { count, plural } from './numbers.js';
import { termsOf } from './search.js';

const SHOWN_HITS = 8; // of a group, below the box
const scrolledTo = new Map(); // query: where its results were left
const leftOpen = new Map(); // address: the query, and the hit that was opened from there

// The elements of the header: the box, and the list of results below it.
export const queryBox = () => document.getElementById('query');
const resultList = () => document.getElementById('found');

function drawResults() {
  const list = resultList();
  const query = queryBox().value;
  const terms = termsOf(query);
  list.hidden = !terms.length;
  const groups = terms.length ? hitGroups(terms) : [];
  const total = hitCount(groups);
  const parts = groups.flatMap(({ title, hits, line }) => [
    element('h2', {}, `${title} (${count(hits.length)})`),
    element(
      'ul',
      {},
      hits.slice(0, SHOWN_HITS).map((hit) => element('li', {}, line(hit))),
    ),
  ]);
  if (!total) parts.push(element('p', { class: 'muted' }, 'Nothing found.'));
  if (groups.some((group) => group.hits.length > SHOWN_HITS)) {
    const wanted = query.replace(/\p{Cs}/gu, ''); // half a surrogate pair has no address
    parts.push(element('p', {}, element('a', { id: 'all-hits', href: address('search', wanted) }, `Show all ${count(total)} results`)));
  }
  list.replaceChildren(...[...parts, unsearched()].filter(Boolean));
  list.scrollTop = 0;
  document.getElementById('found-count').textContent = terms.length ? plural(total, 'result') : '';
}

function openResults() {
  if (!resultList().hidden) return;
  drawResults();
  resultList().scrollTop = scrolledTo.get(queryBox().value) || 0;
}

function closeResults() {
  if (resultList().hidden) return;
  scrolledTo.set(queryBox().value, resultList().scrollTop);
  resultList().hidden = true;
}

function dismissResults() {
  leftOpen.delete(location.hash);
  closeResults();
}

function reopenResults() {
  if (!leftOpen.has(location.hash)) return;
  const [query, followed] = leftOpen.get(location.hash);
  queryBox().value = query;
  openResults();
  const link = [...resultList().querySelectorAll('a')].find((a) => a.hash === followed);
  if (link) link.focus({ preventScroll: true });
}

function leaveResults(event) {
  const link = event.target.closest('a');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return; // a link that opens in another tab leaves this page unchanged
  if (link.hash !== location.hash) leftOpen.set(location.hash, [queryBox().value, link.hash]);
  closeResults();
}

function followHistory() {
  closeResults();
  const wentBack = history.state === 'seen';
  if (!wentBack) leftOpen.delete(location.hash);
  else if (leftOpen.has(location.hash)) setTimeout(reopenResults); // once the view is drawn and has taken the focus
}

// Up and down move through the results, Enter opens the first, Escape empties the box.
function moveByKey(event) {
  if (event.isComposing) return; // Enter then selects a character
  const links = resultList().hidden ? [] : [...resultList().querySelectorAll('a')];
  const place = links.indexOf(document.activeElement);
  if (event.key === 'Escape') {
    queryBox().value = '';
    dismissResults();
    queryBox().focus();
  } else if (event.key === 'Enter' && document.activeElement === queryBox() && links.length) {
    links[0].click();
  } else if (event.key === 'ArrowDown' && place < links.length - 1) {
    links[place + 1].focus();
  } else if (event.key === 'ArrowUp' && place >= 0) {
    (place ? links[place - 1] : queryBox()).focus();
  } else return;
  event.preventDefault();
}

function focusBySlash(event) {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  queryBox().focus();
}

export function startSearchBox() {
  const search = document.getElementById('search');
  queryBox().addEventListener('input', drawResults);
  queryBox().addEventListener('focus', openResults);
  queryBox().addEventListener('click', openResults);
  resultList().addEventListener('click', leaveResults);
  search.addEventListener('keydown', moveByKey);
  document.addEventListener('keydown', focusBySlash);
  document.addEventListener('click', (event) => {
    if (!search.contains(event.target)) dismissResults();
  });
  addEventListener('hashchange', followHistory);
}
