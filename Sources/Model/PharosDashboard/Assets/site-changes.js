// Changes of rooms and gateways: one function each, with what depends on a thing that is removed.

import { change, get, part } from "./api.js";
import { listed, plural } from "./format.js";
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

/** The notification rules about a room, as applications have them. */
async function rulesOf(room) {
  const { applications = [] } = await get("/v1/applications").catch(() => ({}));
  const lists = await Promise.all(
    applications.map(({ id }) => get(`/v1/applications/${part(id)}/notifications`).catch(() => ({}))),
  );
  return lists.flatMap((body) => body.notifications ?? []).filter((rule) => rule.zone === room.id);
}

/** What changes when a room is removed, in words. */
export async function roomDependents(room, zones) {
  const nameOf = (zone) => zone.name || zone.id;
  const others = zones.filter((zone) => zone.id !== room.id && zone.adjacent?.includes(room.id)).map(nameOf);
  const isElsewhere = (id) => zones.some((zone) => zone.id !== room.id && zone.observers.includes(id));
  const homeless = room.observers.filter((id) => !isElsewhere(id)).map(names.nameOf);
  const rules = await rulesOf(room);
  return [
    room.occupants
      ? `${plural(room.occupants, "thing")} in it will be in no room until another room hears them.`
      : "Nothing is in it now.",
    homeless.length ? `${listed(homeless)} will belong to no room.` : "",
    others.length ? `It is no longer next to ${listed(others)}.` : "",
    rules.length ? `${plural(rules.length, "notification")} about it will never fire.` : "",
    "Its past stays in the journal.",
  ].filter(Boolean).join(" ");
}

/**
 * Removes a room; rooms beside it no longer name it, unless the server refuses: then all stays as it was.
 *
 * Gives the function that brings it back as it was.
 */
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
  return () => restoreRooms([room, ...changed]);
}

/** Makes rooms as they were; the first pass has no neighbours yet, which must exist to be named. */
async function restoreRooms(rooms) {
  const ids = new Set(rooms.map(({ id }) => id));
  for (const room of rooms) await saveRoom({ ...room, adjacent: (room.adjacent ?? []).filter((id) => !ids.has(id)) });
  for (const room of rooms) if (room.adjacent?.some((id) => ids.has(id))) await saveRoom(room);
}

/** Merges a room into another, which gets its gateways and its neighbours; gives the function that parts them again. */
export async function mergeRooms(room, into, zones) {
  const union = (own, more) =>
    [...new Set([...own ?? [], ...more ?? []])].filter((id) => id !== room.id && id !== into.id);
  const merged = {
    ...into,
    observers: [...new Set([...into.observers, ...room.observers])],
    adjacent: union(into.adjacent, room.adjacent),
  };
  await saveRoom(merged);
  try {
    const restore = await removeRoom(room, zones.map((zone) => (zone.id === into.id ? merged : zone)));
    return async () => {
      await saveRoom({ ...into, adjacent: (into.adjacent ?? []).filter((id) => id !== room.id) });
      await restore();
      await saveRoom(into);
    };
  } catch (error) {
    await saveRoom(into);
    throw error;
  }
}

/** The members of the words that people are shown about a beacon or a region. */
export const captionMembers = ["title", "description", "address", "picture", "link", "properties"];

/** Names a tag, or takes its name back where `name` is empty; what else was said of it stays. */
export async function saveTag(id, name) {
  const beacon = await get(`/v1/beacons/${part(id)}`).catch(() => ({}));
  const document = name ? { name } : {};
  for (const member of ["measuredPower", "interval", ...captionMembers]) {
    if (beacon[member] !== undefined) document[member] = beacon[member];
  }
  if (Object.keys(document).length) await change("PUT", `/v1/beacons/${part(id)}`, document);
  else await change("DELETE", `/v1/beacons/${part(id)}`);
  names.rename(id, name);
}

/** Names a gateway or a handset, or takes its name back where `name` is empty; it stays accepted. */
export async function saveObserver(id, name) {
  const { declared } = await get(`/v1/observers/${part(id)}`).catch(() => ({}));
  await change("PUT", `/v1/observers/${part(id)}`, { ...declared, name: name || undefined });
  names.rename(id, name);
}

/**
 * Moves a gateway into a room; an empty `room` is none. A room that it leaves without another gateway is removed.
 *
 * Gives the function that moves it back.
 */
export async function moveGateway(id, room, zones) {
  const left = zones.filter((zone) => zone.id !== room && zone.observers.includes(id));
  const target = zones.find((zone) => zone.id === room);
  if (target && !target.observers.includes(id)) await saveRoom({ ...target, observers: [...target.observers, id] });
  await leaveRooms(id, left, zones);
  return async () => {
    await restoreRooms(left);
    if (target && !target.observers.includes(id)) await saveRoom(target);
  };
}

/** What a gateway's move means for the rooms that it leaves, in words; empty where it leaves none. */
export function moveWords(id, room, zones) {
  const left = zones.filter((zone) => zone.id !== room && zone.observers.includes(id));
  const empty = left.filter(({ observers }) => observers.every((other) => other === id));
  const nameOf = (zone) => zone.name || zone.id;
  return [
    left.length ? `${names.nameOf(id)} moves out of ${listed(left.map(nameOf))}.` : "",
    empty.length ? `${listed(empty.map(nameOf))} has no other gateway and is removed.` : "",
  ].filter(Boolean).join(" ");
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

/** Removes a gateway: from its rooms, and its name and acceptance; gives the function that brings it back. */
export async function removeGateway({ id, declared, listed: isListed }, zones) {
  const back = await moveGateway(id, "", zones);
  try {
    await change("DELETE", `/v1/observers/${part(id)}`);
  } catch (error) {
    // Only its room knew it.
    if (error.status !== 404) throw error;
  }
  return async () => {
    if (isListed) await change("PUT", `/v1/observers/${part(id)}`, declared ?? {});
    await back();
  };
}

/** Takes a gateway out of rooms; a room without another one is removed, since a room is what its gateways hear. */
async function leaveRooms(id, rooms, zones) {
  for (const zone of rooms.filter(({ observers }) => observers.includes(id))) {
    const observers = zone.observers.filter((other) => other !== id);
    if (observers.length) await saveRoom({ ...zone, observers });
    else await removeRoom(zone, zones);
  }
}
