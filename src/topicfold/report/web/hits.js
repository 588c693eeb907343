// Results of a search in groups, as the box in the header and the view of all results show them.

import { documents } from './documents.js';
import { element } from './elements.js';
import { filterMask } from './filter.js';
import { copyNote, documentLink, topicLink } from './links.js';
import { withMarks } from './marks.js';
import { count, plural } from './numbers.js';
import { report } from './report.js';
import { documentHits, evenlySpaced, occurrencesOf, topicHits } from './search.js';

const PASSAGE = 240; // characters

// The text around the first occurrence of a term, with all terms marked.
function passage(d, terms) {
  if (!documents.text) return null;
  const text = evenlySpaced(documents.text[d]);
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return null; // a few letters are longer in lower case, and positions would be wrong
  const marks = terms
    .flatMap((term) => occurrencesOf(term, lower).map((start) => ({ start, end: start + term.text.length })))
    .sort((a, b) => a.start - b.start);
  if (!marks.length) return null;
  const [first] = marks;
  const from = first.start < PASSAGE / 3 ? 0 : text.lastIndexOf(' ', first.start - PASSAGE / 4) + 1;
  const end = text.lastIndexOf(' ', from + PASSAGE);
  const to = text.length <= from + PASSAGE ? text.length : Math.max(end, first.end);
  const parts = withMarks(text, from, to, marks, (word) => element('mark', {}, word));
  return element('p', { class: 'snippet' }, from > 0 ? '… ' : '', parts, to < text.length ? ' …' : '');
}

function documentLine(d) {
  return [documentLink(d), copyNote(d)];
}

export function hitGroups(terms) {
  const words = terms.length > 1 || terms[0].text.includes(' ') ? 'words' : 'word';
  const [named, withWords] = topicHits(terms);
  const [titled, mentioning] = documentHits(terms);
  return [
    { title: 'Topics', hits: named, line: ({ topic }) => topicLink(topic) },
    {
      title: `Topics with the ${words}`,
      hits: withWords,
      line: ({ topic, words: best }) => [topicLink(topic), element('span', { class: 'muted' }, ` ${best.join(' ')}`)],
    },
    { title: 'Documents', hits: titled, line: documentLine, below: (d) => passage(d, terms) },
    {
      title: `Documents with the ${words}${documents.text ? ' in the text' : ''}`,
      hits: mentioning,
      line: documentLine,
      below: (d) => passage(d, terms),
    },
  ].filter((group) => group.hits.length);
}

export function unsearched() {
  const { corpus } = report;
  const sentences = [];
  if (!documents.text) sentences.push('Searched the most frequent words of each document: this page has no texts.');
  else if (corpus.cut) sentences.push(`Searched the first ${count(corpus.cut)} bytes of each text.`);
  if (filterMask) {
    const n = d3.sum(filterMask);
    sentences.push(`Searched only the ${plural(n, 'document')} that ${n === 1 ? 'passes' : 'pass'} the filter.`);
  }
  if (corpus.shown < corpus.documents)
    sentences.push(`Counts are among the ${plural(corpus.shown, 'document')} on this page, of ${count(corpus.documents)} in the corpus.`);
  return sentences.length ? element('p', { class: 'muted unsearched' }, sentences.join(' ')) : null;
}

export function hitCount(groups) {
  return d3.sum(groups, (group) => group.hits.length);
}
