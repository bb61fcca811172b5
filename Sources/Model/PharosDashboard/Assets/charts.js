// Pictures of values over time: a small line beside a name, and lanes of bars and curves above an axis.

import { s } from "./dom.js";
import { shortTime } from "./format.js";

const small = { width: 120, height: 28 };

/** A small line of values, with gaps where they are null; `least` and `most` are the ends of its scale. */
export function sparkline(values, label, scale = {}) {
  const image = s("svg", {
    class: "sparkline",
    role: "img",
    viewBox: `0 0 ${small.width} ${small.height}`,
    width: small.width,
    height: small.height,
  });
  drawSparkline(image, values, label, scale);
  return image;
}

/** Changes a small line in place. */
export function drawSparkline(image, values, label, { minimum, maximum } = {}) {
  const known = values.filter((value) => value !== null);
  const low = minimum ?? (known.length ? Math.min(...known) : 0);
  const high = Math.max(maximum ?? -Infinity, low + 1, ...known);
  const x = (index) => 2 + (index * (small.width - 4)) / Math.max(1, values.length - 1);
  const y = (value) => small.height - 3 - ((value - low) * (small.height - 6)) / (high - low);
  image.setAttribute("aria-label", known.length ? label : `${label}: nothing is stored`);
  image.replaceChildren(s("line", { class: "base", x1: 0, x2: small.width, y1: y(low), y2: y(low) }));
  for (const [from, to] of stretches(values)) {
    const path = values.slice(from, to).map((value, index) =>
      `${index ? "L" : "M"}${x(from + index).toFixed(1)} ${y(value).toFixed(1)}`
    );
    // A lone value has no line: a short one with round ends makes it visible.
    if (path.length === 1) path.push("h0.1");
    image.append(s("path", { class: to - from === 1 ? "line lone" : "line", d: path.join("") }));
  }
}

/** The stretches of an array without null: pairs of a first index and the one after the last. */
export function stretches(values) {
  const found = [];
  let from = null;
  for (let index = 0; index <= values.length; index += 1) {
    const isKnown = index < values.length && values[index] !== null;
    if (isKnown && from === null) from = index;
    if (!isKnown && from !== null) {
      found.push([from, index]);
      from = null;
    }
  }
  return found;
}

const left = 6;
/** Room for the scale of a curve. */
const right = 62;
const titleHeight = 20;
const laneGap = 12;
const heights = { bars: 20, curve: 96, ticks: 14 };

/**
 * Lanes above one axis of time, as wide as the page has room.
 *
 * A lane is `{ kind, title }` with `runs` (`{ from, to, text, tone }`) for bars, with `points` (`{ time, value, low, high }`,
 * null where nothing is known), `unit` and `least` for a curve, or with `marks` (`{ time, text }`) for ticks. Times are in ms.
 */
export function timeChart(lanes, { from, to, label }) {
  const height = lanes.reduce((sum, lane) => sum + titleHeight + heights[lane.kind] + laneGap, 0) + 22;
  const image = s("svg", { class: "chart", role: "img", "aria-label": label, height });
  const draw = (width) => {
    if (width < 60) return;
    image.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const x = (at) =>
      left + ((Math.min(to, Math.max(from, at)) - from) * (width - left - right)) / Math.max(1, to - from);
    image.replaceChildren(...drawing(lanes, { from, to, x, width, height }));
  };
  new ResizeObserver(([entry]) => draw(Math.round(entry.contentRect.width))).observe(image);
  return image;
}

function drawing(lanes, frame) {
  const shapes = [...grid(frame)];
  let top = 0;
  for (const lane of lanes) {
    shapes.push(s("text", { class: "lane", x: left, y: top + 14 }, lane.title));
    const draw = { bars, curve, ticks }[lane.kind];
    shapes.push(...draw(lane, top + titleHeight, frame));
    top += titleHeight + heights[lane.kind] + laneGap;
  }
  return shapes;
}

function bars(lane, top, { x }) {
  const height = heights.bars;
  const shapes = [
    s("rect", { class: "lane-ground", x: x(-Infinity), y: top, width: x(Infinity) - x(-Infinity), height }),
  ];
  for (const { from, to, text, tone } of lane.runs) {
    const [start, end] = [x(from), x(to)];
    const width = Math.max(1.5, end - start - 0.5);
    shapes.push(
      s("rect", { class: `run ${tone}`, x: start, y: top, width, height, rx: 2 }, s("title", null, text)),
    );
    // 6.6 px a letter at 12 px, by the system fonts' average; a text that does not fit is in the words below.
    if (text.length * 6.6 + 8 < width) {
      shapes.push(s("text", { class: "run-text", x: start + 4, y: top + 14 }, text));
    }
  }
  return shapes;
}

function ticks(lane, top, { x }) {
  return lane.marks.map(({ time, text }) =>
    s(
      "path",
      { class: "tick", d: `M${x(time).toFixed(1)} ${top + 12}l-4.5 -9h9z` },
      s("title", null, text),
    )
  );
}

function curve(lane, top, { x, width }) {
  const { points, unit, minimum } = lane;
  const height = heights.curve;
  const known = points.filter((point) => point.value !== null);
  const values = known.flatMap((point) => [point.value, point.low ?? point.value, point.high ?? point.value]);
  const steps = scaleOf(minimum ?? Math.min(...values), Math.max(...values));
  const [low, high] = [steps[0], steps.at(-1)];
  const y = (value) => top + height - ((value - low) * height) / (high - low);
  const shapes = steps.flatMap((step) => [
    s("line", { class: "grid", x1: left, x2: width - right, y1: y(step), y2: y(step) }),
    s("text", { class: "axis-text", x: width - right + 6, y: y(step) + 4 }, `${step} ${unit}`.replace("-", "−")),
  ]);
  for (const [from, to] of stretches(points.map((point) => point.value))) {
    const part = points.slice(from, to);
    const place = (at, value) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    if (part.some((point) => point.low !== undefined)) {
      const above = part.map(({ time, high: maximum, value }) => place(time, maximum ?? value));
      const below = part.map(({ time, low: fewest, value }) => place(time, fewest ?? value)).reverse();
      shapes.push(s("path", { class: "band", d: `M${[...above, ...below].join("L")}z` }));
    }
    const line = part.map(({ time, value }) => place(time, value));
    shapes.push(
      s("path", {
        class: line.length === 1 ? "line lone" : "line",
        d: `M${line.join("L")}${line.length === 1 ? "h0.1" : ""}`,
      }),
    );
  }
  return shapes;
}

/** Two to five round values that span a range. */
export function scaleOf(low, high) {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const span = Math.max(high - low, 1);
  const step = [1, 2, 5, 10, 20, 25, 50].flatMap((size) => [size, size * 100, size * 10000]).sort((a, b) => a - b)
    .find((size) => Math.ceil(high / size) - Math.floor(low / size) <= 4) ?? span;
  const first = Math.floor(low / step) * step;
  const count = Math.max(1, Math.ceil((high - first) / step));
  return Array.from({ length: count + 1 }, (_, index) => first + index * step);
}

const minute = 60000;
const hour = 60 * minute;
const day = 24 * hour;
/** Steps of time that a reader counts in. */
const timeSteps = [
  minute,
  5 * minute,
  10 * minute,
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  3 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  7 * day,
];

function* grid({ from, to, x, width, height }) {
  const maximum = Math.max(2, Math.floor(width / 84));
  const step = timeSteps.find((candidate) => (to - from) / candidate <= maximum) ?? 14 * day;
  // Whole steps of the reader's own clock.
  const zone = new Date(from).getTimezoneOffset() * minute;
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) {
    const place = x(at);
    yield s("line", { class: "grid", x1: place, x2: place, y1: 0, y2: height - 20 });
    if (place < 24 || place > width - 24) continue;
    yield s(
      "text",
      { class: "axis-text", x: place, y: height - 5, "text-anchor": "middle" },
      shortTime(at, step >= day),
    );
  }
}
