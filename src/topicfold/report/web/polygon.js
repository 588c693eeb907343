// A polygon as written in the address: "x,y;x,y;...", in the units of the map.

const MOST_CORNERS = 60;

// A polygon as written in the address: "x,y;x,y;...", in the units of the map.
export function polygonText(corners) {
  const step = Math.max(1, Math.ceil(corners.length / MOST_CORNERS));
  return corners
    .filter((_, i) => i % step === 0)
    .map((corner) => corner.map(Math.round).join(','))
    .join(';');
}

export function polygonOf(text) {
  const corners = (text || '').split(';').map((pair) => pair.split(',').map(Number));
  return corners.length >= 3 && corners.every((corner) => corner.length === 2 && corner.every(Number.isFinite)) ? corners : null;
}
