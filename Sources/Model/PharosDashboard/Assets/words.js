// Events in words: what a list says in one line. The whole reason comes from the server.

import { nameOf, spell } from "./names.js";
import { metres, percent, seconds } from "./format.js";
import { shortIdentity } from "./identity.js";

const stateWords = {
  unknown: "not known yet",
  inside: "inside",
  outside: "outside",
  unmonitored: "not monitored: its gateway is silent",
};

const rules = {
  samples: "enough samples in time",
  level: "the level stayed below the exit level",
  adaptiveSilence: "a silence too long for this beacon",
  fixedSilence: "a silence as long as the fixed time-out",
  neverHeard: "a live gateway has heard none of it",
  observerOutage: "its gateway fell silent",
  scanOff: "its gateway stopped scanning",
  recovery: "its gateway is back",
  alreadyInside: "another beacon or gateway settles it",
  assumed: "given when monitoring began",
  displayOn: "a display was turned on",
  requested: "a client asked",
  regionChange: "the region was changed",
  eviction: "the gateway hears more than is kept",
  position: "its position, surely enough and for long enough",
  crossing: "its way between two fixes passed through",
  nested: "an area within this one decides it",
  positionLost: "it is no longer located",
};

/** The rule of an evidence in a few words. */
export function ruleWords(rule) {
  return rules[rule] ?? plain(rule ?? "");
}

/** The words of a name that is not known here: those of `regionChange`, or of `beacon.battery`. */
function plain(name) {
  return name.replace(/[.A-Z]/g, (mark) => ` ${mark.replace(".", "").toLowerCase()}`);
}

/** A state in words. */
export function stateWord(state) {
  return stateWords[state] ?? state ?? "";
}

/** What a mark says about a state: its class and its label. */
export function stateTone(state) {
  return { inside: "good", outside: "off", unmonitored: "warn" }[state] ?? "";
}

const writers = {
  "region.enter": (e, d) => ["good", `${who(e)} entered ${d.region}`],
  "region.exit": (
    e,
    d,
  ) => ["off", `${who(e)} left ${d.region}${d.duration > 0 ? ` after ${seconds(d.duration)}` : ""}`],
  "region.state": (e, d) =>
    d.answer
      ? ["", `${who(e)} is ${d.to} for ${d.region} (asked)`]
      : [stateTone(d.to), `${d.region}: ${who(e)} is ${stateWord(d.to)}`],
  "region.unmonitored": (e, d) => ["warn", `${d.region}: ${who(e)} is not monitored, its gateway is silent`],
  "region.holdExceeded": (e, d) => ["warn", `${d.region}: ${who(e)} has been unmonitored for too long`],
  "region.limitExceeded": (_, d) => ["bad", `${d.application}: region ${d.refused} refused, ${d.limit} is the limit`],
  "zone.enter": (
    e,
    d,
  ) => ["good", `${who(e)} came to ${nameOf(d.to ?? d.zone)}${d.from ? ` from ${nameOf(d.from)}` : ""}`],
  "zone.exit": (e, d) => ["off", `${who(e)} left ${nameOf(d.from ?? d.zone)}`],
  "zone.unmonitored": (e, d) => ["warn", `${nameOf(d.zone)}: ${who(e)} is not monitored, its gateway is silent`],
  "zone.monitored": (e, d) => ["good", `${nameOf(d.zone)}: ${who(e)} is monitored again`],
  "zone.holdExceeded": (e, d) => ["warn", `${nameOf(d.zone)}: ${who(e)} has been unmonitored for too long`],
  "observer.online": (e) => ["good", `${who(e)} is heard`],
  "observer.offline": (
    e,
    d,
  ) => ["warn", `${who(e)} fell silent${d.allowedGap ? ` (${seconds(d.allowedGap)} allowed)` : ""}`],
  "observer.restarted": (e) => ["", `${who(e)} restarted`],
  "observer.quarantined": (e) => ["warn", `${who(e)} is not accepted yet: see Gateways`],
  "beacon.battery": (e, d) => ["", `${who(e)} has a battery of ${(d.millivolts / 1000).toFixed(2)} V`],
  "clock.stepped": (_, d) => ["warn", `The server's clock was set by ${seconds(d.step)}`],
  "zone.occupancy": (_, d) => [
    d.direction === "above" ? "warn" : "",
    `${nameOf(d.zone)} has ${d.count} tags, ${d.direction} its threshold`,
  ],
  "visit.arrive": (e, d) => ["good", `${who(e)} stays at ${placeName(d)}`],
  "visit.depart": (e, d) => ["off", `${who(e)} left ${placeName(d)}${stayOf(d)}`],
  "positioning.state": (e, d) => [
    { accuratePositioning: "good", degradedPositioning: "warn" }[d.state] ?? "off",
    `${who(e)}: ${positioningWords[d.state] ?? plain(d.state ?? "")}`,
  ],
  "scan.requested": (e, d) => ["", `${who(e)} is asked for a scan: ${plain(d.reason ?? "")}`],
  guidance: (e, d) => [guidanceTones[d.status] ?? "", `${who(e)} ${guidanceText(d)}`],
  "authorisation.changed": (e, d) => ["", `${d.application}: ${who(e)} is now ${permission(d.to)}`],
  notification: (e, d) => ["", `Notice for ${who(e)}: ${d.text ?? d.rule ?? ""}`],
  fix: (e, d) => ["", `${who(e)} was located ${placeOf(d)}, ±${metres(d.horizontalAccuracy)}`],
  ranging: (e, d) => ["", `${who(e)} ranged ${d.beacons?.length ?? 0} of ${shortIdentity(d.constraint)}`],
};

const positioningWords = {
  notPositioning: "its camera gives no position",
  degradedPositioning: "its camera positions it worse than usual",
  accuratePositioning: "its camera positions it accurately",
};

const guidanceTones = { started: "good", arrived: "good", lost: "warn", held: "warn", ended: "off" };

function guidanceText({ status, destination: place, instruction, ...to }) {
  const destination = place || nameOf(to.destinationObserver ?? to.destinationBeacon) || "a subject";
  const next = instruction ? `: ${instruction}` : "";
  return {
    started: `is guided to ${destination}${next}`,
    step: `goes to ${destination}${next}`,
    rerouted: `has a new route to ${destination}${next}`,
    lost: `has no way to ${destination}${next}`,
    held: `waits for the way to ${destination}${next}`,
    arrived: `arrived at ${destination}`,
    ended: `is no longer guided to ${destination}`,
  }[status] ?? `${status} to ${destination}`;
}

/** The place of a visit in a few words. */
function placeName({ place, floorName }) {
  return place?.name || place?.id || (floorName ? `a place on ${floorName}` : "a place");
}

function stayOf({ arrivalDate, departureDate }) {
  const stay = (Date.parse(departureDate) - Date.parse(arrivalDate)) / 1000;
  return stay > 0 ? ` after ${seconds(stay)}` : "";
}

function who(event) {
  return nameOf(event.subject) || "Someone";
}

/** Where a fix is, in a few words. */
function placeOf(data) {
  return data.building === undefined ? "outdoors" : `on ${data.floorName || `floor ${data.level}`}`;
}

/** The kind of an event without its prefix. */
export function kindOf(event) {
  return (event.type ?? "").replace(/^pharos\./, "");
}

/** A number and its unit, which stay on one line. */
const measure = /(\d) (ms|s|min|h|d|V)\b/g;

/** One line about an event: `{ tone, text }`. */
export function headline(event) {
  const kind = kindOf(event);
  const [tone, text] = writers[kind]?.(event, event.data ?? {}) ?? ["", `${who(event)}: ${plain(kind)}`];
  return { tone, text: text.replace(measure, "$1\u00a0$2") };
}

/**
 * The server's reason of an event with names in the place of identities.
 *
 * The identity of a room may be a word: it is taken for the room only where the event is about rooms.
 */
export function reasonText(event, text) {
  const { from, to, zone, runnerUp } = event.data ?? {};
  const zones = kindOf(event).startsWith("zone.") ? [from, to, zone, runnerUp?.zone] : [];
  let spelled = spell(text);
  for (const id of new Set(zones.filter(Boolean))) {
    const word = id.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    spelled = spelled.replace(new RegExp(`(?<![\\p{L}\\p{N}-])${word}(?![\\p{L}\\p{N}-])`, "gu"), () => nameOf(id));
  }
  return spelled;
}

/** An authorisation in words. */
export function permission(state) {
  return {
    notDetermined: "not determined",
    denied: "denied",
    restricted: "restricted",
    whenInUse: "allowed while a stream is open",
    always: "always allowed",
  }[state] ?? state;
}

/** A chance in words. */
export function sure(probability) {
  return typeof probability === "number" ? `${percent(probability)} sure` : "";
}
