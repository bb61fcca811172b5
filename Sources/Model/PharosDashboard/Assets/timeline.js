// The reason of one decision as a small picture: what was heard, how long the silence was, how long it might have been.

import { s } from "./dom.js";
import { instant, percent, seconds, time } from "./format.js";

const rowHeight = 40;

/** The fixed time-outs of other systems, in s, as `pharos compare` plays them; the 30 s of most have a row of their own. */
const otherRules = [[15, "reelyActive"], [60, "room-assistant"], [120, "ESPresense"]];

/** How long after a decision, or before it, another rule would have fired. */
function compared(at, decided) {
  const difference = (at - decided) / 1000;
  if (Math.abs(difference) < 0.05) return "at the same moment";
  return `${seconds(Math.abs(difference))} ${difference > 0 ? "later" : "earlier"}`;
}
const top = 8;

/** The rows of the picture, from an event's evidence; empty where time has no say. */
export function timelineRows(event) {
  const evidence = event.data?.evidence ?? {};
  const decided = instant(event.time);
  const lastHeard = instant(evidence.lastHeard);
  const rows = [];
  if (!Number.isNaN(lastHeard) && evidence.gap !== undefined) {
    rows.push({
      kind: "main",
      from: lastHeard,
      to: decided,
      text: `Silence: ${seconds((decided - lastHeard) / 1000)}${
        evidence.deafFor ? `, for ${seconds(evidence.deafFor)} of it the observer heard no beacon` : ""
      }`,
      start: "last heard",
    });
    if (evidence.deafFor) {
      rows.push({
        kind: "deaf",
        from: lastHeard,
        to: lastHeard + evidence.deafFor * 1000,
        text: `Not counted: ${seconds(evidence.deafFor)} in which the observer heard no beacon`,
      });
    }
  }
  if (!Number.isNaN(lastHeard) && evidence.allowedGap !== undefined) {
    const learned = evidence.interval
      ? `, from an interval of ${seconds(evidence.interval)}${
        evidence.receptionShare !== undefined ? ` of which ${percent(evidence.receptionShare)} arrive` : ""
      }`
      : "";
    rows.push({
      kind: "allowed",
      from: lastHeard,
      to: lastHeard + evidence.allowedGap * 1000,
      text: `Allowed: ${seconds(evidence.allowedGap)}${learned}`,
    });
  }
  if (evidence.waitedForProof) {
    rows.push({
      kind: "deaf",
      from: decided,
      to: decided + evidence.waitedForProof * 1000,
      text: `Waited ${seconds(evidence.waitedForProof)} for proof that the observer lives`,
    });
  }
  if (evidence.belowFor) {
    rows.push({
      kind: "main",
      from: decided - evidence.belowFor * 1000,
      to: decided,
      text: `Below the exit level for ${seconds(evidence.belowFor)}`,
    });
  }
  if (evidence.rule === "samples" && evidence.spread !== undefined) {
    const from = decided - evidence.spread * 1000;
    rows.push({
      kind: "main",
      from,
      to: decided,
      samples: evidence.counted,
      text: `${evidence.counted ?? "?"} samples within ${seconds(evidence.spread)}`,
    });
    if (evidence.window) {
      rows.push({
        kind: "allowed",
        from,
        to: from + evidence.window * 1000,
        text: `The rule: ${evidence.samples ?? "?"} within ${seconds(evidence.window)}`,
      });
    }
  }
  const fixed = instant(evidence.fixedRuleAt);
  // A fixed rule ends a visit; it does not begin one.
  if (!Number.isNaN(fixed) && rows.length && event.data?.to !== "inside") {
    const begin = Number.isNaN(lastHeard) ? rows[0].from : lastHeard;
    rows.push({
      kind: "other",
      from: begin,
      to: fixed,
      text: `A fixed 30 s rule would have fired ${compared(fixed, decided)}`,
    });
    if (evidence.gap !== undefined && !Number.isNaN(lastHeard)) {
      rows.push({
        kind: "other",
        from: begin,
        to: fixed,
        marks: otherRules.map(([span]) => begin + span * 1000).filter((at) => at <= Math.max(fixed, decided)),
        text: `Other rules: ${
          otherRules.map(([span, name]) => `${name} (${span} s) ${compared(begin + span * 1000, decided)}`).join(", ")
        }`,
      });
    }
  }
  return rows.length ? { rows, decided, decidedAt: instant(event.data?.decidedAt) } : null;
}

/** Draws an event's timeline into an element and keeps it as wide as that is; nothing where time has no say. */
export function timeline(event) {
  const picture = timelineRows(event);
  if (!picture) return null;
  const height = top + picture.rows.length * rowHeight + 34;
  const words = `Timeline. ${picture.rows.map((row) => row.text).join(". ")}. Decided for ${time(event.time)}.`;
  const image = s("svg", { class: "timeline", role: "img", "aria-label": words, height });
  const draw = (width) => {
    if (width < 40) return;
    image.setAttribute("viewBox", `0 0 ${width} ${height}`);
    image.replaceChildren(...drawing(picture, width, height));
  };
  new ResizeObserver(([entry]) => draw(Math.round(entry.contentRect.width))).observe(image);
  return image;
}

function drawing({ rows, decided, decidedAt }, width, height) {
  const first = Math.min(...rows.map((row) => row.from), decided);
  const last = Math.max(...rows.map((row) => row.to), decided, Number.isNaN(decidedAt) ? decided : decidedAt);
  const span = Math.max(1, last - first);
  const left = 6;
  const scale = (width - left - 46) / span;
  const x = (at) => left + (at - first) * scale;
  const shapes = axis(first, span, x, rows.length, width);
  rows.forEach((row, index) => {
    const y = top + index * rowHeight;
    const length = Math.max(2, x(row.to) - x(row.from));
    shapes.push(s("text", { class: "label", x: left, y: y + 13 }, fitText(row.text, width - left)));
    shapes.push(s("rect", { class: `bar-${row.kind}`, x: x(row.from), y: y + 19, width: length, height: 11, rx: 2 }));
    for (const at of row.marks ?? []) {
      shapes.push(s("line", { class: "mark", x1: x(at), x2: x(at), y1: y + 17, y2: y + 32 }));
    }
    if (row.samples > 1 && row.samples <= 24) {
      for (let sample = 0; sample < row.samples; sample += 1) {
        shapes.push(
          s("circle", { class: "sample", cx: x(row.from) + (length * sample) / (row.samples - 1), cy: y + 24.5, r: 5 }),
        );
      }
    }
  });
  shapes.push(...upright("mark", x(decided), rows.length));
  const isRight = x(decided) > width * 0.6;
  shapes.push(
    s(
      "text",
      { x: x(decided) + (isRight ? 2 : -2), y: height - 2, "text-anchor": isRight ? "end" : "start" },
      `▲ decided for ${time(new Date(decided).toISOString())}`,
    ),
  );
  return shapes;
}

/** Steps of time that a reader counts in, in s. */
const steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];

/** Upright lines behind the bars alone, so that none strikes through a text. */
function upright(name, place, count) {
  return Array.from(
    { length: count },
    (_, row) =>
      s("line", { class: name, x1: place, x2: place, y1: top + row * rowHeight + 16, y2: top + row * rowHeight + 33 }),
  );
}

function axis(first, span, x, count, width) {
  const bottom = top + count * rowHeight;
  const maximum = Math.max(2, Math.floor(width / 90));
  const step = steps.find((candidate) => span / 1000 / candidate <= maximum) ?? 86400;
  const shapes = [];
  for (let at = 0; at <= span / 1000 + 1e-9; at += step) {
    const place = x(first + at * 1000);
    shapes.push(...upright("grid", place, count));
    shapes.push(
      s(
        "text",
        { class: "axis-text", x: place, y: bottom + 14, "text-anchor": at === 0 ? "start" : "middle" },
        at === 0 ? "0" : seconds(at).replace(".0 s", " s"),
      ),
    );
  }
  return shapes;
}

/** A text cut to about a width: 6.4 px a letter at 13 px, by the system fonts' average. */
function fitText(text, width) {
  const maximum = Math.floor(width / 6.4);
  return text.length <= maximum ? text : `${text.slice(0, maximum - 1)}…`;
}
