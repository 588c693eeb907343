// Documents as CSV.

import { csvCell } from './csv_cells.js';
import { documents, mainTopic, metadata, metadataValue, titleOf } from './documents.js';
import { nameOf } from './names.js';
import { numbersIn } from './numbers.js';
import { report, topics } from './report.js';

export function documentsAsCsv(rows) {
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
    .map((cells) => cells.map((cell) => csvCell(String(cell))).join(','))
    .join('\r\n');
}
