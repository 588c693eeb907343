// Links to views, with the filter.

import { plainAddress } from './address.js';
import { documents, titleOf } from './documents.js';
import { element } from './elements.js';
import { filterText } from './filter.js';
import { nameOf } from './names.js';

// With the filter, which stays as the reader follows links.
export function address(view, value = null) {
  return plainAddress(view, value) + filterText;
}

export function topicLink(topic, attributes = {}) {
  return element('a', { href: address('topic', topic.id), ...attributes }, nameOf(topic));
}

export function documentLink(d) {
  return element('a', { href: address('document', documents.id[d]) }, titleOf(d));
}
