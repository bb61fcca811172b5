// The names on a floor: of who is there, of its rooms, ways and geofences; none covers a mark or another name.

import { fit } from "./plan-drawing.js";

/** With more marks than this in the picture, names would hide what they are about. */
const maximumNames = 40;
/** How far a name stands from the middle of its mark, and how far a mark itself reaches, in pixels. */
const besideMark = 12;
const aboveMark = 16;
const markReach = 8;
/** The height of a line, and the distance of two names beside each other, in pixels. */
const [lineHeight, space] = [16, 6];
/** The longest name of a mark in pixels, and the least room in which a room is named. */
const [maximum, minimumRoom] = [150, 40];
/** From so many pixels a metre on, ways up and down are named. */
const waysFrom = 7;
const wayNames = { stairs: "Stairs", lift: "Lift", escalator: "Escalator", ramp: "Ramp" };

/**
 * Draws all names: the chosen mark's first, then those of marks, rooms, ways and geofences. A name without room is left
 * out, but never the chosen one's; that of a place is not written twice.
 */
export function drawLabels(pen, { marks, shapes, fences, chosen }, view, palette) {
  pen.font = palette.plain;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  const points = marks.map((mark) => ({ x: view.pixelX(mark.x), y: view.pixelY(mark.y) }));
  const labels = markLabels(pen, marks, points, chosen);
  const places = [...roomLabels(pen, shapes, view), ...wayLabels(pen, shapes, view), ...fenceLabels(pen, fences)];
  const written = new Set();
  for (const label of places) {
    if (!written.has(label.name.toLowerCase())) labels.push(label);
    written.add(label.name.toLowerCase());
  }
  const badges = (shapes?.points ?? []).filter(({ isBadge, x, y }) => isBadge && view.shows(x, y))
    .map(({ x, y }) => ({ x: view.pixelX(x), y: view.pixelY(y) }));
  const found = placeLabels(labels, [...points, ...badges], view.width);
  for (const [index, { text, tone, isChosen, candidates: [first] }] of labels.entries()) {
    const place = found[index] ?? (isChosen ? first : null);
    if (!place) continue;
    pen.lineWidth = 3;
    pen.strokeStyle = palette.surface;
    pen.strokeText(text, place.left, place.y);
    pen.fillStyle = palette[tone];
    pen.fillText(text, place.left, place.y);
  }
}

/** A label of a text that is cut to a room; the places where it may stand are made of its width. */
function label(pen, name, room, tone, candidatesOf, more = {}) {
  const text = fit(pen, name, room);
  const width = pen.measureText(text).width;
  return { name, text, width, tone, candidates: candidatesOf(width), ...more };
}

/** Places beside, above and below a point. */
export function around(x, y, width) {
  return [
    { left: x + besideMark, y },
    { left: x - besideMark - width, y },
    { left: x - width / 2, y: y - aboveMark },
    { left: x - width / 2, y: y + aboveMark },
  ];
}

function markLabels(pen, marks, points, chosen) {
  const named = marks.map((mark, index) => ({ mark, ...points[index] }))
    .filter(({ mark }) => marks.length <= maximumNames || mark.key === chosen);
  named.sort((a, b) => Number(b.mark.key === chosen) - Number(a.mark.key === chosen));
  return named.map(({ mark, x, y }) => {
    const tone = mark.look.tone === "off" ? "soft" : "ink";
    const isChosen = mark.key === chosen;
    return label(pen, mark.look.name(), maximum, tone, (width) => around(x, y, width), { isChosen });
  });
}

/** A room's name stands in its middle, else above or below that; the image of a plan has names of its own. */
function roomLabels(pen, shapes, view) {
  const labels = [];
  for (const { text, left, right, bottom, top } of (shapes?.image ? [] : shapes?.names) ?? []) {
    const room = (right - left) * view.scale - 8;
    const [x, y] = [(left + right) / 2, (bottom + top) / 2];
    const height = (top - bottom) * view.scale;
    if (room < minimumRoom || height < lineHeight + 2 || !view.shows(x, y)) continue;
    const step = Math.max(0, Math.min(height / 4, height / 2 - lineHeight / 2));
    const candidatesOf = (width) =>
      [0, -step, step].map((offset) => ({ left: view.pixelX(x) - width / 2, y: view.pixelY(y) + offset }));
    const made = label(pen, text, room, "soft", candidatesOf);
    if (made.text.length > 3 || made.text === text) labels.push(made);
  }
  return labels;
}

function wayLabels(pen, shapes, view) {
  if (view.scale < waysFrom) return [];
  const ways = (shapes?.points ?? []).filter(({ kind, x, y }) => wayNames[kind] && view.shows(x, y));
  return ways.map(({ kind, x, y }) =>
    label(pen, wayNames[kind], maximum, "soft", (width) => around(view.pixelX(x), view.pixelY(y), width))
  );
}

/** A geofence's name stands within its upper edge, or above it. */
function fenceLabels(pen, fences) {
  return fences.map(({ id, x, y }) => {
    const candidatesOf = (width) => [{ left: x - width / 2, y: y + 12 }, { left: x - width / 2, y: y - 10 }];
    return label(pen, id, maximum, "warn", candidatesOf);
  });
}

/**
 * Places of labels, `{ left, y }`: the first of each one's candidates that covers neither a mark nor a label before it;
 * null without room.
 */
export function placeLabels(labels, marks, pictureWidth) {
  const inUse = [];
  const isFree = ({ left, right, y }) =>
    left >= 0 && right <= pictureWidth &&
    !inUse.some((other) =>
      Math.abs(other.y - y) < lineHeight && left < other.right + space && other.left < right + space
    ) &&
    !marks.some((mark) =>
      Math.abs(mark.y - y) < 7 + markReach && left < mark.x + markReach && mark.x - markReach < right
    );
  return labels.map(({ width, candidates }) => {
    const box = candidates.map((place) => ({ ...place, right: place.left + width })).find(isFree);
    if (!box) return null;
    inUse.push(box);
    return { left: box.left, y: box.y };
  });
}
