// The data of the page: the report, and the documents, which are stored in blocks of compressed JSON.

const given = JSON.parse(document.getElementById('report').textContent);
const documents = {}; // columns, with one value per document

if (!('DecompressionStream' in window)) {
  document.getElementById('main').textContent =
    'This page needs a newer browser: this one cannot unpack its documents (DecompressionStream).';
  return; // all scripts are in one function
}

function unpacked(block) {
  const packed = block.textContent;
  block.remove(); // to save memory
  const bytes = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(packed)
    : Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).json();
}

for (const block of document.querySelectorAll('script.documents')) {
  for (const [name, column] of Object.entries(await unpacked(block))) (documents[name] ??= []).push(...column);
}
