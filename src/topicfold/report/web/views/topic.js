// The page of a topic: its words with a slider, its place in the hierarchy, its labels, similar topics, and its documents.

import { shareSection } from '../charts.js';
import { countedWords, documents } from '../documents.js';
import { descriptionOf, rename, topicEditTools } from '../edit_tools.js';
import { edits, setEdits } from '../edits.js';
import { bar, element, showNotFound } from '../elements.js';
import { filterMask } from '../filter.js';
import { sizeOf, topicDocuments, topicLabels } from '../filtered.js';
import { copyNote, documentLink, topicLink } from '../links.js';
import { marksOf, withMarks } from '../marks.js';
import { nameOf, rankedWords, RELEVANCE } from '../names.js';
import { minus, percent } from '../numbers.js';
import { currentId } from '../replay.js';
import { childrenOf, isFlat, isGraph, kindOf, report, rowOfTopic, rowsUnder, topics } from '../report.js';
import { timeOfTopic } from '../time_plot.js';
import { timeTable } from '../time_series.js';
import { groupSection } from './groups.js';

const TOPIC_WORDS = 25;
const SNIPPET = 260;
const TELLING = 8; // words

function lift([word, probability]) {
  return report.share[word] > 0 ? probability / report.share[word] : 0;
}

function wordRow(word, most, highestLift) {
  const times = lift(word);
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, report.words[word[0]]),
    element('td', { class: 'figure' }, bar(word[1] / most), element('span', {}, word[1].toPrecision(2))),
    element(
      'td',
      { class: 'figure lift' },
      bar(Math.log1p(times) / highestLift, 'var(--c1)'),
      element('span', {}, `${times >= 10 ? times.toFixed(0) : times.toPrecision(2)}×`),
    ),
  );
}

function wordRows(words) {
  const most = Math.max(...words.map((word) => word[1]), 1e-12);
  const highestLift = Math.max(...words.map((word) => Math.log1p(lift(word))), 1e-12);
  return words.map((word) => wordRow(word, most, highestLift));
}

// The words of a topic, by its score if it has one, or by a relevance that the reader sets.
function wordSection(topic) {
  const scored = report.score !== 'relevance';
  const body = element('tbody');
  const output = element('output', { for: 'relevance', id: 'relevance-value' });
  const slider = element('input', {
    type: 'range',
    id: 'relevance',
    min: '0',
    max: '1',
    step: '0.05',
    value: String(RELEVANCE),
    on: { input: () => draw(false) },
  });
  const box = element('input', { type: 'checkbox', id: 'by-score', checked: true, on: { change: () => draw(box.checked) } });
  function draw(byScore) {
    box.checked = byScore;
    const weight = Number(slider.value);
    output.textContent = byScore ? '' : weight.toFixed(2); // the slider does not affect a ranking by score
    slider.classList.toggle('unused', byScore);
    body.replaceChildren(...wordRows(rankedWords(topic, weight, byScore).slice(0, TOPIC_WORDS)));
  }
  draw(scored);
  const heads = ['Word', 'P(word | topic)', 'Compared with the corpus'].map((head) => element('th', { scope: 'col' }, head));
  return element(
    'section',
    { class: 'word-section' },
    element('h3', {}, 'Words'),
    element(
      'div',
      { class: 'slider' },
      element('label', { for: 'relevance' }, 'Relevance'),
      element('span', { class: 'muted' }, 'distinctive'),
      slider,
      element('span', { class: 'muted' }, 'frequent'),
      output,
      scored ? element('label', { class: 'check' }, box, ` by ${report.score}`) : null,
    ),
    element('table', { class: 'word-table' }, element('thead', {}, element('tr', {}, heads)), body),
  );
}

function heading(topic) {
  const title = element('h2', { id: 'topic-title' }, nameOf(topic));
  const input = element('input', { type: 'text', id: 'new-name', maxlength: '120', 'aria-label': 'Name of the topic', hidden: true });
  const button = element('button', { type: 'button', id: 'rename' }, 'Rename');
  function finish(accepted) {
    if (input.hidden) return;
    input.hidden = true;
    title.hidden = false;
    button.textContent = 'Rename';
    if (accepted) rename(topic.id, input.value);
    document.getElementById('rename').focus(); // of the redrawn page
  }
  button.addEventListener('click', () => {
    if (!input.hidden) return finish(true);
    input.value = topic.name || '';
    input.placeholder = topic.called;
    input.hidden = false;
    title.hidden = true;
    button.textContent = 'Save';
    input.focus();
    return undefined;
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault(); // otherwise Enter would press the button that gets the focus
    finish(event.key === 'Enter');
  });
  return element(
    'div',
    { class: 'heading' },
    title,
    input,
    button,
    topicEditTools(topic),
    edits.length
      ? element(
          'button',
          { type: 'button', id: 'undo', title: descriptionOf(edits[edits.length - 1]), on: { click: () => setEdits(edits.slice(0, -1)) } },
          'Undo',
        )
      : null,
  );
}

function standing(topic) {
  const lines = [
    `Topic ${topic.id}`,
    filterMask
      ? `${percent(sizeOf(topic))} of the documents that pass the filter, ${percent(topic.size)} of all documents`
      : `${percent(topic.size)} of the documents`,
  ];
  if (topic.coherence !== null) lines.push(`coherence ${minus(topic.coherence.toFixed(2))}`);
  if (topic.stability) {
    const [match, returns] = topic.stability;
    lines.push(`stability ${match.toFixed(2)}: came back in ${percent(returns, 0)} of the fits to half of the documents`);
  }
  if (topic.mark) lines.push(topic.mark);
  if (!isFlat) lines.push(isGraph ? kindOf(topic.level) : `level ${topic.level}`);
  const above = isGraph
    ? topics
        .filter((other) => (other.parts || []).some(([id]) => id === topic.id))
        .map((other) => [other, other.parts.find(([id]) => id === topic.id)[1]])
        .sort((a, b) => b[1] - a[1])
    : topic.parent >= 0
      ? [[topics[rowOfTopic.get(topic.parent)], null]]
      : [];
  const below = isGraph
    ? (topic.parts || []).map(([id, weight]) => [topics[rowOfTopic.get(id)], weight])
    : (childrenOf.get(topic.id) || []).map((child) => [child, null]);
  const list = (title, items) =>
    items.length
      ? element(
          'div',
          { class: 'relatives' },
          element('h3', {}, title),
          element(
            'ul',
            {},
            items
              .slice(0, 12)
              .map(([other, weight]) =>
                element('li', {}, topicLink(other), weight === null ? null : element('span', { class: 'muted' }, ` ${weight.toFixed(2)}`)),
              ),
          ),
        )
      : null;
  return [
    element('p', { class: 'muted' }, lines.join(' · ')),
    list(isGraph ? 'Part of' : 'Above it', above),
    list(isGraph ? 'Made of' : 'Below it', below),
  ];
}

// The words that set a topic apart from another: those much more frequent in it. Words missing from a list are rare there.
function tellingWords(topic, other) {
  const inOther = new Map(other.words.map(([word, probability]) => [word, probability]));
  const least = Math.min(...other.words.map(([, probability]) => probability || 1)) / 2;
  return topic.words
    .map(([word, probability]) => [word, probability * Math.log(probability / (inOther.get(word) || least))])
    .filter(([, score]) => score > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, TELLING)
    .map(([word]) => report.words[word]);
}

function similarSection(topic) {
  if (!topic.similar.length) return null;
  const nearest = topics[rowOfTopic.get(topic.similar[0][0])];
  return element(
    'section',
    {},
    element('h3', {}, 'Similar topics'),
    element(
      'dl',
      { class: 'telling' },
      element('dt', {}, `More here than in “${nameOf(nearest)}”`),
      element('dd', {}, tellingWords(topic, nearest).join(' ')),
      element('dt', {}, 'More there'),
      element('dd', {}, tellingWords(nearest, topic).join(' ')),
    ),
    element(
      'ul',
      { class: 'plain' },
      topic.similar.map(([id, similarity]) =>
        element('li', {}, topicLink(topics[rowOfTopic.get(id)]), element('span', { class: 'muted' }, ` ${similarity.toFixed(2)}`)),
      ),
    ),
  );
}

// The part of a text with the most words of the topic: [from, to].
function bestWindow(marks, length) {
  let best = [0, 0];
  for (let first = 0, last = 0; first < marks.length; first += 1) {
    while (last < marks.length && marks[last].end - marks[first].start <= SNIPPET - 60) last += 1;
    if (last - first > best[1]) best = [marks[first].start, last - first];
  }
  const from = Math.max(0, best[0] - 50);
  return [from, Math.min(length, from + SNIPPET)];
}

function snippet(d, rows) {
  if (!documents.text) {
    const words = countedWords(d).slice(0, 20);
    return element(
      'p',
      { class: 'snippet' },
      words.map(([word, , row]) => [rows.has(row) ? element('mark', {}, report.words[word]) : report.words[word], ' ']),
    );
  }
  const text = documents.text[d];
  const marks = marksOf(d).filter((mark) => rows.has(mark.row));
  let [from, to] = bestWindow(marks, text.length);
  if (from > 0) from = Math.max(0, text.lastIndexOf(' ', from) + 1);
  if (to < text.length && text.lastIndexOf(' ', to) > from) to = text.lastIndexOf(' ', to);
  const parts = withMarks(text, from, to, marks, (word) => element('mark', {}, word));
  return element('p', { class: 'snippet' }, from > 0 ? '… ' : '', parts, to < text.length ? ' …' : '');
}

function documentSection(topic) {
  const rows = rowsUnder(topic);
  return element(
    'section',
    { id: 'topic-documents' },
    element('h3', {}, 'Typical documents'),
    element(
      'ol',
      { class: 'documents' },
      topicDocuments(topic).map(([d, share]) =>
        element(
          'li',
          {},
          documentLink(d),
          element('span', { class: 'muted', title: 'Share of the topic in the document' }, ` ${percent(share, 0)}`),
          copyNote(d),
          snippet(d, rows),
        ),
      ),
    ),
  );
}

// A topic that was merged or dropped by an edit, or was never there.
function goneTopic(main, value) {
  const id = currentId(Number(value), report.became || new Map());
  if (!rowOfTopic.has(id) || !value)
    return showNotFound(main, id === null ? `Topic ${value} was dropped.` : `There is no topic ${value} in this report.`);
  main.append(
    element('h2', {}, `Topic ${value} was merged`),
    element('p', {}, 'It is part of ', topicLink(topics[rowOfTopic.get(id)]), '.'),
  );
  return undefined;
}

export const topicView = {
  draw(main, value) {
    const row = rowOfTopic.get(Number(value));
    if (row === undefined || value === null || value.trim() === '') return goneTopic(main, value);
    const topic = topics[row];
    main.append(
      heading(topic),
      topic.description ? element('p', { id: 'topic-description' }, topic.description) : '',
      element('div', {}, standing(topic)),
      element(
        'div',
        { class: 'two' },
        wordSection(topic),
        element(
          'div',
          {},
          shareSection('Labels', topicLabels(topic), (label) => report.labels[label]),
          similarSection(topic),
          timeTable() ? timeOfTopic(row) : null,
        ),
      ),
      ...[groupSection(topic)].filter(Boolean),
      documentSection(topic),
    );
    return undefined;
  },
};
