// Who is where on which floor: venues with their floors, and for each subject its last fix and the way to it.

import { schemas, serverNow } from "./api.js";
import { decimal, metres, percent, plural, seconds } from "./format.js";
import { around, Frame } from "./floor-frame.js";
import { fencesOn } from "./floor-overlays.js";
import { loadShapes } from "./floor-shapes.js";
import { nameOf, ofRoom } from "./names.js";
import { empty } from "./parts.js";
import { kindOf } from "./words.js";

/** A fix this old, in ms, is shown as one that may no longer hold; five times older, it is not shown. */
const staleAfter = 15000;
const goneAfter = 5 * 60000;
/** How many places of a way are kept, and for how long, in ms. */
export const trailSpan = 20000;
const maximumPlaces = 24;
/** A trail does not note steps shorter than this, in degrees of latitude: two thirds of a metre. */
const minimumStep = 6e-6;
/** Around a floor so many metres of outdoors belong to its picture. */
const outdoors = 60;
/** The members of a fix by their names, as the server describes them; none until it was asked. */
let members = {};

/** Fixes on the floors of venues. */
export class FloorSource {
  title = "Floor plan";
  note = "Where each tag and person is now.";
  isFloorPlan = true;
  /** What keeps a live stream of fixes open while this is shown, and how often a second each subject may move. */
  streamQuery = "?kind=fix&rate=5";
  floors = new Map();
  /** The geofences of all applications. */
  fences = [];
  /** The gateways that are down. */
  down = new Set();
  /** Changes when a floor came or its shapes were loaded. */
  version = 0;
  #venues = "";
  #live = new Map();
  /** What is shown instead while the user looks back: `{ at, marks }`. */
  #past = null;

  /** The located subjects by their identities: where they are, or were. */
  get subjects() {
    return this.#past?.marks ?? this.#live;
  }

  /** The time that is shown, in ms: now, or the past time that the user chose. */
  get now() {
    return this.#past?.at ?? serverNow();
  }

  get isPast() {
    return this.#past !== null;
  }

  /** Shows where subjects were, `{ at, subjects }`, or with null where they are. */
  setPast(frame) {
    this.#past = frame && { at: frame.at, marks: new Map() };
    for (const fix of frame?.subjects ?? []) this.#put(this.#past.marks, fix.subject, frame.at, fix);
    this.version += 1;
  }

  /** Takes the geofences that applications monitor. */
  setFences(fences) {
    if (JSON.stringify(fences) === JSON.stringify(this.fences)) return;
    this.fences = fences;
    this.version += 1;
  }

  /** Takes the gateways that are down. */
  setDown(ids) {
    if (ids.length === this.down.size && ids.every((id) => this.down.has(id))) return;
    this.down = new Set(ids);
    this.version += 1;
  }

  get hasPlaces() {
    return this.floors.size > 0;
  }

  /** Takes the venues that the server has; shapes that are loaded stay as long as nothing has changed. */
  setVenues(venues) {
    const text = JSON.stringify(venues);
    if (text === this.#venues) return;
    this.#venues = text;
    schemas().then(({ Fix }) => (members = Fix?.properties ?? {})).catch(() => {});
    this.floors = new Map();
    for (const venue of venues) {
      for (const building of venue.buildings) this.#addBuilding(venue, building);
    }
    for (const mark of [...this.#live.values(), ...this.subjects.values()]) this.#floorOf(mark);
    this.version += 1;
  }

  #addBuilding(venue, building) {
    const located = building.floors.find((floor) => floor.bounds) ?? building.floors[0];
    if (!located) return;
    const [west, south, east, north] = located.bounds ??
      [located.origin.longitude, located.origin.latitude, located.origin.longitude, located.origin.latitude];
    // One frame for all floors of a building, so that they lie above each other.
    const frame = new Frame((south + north) / 2, (west + east) / 2);
    const ground = Math.min(...building.floors.map((floor) => Math.abs(floor.level)));
    for (const floor of building.floors) {
      const key = keyOf(venue.id, building.id, floor.level);
      this.floors.set(key, {
        key,
        place: `${venue.id}/${building.id}`,
        title: [venue.name || venue.id, building.name || building.id],
        building: building.id,
        level: floor.level,
        name: floor.name,
        isGround: Math.abs(floor.level) === ground,
        outlines: floor.outlines,
        plan: floor.plan ?? null,
        frame,
        bounds: boundsOf(floor.bounds, frame),
        shapes: null,
        loading: null,
      });
    }
  }

  /** Loads what is drawn of a floor, once. */
  async load(floor, signal) {
    if (!floor.outlines || floor.shapes || floor.loading) return;
    floor.loading = loadShapes(floor, signal);
    try {
      const shapes = await floor.loading;
      if (signal.aborted) return;
      floor.shapes = shapes;
      floor.bounds ??= shapes.bounds;
      this.version += 1;
    } finally {
      floor.loading = null;
    }
  }

  /** Takes a list of fixes; subjects that are not in it are removed. */
  set(fixes) {
    const kept = new Set(fixes.map((fix) => fix.subject));
    for (const key of this.#live.keys()) if (!kept.has(key)) this.#live.delete(key);
    for (const fix of fixes) this.#put(this.#live, fix.subject, Date.parse(fix.time), fix);
  }

  receive(event) {
    if (kindOf(event) === "fix") this.#put(this.#live, event.subject, Date.parse(event.time), event.data);
  }

  #put(marks, subject, at, fix) {
    const { latitude, longitude } = fix;
    if (typeof latitude !== "number" || typeof longitude !== "number") return;
    let mark = marks.get(subject);
    if (mark && mark.at > at) return;
    if (!mark) {
      mark = { subject, trail: [], tone: "accent", name: () => nameOf(subject), tip: () => tipOf(mark, this.now) };
      marks.set(subject, mark);
    }
    const isElsewhere = mark.fix && (mark.fix.building !== fix.building || mark.fix.level !== fix.level);
    if (isElsewhere) mark.trail = [];
    Object.assign(mark, {
      at,
      fix,
      latitude,
      longitude,
      isTag: fix.subjectKind === "beacon",
      accuracy: fix.horizontalAccuracy ?? 0,
      speed: fix.speed ?? null,
      course: fix.course ?? null,
    });
    this.#floorOf(mark);
    const last = mark.trail.at(-1);
    if (last && Math.abs(last.latitude - latitude) + Math.abs(last.longitude - longitude) < minimumStep) return;
    mark.trail.push({ latitude, longitude, time: Date.now() });
    if (mark.trail.length > maximumPlaces) mark.trail.shift();
  }

  /** Says on which floor a mark stands: none outdoors. A floor that no venue names is made of the fixes on it. */
  #floorOf(mark) {
    const { venue = "", building, level = 0, floorName } = mark.fix;
    mark.floor = building === undefined ? null : keyOf(venue, building, level);
    if (!mark.floor) return;
    let floor = this.floors.get(mark.floor);
    if (!floor) {
      const known = [...this.floors.values()].find((other) => other.place === `${venue}/${building}`);
      floor = {
        key: mark.floor,
        place: `${venue}/${building}`,
        title: [venue, building],
        level,
        name: floorName || String(level),
        isGround: level === 0,
        frame: known?.frame ?? new Frame(mark.latitude, mark.longitude),
        bounds: null,
        shapes: null,
        isMade: true,
      };
      this.floors.set(mark.floor, floor);
      this.version += 1;
    }
    if (floor.isMade) this.#widen(floor, mark);
  }

  /** Widens a floor that is known by its fixes alone, by whole steps of 10 m, so that the picture does not creep. */
  #widen(floor, mark) {
    const [x, y] = [floor.frame.x(mark.longitude), floor.frame.y(mark.latitude)];
    const { bounds } = floor;
    if (bounds && x >= bounds.left && x <= bounds.right && y >= bounds.bottom && y <= bounds.top) return;
    const step = (value, round) => round(value / 10) * 10;
    const [left, right] = [step(x, Math.floor), step(x, Math.ceil)];
    const own = { left, right, bottom: step(y, Math.floor), top: step(y, Math.ceil) };
    floor.bounds = around(bounds ? [bounds, own] : [own]);
    this.version += 1;
  }

  /** The marks of all who were located in the last minutes. */
  *present() {
    for (const mark of this.subjects.values()) if (this.now - mark.at <= goneAfter) yield mark;
  }

  /** The marks that belong into a floor's picture: who is on it, and around the ground floor who is outdoors. */
  *marksOn(floor) {
    const { now } = this;
    for (const mark of this.subjects.values()) {
      if (mark.floor !== floor.key && (mark.floor !== null || !isAround(floor, mark))) continue;
      const age = now - mark.at;
      if (age > goneAfter) continue;
      mark.tone = age > staleAfter ? "off" : mark.floor === null ? "good" : "accent";
      yield mark;
    }
  }

  /** How many are on each floor. */
  counts() {
    const counts = new Map();
    const { now } = this;
    for (const { floor, at } of this.subjects.values()) {
      if (now - at <= goneAfter) counts.set(floor, (counts.get(floor) ?? 0) + 1);
    }
    return counts;
  }

  /** What the marks of a floor's picture stand for: `[mark, text]`. */
  legend(floor) {
    const kinds = new Set(floor?.shapes?.points.map((point) => point.kind));
    const legend = [
      ["accent", "a person"],
      ["diamond", "a tag"],
      ["good", "outdoors"],
      ["off", `not located for ${seconds(staleAfter / 1000)}`],
      ["trail", `the way of the last ${seconds(trailSpan / 1000)}`.replace(".0", "")],
    ];
    for (const [kind, text] of Object.entries(pointWords)) if (kinds.has(kind)) legend.push([kind, text]);
    if (this.down.size) legend.push(["down", "a gateway that is down"]);
    if (floor && fencesOn(floor, this.fences).length) legend.push(["fence", "a region drawn on the map"]);
    return legend;
  }

  nothing() {
    return empty("No venue", "Add a venue to the site file; located subjects then appear on its floors.");
  }
}

const pointWords = {
  observer: "a gateway",
  beacon: "a fixed beacon",
  accessPoint: "a Wi-Fi access point",
  entrance: "a way in",
  stairs: "stairs",
  lift: "a lift",
  escalator: "an escalator",
  ramp: "a ramp",
};

/** The key of a floor among all floors of all venues. */
function keyOf(venue, building, level) {
  return JSON.stringify([venue, building, level]);
}

function boundsOf(degrees, frame) {
  if (!degrees) return null;
  const [west, south, east, north] = degrees;
  return { left: frame.x(west), right: frame.x(east), bottom: frame.y(south), top: frame.y(north) };
}

function isAround({ bounds, frame, isGround }, { latitude, longitude }) {
  if (!bounds || !isGround) return false;
  const [x, y] = [frame.x(longitude), frame.y(latitude)];
  return x > bounds.left - outdoors && x < bounds.right + outdoors && y > bounds.bottom - outdoors &&
    y < bounds.top + outdoors;
}

function tipOf(mark, now) {
  const age = Math.max(0, (now - mark.at) / 1000);
  return `${mark.name()}: ${whereWords(mark)}, ±${metres(mark.accuracy)}, ${seconds(age)} ago`;
}

/** Where a mark is, in words: its room and floor. */
export function whereWords({ fix }) {
  if (fix.building === undefined) return "outdoors";
  const floor = fix.floorName || `floor ${fix.level}`;
  const room = ofRoom(fix.room ?? fix.place);
  return room ? `${room}, ${floor}` : floor;
}

/** What there is to say about a mark at a time: a title, a text, and where there is more to say of the title, that. */
export function factsOf(mark, now) {
  const { fix } = mark;
  const facts = [
    [fix.room ?? fix.place ? "Room" : "Floor", whereWords(mark)],
    ["Accuracy", `±${metres(mark.accuracy)}`],
    ["Located", `${seconds(Math.max(0, (now - mark.at) / 1000))} ago`],
    ["Made from", (fix.sources ?? []).map((source) => sourceWords[source] ?? source).join(", ") || "nothing new"],
  ];
  if (fix.sourceInformation) {
    facts.push(["Source", fix.sourceInformation.map((word) => informationWords[word] ?? word).join(", ")]);
  }
  if (fix.floorCertainty !== undefined) facts.push(["Sure of the floor", percent(fix.floorCertainty)]);
  if (mark.speed !== null) facts.push(["Speed", `${within(mark.speed, fix.speedAccuracy, 1)} m/s`]);
  if (mark.course !== null) facts.push(["Course", within(mark.course, fix.courseAccuracy, 0, "°")]);
  if (fix.heading !== undefined) facts.push(["Heading", within(fix.heading, fix.headingAccuracy, 0, "°")]);
  if (fix.altitude !== undefined) facts.push(["Altitude", `${within(fix.altitude, fix.verticalAccuracy, 1)} m`]);
  facts.push(["Satellites", fix.satellites === "notNeeded" ? "not needed here" : "needed"]);
  facts.push(["Coordinate", `${mark.latitude.toFixed(6)}, ${mark.longitude.toFixed(6)}`]);
  for (const name of Object.keys(members)) {
    if (fix[name] !== undefined && !worded.has(name)) {
      facts.push([titleOf(name), wordsOf(fix[name]), members[name].description]);
    }
  }
  return facts;
}

/** The members of a fix that the page has words of its own for, or shows in another way. */
const worded = new Set([
  ...["subject", "subjectKind", "name", "time", "decidedAt", "venue", "building", "level", "floorName", "room"],
  ...["place", "latitude", "longitude", "x", "y", "horizontalAccuracy", "speed", "course", "sources", "age"],
  ...["satellites", "sourceInformation", "floorCertainty", "speedAccuracy", "courseAccuracy", "heading"],
  ...["headingAccuracy", "altitude", "verticalAccuracy"],
]);

/** A value, and its accuracy behind it where that is known. */
function within(value, accuracy, places, unit = "") {
  const text = `${decimal(value, places)}${unit}`;
  return accuracy === undefined ? text : `${text} ±${decimal(accuracy, places)}${unit}`;
}

/** A member's name as a title: `ellipsoidalAltitude` is "Ellipsoidal altitude". */
function titleOf(name) {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words[0].toUpperCase() + words.slice(1);
}

/** A value of any kind in words. */
function wordsOf(value) {
  if (Array.isArray(value)) return value.map(wordsOf).join(", ");
  if (value === true) return "yes";
  if (value === false) return "no";
  if (typeof value === "object" && value) {
    const parts = Object.entries(value).map(([name, part]) => `${titleOf(name).toLowerCase()} ${wordsOf(part)}`);
    return parts.join(", ");
  }
  return String(value);
}

const informationWords = {
  simulatedBySoftware: "simulated by software",
  producedByAccessory: "an accessory",
  visualPositioning: "visual positioning",
};

const sourceWords = {
  wifi: "Wi-Fi",
  beacons: "beacons",
  motion: "motion",
  outside: "satellites",
  observers: "gateways",
};

/** How many are on a floor, in words. */
export function countWords(count) {
  return count ? plural(count, "thing") : "no things";
}
