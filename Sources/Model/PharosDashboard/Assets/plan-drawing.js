// The still parts of a schematic plan: cells with their names, doors and observers.

import { arrange } from "./plan-layout.js";

const margin = 16;
const gutter = 14;
/** A cell is at least so wide, for a name of a dozen letters, and at most so wide, for the eye. */
const minimumCell = 104;
const maximumCell = 230;
/** A cell has room for two lines of names, or for as many as one of its floor needs. */
const cellHeight = 112;
const plainLines = 2;
/** How far apart marks with names stand, in pixels: a line of text. */
export const labelStep = 19;
const trayHeight = 64;
/** An observer is named where it has so many pixels; else its mark alone says whether it is up. */
const minimumLabel = 84;
const titleHeight = 26;

/** How many names stand side by side in a place of so many pixels. */
export function labelColumns(width) {
  return Math.max(1, Math.floor(width / maximumCell));
}

/** The colours and fonts of the page, as a canvas wants them. */
export function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const text = read("text");
  return {
    ink: read("ink"),
    soft: read("soft"),
    line: read("line"),
    strong: read("strong-line"),
    surface: read("surface"),
    sunk: read("sunk"),
    paper: read("paper"),
    accent: read("accent"),
    good: read("good"),
    warn: read("warn"),
    bad: read("bad"),
    off: read("strong-line"),
    bold: `600 13px ${text}`,
    plain: `12px ${text}`,
    title: `600 13px ${text}`,
    isDark: document.documentElement.dataset.theme === "dark",
  };
}

/** Frames for groups of places as cells: `{ places, titles, doors, height }`. */
export function cellFrames(groups, width) {
  const frames = { places: new Map(), titles: [], doors: [], height: margin };
  const maximum = Math.max(1, Math.floor((width - 2 * margin + gutter) / (minimumCell + gutter)));
  for (const group of groups) {
    if (group.title) {
      frames.titles.push({ text: group.title, x: margin, y: frames.height + 13 });
      frames.height += titleHeight;
    }
    const tray = group.places.find((place) => place.isTray);
    if (tray) {
      const wide = width - 2 * margin;
      const lines = Math.ceil((tray.lines ?? 0) / labelColumns(wide));
      const high = trayHeight + labelStep * Math.max(0, lines - 1);
      frames.places.set(tray.id, frame(tray, margin, frames.height, wide, high));
      frames.height += high + gutter;
      continue;
    }
    const cells = arrange(group.places, Math.min(maximum, 6));
    const columns = Math.max(...[...cells.values()].map((cell) => cell.column)) + 1;
    const rows = Math.max(...[...cells.values()].map((cell) => cell.row)) + 1;
    const wide = Math.min(maximumCell, (width - 2 * margin - (columns - 1) * gutter) / columns);
    const high = cellHeight +
      labelStep * (Math.max(plainLines, ...group.places.map((place) => place.lines ?? 0)) - plainLines);
    const left = margin + Math.max(0, (width - 2 * margin - columns * wide - (columns - 1) * gutter) / 2);
    for (const place of group.places) {
      const { column, row } = cells.get(place.id);
      const x = (columns * wide + (columns - 1) * gutter < width * 0.6 ? margin : left) + column * (wide + gutter);
      frames.places.set(place.id, {
        ...frame(place, x, frames.height + row * (high + gutter), wide, high),
        column,
        row,
      });
    }
    frames.height += rows * (high + gutter) + 4;
  }
  frames.height += margin - gutter;
  const seen = new Set();
  for (const group of groups) addDoors(frames, group.places, seen);
  return frames;
}

function frame(place, x, y, width, height) {
  const observers = place.observers ?? [];
  const inner = { x: x + 9, y: y + 30, width: width - 18, height: height - 38 - (observers.length ? 18 : 0) };
  return { place, x, y, width, height, inner, count: 0 };
}

function addDoors(frames, places, seen) {
  for (const place of places) {
    for (const other of place.adjacent ?? []) {
      const pair = [place.id, other].sort().join("\n");
      const from = frames.places.get(place.id);
      const to = frames.places.get(other);
      if (!from || !to || from === to || seen.has(pair)) continue;
      seen.add(pair);
      if (places.some((candidate) => candidate.id === other)) frames.doors.push({ from, to });
      else for (const [cell, end] of [[from, to], [to, from]]) addStairs(cell, end);
    }
  }
}

/** A way to another floor is named in the cell: a line across the picture would say less. */
function addStairs(cell, end) {
  if (!cell.stairs) {
    cell.inner.y += 15;
    cell.inner.height -= 15;
  }
  cell.stairs = cell.stairs ? `${cell.stairs}, ${end.place.name}` : `↕ ${end.place.name}`;
}

/** Draws what does not move. */
export function drawStill(pen, frames, palette, width, height) {
  pen.clearRect(0, 0, width, height);
  pen.textBaseline = "alphabetic";
  pen.textAlign = "left";
  pen.font = palette.title;
  pen.fillStyle = palette.soft;
  for (const title of frames.titles) pen.fillText(title.text, title.x, title.y);
  for (const door of frames.doors) if (!isBeside(door)) drawPassage(pen, door, palette);
  for (const cell of frames.places.values()) drawCell(pen, cell, palette);
  for (const door of frames.doors) if (isBeside(door)) drawDoor(pen, door, palette);
}

function drawCell(pen, cell, palette) {
  const { x, y, width, height, place } = cell;
  pen.beginPath();
  pen.roundRect(x + 0.5, y + 0.5, width - 1, height - 1, 7);
  pen.fillStyle = place.isTray ? palette.surface : palette.paper;
  pen.fill();
  pen.strokeStyle = palette.strong;
  pen.lineWidth = 1;
  pen.setLineDash(place.isTray ? [4, 4] : []);
  pen.stroke();
  pen.setLineDash([]);
  pen.font = palette.bold;
  pen.fillStyle = palette.ink;
  pen.fillText(fit(pen, place.name, width - 46), x + 10, y + 20);
  if (cell.stairs) {
    pen.font = palette.plain;
    pen.fillStyle = palette.soft;
    pen.fillText(fit(pen, cell.stairs, width - 20), x + 10, y + 37);
  }
  drawObservers(pen, cell, palette);
}

function drawObservers(pen, { x, y, width, height, place }, palette) {
  if (!place.observers.length) return;
  const base = y + height - 10;
  pen.font = palette.plain;
  let at = x + 10;
  const share = (width - 20) / place.observers.length;
  for (const observer of place.observers) {
    const isDown = observer.isUp === false;
    pen.beginPath();
    pen.moveTo(at, base);
    pen.lineTo(at + 4.5, base - 9);
    pen.lineTo(at + 9, base);
    pen.closePath();
    pen.fillStyle = pen.strokeStyle = isDown ? palette.bad : palette.soft;
    pen.lineWidth = 1.5;
    if (isDown) pen.stroke();
    else pen.fill();
    pen.fillStyle = isDown ? palette.bad : palette.soft;
    if (share > minimumLabel) pen.fillText(fit(pen, observer.name, share - 18), at + 13, base);
    at += share > minimumLabel ? share : Math.min(16, share);
  }
}

function isBeside({ from, to }) {
  if (from.column === undefined || to.column === undefined) return false;
  const isFarFloor = Math.abs(from.y - to.y) > from.height + gutter + 1;
  return !isFarFloor && (from.y === to.y ? Math.abs(from.column - to.column) === 1 : from.x === to.x);
}

/** A door between cells that stand side by side. */
function drawDoor(pen, { from, to }, palette) {
  pen.strokeStyle = palette.strong;
  pen.lineWidth = 5;
  pen.lineCap = "round";
  pen.beginPath();
  if (from.y === to.y) {
    const y = from.y + from.height / 2;
    pen.moveTo(Math.min(from.x, to.x) + from.width + 1, y);
    pen.lineTo(Math.max(from.x, to.x) - 1, y);
  } else {
    const x = from.x + from.width / 2;
    pen.moveTo(x, Math.min(from.y, to.y) + from.height + 1);
    pen.lineTo(x, Math.max(from.y, to.y) - 1);
  }
  pen.stroke();
  pen.lineCap = "butt";
}

/** A way between cells that stand apart on one floor. */
function drawPassage(pen, { from, to }, palette) {
  const start = { x: from.x + from.width / 2, y: from.y + from.height / 2 };
  const finish = { x: to.x + to.width / 2, y: to.y + to.height / 2 };
  const bend = from.x === to.x ? gutter * 2 + from.width / 2 : 0;
  pen.strokeStyle = palette.strong;
  pen.lineWidth = 1.5;
  pen.setLineDash([3, 4]);
  pen.beginPath();
  pen.moveTo(start.x, start.y);
  pen.quadraticCurveTo((start.x + finish.x) / 2 + bend, (start.y + finish.y) / 2, finish.x, finish.y);
  pen.stroke();
  pen.setLineDash([]);
}

/** A text cut to a width, with an ellipsis. */
export function fit(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let cut = text;
  while (cut.length > 1 && pen.measureText(`${cut}…`).width > width) cut = cut.slice(0, -1);
  return `${cut}…`;
}
