// Addresses, as `#view=value&column=wanted&...`.

export function plainAddress(view, value = null) {
  return value === null ? `#${view}` : `#${view}=${encodeURIComponent(value)}`;
}

// [view, value, [[column, wanted value] ...]]
export function currentAddress() {
  const [[view, value], ...wanted] = location.hash
    .slice(1)
    .split('&')
    .map((part) => {
      const [key, ...rest] = part.split('=');
      return [key, rest.length ? rest.join('=') : null];
    });
  try {
    const decoded = wanted.map(([key, text]) => [decodeURIComponent(key), decodeURIComponent(text || '')]);
    return [view || 'overview', value === null ? null : decodeURIComponent(value), decoded];
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return ['overview', null, []]; // a link cut off in the middle of a character
  }
}
