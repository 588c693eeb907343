// What is around every view: the tabs, the filter, the list of topics.

import { bar, element } from './elements.js';
import { drawFilter } from './filter_panel.js';
import { sizeOf } from './filtered.js';
import { address, topicLink } from './links.js';
import { highest, isGraph, kindsOf, roots } from './report.js';

export function drawFrame(views, name) {
  document.getElementById('corpus-name').setAttribute('href', address('overview'));
  const tabs = [...views].filter(([, view]) => view.tab);
  document.getElementById('views').replaceChildren(...tabs.map(([other, view]) => element('a', { href: address(other) }, view.tab)));
  drawFilter(name === 'map' || name === 'region');
  drawSide();
}

function drawSide() {
  const largest = Math.max(...roots.map(sizeOf), 1e-9);
  document.getElementById('side').replaceChildren(
    element('h2', {}, isGraph ? kindsOf(highest) : 'Topics'),
    element(
      'ul',
      {},
      roots.map((topic) => element('li', {}, topicLink(topic), bar(sizeOf(topic) / largest))),
    ),
  );
}
