// The levels of one decision as a small picture: what was measured, how sure it was, and what it was compared with.

import { s } from "./dom.js";
import { decimal, level } from "./format.js";
import * as names from "./names.js";

const rowHeight = 40;
const top = 8;
/** The levels at the ends of the picture, in dBm. */
const [weakest, strongest] = [-105, -30];

/** The rows of the picture, from an event's evidence or from what observers heard; empty where no level decided. */
export function levelRows(event) {
  const { data = {} } = event;
  const evidence = data.evidence ?? {};
  const rows = [];
  if (evidence.level !== undefined) {
    const deviation = evidence.levelDeviation ?? 0;
    rows.push({
      at: evidence.level,
      deviation,
      sample: evidence.sampleLevel,
      threshold: evidence.threshold,
      text: [
        `Filtered level: ${level(evidence.level)}${deviation ? ` ± ${decimal(deviation, 1)} dB` : ""}`,
        evidence.sampleLevel !== undefined ? `deciding sample ${level(evidence.sampleLevel)}` : null,
        evidence.threshold !== undefined ? `compared with ${level(evidence.threshold)}` : null,
      ].filter(Boolean).join(", "),
    });
  }
  for (const hearing of data.hearings ?? []) {
    const offset = hearing.offset ?? 0;
    rows.push({
      at: hearing.level,
      deviation: 0,
      text: `${names.nameOf(hearing.observer)}: ${level(hearing.level)}${
        offset ? `, with a learned offset of ${decimal(offset, 1)} dB` : ""
      }`,
    });
  }
  return rows;
}

/** Draws an event's levels into an element and keeps it as wide as that is; nothing where no level decided. */
export function levelPicture(event) {
  const rows = levelRows(event);
  if (!rows.length) return null;
  const height = top + rows.length * rowHeight + 18;
  const words = `Levels. ${rows.map((row) => row.text).join(". ")}.`;
  const image = s("svg", { class: "timeline", role: "img", "aria-label": words, height });
  const draw = (width) => {
    if (width < 40) return;
    image.setAttribute("viewBox", `0 0 ${width} ${height}`);
    image.replaceChildren(...drawing(rows, width));
  };
  new ResizeObserver(([entry]) => draw(Math.round(entry.contentRect.width))).observe(image);
  return image;
}

function drawing(rows, width) {
  const left = 6;
  const scale = (width - left - 46) / (strongest - weakest);
  const x = (dBm) => left + (Math.min(strongest, Math.max(weakest, dBm)) - weakest) * scale;
  const shapes = [];
  rows.forEach((row, index) => {
    const y = top + index * rowHeight;
    for (let dBm = -100; dBm <= strongest; dBm += 10) {
      shapes.push(s("line", { class: "grid", x1: x(dBm), x2: x(dBm), y1: y + 16, y2: y + 33 }));
    }
    shapes.push(s("text", { class: "label", x: left, y: y + 13 }, row.text));
    shapes.push(s("rect", { class: "bar-allowed", x: left, y: y + 19, width: x(row.at) - left, height: 11, rx: 2 }));
    if (row.deviation) {
      const [from, to] = [x(row.at - row.deviation), x(row.at + row.deviation)];
      shapes.push(s("rect", { class: "bar-main", x: from, y: y + 22, width: to - from, height: 5, rx: 2 }));
    }
    shapes.push(s("circle", { class: "sample", cx: x(row.at), cy: y + 24.5, r: 5 }));
    if (row.sample !== undefined) {
      shapes.push(s("circle", { class: "bar-other", cx: x(row.sample), cy: y + 24.5, r: 5 }));
    }
    if (row.threshold !== undefined) {
      shapes.push(s("line", { class: "mark", x1: x(row.threshold), x2: x(row.threshold), y1: y + 15, y2: y + 34 }));
    }
  });
  const bottom = top + rows.length * rowHeight;
  const step = width < 500 ? 20 : 10;
  for (let dBm = -100; dBm <= strongest; dBm += step) {
    shapes.push(s("text", { class: "axis-text", x: x(dBm), y: bottom + 10, "text-anchor": "middle" }, `${dBm}`));
  }
  return shapes;
}
