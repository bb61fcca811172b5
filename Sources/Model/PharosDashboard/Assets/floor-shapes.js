// A floor's outlines as a canvas draws them: GeoJSON made into paths of metres, and the image of its plan.

import { get, send } from "./api.js";
import { symbols } from "./floor-drawing.js";
import { around } from "./floor-frame.js";

/** What stands at a point of a floor. */
const pointKinds = new Set([...Object.keys(symbols), "beacon", "observer", "accessPoint"]);

/** Half the width of the room for the name of a place, in metres. */
const nameRoom = 6;

/** Fetches what is drawn of a floor; what cannot be had is left out, since the marks say more than the walls. */
export async function loadShapes(floor, signal) {
  const [outlines, image] = await Promise.all([
    get(floor.outlines, signal).catch(() => null),
    floor.plan ? loadImage(floor.plan.image, signal).catch(() => null) : null,
  ]);
  const shapes = outlines ? shapesOf(outlines, floor.frame) : shapesOf({ features: [] }, floor.frame);
  if (image) shapes.image = { bitmap: image, ...placeOf(floor.plan, floor.frame) };
  return shapes;
}

async function loadImage(path, signal) {
  const response = await send(path, { signal });
  if (!response.ok) throw new Error(`The plan cannot be had: ${response.status}.`);
  return createImageBitmap(await response.blob());
}

/** Paths in metres, x to the east and y to the north, of a feature collection. */
export function shapesOf({ features }, frame) {
  const shapes = {
    walkable: new Path2D(),
    obstacles: new Path2D(),
    walls: new Path2D(),
    points: [],
    names: [],
    image: null,
    hasWalls: false,
  };
  const boxes = [];
  // One outline around all of a floor is the floor: its name is no room's.
  const hasRooms = features.filter(({ geometry }) => geometry.type === "Polygon").length > 1;
  for (const { geometry, properties } of features) {
    const { kind } = properties;
    if (geometry.type === "Polygon") {
      const box = addRings(kind === "walkable" ? shapes.walkable : shapes.obstacles, geometry.coordinates, frame);
      boxes.push(box);
      if (properties.name && hasRooms) shapes.names.push({ text: properties.name, ...box });
    } else if (geometry.type === "MultiLineString") {
      shapes.hasWalls = true;
      for (const line of geometry.coordinates) boxes.push(addLine(shapes.walls, line, frame));
    } else if (kind === "place") {
      const [longitude, latitude] = geometry.coordinates;
      const [x, y] = [frame.x(longitude), frame.y(latitude)];
      const room = { left: x - nameRoom, right: x + nameRoom, bottom: y - nameRoom / 3, top: y + nameRoom / 3 };
      shapes.names.push({ text: properties.name, ...room });
    } else if (pointKinds.has(kind)) {
      const [longitude, latitude] = geometry.coordinates;
      const place = { x: frame.x(longitude), y: frame.y(latitude) };
      shapes.points.push({ kind, id: properties.id ?? "", isBadge: kind in symbols, ...place });
    }
  }
  shapes.bounds = around(boxes.filter(Boolean));
  return shapes;
}

function addRings(path, rings, frame) {
  let box = null;
  for (const [index, ring] of rings.entries()) {
    const own = addLine(path, ring, frame);
    path.closePath();
    if (index === 0) box = own;
  }
  return box;
}

function addLine(path, line, frame) {
  const places = line.map(([longitude, latitude]) => ({ x: frame.x(longitude), y: frame.y(latitude) }));
  for (const [index, { x, y }] of places.entries()) {
    if (index) path.lineTo(x, y);
    else path.moveTo(x, y);
  }
  return around(places);
}

/** How an image lies: where its left upper corner is, and where one pixel to the right and one down lead, in metres. */
function placeOf({ width, height, corners }, frame) {
  const [start, right, , below] = corners.map(([longitude, latitude]) => ({
    x: frame.x(longitude),
    y: frame.y(latitude),
  }));
  return {
    start,
    right: { x: (right.x - start.x) / width, y: (right.y - start.y) / width },
    down: { x: (below.x - start.x) / height, y: (below.y - start.y) / height },
    width,
    height,
  };
}
