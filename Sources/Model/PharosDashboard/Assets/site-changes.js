// Changes of rooms and gateways: one function each, with what depends on a thing that is removed.

import { change, get, part } from "./api.js";
import { plural } from "./format.js";
import * as names from "./names.js";

/** Whether the site file declares an entry of a list, so that it is changed there. */
export function isOfSiteFile({ source, declaredBy }) {
  return source === "site" || declaredBy === "site";
}

/** What the buttons that change an entry say of one of the site file. */
export const siteFileHint = "It is declared in the site file; change it there.";

/** Makes a room or replaces it; what pages do not show stays as it is. */
export async function saveRoom({ id, name, floor, observers, adjacent, beacons, occupancy }) {
  await change("PUT", `/v1/zones/${part(id)}`, { name, floor, observers, adjacent, beacons, occupancy });
}

/** What changes when a room is removed, in words. */
export function roomDependents(room, zones) {
  const others = zones.filter((zone) => zone.adjacent?.includes(room.id)).map((zone) => zone.name || zone.id);
  const heard = room.observers.map(names.nameOf).join(", ");
  return [
    room.occupants
      ? `${plural(room.occupants, "thing")} in it will be in no room until another room hears them.`
      : "Nothing is in it now.",
    `${heard} will belong to no room.`,
    others.length ? `It is no longer next to ${others.join(", ")}.` : "",
    "Its past stays in the journal.",
  ].filter(Boolean).join(" ");
}

/** Removes a room; rooms beside it no longer name it, unless the server refuses: then all stays as it was. */
export async function removeRoom(room, zones) {
  const changed = [];
  try {
    const beside = zones.filter((zone) => zone.id !== room.id && zone.adjacent?.includes(room.id));
    for (const zone of beside.filter((zone) => !isOfSiteFile(zone))) {
      await saveRoom({ ...zone, adjacent: zone.adjacent.filter((id) => id !== room.id) });
      changed.push(zone);
    }
    await change("DELETE", `/v1/zones/${part(room.id)}`);
  } catch (error) {
    for (const zone of changed) await saveRoom(zone);
    throw error;
  }
}

/** Names a tag; what else was said of it stays. */
export async function saveTag(id, name) {
  const { measuredPower, interval } = await get(`/v1/beacons/${part(id)}`).catch(() => ({}));
  await change("PUT", `/v1/beacons/${part(id)}`, { name, measuredPower, interval });
}

/** Names a gateway, and puts it into a room; an empty `room` is none, and undefined leaves it where it is. */
export async function saveGateway(id, name, room, zones) {
  if (name) {
    const { declared } = await get(`/v1/observers/${part(id)}`).catch(() => ({}));
    await change("PUT", `/v1/observers/${part(id)}`, { ...declared, name });
  }
  if (room === undefined) return;
  const target = zones.find((zone) => zone.id === room);
  if (target && !target.observers.includes(id)) await saveRoom({ ...target, observers: [...target.observers, id] });
  await leaveRooms(id, zones.filter((zone) => zone.id !== room), zones);
}

/** What changes when a gateway is removed, in words. */
export async function gatewayDependents(id, zones) {
  const { applications = [] } = await get("/v1/applications");
  const lists = await Promise.all(applications.map((row) => get(`/v1/applications/${part(row.id)}/regions`)));
  const regions = lists.flatMap((body) => body.regions ?? []).filter((region) => region.observers?.includes(id));
  const rooms = zones.filter((zone) => zone.observers.includes(id));
  const words = rooms.map((zone) => {
    const name = zone.name || zone.id;
    return zone.observers.length > 1
      ? `${name} goes on with ${plural(zone.observers.length - 1, "gateway")}.`
      : `${name} has no other gateway: the room is removed too.`;
  });
  if (regions.length) words.push(`Regions that still name it: ${regions.map((region) => region.id).join(", ")}.`);
  words.push("It loses its name. If it goes on sending, it is listed again as a new gateway.");
  return words.join(" ");
}

/** Removes a gateway: from its rooms, and its name and acceptance. */
export async function removeGateway({ id }, zones) {
  await leaveRooms(id, zones, zones);
  try {
    await change("DELETE", `/v1/observers/${part(id)}`);
  } catch (error) {
    // Only its room knew it.
    if (error.status !== 404) throw error;
  }
}

/** Takes a gateway out of rooms; a room without another one is removed, since a room is what its gateways hear. */
async function leaveRooms(id, rooms, zones) {
  for (const zone of rooms.filter(({ observers }) => observers.includes(id))) {
    const observers = zone.observers.filter((other) => other !== id);
    if (observers.length) await saveRoom({ ...zone, observers });
    else await removeRoom(zone, zones);
  }
}
