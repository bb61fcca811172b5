// The map of a floor as a picture of lines: where one can walk, walls, places, ways up and down, and a route.

import { replace, s } from "./dom.js";
import { symbols } from "./floor-drawing.js";

/** So many names find room on a telephone; of more, only those that matter now are written. */
const manyNames = 12;
/** The height of letters in pixels. */
const letters = 13;
/** Metres of a degree of latitude. */
const degree = 111_200;

/** Draws a floor into an SVG element; `choose` is called with the place that is pressed. */
export function drawMap(svg, floor, { chosen, steps, choose }) {
  const features = floor.outlines.features;
  const frame = frameOf(features);
  if (!frame) return replace(svg);
  const unit = Math.max(frame.width, frame.height) / 100;
  const margin = 4 * unit;
  const size = (letters * (frame.width + 2 * margin)) / (svg.clientWidth || 600);
  svg.setAttribute(
    "viewBox",
    `${-margin} ${-margin} ${frame.width + 2 * margin} ${frame.height + 2 * margin}`,
  );
  const areas = [];
  const marks = [];
  const named = floor.places.length <= manyNames;
  for (const { geometry, properties } of features) {
    const { kind } = properties;
    if (geometry.type === "Polygon") {
      const d = geometry.coordinates.map((ring) => `M${ring.map(frame.point).join("L")}Z`).join("");
      areas.push(s("path", { class: kind, d, "fill-rule": "evenodd", "stroke-width": unit / 4 }));
    } else if (geometry.type === "MultiLineString") {
      const d = geometry.coordinates.map((line) => `M${line.map(frame.point).join("L")}`).join("");
      areas.push(s("path", { class: kind, d, "stroke-width": unit / 3 }));
    } else if (symbols[kind]) {
      marks.push(text(frame, geometry.coordinates, symbols[kind], size, "way", size / 3));
    }
  }
  const ways = (steps ?? []).filter((step) => step.level === floor.level && step.geometry.coordinates.length > 1);
  for (const { geometry } of ways) {
    const d = `M${geometry.coordinates.map(frame.point).join("L")}`;
    marks.push(s("path", { class: "route", d, "stroke-width": unit }));
  }
  for (const place of floor.places) {
    if (!place.location) continue;
    const isChosen = place.id === chosen;
    const [cx, cy] = frame.pair(place.location);
    const mark = { class: isChosen ? "place chosen" : "place", cx, cy, r: isChosen ? 1.8 * unit : 1.2 * unit };
    marks.push(s("circle", { ...mark, onClick: () => choose(place) }));
    if (named || isChosen) marks.push(text(frame, place.location, place.title ?? place.name, size, "", -2.4 * unit));
  }
  return replace(svg, areas, marks);
}

function text(frame, position, label, size, name, drop) {
  const [x, y] = frame.pair(position);
  const attributes = { x, y: y + drop, "font-size": size };
  return s("text", name ? { class: name, ...attributes } : attributes, label);
}

/** The frame in which longitude and latitude become metres to the right and down. */
function frameOf(features) {
  const [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
  const positions = features.flatMap(({ geometry: { type, coordinates } }) =>
    type === "Point" ? [coordinates] : coordinates.flat(),
  );
  for (const position of positions) {
    for (const axis of [0, 1]) {
      low[axis] = Math.min(low[axis], position[axis]);
      high[axis] = Math.max(high[axis], position[axis]);
    }
  }
  if (!Number.isFinite(low[0])) return null;
  const east = degree * Math.cos((low[1] * Math.PI) / 180);
  const pair = ([longitude, latitude]) => [
    Number(((longitude - low[0]) * east).toFixed(2)),
    Number(((high[1] - latitude) * degree).toFixed(2)),
  ];
  const [width, height] = [(high[0] - low[0]) * east, (high[1] - low[1]) * degree].map((size) => Math.max(size, 1));
  return { width, height, pair, point: (position) => pair(position).join(" ") };
}
