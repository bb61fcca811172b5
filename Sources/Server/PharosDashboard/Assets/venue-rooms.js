// The rooms that venues draw: which named outline of a floor is around a fix.

import { get } from "./api.js";

/** The features of floors by the path of their outlines: loaded once, for the map and for lists alike. */
const floors = new Map();
/** The path of a floor's outlines by venue, building and level. */
let paths = new Map();

/** Takes the venues that the server has. */
export function learnVenues(venues) {
  paths = new Map(venues.flatMap((venue) =>
    venue.buildings.flatMap((building) =>
      building.floors.map((floor) => [keyOf(venue.id, building.id, floor.level), floor.outlines])
    )
  ));
}

function keyOf(venue, building, level) {
  return JSON.stringify([venue, building, level]);
}

/** Loads what is drawn of a floor, once; a failure is forgotten, so that the next call tries again. */
export async function loadOutlines(path, signal) {
  if (!floors.has(path)) floors.set(path, await get(path, signal));
  return floors.get(path);
}

/** Loads the floors that fixes are on; a floor that cannot be had leaves its fixes without a room. */
export async function loadRooms(fixes, signal) {
  const wanted = new Set(fixes.map(pathOf).filter((path) => path && !floors.has(path)));
  await Promise.all([...wanted].map((path) => loadOutlines(path, signal).catch(() => null)));
}

function pathOf({ venue, building, level }) {
  return building === undefined ? null : paths.get(keyOf(venue, building, level)) ?? null;
}

/** The name of the smallest room of the venue around a fix; null outdoors, between rooms and while it is not loaded. */
export function roomOf(fix) {
  const outlines = floors.get(pathOf(fix))?.features.filter(({ geometry }) => geometry.type === "Polygon") ?? [];
  // One outline around all of a floor is the floor.
  if (outlines.length < 2) return null;
  const around = outlines.filter(({ geometry, properties }) =>
    properties.name && geometry.coordinates.filter((ring) => isIn(ring, fix)).length === 1
  );
  return around.sort((a, b) => areaOf(a) - areaOf(b))[0]?.properties.name ?? null;
}

/** Whether a place is within a ring: the number of edges that a ray to the east crosses is odd. */
function isIn(ring, { longitude, latitude }) {
  let isInside = false;
  for (const [index, [x, y]] of ring.entries()) {
    const [fromX, fromY] = ring.at(index - 1);
    if ((y > latitude) === (fromY > latitude)) continue;
    if (longitude < x + (latitude - y) * (fromX - x) / (fromY - y)) isInside = !isInside;
  }
  return isInside;
}

/** The area of an outline in square degrees: enough to compare those of one floor. */
function areaOf({ geometry: { coordinates: [ring] } }) {
  return Math.abs(ring.reduce((sum, [x, y], index) => sum + ring.at(index - 1)[0] * y - x * ring.at(index - 1)[1], 0));
}
