// Changes of rooms and gateways: one function each, with what depends on a thing that is removed.

import { change, get, getText, part } from "./api.js";
import { plural } from "./format.js";
import * as names from "./names.js";

/** What a document over HTTP may hold that no list shows: a change on a page would take it away. */
const hidden = { zones: /\b(beacons|occupancy):/, observers: /\b(rssiOffset|liveness|lag):/ };

/** Refuses to replace an entry of which the site holds more than the pages know. */
async function guard(section, id) {
  const [, rest = ""] = (await getText("/v1/site")).split(new RegExp(`^${section}:\n`, "m"));
  const entries = rest.split(/^(?=\S)/m);
  const own = [];
  for (const entry of entries) {
    if (!entry.startsWith("-")) break;
    own.push(entry);
  }
  const entry = own.find((text) => [id, `'${id}'`].includes(/^- \{?id: ('[^']*'|[^,}\n]*)/.exec(text)?.[1]));
  const found = hidden[section].exec(entry ?? "")?.[1];
  if (found) {
    throw new Error(`${names.nameOf(id)} has ${found} that was set over HTTP or in the site file: change it there.`);
  }
}

/** Makes a room or replaces it. */
export async function saveRoom({ id, name, observers, floor, adjacent }) {
  await guard("zones", id);
  const document = { name, observers };
  if (floor !== undefined) document.floor = floor;
  if (adjacent?.length) document.adjacent = adjacent;
  await change("PUT", `/v1/zones/${part(id)}`, document);
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
    for (const zone of zones.filter(({ id, adjacent }) => id !== room.id && adjacent?.includes(room.id))) {
      await saveRoom({ ...zone, adjacent: zone.adjacent.filter((id) => id !== room.id) });
      changed.push(zone);
    }
    await change("DELETE", `/v1/zones/${part(room.id)}`);
  } catch (error) {
    for (const zone of changed) await saveRoom(zone);
    throw error;
  }
}

/** Names a gateway, and puts it into a room; an empty `room` is none, and undefined leaves it where it is. */
export async function saveGateway(id, name, room, zones) {
  if (name) {
    await guard("observers", id);
    await change("PUT", `/v1/observers/${part(id)}`, { name });
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
