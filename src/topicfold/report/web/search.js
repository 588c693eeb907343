// Search over words, titles and names of topics.

const query = document.getElementById('query');
const found = document.getElementById('found');
const SHOWN_HITS = 8;
const SHORTEST_IN_TEXT = 3; // letters

const lowerTitles = Array.from({ length: documentCount }, (_, d) => titleOf(d).toLowerCase());

// 0 for a match at the start of a word, 1 for another, -1 for none.
function matchRank(text, wanted) {
  const place = text.indexOf(wanted);
  if (place < 0) return -1;
  return place === 0 || /[\s\-_/:(]/.test(text[place - 1]) ? 0 : 1;
}

function matching(candidates, textOf, wanted) {
  const hits = [];
  for (const candidate of candidates) {
    const rank = matchRank(textOf(candidate), wanted);
    if (rank >= 0) hits.push([rank, candidate]);
  }
  return hits.sort((a, b) => a[0] - b[0]).map(([, candidate]) => candidate);
}

function searchResults(wanted) {
  const named = matching(topics, (topic) => nameOf(topic).toLowerCase(), wanted);
  const already = new Set(named);
  const withWord = [];
  topics.forEach((topic, row) => {
    const place = bestWords[row].findIndex((word) => word.toLowerCase().startsWith(wanted));
    if (place >= 0 && !already.has(topic)) withWord.push([topic, bestWords[row][place], place]);
  });
  withWord.sort((a, b) => a[2] - b[2]);
  const titled = matching(d3.range(documentCount), (d) => lowerTitles[d], wanted);
  const known = new Set(titled);
  const mentioning = wanted.length < SHORTEST_IN_TEXT ? [] : d3.range(documentCount).filter((d) => !known.has(d) && lowerText(d).includes(wanted));
  return { named, withWord, titled, mentioning };
}

const lowerTexts = [];

function lowerText(d) {
  if (lowerTexts[d] === undefined) lowerTexts[d] = (documents.text ? documents.text[d] : countedWords(d).map(([word]) => report.words[word]).join(' ')).toLowerCase();
  return lowerTexts[d];
}

function drawResults() {
  const wanted = query.value.trim().toLowerCase();
  found.hidden = !wanted;
  if (!wanted) return;
  const { named, withWord, titled, mentioning } = searchResults(wanted);
  const group = (title, items, line) =>
    items.length
      ? [
          element('h2', {}, `${title} (${count(items.length)})`),
          element('ul', {}, items.slice(0, SHOWN_HITS).map((item) => element('li', {}, line(item)))),
        ]
      : [];
  const parts = [
    ...group('Topics', named, (topic) => topicLink(topic)),
    ...group('Topics with the word', withWord, ([topic, word]) => [topicLink(topic), element('span', { class: 'muted' }, ` ${word}`)]),
    ...group('Documents', titled, documentLink),
    ...group('Documents with the word in the text', mentioning, documentLink),
  ];
  found.replaceChildren(...(parts.length ? parts : [element('p', { class: 'muted' }, 'Nothing found.')]));
}

function closeResults() {
  found.hidden = true;
}

query.addEventListener('input', drawResults);
query.addEventListener('focus', drawResults);
document.addEventListener('click', (event) => {
  if (!document.getElementById('search').contains(event.target)) closeResults();
});
found.addEventListener('click', (event) => {
  if (event.target.closest('a')) closeResults();
});
document.getElementById('search').addEventListener('keydown', (event) => {
  const links = [...found.querySelectorAll('a')];
  const here = links.indexOf(document.activeElement);
  if (event.key === 'Escape') {
    query.value = '';
    closeResults();
    query.focus();
  } else if (event.key === 'Enter' && document.activeElement === query && links.length) {
    links[0].click();
  } else if (event.key === 'ArrowDown' && here < links.length - 1) {
    links[here + 1].focus();
  } else if (event.key === 'ArrowUp' && here >= 0) {
    (here ? links[here - 1] : query).focus();
  } else return;
  event.preventDefault();
});
document.addEventListener('keydown', (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    query.focus();
  }
});
