// Files to download.

import { element } from './elements.js';

const FILE_TYPES = { json: 'application/json', svg: 'image/svg+xml', csv: 'text/csv' };

export function downloadAddress(fileName, url) {
  element('a', { href: url, download: fileName }).click();
}

export function download(fileName, text) {
  const url = URL.createObjectURL(new Blob([text], { type: FILE_TYPES[fileName.split('.').pop()] || 'text/plain' }));
  downloadAddress(fileName, url);
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
