// The explorer. Its views are in views/, one file each; this file unpacks the documents, applies the edits and shows the first view.

import { openDocuments } from './documents.js';
import { restoreEdits } from './edits.js';
import { watchCharts } from './pictures.js';
import { openReport, report } from './report.js';
import { startRouter } from './router.js';
import { startSearchBox } from './search_box.js';
import { unpack } from './unpack.js';
import { compareView } from './views/compare.js';
import { documentView } from './views/document.js';
import { effectsView } from './views/effects.js';
import { groupsView } from './views/groups.js';
import { mapView } from './views/map.js';
import { overviewView } from './views/overview.js';
import { regionView } from './views/region.js';
import { searchView } from './views/search.js';
import { summaryView } from './views/summary.js';
import { timeView } from './views/time.js';
import { topicView } from './views/topic.js';
import { topicsView } from './views/topics.js';

// By their names in the address. Those with a tab are in this order.
const VIEWS = {
  overview: overviewView,
  topics: topicsView,
  topic: topicView,
  document: documentView,
  map: mapView,
  region: regionView,
  time: timeView,
  groups: groupsView,
  effects: effectsView,
  compare: compareView,
  summary: summaryView,
  search: searchView,
};

async function openPage() {
  if (!('DecompressionStream' in window)) {
    document.getElementById('main').textContent =
      'This page needs a newer browser: this one cannot unpack its documents (DecompressionStream).';
    return;
  }
  openReport(JSON.parse(document.getElementById('report').textContent));
  openDocuments(await unpack(document.querySelectorAll('script.documents')));
  restoreEdits();
  document.getElementById('corpus-name').textContent = report.name;
  document.getElementById('skip').addEventListener('click', () => document.getElementById('main').focus());
  watchCharts();
  startSearchBox(); // before the router: it looks at the state of the history that the router changes
  startRouter(VIEWS);
  document.documentElement.dataset.ready = 'yes';
}

await openPage();
