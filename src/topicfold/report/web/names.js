// Names given to topics: kept by the browser for this report, downloaded and loaded as JSON {"12": "name"}.

const names = new Map(topics.filter((topic) => topic.name).map((topic) => [topic.id, topic.name]));
const namesKey = `topicfold names ${hash(JSON.stringify([report.name, report.model, [...names], topics.map((topic) => wordsOf(topic, 3))]))}`;

// Names are kept for this very report: the same topics, made with the same names.
function hash(text) {
  let value = 0xcbf29ce484222325n; // FNV-1a
  for (let i = 0; i < text.length; i += 1) value = BigInt.asUintN(64, (value ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n);
  return value.toString(36);
}

function nameOf(topic) {
  return names.get(topic.id) || topic.called || `topic ${topic.id}`;
}

// The words that follow those in the name of a topic without one of its own.
function furtherWords(topic, n) {
  const called = ` ${names.has(topic.id) ? '' : topic.called} `;
  return wordsOf(topic, n).filter((word) => !called.includes(` ${word} `)).join(' ');
}

function topicLink(topic, attributes = {}) {
  return element('a', { href: address('topic', topic.id), ...attributes }, nameOf(topic));
}

function namesAsJson() {
  return JSON.stringify(Object.fromEntries([...names].sort((a, b) => a[0] - b[0])), null, 1);
}

// Some browsers give a file no storage; names then last until the page is closed.
function stored(action) {
  try {
    return action(localStorage);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return null;
  }
}

function keepNames() {
  stored((storage) => storage.setItem(namesKey, namesAsJson()));
  drawSide();
}

function rename(id, name) {
  if (name.trim()) names.set(id, name.trim());
  else names.delete(id);
  keepNames();
}

// Names by topic; what is of no topic here is left out.
function parsedNames(text) {
  const given = JSON.parse(text);
  if (given === null || typeof given !== 'object' || Array.isArray(given)) throw new SyntaxError('expected {"topic": "name"}');
  const known = Object.entries(given).filter(([id, name]) => /^\d+$/.test(id) && rowOfTopic.has(Number(id)) && typeof name === 'string' && name.trim());
  return new Map(known.map(([id, name]) => [Number(id), name.trim()]));
}

const keptNames = stored((storage) => storage.getItem(namesKey));
if (keptNames) {
  try {
    const kept = parsedNames(keptNames);
    names.clear(); // one that came with the report may have been taken away
    for (const [id, name] of kept) names.set(id, name);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    stored((storage) => storage.removeItem(namesKey)); // not ours
  }
}

function downloadAddress(fileName, url) {
  element('a', { href: url, download: fileName }).click();
}

function download(fileName, text) {
  const url = URL.createObjectURL(new Blob([text], { type: fileName.endsWith('.json') ? 'application/json' : 'text/plain' }));
  downloadAddress(fileName, url);
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function nameTools() {
  const said = element('span', { class: 'muted', role: 'status' });
  const chooser = element('input', {
    type: 'file',
    accept: '.json,application/json',
    hidden: true,
    'aria-label': 'File with names',
    on: {
      change: async () => {
        if (!chooser.files.length) return;
        try {
          const taken = parsedNames(await chooser.files[0].text());
          for (const [id, name] of taken) names.set(id, name);
          keepNames();
          show();
          document.querySelector('.name-tools [role=status]').textContent = `${plural(taken.size, 'name')} loaded`;
        } catch (error) {
          if (!(error instanceof SyntaxError)) throw error;
          said.textContent = `This file holds no names: ${error.message}`;
        }
      },
    },
  });
  return element(
    'div',
    { class: 'name-tools' },
    element('button', { type: 'button', id: 'download-names', on: { click: () => download('topic-names.json', namesAsJson()) } }, 'Download names'),
    element('button', { type: 'button', on: { click: () => chooser.click() } }, 'Load names'),
    chooser,
    said,
  );
}
