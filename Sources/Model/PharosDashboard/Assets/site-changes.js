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

/** What the server takes of a room; what pages do not show stays as it is. */
function documentOf({ id, name, floor, observers, adjacent, beacons, occupancy, fingerprint }) {
  return { id, name, floor, observers, adjacent, beacons, occupancy, fingerprint };
}

/** Makes or replaces rooms and removes others, by their ids, in one request: all of it counts, or none. */
export async function changeRooms(zones, removed = []) {
  await change("POST", "/v1/zones", { zones: zones.map(documentOf), removed });
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

/** Rooms without some of them, which those beside them no longer name; what the site file says of them stays. */
function without(zones, gone) {
  const isGone = (id) => gone.includes(id);
  return zones.filter(({ id }) => !isGone(id)).map((zone) =>
    zone.adjacent?.some(isGone) && !isOfSiteFile(zone)
      ? { ...zone, adjacent: zone.adjacent.filter((id) => !isGone(id)) }
      : zone
  );
}

/**
 * Makes the rooms `after` of the rooms `before`, in one request: all of it counts, or none.
 *
 * Gives the function that brings `before` back, in one request as well.
 */
async function replaceRooms(before, after) {
  const idsOf = (zones) => zones.map(({ id }) => id);
  const others = (zones, ids) => idsOf(zones).filter((id) => !ids.includes(id));
  const changed = after.filter((zone) => !before.includes(zone));
  await changeRooms(changed, others(before, idsOf(after)));
  const kept = idsOf(after.filter((zone) => before.includes(zone)));
  return () => changeRooms(before.filter(({ id }) => !kept.includes(id)), others(after, idsOf(before)));
}

/** Removes a room; gives the function that brings it back. */
export function removeRoom(room, zones) {
  return replaceRooms(zones, without(zones, [room.id]));
}

/** Merges a room into another, which gets its gateways and its neighbours; gives the function that parts them again. */
export function mergeRooms(room, into, zones) {
  const union = (own, more) => [...new Set([...own ?? [], ...more ?? []])];
  const merged = {
    ...into,
    observers: union(into.observers, room.observers),
    adjacent: union(into.adjacent, room.adjacent).filter((id) => id !== into.id),
    // The levels of one part are not those of the whole.
    fingerprint: undefined,
  };
  return replaceRooms(zones, without(zones.map((zone) => (zone.id === into.id ? merged : zone)), [room.id]));
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
 * Makes a room or replaces it, and moves some of its gateways out of their present rooms. One that has no other gateway is
 * removed, since a room is what its gateways hear.
 *
 * Gives the function that brings all rooms back.
 */
export function placeRoom(room, moving, zones) {
  return replaceRooms(zones, vacated([...zones.filter(({ id }) => id !== room.id), room], moving, room.id));
}

/** Moves a gateway into a room, or out of all where `room` is empty; gives the function that moves it back. */
export function moveGateway(id, room, zones) {
  const target = zones.find((zone) => zone.id === room);
  if (!target) return replaceRooms(zones, vacated(zones, [id]));
  if (target.observers.includes(id)) return placeRoom(target, [id], zones);
  return placeRoom({ ...target, observers: [...target.observers, id] }, [id], zones);
}

/** Rooms after some gateways have left all of them but one. */
function vacated(zones, gateways, except) {
  const isLeaving = (id) => gateways.includes(id);
  const left = zones.map((zone) =>
    zone.id !== except && zone.observers.some(isLeaving)
      ? { ...zone, observers: zone.observers.filter((id) => !isLeaving(id)) }
      : zone
  );
  return without(left, left.filter(({ observers }) => !observers.length).map(({ id }) => id));
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
    if (error.status !== 404) {
      await back();
      throw error;
    }
  }
  return async () => {
    if (isListed) await change("PUT", `/v1/observers/${part(id)}`, declared ?? {});
    await back();
  };
}
