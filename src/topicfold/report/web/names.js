// Names of topics, and files to download.

function nameOf(topic) {
  return topic.name || topic.called || `topic ${topic.id}`;
}

// The best words of a topic, without those that its automatic name already shows.
function furtherWords(topic, n) {
  const called = ` ${topic.name ? '' : topic.called} `;
  return wordsOf(topic, n)
    .filter((word) => !called.includes(` ${word} `))
    .join(' ');
}

function topicLink(topic, attributes = {}) {
  return element('a', { href: address('topic', topic.id), ...attributes }, nameOf(topic));
}

function downloadAddress(fileName, url) {
  element('a', { href: url, download: fileName }).click();
}

const FILE_TYPES = { json: 'application/json', svg: 'image/svg+xml', csv: 'text/csv' };

function download(fileName, text) {
  const url = URL.createObjectURL(new Blob([text], { type: FILE_TYPES[fileName.split('.').pop()] || 'text/plain' }));
  downloadAddress(fileName, url);
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
