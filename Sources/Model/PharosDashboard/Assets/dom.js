// Elements without markup: whatever a server says goes in as text, never as HTML.

const svgNamespace = "http://www.w3.org/2000/svg";
const properties = new Set(["value", "checked", "disabled", "selected", "open", "hidden", "htmlFor"]);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2).toLowerCase(), value);
    else if (properties.has(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Makes an element: `h("p", { class: "soft", onClick: … }, "text", node, [more])`. */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Makes an SVG element in the same manner. */
export function s(name, attributes, ...children) {
  return fill(document.createElementNS(svgNamespace, name), attributes, children);
}

/** Puts children in the place of what an element held. */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Sets an element's text if it differs, so that a refresh moves neither selection nor screen reader. */
export function setText(element, text) {
  const next = text === undefined || text === null ? "" : String(text);
  if (element.textContent !== next) element.textContent = next;
}

/** Sets or removes an attribute if it differs. */
export function setAttribute(element, name, value) {
  if (value === undefined || value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/**
 * Makes an element's children follow a list, one child an item, kept by key: what stays keeps its focus, its state and
 * its place in the document.
 */
export function follow(parent, items, keyOf, make, update) {
  const known = parent.followed ?? (parent.followed = new Map());
  const seen = new Set();
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    if (seen.has(key)) continue;
    seen.add(key);
    let child = known.get(key);
    if (!child) {
      child = make(item);
      known.set(key, child);
    }
    update?.(child, item);
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
  }
  for (const [key, child] of known) {
    if (seen.has(key)) continue;
    child.remove();
    known.delete(key);
  }
}

let lastId = 0;
/** An identifier that no other element of the page has. */
export function freshId(stem) {
  lastId += 1;
  return `${stem}-${lastId}`;
}
