// The names on a visitor's map: none crosses a wall, a mark or another name; where it must, one is in two lines, turned or cut.

/** The letters that the shortest cut name has before its dots. */
const shortest = 6;
/** The height of a line and the free space at the sides of a name, as shares of the height of its letters. */
const [line, side] = [1.25, 0.25];

/**
 * Places for names, in their order: `{ lines, x, y, turned, anchor }` each, or null without room; `y` is the baseline of the
 * first line.
 *
 * A label is `{ text, x, y, isChosen }`; the name of the chosen place is written whole, above its mark, even without room.
 * `pieces` are those of walls and edges, `[x, y, x, y]`; `marks` are `{ x, y, r }`. `widthOf` measures a text; all lengths are
 * in one unit.
 */
export function placeNames(labels, { pieces, marks, size, gap, widthOf }) {
  const boxes = marks.map(({ x, y, r }) => ({ left: x - r, right: x + r, top: y - r, bottom: y + r }));
  const isFree = (box) => !boxes.some((other) => overlaps(box, other)) && !pieces.some((piece) => crosses(piece, box));
  return labels.map(({ text, x, y, isChosen }) => {
    const whole = [[text], ...inTwo(text)];
    for (const lines of isChosen ? whole : [...whole, ...shortened(text).map((cut) => [cut])]) {
      const place = candidates(x, y, lines, { size, gap, widthOf }).find(({ box }) => isFree(box));
      if (!place) continue;
      boxes.push(place.box);
      return place;
    }
    if (!isChosen) return null;
    const [first] = candidates(x, y, [text], { size, gap, widthOf });
    boxes.push(first.box);
    return first;
  });
}

/** The text in two lines, the most even ones; none for one word. */
export function inTwo(text) {
  const words = text.split(" ");
  const splits = words.slice(1).map((_, index) => [words.slice(0, index + 1).join(" "), words.slice(index + 1).join(" ")]);
  const longer = (lines) => Math.max(...lines.map(({ length }) => length));
  return splits.sort((left, right) => longer(left) - longer(right)).slice(0, 1);
}

/** The text with fewer and fewer letters. */
export function shortened(text) {
  const letters = [...text];
  const cuts = [];
  for (let count = letters.length - 2; count >= shortest; count -= 1) {
    // A cut behind a space or a comma reads like a mistake.
    const start = letters.slice(0, count).join("").replace(/[\s,.–-]+$/u, "");
    if (start.length >= shortest && cuts.at(-1) !== `${start}…`) cuts.push(`${start}…`);
  }
  return cuts;
}

/** Above, below and beside a mark; then turned, beside it. */
function candidates(x, y, lines, { size, gap, widthOf }) {
  const width = Math.max(...lines.map(widthOf)) + 2 * side * size;
  const height = lines.length * line * size;
  // A line is drawn from its baseline, which lies a third of the letters below its middle.
  const first = (line * size) / 2 + size / 3;
  const level = (left, top, anchor, at) => ({
    ...{ lines, turned: false, anchor, x: at, y: top + first },
    box: { left, right: left + width, top, bottom: top + height },
  });
  // A turned line is drawn where it would stand without the turn about the middle of its baseline.
  const turned = (left) => ({
    ...{ lines, turned: true, anchor: "middle", x: left + first, y },
    box: { left, right: left + height, top: y - width / 2, bottom: y + width / 2 },
  });
  return [
    level(x - width / 2, y - gap - height, "middle", x),
    level(x - width / 2, y + gap, "middle", x),
    level(x + gap, y - height / 2, "start", x + gap + side * size),
    level(x - gap - width, y - height / 2, "end", x - gap - side * size),
    turned(x - gap - height),
    turned(x + gap),
  ];
}

function overlaps(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** Whether a piece of a line has a part within a box. */
export function crosses([x, y, toX, toY], { left, right, top, bottom }) {
  let [from, to] = [0, 1];
  for (const [start, way, low, high] of [[x, toX - x, left, right], [y, toY - y, top, bottom]]) {
    if (way === 0) {
      if (start <= low || start >= high) return false;
      continue;
    }
    const [a, b] = [(low - start) / way, (high - start) / way];
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  return from < to;
}

/** The height of a line of letters of a size. */
export function lineHeight(size) {
  return line * size;
}
