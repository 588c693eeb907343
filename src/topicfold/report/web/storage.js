// Some browsers give a local file no storage; then changes last until the page is closed.

export function stored(action) {
  try {
    return action(localStorage);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return null;
  }
}
