// Numbers: as the page shows them, and as its columns store them, in strings.

export function numbersIn(text) {
  return text ? text.split(' ').map(Number) : [];
}

export function tuplesIn(text, size) {
  const flat = numbersIn(text);
  return Array.from({ length: flat.length / size }, (_, i) => flat.slice(size * i, size * (i + 1)));
}

export function percent(share, digits = 1) {
  return share > 0 && share < 0.0005 ? '<0.1%' : `${(100 * share).toFixed(digits)}%`;
}

// The first letters of a text; a letter of two code units is not cut into halves, which no picture can contain.
export function beginning(text, letters) {
  return text.slice(0, letters).replace(/\p{Cs}$/u, '');
}

// With a true minus sign.
export function minus(figure) {
  return String(figure).replace(/^-/, '−');
}

export const count = new Intl.NumberFormat('en').format;

export function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}
