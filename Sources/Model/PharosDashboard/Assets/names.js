// What observers, beacons and zones are called, gathered from whatever lists pages load.

import { get, getAll } from "./api.js";
import { tagName } from "./identity.js";

const names = new Map();
const rooms = new Map();

/** Remembers the names of a list's entries. */
export function learn(entries, idOf) {
  for (const entry of entries ?? []) if (entry.name) names.set(idOf(entry), entry.name);
}

/** Remembers the names of a directory: an entry without one loses its name here too. */
export function learnDirectory(entries) {
  for (const { id, name } of entries ?? []) {
    if (name) names.set(id, name);
    else names.delete(id);
  }
}

/** Remembers a new name, or with an empty one that there is none. */
export function rename(id, name) {
  if (name) names.set(id, name);
  else names.delete(id);
}

/** Remembers the rooms of a site. */
export function learnRooms(zones) {
  learn(zones, (zone) => zone.id);
  for (const { id, name } of zones ?? []) rooms.set((name || id).toLowerCase(), name || id);
}

/** The name of an observer, beacon or zone; without one its short identity. */
export function nameOf(id) {
  if (!id) return "";
  return names.get(id) ?? tagName(id);
}

/** Whether it has a name of its own. */
export function isNamed(id) {
  return names.has(id);
}

/** Others that have a name, whatever its case: two things or rooms of one name are hard to tell apart. */
export function namesakes(name, id) {
  const wanted = name.trim().toLowerCase();
  return wanted
    ? [...names].filter(([other, found]) => other !== id && found.toLowerCase() === wanted).map(([other]) => other)
    : [];
}

/** The owner's writing of a room that a venue names: one that differs in case alone is the same room. */
export function ofRoom(name) {
  return rooms.get(name?.toLowerCase()) ?? name;
}

/** A text with names in the place of the identities that it holds; an identity that is a word may be part of a name. */
export function spell(text) {
  let spelled = text;
  for (const [id, name] of names) if (/[:/]/.test(id)) spelled = spelled.replaceAll(id, name);
  return spelled;
}

/** Loads what is called what; what cannot be had stays without names. */
export async function load(signal) {
  const parts = [
    get("/v1/observers", signal).then((body) => learn(body.observers, (entry) => entry.id)),
    get("/v1/zones", signal).then((body) => learnRooms(body.zones)),
    getAll("/v1/beacons?named=true", "beacons", signal).then((rows) => learn(rows, (entry) => entry.id)),
  ];
  await Promise.allSettled(parts);
}
