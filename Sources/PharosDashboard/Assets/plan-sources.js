// What a plan can show: tags in zones, subjects in regions, fixes to scale.

import { h } from "./dom.js";
import { ago, metres, percent, plural, seconds } from "./format.js";
import { nameOf } from "./names.js";
import { serverNow } from "./api.js";
import { empty } from "./parts.js";
import { kindOf } from "./words.js";

/** Tags in the zones that the gateways' levels place them in. */
export class ZonesSource {
  title = "Zones";
  note = "A cell is a zone; bars between cells are doors. A dot is a tag.";
  groups = [];
  marks = new Map();
  version = 0;

  get hasPlaces() {
    return this.groups.length > 0;
  }

  set(zones, tags, observers) {
    const known = new Map(observers.map((observer) => [observer.id, observer]));
    const floors = new Map();
    for (const zone of zones) {
      const floor = zone.floor ?? 0;
      if (!floors.has(floor)) floors.set(floor, []);
      floors.get(floor).push({
        id: zone.id,
        name: zone.name || zone.id,
        adjacent: zone.adjacent ?? [],
        observers: (zone.observers ?? []).map((id) => ({ name: nameOf(id), isUp: known.get(id)?.isUp ?? null })),
      });
    }
    const groups = [...floors].sort(([a], [b]) => b - a).map(([floor, places]) => ({
      id: `floor ${floor}`,
      title: floors.size > 1 || floor !== 0 ? floorWords(floor) : "",
      places,
    }));
    if (tags.some((tag) => !tag.zone)) {
      groups.push({
        id: "tray",
        title: "",
        places: [{ id: null, name: "Not sure where", observers: [], isTray: true }],
      });
    }
    this.version += JSON.stringify(groups) === JSON.stringify(this.groups) ? 0 : 1;
    this.groups = groups;
    const marks = new Map();
    for (const tag of tags) marks.set(tag.beacon, this.#mark(tag, this.marks.get(tag.beacon)));
    this.marks = marks;
  }

  #mark(tag) {
    return {
      name: nameOf(tag.beacon),
      place: tag.zone ?? null,
      tone: tag.zone ? "accent" : "off",
      tip: () =>
        `${nameOf(tag.beacon)}: ${tag.zone ? nameOf(tag.zone) : "not sure"}${
          typeof tag.probability === "number" ? `, ${percent(tag.probability)} sure` : ""
        }${tag.since ? `, since ${ago(tag.since, serverNow()).replace(" ago", "")}` : ""}`,
    };
  }

  take(event) {
    const kind = kindOf(event);
    if (kind.startsWith("observer.")) return "stale";
    if (kind !== "zone.enter" && kind !== "zone.exit") return undefined;
    const to = event.data.to ?? (kind === "zone.enter" ? event.data.zone : null);
    if (kind === "zone.exit" && to) return undefined;
    const tag = { beacon: event.subject, zone: to, probability: event.data.probability, since: event.time };
    const isNew = !this.marks.has(event.subject);
    this.marks.set(event.subject, this.#mark(tag));
    return isNew || (!to && !this.groups.some((group) => group.id === "tray")) ? "stale" : undefined;
  }

  legend() {
    return [["accent", "a tag in its zone"], ["off", "a tag that is nowhere for sure"], ["observer", "an observer"], [
      "observer-down",
      "an observer that is down",
    ]];
  }

  nothing() {
    return empty("No zones", "Give the site file zones made of observers, and tags appear in them.");
  }
}

/** Who is inside which region. */
export class RegionsSource {
  title = "Regions";
  note = "A cell is a region. A dot is a subject that is inside it.";
  groups = [];
  marks = new Map();
  version = 0;

  get hasPlaces() {
    return this.groups.length > 0;
  }

  set(applications, states) {
    const regions = new Map(applications.map((application) => [application.id, new Set()]));
    for (const application of applications) {
      for (const region of application.regions) regions.get(application.id).add(region);
    }
    const marks = new Map();
    for (const row of states) {
      if (row.state !== "inside" && row.state !== "unmonitored") continue;
      marks.set(`${row.application}/${row.region}/${row.subject}`, {
        name: nameOf(row.subject),
        place: `${row.application}/${row.region}`,
        tone: row.state === "inside" ? "good" : "warn",
        tip: () =>
          `${nameOf(row.subject)}: ${row.state}${
            row.enteredAt ? `, since ${ago(row.enteredAt, serverNow()).replace(" ago", "")}` : ""
          }${row.nearest?.distance >= 0 ? `, ${metres(row.nearest.distance)}` : ""}`,
      });
    }
    const groups = [...regions].filter(([, own]) => own.size > 0).map(([id, own]) => ({
      id,
      title: `Application ${id}`,
      places: [...own].map((region) => ({ id: `${id}/${region}`, name: region, observers: [] })),
    }));
    this.version += JSON.stringify(groups) === JSON.stringify(this.groups) ? 0 : 1;
    this.groups = groups;
    this.marks = marks;
  }

  take(event) {
    return kindOf(event).startsWith("region.") ? "stale" : undefined;
  }

  legend() {
    return [["good", "inside"], ["warn", "inside when last known, now unmonitored"]];
  }

  nothing() {
    return empty(
      "No regions",
      "Nobody asks about any beacon yet.",
      h("a", { class: "button", href: "#/heard" }, "See what is heard"),
      h("a", { class: "button", href: "#/regions" }, "Add a region"),
    );
  }
}

/** Fixes on their floors, to scale. */
export class FixesSource {
  title = "Fixes";
  note = "Estimated places, to scale; the ring is the radius that holds 68 % of truths.";
  isToScale = true;
  /** What keeps a live stream of fixes open while this is shown, and how often a second each subject may move. */
  streamQuery = "?kind=fix&rate=10";
  groups = [];
  marks = new Map();
  version = 0;
  #origin = null;

  get hasPlaces() {
    return this.marks.size > 0;
  }

  set(fixes) {
    for (const fix of fixes) this.#put(fix.subject, fix.time, fix);
  }

  take(event) {
    if (kindOf(event) === "fix") this.#put(event.subject, event.time, event.data);
    return undefined;
  }

  #put(subject, time, fix) {
    const at = this.#position(fix);
    if (!at) return;
    const floor = fix.floor ?? 0;
    let group = this.groups.find((candidate) => candidate.id === floor);
    if (!group) {
      group = { id: floor, title: floorWords(floor), bounds: { left: at.x, right: at.x, bottom: at.y, top: at.y } };
      this.groups = [...this.groups, group].sort((a, b) => b.id - a.id);
      this.version += 1;
    }
    this.#widen(group.bounds, at);
    const mark = this.marks.get(subject) ?? { tone: "accent" };
    mark.place = floor;
    mark.x = at.x;
    mark.y = at.y;
    mark.accuracy = fix.accuracy ?? fix.horizontalAccuracy ?? 0;
    mark.tip ??= () =>
      `${nameOf(subject)}: ±${metres(mark.accuracy)}, ${
        seconds(Math.max(0, (serverNow() - Date.parse(mark.time)) / 1000))
      } old`;
    mark.time = time;
    this.marks.set(subject, mark);
  }

  /** Widens a floor's bounds by whole steps of 5 m, so that the picture does not creep. */
  #widen(bounds, at) {
    if (at.x >= bounds.left && at.x <= bounds.right && at.y >= bounds.bottom && at.y <= bounds.top) return;
    bounds.left = Math.min(bounds.left, Math.floor(at.x / 5) * 5);
    bounds.right = Math.max(bounds.right, Math.ceil(at.x / 5) * 5);
    bounds.bottom = Math.min(bounds.bottom, Math.floor(at.y / 5) * 5);
    bounds.top = Math.max(bounds.top, Math.ceil(at.y / 5) * 5);
    this.version += 1;
  }

  /** Metres east and north: as given, or from degrees around the first fix (111,320 m a degree of latitude). */
  #position(fix) {
    if (fix.position) return fix.position;
    const { latitude, longitude } = fix.coordinate ?? {};
    if (typeof latitude !== "number" || typeof longitude !== "number") return null;
    this.#origin ??= { latitude, longitude };
    const shrink = Math.cos(this.#origin.latitude * Math.PI / 180);
    return {
      x: (longitude - this.#origin.longitude) * 111320 * shrink,
      y: (latitude - this.#origin.latitude) * 111320,
    };
  }

  legend() {
    return [["accent", `${plural(this.marks.size, "subject")} located`]];
  }

  nothing() {
    return empty("No fixes", "Nobody has been located yet.");
  }
}

function floorWords(floor) {
  if (floor === 0) return "Ground floor";
  return floor > 0 ? `Floor ${floor}` : `Basement ${-floor}`;
}
