// The map of a floor as a picture of lines: where one can walk, walls, places, ways up and down, and a route.

import { replace, s } from "./dom.js";
import { symbols } from "./floor-drawing.js";
import { lineHeight, placeNames } from "./visitor-labels.js";

/** The height of letters in pixels. */
const letters = 13;
/** The part of the window's height that a map has at most, as in the style. */
const maximumHeight = 0.7;
/** Metres of a degree of latitude. */
const degree = 111_200;

/** Draws a floor into an SVG element; `choose` is called with the place that is pressed. */
export function drawMap(svg, floor, { chosen, steps, choose }) {
  const features = floor.outlines.features;
  const frame = frameOf(features);
  if (!frame) return replace(svg);
  const unit = Math.max(frame.width, frame.height) / 100;
  const margin = 4 * unit;
  const [width, height] = [frame.width + 2 * margin, frame.height + 2 * margin];
  svg.setAttribute("viewBox", `${-margin} ${-margin} ${width} ${height}`);
  // The style lets no map be higher than a part of the window.
  const size = letters / Math.min((svg.clientWidth || 600) / width, (maximumHeight * innerHeight) / height);
  const areas = [];
  const marks = [];
  const places = floor.places.filter(({ location }) => location);
  const ways = (steps ?? []).filter((step) => step.level === floor.level && step.geometry.coordinates.length > 1);
  // The marks that no name may cover.
  const covered = places.map((place) => circle(frame, place.location, 1.4 * unit));
  for (const { geometry, properties } of features) {
    const { kind } = properties;
    if (geometry.type === "Polygon") {
      const d = geometry.coordinates.map((ring) => `M${ring.map(frame.point).join("L")}Z`).join("");
      areas.push(s("path", { class: kind, d, "fill-rule": "evenodd", "stroke-width": unit / 4 }));
    } else if (geometry.type === "MultiLineString") {
      const d = geometry.coordinates.map((line) => `M${line.map(frame.point).join("L")}`).join("");
      areas.push(s("path", { class: kind, d, "stroke-width": unit / 3 }));
    } else if (symbols[kind]) {
      const [x, y] = frame.pair(geometry.coordinates);
      marks.push(s("text", { class: "way", x, y: y + size / 3, "font-size": size }, symbols[kind]));
      covered.push(circle(frame, geometry.coordinates, size / 2));
    }
  }
  for (const { geometry } of ways) {
    const d = `M${geometry.coordinates.map(frame.point).join("L")}`;
    // Below all marks.
    areas.push(s("path", { class: "route", d, "stroke-width": unit }));
  }
  for (const place of places) {
    const isChosen = place.id === chosen;
    const [cx, cy] = frame.pair(place.location);
    const mark = { class: isChosen ? "place chosen" : "place", cx, cy, r: isChosen ? 1.8 * unit : 1.2 * unit };
    marks.push(s("circle", { ...mark, onClick: () => choose(place) }));
  }
  const names = places.map((place) => {
    const [x, y] = frame.pair(place.location);
    return { text: place.title ?? place.name, x, y, isChosen: place.id === chosen };
  });
  names.sort((left, right) => right.isChosen - left.isChosen);
  const edges = [[0, 0, frame.width, 0], [0, 0, 0, frame.height], [frame.width, 0, frame.width, frame.height],
    [0, frame.height, frame.width, frame.height]];
  const written = placeNames(names, {
    pieces: [...linesOf(features, frame), ...edges],
    marks: covered,
    size,
    gap: 2 * unit,
    widthOf: measure(svg, size),
  });
  return replace(svg, areas, marks, written.filter(Boolean).map((name) => nameOf(name, size)));
}

function circle(frame, position, r) {
  const [x, y] = frame.pair(position);
  return { x, y, r };
}

function nameOf({ lines, x, y, turned, anchor }, size) {
  const turn = turned ? { transform: `rotate(-90 ${x} ${y})` } : {};
  const parts = lines.map((text, index) => s("tspan", { x, y: y + index * lineHeight(size) }, text));
  return s("text", { class: "name", "text-anchor": anchor, "font-size": size, ...turn }, parts);
}

/** Measures texts of letters of a size, as the map's font writes them. */
function measure(svg, size) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${letters}px ${getComputedStyle(svg).fontFamily}`;
  return (text) => (pen.measureText(text).width * size) / letters;
}

/** The pieces of all walls and edges of a floor. */
function linesOf(features, frame) {
  const pieces = [];
  for (const { geometry: { type, coordinates } } of features) {
    if (type === "Point") continue;
    for (const line of coordinates) {
      const points = line.map(frame.pair);
      for (const [index, point] of points.slice(1).entries()) pieces.push([...points[index], ...point]);
    }
  }
  return pieces;
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
