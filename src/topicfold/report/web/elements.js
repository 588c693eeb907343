// Elements of the page. Text of the corpus reaches it only as text nodes and attributes, never as markup.

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'on') for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
    else if (name === 'style') for (const [key, to] of Object.entries(value)) node.style.setProperty(key, to);
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function bar(share, colour = null, marker = null) {
  const fill = element('span', { class: 'fill', style: { width: `${Math.min(100, Math.max(0, 100 * share))}%` } });
  if (colour) fill.style.setProperty('background', colour);
  const inside = [fill];
  if (marker !== null) inside.push(element('span', { class: 'marker', style: { left: `${Math.min(100, 100 * marker)}%` } }));
  return element('span', { class: 'bar', 'aria-hidden': 'true' }, inside);
}

// What a view shows for an address that leads nowhere.
export function showNotFound(main, message) {
  main.append(
    element('h2', {}, 'Not found'),
    element('p', {}, message),
    element('p', {}, element('a', { href: '#overview' }, 'Go to the overview')),
  );
}
