// The tooltip.

import { element } from './elements.js';

export function showTip(x, y, ...lines) {
  const tip = document.getElementById('tip');
  tip.replaceChildren(...lines.filter(Boolean).map((line) => element('div', {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18)}px`;
}

export function hideTip() {
  document.getElementById('tip').hidden = true;
}
