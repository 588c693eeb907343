// Words of topics as they are read: forms of one word are one entry, and so are the words of a phrase.

const NAME_TERMS = 3;
const NAME_WORDS = 4;

// What the forms of a word have in common; an n-gram has one for each of its words.
export function stemsOf(report, word) {
  return (report.stems && report.stems[word]) || [report.words[word]];
}

function isApart(stems, shown) {
  return stems.every((stem) => !shown.has(stem));
}

// Numbers of words without those that are forms of an earlier one.
export function withoutForms(report, ranked, wordOf) {
  const shown = new Set();
  return ranked.filter((entry) => {
    const stems = stemsOf(report, wordOf(entry)).join(' ');
    return !shown.has(stems) && shown.add(stems);
  });
}

// The numbers of a topic's words as terms: [text, stems], where the words of a phrase are one term and no word stands in two.
export function termsOfWords(report, words, phrases) {
  const shown = new Set();
  const terms = [];
  for (const word of words) {
    const stems = stemsOf(report, word);
    const phrase = (phrases || []).find(([, parts]) => stems.every((stem) => parts.includes(stem)) && isApart(parts, shown));
    const term = phrase || [(report.written && report.written[word]) || report.words[word], stems, report.words[word]];
    if (isApart(term[1], shown)) {
      terms.push(term);
      for (const stem of term[1]) shown.add(stem);
    }
  }
  return terms;
}

// How a term is written in a list: names are as the texts write them, lists are in lower case.
export function inList([text, , word]) {
  return word ?? text.toLowerCase();
}

// The default name of a topic that an edit made.
export function nameOfWords(report, words, phrases) {
  const units = [];
  let count = 0;
  for (const [text, stems] of termsOfWords(report, words, phrases)) {
    if (units.length === NAME_TERMS || count >= NAME_WORDS) break;
    if (units.length && count + stems.length > NAME_WORDS) continue;
    units.push(text);
    count += stems.length;
  }
  return units.join(', ');
}

// Terms with spaces between them, or commas if a term has a space itself.
export function inOneLine(terms) {
  return terms.join(terms.some((term) => term.includes(' ')) ? ', ' : ' ');
}
