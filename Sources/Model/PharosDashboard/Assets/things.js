// Every tag and person that is configured, heard or located: one entry for each, made of what the server lists.

import { get, getIfAllowed, listIfAllowed, part, serverNow } from "./api.js";
import { byName, plural, seconds } from "./format.js";
import { divide } from "./gateways.js";
import { shortIdentity } from "./identity.js";
import * as names from "./names.js";

/** How often what changes seldom is read again, in ms. */
const slowPeriod = 60000;
/** How far back a thing that is silent is still listed, in ms. */
const storedFor = 86400000;
/** Of how many tags that are heard seldom the page asks what they lack to enter, and how seldom that is, a second. */
const [maximumEntries, seldom] = [20, 0.1];

/** How many of the latest visits are read: those of who stays somewhere are among them. */
const maximumVisits = 500;

/** What the kinds of things are called. */
export const kinds = { tag: "Tag", person: "Person", unknown: "Unknown beacon", other: "Other device" };

/** The things of a site. */
export class Things {
  list = [];
  zones = [];
  applications = [];
  #slowAt = -Infinity;
  #stored = [];

  /** Reads all; with `others` also devices that are no beacons, a row of each of which would be asked for in vain. */
  async load(signal, { others = false } = {}) {
    const all = (path, member) => listIfAllowed(path, member, signal);
    const [observers, zones, tags, beacons, fixes, heard, { visits = [] }, { applications = [] }] = await Promise.all([
      all("/v1/observers", "observers"),
      all("/v1/zones", "zones"),
      all("/v1/tags", "tags"),
      all("/v1/beacons", "beacons"),
      all("/v1/fixes", "fixes"),
      all(others ? "/v1/heard" : "/v1/heard?identified=true", "beacons"),
      getIfAllowed(`/v1/visits?limit=${maximumVisits}`, {}, signal),
      get("/v1/applications", signal),
      this.#loadSlow(signal),
    ]);
    const inside = await Promise.all(
      applications.map(({ id }) => all(`/v1/applications/${part(id)}/states?state=inside`, "states")),
    );
    names.learnDirectory(observers);
    names.learnRooms(zones);
    names.learnDirectory(beacons);
    names.learn(fixes, (row) => row.subject);
    names.learn(this.#stored, (row) => row.subject);
    Object.assign(this, { zones, applications });
    this.list = gather({
      observers,
      zones,
      tags,
      beacons,
      fixes,
      heard,
      visits,
      inside: inside.flat(),
      stored: this.#stored,
    });
    await noteEntries(this.list, signal);
    return this.list;
  }

  async #loadSlow(signal) {
    if (serverNow() - this.#slowAt < slowPeriod) return;
    const [to, from] = [serverNow(), serverNow() - storedFor].map((at) => new Date(at).toISOString());
    const path = `/v1/history/subjects?limit=90&points=24&from=${from}&to=${to}`;
    this.#stored = await listIfAllowed(path, "subjects", signal);
    this.#slowAt = serverNow();
  }
}

/** Makes one thing of all that is known of it under any of its identities. */
function gather({ observers, zones, tags, beacons, fixes, heard, visits, inside, stored }) {
  const { gateways, handsets } = divide(observers, zones, fixes);
  const isGateway = new Set(gateways.map((row) => row.id));
  const isDown = new Set(observers.filter((row) => row.isUp === false).map((row) => row.id));
  const things = new Map();
  const byIdentity = new Map();
  const thing = (identities, kind) => {
    let found = identities.map((id) => byIdentity.get(id)).find(Boolean);
    if (!found) {
      found = { id: identities[0], kind, identities: [], regions: [], hearings: [], lastHeard: null };
      things.set(found.id, found);
    }
    for (const id of identities) byIdentity.set(id, found);
    return found;
  };
  for (const { beacon, hearings, ...tag } of tags) {
    const found = Object.assign(thing([beacon], "tag"), { zone: tag.zone, zoneState: tag.zoneState });
    Object.assign(found, { since: tag.since, probability: tag.probability });
    for (const hearing of hearings ?? []) add(found, hearing.observer, hearing.level, hearing.lastHeard);
  }
  for (const { id, source, battery, lastHeard } of beacons) {
    const found = Object.assign(thing([id], "tag"), { source, battery });
    note(found, lastHeard);
  }
  for (const row of handsets) {
    Object.assign(thing([row.id], "person"), {
      lastHeard: row.lastHeard,
      isUp: row.isUp,
      declaredBy: row.declaredBy,
    });
  }
  for (const fix of fixes) {
    if (isGateway.has(fix.subject)) continue;
    const found = thing([fix.subject], fix.subjectKind === "beacon" ? "tag" : "person");
    Object.assign(found, { fix, room: names.ofRoom(fix.room ?? fix.place) });
    note(found, fix.time);
  }
  for (const entry of heard) {
    const address = entry.address && `mac:${entry.address}`;
    const identities = [...entry.identities ?? [], address, entry.pseudonym].filter(Boolean);
    if (!identities.length) continue;
    const found = thing(identities, entry.registered ? "tag" : entry.identities?.length ? "unknown" : "other");
    found.identities = [...new Set([...found.identities, ...entry.identities ?? []])];
    found.address ??= entry.address;
    found.airName ??= entry.name;
    found.company ??= entry.iBeaconCompany;
    if (found.company !== undefined && found.kind === "other") found.kind = "unknown";
    found.rate = Math.max(found.rate ?? 0, entry.advertsPerSecond ?? 0);
    add(found, entry.observer, entry.rssi, entry.lastHeard);
  }
  // The newest decision comes first: of each subject it counts, and a stay that has not ended is where it is.
  for (const visit of visits.toReversed()) {
    const isOpen = !(Date.parse(visit.departureDate) <= serverNow());
    const found = byIdentity.get(visit.subject);
    if (found) found.stay = isOpen && visit.place ? visit : null;
  }
  for (const { subject, region } of inside) byIdentity.get(subject)?.regions.push(region);
  for (const row of stored) {
    if (isGateway.has(row.subject)) continue;
    const found = thing([row.subject], row.subjectKind === "beacon" ? "tag" : "person");
    found.storedSince = row.first;
    if (found.lastHeard) continue;
    // The end of the hour that is still being stored is no time at which it was heard.
    if (Date.parse(row.last) <= serverNow()) found.lastHeard = row.last;
    found.lastZone = row.zones.findLast(Boolean) || null;
  }
  const list = [...things.values()];
  for (const found of list) finish(found, isGateway, isDown);
  const namesakes = new Map();
  for (const { name } of list) namesakes.set(name.toLowerCase(), (namesakes.get(name.toLowerCase()) ?? 0) + 1);
  for (const found of list) {
    const twins = namesakes.get(found.name.toLowerCase());
    if (twins > 1) found.under += ` · ${twins} have this name`;
  }
  return list.sort((a, b) => byName(a.name, b.name));
}

function note(thing, at) {
  if (at && !(thing.lastHeard > at)) thing.lastHeard = at;
}

function add(thing, observer, level, at) {
  const known = thing.hearings.find((entry) => entry.observer === observer);
  if (known) known.lastHeard = known.lastHeard > at ? known.lastHeard : at;
  else thing.hearings.push({ observer, level, lastHeard: at });
  note(thing, at);
}

function finish(thing, isGateway, isDown) {
  const own = thing.hearings.filter((entry) => isGateway.has(entry.observer));
  thing.hearings = (own.length ? own : thing.hearings).sort((a, b) => (b.level ?? -999) - (a.level ?? -999));
  // What a gateway heard before it went down says nothing of now.
  thing.hearings = thing.hearings.filter((entry) => !isDown.has(entry.observer));
  thing.best = thing.hearings[0] ?? null;
  thing.name = names.isNamed(thing.id) ? names.nameOf(thing.id) : thing.airName || names.nameOf(thing.id);
  const short = shortIdentity(thing.id);
  thing.under = thing.name === short ? kinds[thing.kind] : `${kinds[thing.kind]} · ${short}`;
  thing.where = whereOf(thing);
  if (!thing.zone && thing.stay) thing.since = thing.stay.arrivalDate;
  thing.text = [thing.name, thing.id, thing.address, thing.where, ...thing.identities].join(" ").toLowerCase();
}

/** Where a thing is, in a few words: its room, else the venue's room, place or floor, else its regions. */
function whereOf({ zone, zoneState, lastZone, fix, room, stay, regions }) {
  if (zone) return zoneState === "unmonitored" ? `${names.nameOf(zone)}, last known` : names.nameOf(zone);
  if (room) return room;
  if (stay) return stay.place.name || stay.place.id;
  if (fix) return fix.building === undefined ? "outdoors" : fix.floorName || `floor ${fix.level}`;
  if (regions.length) return [...new Set(regions)].join(", ");
  return lastZone ? `${names.nameOf(lastZone)}, last known` : "";
}

/** Notes of tags that are heard seldom what they lack to enter. */
async function noteEntries(list, signal) {
  const waiting = list.filter(({ kind, identities, rate, zone }) =>
    kind === "tag" && identities.length && !zone && !(rate >= seldom)
  );
  await Promise.all(
    waiting.slice(0, maximumEntries).map(async (thing) => {
      const tracks = await listIfAllowed(`/v1/tracks?beacon=${part(thing.identities[0])}`, "tracks", signal);
      const states = tracks.flatMap((track) => track.regions);
      if (states.some((state) => state.state === "inside")) return;
      thing.entry = states.map((state) => state.entry).filter(Boolean).sort((a, b) => b.heard - a.heard)[0];
    }),
  );
}

/**
 * What a tag that is outside lacks: "heard 3 times in 2 min 0 s; enters with the next". An advert far from the others
 * counts alone, however often the tag was heard before.
 */
export function entryText({ entry }) {
  if (!entry) return "";
  const heard = entry.heard > 1
    ? `heard ${plural(entry.heard, "time")} in ${seconds(entry.span)}`
    : "one advert counts so far";
  if (entry.nextIsEnough) return `${heard}; enters with the next in regular distance`;
  return `${heard}; enters with ${plural(entry.needed, "advert")} within ${seconds(entry.window)}`;
}

/** The setting that reads an iBeacon's layout under another company; empty where there is nothing to set. */
export function companyText({ company, identities }) {
  if (company === undefined || identities.length) return "";
  const number = company.toString(16).padStart(4, "0");
  return `iBeacon layout of company ${number}; iBeaconCompanies: [0x${number}] in the site file reads it`;
}
