// Links to views, with the filter.

import { plainAddress } from './address.js';
import { copiesOf, documents, titleOf } from './documents.js';
import { element } from './elements.js';
import { filterText } from './filter.js';
import { nameOf } from './names.js';
import { plural } from './numbers.js';

// With the filter, which stays as the reader follows links.
export function address(view, value = null) {
  return plainAddress(view, value) + filterText;
}

export function topicLink(topic, attributes = {}) {
  return element('a', { href: address('topic', topic.id), ...attributes }, nameOf(topic));
}

// What a list says of a document whose copies it leaves out.
export function copyNote(d) {
  const n = copiesOf(d).length;
  return n ? element('span', { class: 'muted' }, ` and ${n === 1 ? '1 copy' : plural(n, 'copy', 'copies')}`) : null;
}

export function documentLink(d) {
  return element('a', { href: address('document', documents.id[d]) }, titleOf(d));
}
