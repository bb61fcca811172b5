// Which observers are gateways, and which of them are down: handsets come and go, gateways should not.

import { serverNow } from "./api.js";
import { instant } from "./format.js";

/** A radio that is not listed and has been silent for so many ms was moved or switched off. */
const expectedFor = 3600000;
/** How long a level of a beacon counts as present, in ms. */
const present = 10000;
/** The handsets that this page has seen located: they stay handsets while they are silent. */
const located = new Set();

/** Whether an identifier is that of an app on a handset: those are UUIDs, while gateways have addresses and names. */
function isAppIdentifier(id) {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}

/**
 * Divides observers: `{ gateways, handsets }`.
 *
 * What a room lists is a gateway. Of the others those are handsets that are located, or have the identifier of an app.
 */
export function divide(observers, zones, fixes) {
  for (const fix of fixes) if (fix.subjectKind === "observer") located.add(fix.subject);
  const placed = new Set(zones.flatMap((zone) => zone.observers ?? []));
  const isHandset = ({ id }) => !placed.has(id) && (located.has(id) || isAppIdentifier(id));
  return {
    gateways: observers.filter((row) => !isHandset(row)),
    handsets: observers.filter(isHandset),
  };
}

/** The rooms that a gateway hears, in words. */
export function roomsOf(id, zones) {
  return zones.filter((zone) => zone.observers.includes(id)).map((zone) => zone.name || zone.id).join(", ");
}

/** The gateways that should be up: those that are listed, and others until an hour after their last report. */
export function expected(gateways, now) {
  return gateways.filter((row) => row.listed || row.isUp || now - instant(row.lastHeard) < expectedFor);
}

/** Whether observers with an identifier like this may be gateways, before anything else is known of them. */
export function mayBeGateway(id) {
  return !isAppIdentifier(id) && !located.has(id);
}

/** The beacon that is loudest at a gateway now, of what it hears: the tag that is held to it; null for none. */
export function loudest(heard, now = serverNow()) {
  const levelOf = (row) => row.rssi ?? row.level;
  const audible = heard.filter((row) => levelOf(row) < 0 && now - instant(row.lastHeard) < present);
  return audible.reduce((best, row) => (best && levelOf(best) >= levelOf(row) ? best : row), null);
}
