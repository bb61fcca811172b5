// The parts of a plan that move: marks by their colour, counts, names.

import { fit } from "./plan-drawing.js";

const turn = 2 * Math.PI;
/** A mark that has farther to go than this many pixels shows its name once it is there. */
const away = 10;

/** How many marks each cell holds, at its right upper corner. */
export function drawCounts(pen, places, palette) {
  pen.font = palette.bold;
  pen.fillStyle = palette.soft;
  pen.textAlign = "right";
  pen.textBaseline = "alphabetic";
  for (const frame of places.values()) {
    if (frame.count) pen.fillText(String(frame.count), frame.x + frame.width - 10, frame.y + 20);
  }
}

/** All marks: one path for each colour, so that a frame with hundreds costs a few calls. */
export function drawMarks(pen, marks, palette) {
  const byTone = new Map();
  for (const mark of marks.values()) {
    const tone = mark.look.tone;
    if (!byTone.has(tone)) byTone.set(tone, []);
    byTone.get(tone).push(mark);
  }
  for (const [tone, alike] of byTone) {
    const isHollow = tone === "off" || tone === "warn";
    pen.fillStyle = pen.strokeStyle = palette[tone] ?? palette.soft;
    pen.lineWidth = 2;
    pen.beginPath();
    for (const mark of alike) {
      const radius = (mark.look.size ?? 4) * mark.shown - (isHollow ? 1 : 0);
      if (radius > 0) circle(pen, mark, radius);
    }
    if (isHollow) pen.stroke();
    else pen.fill();
  }
}

/** A ring around a mark, if there is one. */
export function drawRing(pen, mark, palette) {
  if (!mark) return;
  pen.beginPath();
  circle(pen, mark, 10);
  pen.strokeStyle = palette.ink;
  pen.lineWidth = 2;
  pen.stroke();
}

/** The names of marks that have room for theirs. */
export function drawLabels(pen, marks, palette) {
  pen.font = palette.plain;
  pen.fillStyle = palette.ink;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  for (const mark of marks.values()) {
    const isAway = Math.abs(mark.toX - mark.x) + Math.abs(mark.toY - mark.y) > away;
    if (!mark.look.room || !mark.look.name || isAway) continue;
    pen.globalAlpha = mark.shown;
    pen.fillText(fit(pen, mark.look.name, mark.look.room), mark.x + 11, mark.y + 0.5);
  }
  pen.globalAlpha = 1;
}

function circle(pen, { x, y }, radius) {
  pen.moveTo(x + radius, y);
  pen.arc(x, y, radius, 0, turn);
}
