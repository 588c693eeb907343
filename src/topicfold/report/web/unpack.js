// The documents are stored in blocks of compressed JSON.

function unpackBlock(block) {
  const packed = block.textContent;
  block.remove(); // to save memory
  const bytes = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(packed)
    : Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).json();
}

// The columns of the documents, each with one value per document.
export async function unpack(blocks) {
  const columns = {};
  for (const block of blocks) for (const [name, values] of Object.entries(await unpackBlock(block))) (columns[name] ??= []).push(...values);
  return columns;
}
