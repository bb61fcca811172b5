// The parts of a floor that move: who is where, how sure that is, where they came from and where they go.

import { fit } from "./plan-drawing.js";

const turn = 2 * Math.PI;
/** With more marks than this in the picture, rings and names would hide what they are about; the areas stay. */
const maximumRings = 60;
const maximumNames = 40;
const maximumArrows = 200;
/** How far a name stands from the middle of its mark, and how far a mark itself reaches, in pixels. */
const besideMark = 12;
const aboveMark = 16;
const markReach = 8;
/** Who goes slower than this goes nowhere: m/s. */
const minimumSpeed = 0.3;

/** The area in which 68 % of truths lie: all areas as one shape, so that many together stay pale. */
export function drawAreas(pen, marks, view, palette) {
  pen.beginPath();
  for (const mark of marks) circle(pen, view, mark, Math.max(6, mark.look.accuracy * view.scale) * mark.shown);
  pen.fillStyle = palette.accent;
  pen.globalAlpha = marks.length > maximumRings ? 0.1 : 0.13;
  pen.fill();
  if (marks.length <= maximumRings) {
    pen.strokeStyle = palette.accent;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.45;
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

/** Where each was in the last `span` ms: paler the longer ago, in as many strokes as there are shades. */
export function drawTrails(pen, marks, view, palette, { now, span, frame }) {
  const shades = [0.6, 0.36, 0.18].map((alpha) => ({ alpha, path: new Path2D() }));
  for (const mark of marks) {
    const { trail } = mark.look;
    let drawn = null;
    for (let index = trail.length - 1; index > 0; index -= 1) {
      const age = now - trail[index].time;
      if (age >= span) break;
      const { path } = shades[Math.floor(age / span * shades.length)];
      const [to, from] = [trail[index], trail[index - 1]];
      if (path !== drawn) path.moveTo(view.pixelX(frame.x(to.longitude)), view.pixelY(frame.y(to.latitude)));
      path.lineTo(view.pixelX(frame.x(from.longitude)), view.pixelY(frame.y(from.latitude)));
      drawn = path;
    }
  }
  pen.strokeStyle = palette.accent;
  // A hairline is drawn ten times as fast as anything wider.
  pen.lineWidth = marks.length > maximumRings ? 1 : 2;
  pen.lineJoin = "bevel";
  for (const { alpha, path } of shades) {
    pen.globalAlpha = alpha;
    pen.stroke(path);
  }
  pen.globalAlpha = 1;
}

/** The marks themselves: each look is drawn once and then copied, so that a frame with hundreds costs little. */
export function drawSubjects(pen, marks, view, palette, density) {
  const size = marks.length > 200 ? 4 : 5.5;
  const half = size + 3;
  const stamps = new Map();
  for (const mark of marks) {
    const { tone, isTag } = mark.look;
    const key = isTag ? `${tone} tag` : tone;
    let stamp = stamps.get(key);
    if (!stamp) {
      stamp = stampOf(tone, isTag, size, half, palette, density);
      stamps.set(key, stamp);
    }
    pen.globalAlpha = mark.shown;
    pen.drawImage(stamp, view.pixelX(mark.x) - half, view.pixelY(mark.y) - half, 2 * half, 2 * half);
  }
  pen.globalAlpha = 1;
  if (marks.length <= maximumArrows) drawCourses(pen, marks, view, palette, size);
}

function stampOf(tone, isTag, size, half, palette, density) {
  const stamp = document.createElement("canvas");
  stamp.width = stamp.height = Math.ceil(2 * half * density);
  const pen = stamp.getContext("2d");
  pen.scale(density, density);
  if (isTag) {
    const reach = size + 1;
    pen.moveTo(half, half - reach);
    pen.lineTo(half + reach, half);
    pen.lineTo(half, half + reach);
    pen.lineTo(half - reach, half);
    pen.closePath();
  } else {
    pen.arc(half, half, size, 0, turn);
  }
  pen.lineWidth = 3;
  pen.strokeStyle = palette.surface;
  pen.stroke();
  pen.fillStyle = tone === "off" ? palette.surface : palette[tone];
  pen.fill();
  if (tone === "off") {
    pen.lineWidth = 1.5;
    pen.strokeStyle = palette.off;
    pen.stroke();
  }
  return stamp;
}

/** Draws a small arrow beside each moving subject, in the direction of its course. */
function drawCourses(pen, marks, view, palette, size) {
  pen.fillStyle = palette.accent;
  pen.beginPath();
  for (const mark of marks) {
    const { course, speed, tone } = mark.look;
    if (course === null || !(speed >= minimumSpeed) || tone === "off") continue;
    const angle = course * Math.PI / 180;
    const [east, south] = [Math.sin(angle), -Math.cos(angle)];
    const [x, y] = [view.pixelX(mark.x) + east * (size + 3), view.pixelY(mark.y) + south * (size + 3)];
    pen.moveTo(x + east * 6, y + south * 6);
    pen.lineTo(x - south * 4, y + east * 4);
    pen.lineTo(x + south * 4, y - east * 4);
    pen.closePath();
  }
  pen.fill();
}

/** Draws the mark that the user chose. */
export function drawChosen(pen, mark, view, palette) {
  pen.beginPath();
  circle(pen, view, mark, Math.max(6, mark.look.accuracy * view.scale));
  pen.strokeStyle = palette.accent;
  pen.lineWidth = 1.5;
  pen.stroke();
  pen.beginPath();
  circle(pen, view, mark, 10);
  pen.strokeStyle = palette.ink;
  pen.lineWidth = 2;
  pen.stroke();
}

/** Names beside their marks, the chosen one's first; one without room is left out, but never the chosen one's. */
export function drawNames(pen, marks, view, palette, chosen) {
  const named = marks.length <= maximumNames ? [...marks] : marks.filter((mark) => mark.key === chosen);
  named.sort((a, b) => Number(b.key === chosen) - Number(a.key === chosen));
  pen.font = palette.plain;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  const point = (mark) => ({ x: view.pixelX(mark.x), y: view.pixelY(mark.y) });
  const names = named.map((mark) => {
    const text = fit(pen, mark.look.name(), 150);
    return { ...point(mark), mark, text, width: pen.measureText(text).width };
  });
  const places = placeNames(names, named.length === marks.length ? names : marks.map(point), view.width);
  for (const [index, { mark, text, x, y }] of names.entries()) {
    const place = places[index] ?? (mark.key === chosen ? { left: x + besideMark, y } : null);
    if (!place) continue;
    pen.lineWidth = 3;
    pen.strokeStyle = palette.surface;
    pen.strokeText(text, place.left, place.y);
    pen.fillStyle = mark.look.tone === "off" ? palette.soft : palette.ink;
    pen.fillText(text, place.left, place.y);
  }
}

/**
 * Places of names, `{ left, y }`: beside, above or below their marks so that none covers a mark or another name; null
 * without room.
 *
 * `names` are `{ x, y, width }` with the places of their marks, the most important first; `marks` are all marks' places.
 */
export function placeNames(names, marks, pictureWidth) {
  const taken = [];
  const isFree = ({ left, right, y }) =>
    left >= 0 && right <= pictureWidth &&
    !taken.some((other) => Math.abs(other.y - y) < 16 && left < other.right + 6 && other.left < right + 6) &&
    !marks.some((mark) =>
      Math.abs(mark.y - y) < 7 + markReach && left < mark.x + markReach && mark.x - markReach < right
    );
  return names.map(({ x, y, width }) => {
    const candidates = [
      { left: x + besideMark, y },
      { left: x - besideMark - width, y },
      { left: x - width / 2, y: y - aboveMark },
      { left: x - width / 2, y: y + aboveMark },
    ];
    const box = candidates.map((place) => ({ ...place, right: place.left + width })).find(isFree);
    if (!box) return null;
    taken.push(box);
    return { left: box.left, y: box.y };
  });
}

function circle(pen, view, mark, radius) {
  if (!(radius > 0)) return;
  const [x, y] = [view.pixelX(mark.x), view.pixelY(mark.y)];
  pen.moveTo(x + radius, y);
  pen.arc(x, y, radius, 0, turn);
}
