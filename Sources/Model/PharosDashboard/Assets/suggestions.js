// Suggested names and beacons of a new region, zone or room.

import { mayBeGateway } from "./gateways.js";
import { parseIdentity } from "./identity.js";

/** What most regions of the site are about; without any, what those who hear a beacon are: gateways hear tags. */
export function usualSubject(applications, observers = []) {
  const regions = applications.flatMap((application) => application.list ?? []);
  const aboutBeacons = regions.filter((region) => region.subject === "beacon");
  if (regions.length) return aboutBeacons.length > regions.length / 2 ? "beacon" : "observer";
  return observers.some(mayBeGateway) ? "beacon" : "observer";
}

/** An identifier made of a name: “Room 1” is `room-1`, and “Théâtre” is `theatre`: a letter loses its accent only. */
export function identifierOf(name) {
  const plain = name.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
  return plain.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 40);
}

/** The identifier, or the first with a number behind it that is not taken. */
export function unusedIdentifier(identifier, inUse) {
  if (!inUse.has(identifier)) return identifier;
  let number = 2;
  while (inUse.has(`${identifier}-${number}`)) number += 1;
  return `${identifier}-${number}`;
}

/** The members of a region that say which beacons are meant: this one alone, or all of its sort. */
export function constraintOf(identity, isWide = false) {
  const { uuid, major, minor, namespace, instance, mac } = parseIdentity(identity) ?? {};
  if (uuid) return isWide ? { uuid } : { uuid, major, minor };
  if (namespace) return isWide ? { namespace } : { namespace, instance };
  return mac ? { mac } : {};
}

/** An identifier for a region of beacons without a name. */
export function regionIdentifier({ uuid, major, minor, namespace, mac }, subject) {
  const word = subject === "beacon" ? "tag" : "place";
  if (mac) return `${word}-${mac.replaceAll(":", "")}`;
  if (major !== undefined && minor !== undefined) return `${word}-${major}-${minor}`;
  return `${word}s-${(uuid ?? namespace ?? "").slice(0, 8).toLowerCase()}`;
}
