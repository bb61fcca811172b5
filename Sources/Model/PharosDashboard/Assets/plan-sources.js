// What a schematic plan can show: tags in zones, subjects in regions.

import { h } from "./dom.js";
import { ago, byName, metres, percent } from "./format.js";
import { historyAddress } from "./history.js";
import { isNamed, nameOf } from "./names.js";
import { serverNow } from "./api.js";
import { empty } from "./parts.js";
import { kindOf } from "./words.js";

/** How many lines of names a cell has at most; a further line or two is for the dots of tags without a name. */
const [maximumLines, dotLines] = [6, 2];

/** Tags in the zones that the gateways' levels place them in. */
export class ZonesSource {
  title = "Rooms";
  note = "Each dot is a tag: choose one. Bars are doors.";
  groups = [];
  #lines = new Map();
  marks = new Map();
  version = 0;

  get hasPlaces() {
    return this.groups.length > 0;
  }

  set(zones, tags, observers) {
    const known = new Map(observers.map((observer) => [observer.id, observer]));
    const floors = new Map();
    const lines = this.#countLines(tags);
    for (const zone of zones.toSorted((a, b) => byName(a.name || a.id, b.name || b.id))) {
      const floor = zone.floor ?? 0;
      if (!floors.has(floor)) floors.set(floor, []);
      floors.get(floor).push({
        id: zone.id,
        name: zone.name || zone.id,
        href: historyAddress("zone", zone.id),
        lines: lines.get(zone.id),
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
        places: [{ id: null, name: "Not sure where", lines: lines.get(null), observers: [], isTray: true }],
      });
    }
    this.version += JSON.stringify(groups) === JSON.stringify(this.groups) ? 0 : 1;
    this.groups = groups;
    const marks = new Map();
    for (const tag of tags) marks.set(tag.beacon, this.#mark(tag, this.marks.get(tag.beacon)));
    this.marks = marks;
  }

  /** How many lines each room needs: as many as it ever needed, so that no cell shrinks when a tag leaves it. */
  #countLines(tags) {
    const named = new Map();
    const nameless = new Set();
    for (const { beacon, zone = null } of tags) {
      if (isNamed(beacon)) named.set(zone, (named.get(zone) ?? 0) + 1);
      else nameless.add(zone);
    }
    for (const [zone, count] of named) {
      const lines = Math.min(count, maximumLines) + (nameless.has(zone) || count > maximumLines ? dotLines : 0);
      this.#lines.set(zone, Math.max(lines, this.#lines.get(zone) ?? 0));
    }
    return this.#lines;
  }

  #mark(tag) {
    return {
      name: nameOf(tag.beacon),
      isNamed: isNamed(tag.beacon),
      href: historyAddress("subject", tag.beacon),
      place: tag.zone ?? null,
      tone: tag.zone ? (tag.zoneState === "unmonitored" ? "warn" : "accent") : "off",
      tip: () =>
        `${nameOf(tag.beacon)}: ${tag.zone ? nameOf(tag.zone) : "not sure"}${
          tag.zoneState === "unmonitored" ? ", unmonitored" : ""
        }${typeof tag.probability === "number" ? `, ${percent(tag.probability)} sure` : ""}${
          tag.since ? `, since ${ago(tag.since, serverNow()).replace(" ago", "")}` : ""
        }`,
    };
  }

  receive(event) {
    const kind = kindOf(event);
    if (kind.startsWith("observer.")) return "stale";
    if (kind === "zone.unmonitored" || kind === "zone.monitored") return "stale";
    if (kind !== "zone.enter" && kind !== "zone.exit") return undefined;
    const to = event.data.to ?? (kind === "zone.enter" ? event.data.zone : null);
    if (kind === "zone.exit" && to) return undefined;
    const tag = { beacon: event.subject, zone: to, probability: event.data.probability, since: event.time };
    const isNew = !this.marks.has(event.subject);
    this.marks.set(event.subject, this.#mark(tag));
    return isNew || (!to && !this.groups.some((group) => group.id === "tray")) ? "stale" : undefined;
  }

  legend() {
    return [
      ["accent", "a tag in its room"],
      ["warn", "a tag in the last room known"],
      [
        "off",
        "a tag that is nowhere for sure",
      ],
      ["observer", "a gateway"],
      ["observer-down", "a gateway that is down"],
    ];
  }

  nothing() {
    const link = h("a", { class: "button", href: "#/rooms" }, "Add a room");
    return empty("No rooms", "Add a room, and tags appear in it.", link);
  }
}

/** Who is inside which region. */
export class RegionsSource {
  title = "Regions";
  note = "A cell is a region. A dot is a thing that is inside it.";
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
        isNamed: isNamed(row.subject),
        href: historyAddress("subject", row.subject),
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
      places: [...own].map((region) => ({
        id: `${id}/${region}`,
        name: region,
        href: historyAddress("region", id, region),
        observers: [],
      })),
    }));
    this.version += JSON.stringify(groups) === JSON.stringify(this.groups) ? 0 : 1;
    this.groups = groups;
    this.marks = marks;
  }

  receive(event) {
    return kindOf(event).startsWith("region.") ? "stale" : undefined;
  }

  legend() {
    return [["good", "inside"], ["warn", "inside when last known, now unmonitored"]];
  }

  nothing() {
    return empty(
      "No regions",
      "No application has registered a region yet.",
      h("a", { class: "button", href: "#/things?show=unknown" }, "See what is heard"),
      h("a", { class: "button", href: "#/regions" }, "Add a region"),
    );
  }
}

function floorWords(floor) {
  if (floor === 0) return "Ground floor";
  return floor > 0 ? `Floor ${floor}` : `Basement ${-floor}`;
}
