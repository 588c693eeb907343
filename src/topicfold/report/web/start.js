// Starts the page.

document.getElementById('corpus-name').textContent = report.name;

// What is around every view: the tabs, the filter, the list of topics.
function drawFrame(name) {
  document.getElementById('corpus-name').setAttribute('href', address('overview'));
  document.getElementById('views').replaceChildren(
    ...Object.entries(views)
      .filter(([, view]) => view.tab)
      .map(([other, view]) => element('a', { href: address(other) }, view.tab)),
  );
  drawFilter(name === 'map' || name === 'region');
  drawSide();
}

document.getElementById('skip').addEventListener('click', () => document.getElementById('main').focus(), { signal });

// In the frame of a notebook (srcdoc) the browser resolves "#topics" against the notebook, so the page sets the hash itself.
if (location.protocol === 'about:') {
  document.addEventListener(
    'click',
    (event) => {
      const link = event.target.closest('a[href^="#"]');
      if (!link || event.defaultPrevented) return;
      event.preventDefault();
      location.hash = link.getAttribute('href');
    },
    { signal },
  );
}

// Going back restores the scroll position; following a link starts at the top. An address that the reader has visited
// has a history state, a new one has none.
const leftAt = new Map();
let shownAddress = location.hash;
history.scrollRestoration = 'manual';
history.replaceState('seen', '');
addEventListener('scroll', () => leftAt.set(shownAddress, scrollY), { passive: true, signal });
addEventListener(
  'hashchange',
  () => {
    leftAt.set(shownAddress, scrollY); // the scroll event may come later
    const stay = stayHere;
    stayHere = false;
    const place = stay ? scrollY : history.state === 'seen' ? leftAt.get(location.hash) || 0 : 0;
    history.replaceState('seen', '');
    shownAddress = location.hash;
    show();
    addPictureButtons(); // now, not when the observer comes round: they make the page longer
    scrollTo(0, place);
    if (!stay) document.getElementById('main').focus({ preventScroll: true });
  },
  { signal },
);
signal.addEventListener('abort', () => leave && leave());
show();
document.documentElement.dataset.ready = 'yes';
