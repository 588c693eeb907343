// Some browsers give a file no storage; what is kept then lasts until the page is closed.
function stored(action) {
  try {
    return action(localStorage);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return null;
  }
}
