// Documents as CSV.

import { documents, mainTopic, metadata, metadataValue, titleOf } from './documents.js';
import { nameOf } from './names.js';
import { numbersIn } from './numbers.js';
import { report, topics } from './report.js';

export function documentsAsCsv(rows) {
  // a cell that begins like a formula would be run by a spreadsheet
  const cell = (text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  const line = (d) => [
    documents.id[d],
    titleOf(d),
    mainTopic(d) < 0 ? '' : nameOf(topics[mainTopic(d)]),
    documents.labels
      ? numbersIn(documents.labels[d])
          .map((label) => report.labels[label])
          .join('; ')
      : '',
    documents.date ? documents.date[d] : '',
    ...metadata.map((column) => metadataValue(column, d)),
  ];
  return [['id', 'title', 'topic', 'labels', 'date', ...metadata.map((column) => column.name)], ...rows.map(line)]
    .map((cells) => cells.map(cell).join(','))
    .join('\r\n');
}
