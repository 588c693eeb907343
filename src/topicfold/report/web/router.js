// Shows the view that the address names.

import { currentAddress } from './address.js';
import { showNotFound } from './elements.js';
import { readFilter, takeFilterChange } from './filter.js';
import { drawFrame } from './frame.js';
import { address } from './links.js';
import { addPictureButtons } from './pictures.js';
import { report } from './report.js';
import { hideTip } from './tooltip.js';

const TAB_OF = { topic: 'topics', region: 'map' };
let views = new Map(); // name: {tab, isPresent(), draw(main, value)}; draw may return a function to call when the view is left
let leave = null;
let shownAddress = null;
const leftAt = new Map(); // address: where the reader had scrolled to

export function showView() {
  if (leave) leave();
  leave = null;
  hideTip();
  const [name, value, wanted] = currentAddress();
  readFilter(wanted);
  drawFrame(views, name);
  const view = views.get(name);
  const main = document.getElementById('main');
  main.replaceChildren();
  main.dataset.view = name;
  if (view) leave = view.draw(main, value) || null;
  else showNotFound(main, `There is no view “${name}” in this report.`);
  const heading = main.querySelector('h2');
  document.title = heading && name !== 'overview' ? `${heading.textContent} · ${report.name}` : `${report.name}: topics`;
  for (const link of document.querySelectorAll('#views a, #side a')) {
    const href = link.getAttribute('href');
    if (href === (location.hash || address('overview'))) link.setAttribute('aria-current', 'page');
    else if (href === address(TAB_OF[name] || name))
      link.setAttribute('aria-current', 'true'); // a page within that view
    else link.removeAttribute('aria-current');
  }
}

// Going back restores the scroll position; following a link starts at the top. An address that the reader has visited
// has a history state, a new one has none.
function followAddress() {
  leftAt.set(shownAddress, scrollY); // the scroll event may come later
  const stay = takeFilterChange();
  const place = stay ? scrollY : history.state === 'seen' ? leftAt.get(location.hash) || 0 : 0;
  history.replaceState('seen', '');
  shownAddress = location.hash;
  showView();
  addPictureButtons(); // now, not when the observer comes round: they make the page longer
  scrollTo(0, place);
  if (!stay) document.getElementById('main').focus({ preventScroll: true });
}

// In the frame of a notebook (srcdoc) the browser resolves "#topics" against the notebook, so the page sets the hash itself.
function followLinksItself(event) {
  const link = event.target.closest('a[href^="#"]');
  if (!link || event.defaultPrevented) return;
  event.preventDefault();
  location.hash = link.getAttribute('href');
}

export function startRouter(viewsByName) {
  views = new Map(Object.entries(viewsByName).filter(([, view]) => !view.isPresent || view.isPresent()));
  if (location.protocol === 'about:') document.addEventListener('click', followLinksItself);
  shownAddress = location.hash;
  history.scrollRestoration = 'manual';
  history.replaceState('seen', '');
  addEventListener('scroll', () => leftAt.set(shownAddress, scrollY), { passive: true });
  addEventListener('hashchange', followAddress);
  showView();
}
