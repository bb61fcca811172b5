// What tests look for in a page; each function runs in the browser.

/** Texts with too little contrast to what is painted behind them: WCAG 2.2, success criterion 1.4.3. */
function contrast() {
  const parse = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const linear = (value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [red, green, blue] = colour.map((value) => linear(value / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest("[disabled], noscript, option")) continue;
    const style = getComputedStyle(element);
    const [lighter, darker] = [light(parse(style.color)), light(behind(element))].sort((a, b) => b - a);
    const ratio = (lighter + 0.05) / (darker + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) found.push(`${text.slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return found;
}

/** Controls that a screen reader could not name. */
function nameless() {
  const isNamed = (node) =>
    node.textContent.trim() || node.getAttribute("aria-label") || node.getAttribute("aria-labelledby") ||
    node.labels?.length || node.title;
  return [...document.querySelectorAll("a, button, input, select, summary, [role=img], dialog")]
    .filter((node) => node.checkVisibility() && !isNamed(node))
    .map((node) => node.outerHTML.slice(0, 120));
}

/** Words that are broken inside: parts of a text without a space or a sign at which a line may end. */
function broken() {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    if (!node.parentElement.checkVisibility() || node.parentElement.closest("pre, option, svg")) continue;
    for (const { 0: word, index } of node.textContent.matchAll(/[^\s\-\/–…]+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)));
      if (lines.size > 1) found.push(word);
    }
  }
  return [...new Set(found)];
}

/** What covers something of the page: an element that is fixed over it. */
function covering() {
  return [...document.querySelectorAll("body *")]
    .filter((node) => ["fixed"].includes(getComputedStyle(node).position) && node.checkVisibility())
    .map((node) => node.outerHTML.slice(0, 80));
}

/** The times between frames over so many seconds, in ms. */
async function frames(seconds) {
  const spans = [];
  let last = performance.now();
  const end = last + seconds * 1000;
  await new Promise((resolve) => {
    const frame = () => {
      const now = performance.now();
      spans.push(now - last);
      last = now;
      if (now < end) requestAnimationFrame(frame);
      else resolve();
    };
    requestAnimationFrame(frame);
  });
  spans.sort((a, b) => a - b);
  const at = (share) => spans[Math.min(spans.length - 1, Math.floor(share * spans.length))];
  return { rate: spans.length / seconds, median: at(0.5), p95: at(0.95), p99: at(0.99), longest: spans.at(-1) };
}

/** Whether an event later than a number is shown. */
function showsLater(number) {
  const shown = [...document.querySelectorAll(".feed .sequence")].map((node) => Number(node.textContent.slice(1)));
  return shown.some((sequence) => sequence > number);
}
