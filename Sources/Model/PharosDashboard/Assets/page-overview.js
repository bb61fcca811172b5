// Where everything is, at a glance: the plan, the figures, the latest events.

import { get, getAll, getIfAllowed, part, serverNow } from "./api.js";
import { follow, h, replace, setAttribute, setText } from "./dom.js";
import { eventRow, updateEventRow } from "./event-row.js";
import * as feed from "./feed.js";
import { arrivalStatus, FirstRun } from "./first-run.js";
import { fencesOf } from "./floor-overlays.js";
import { FloorSource } from "./floor-source.js";
import { FloorView } from "./floor-view.js";
import { count, none, plural } from "./format.js";
import { divide, expected } from "./gateways.js";
import { Range } from "./history.js";
import * as names from "./names.js";
import { card, empty, pageHead, refusal, segments } from "./parts.js";
import { RegionsSource, ZonesSource } from "./plan-sources.js";
import { PlanView } from "./plan-view.js";
import { poll } from "./poll.js";
import { Rooms } from "./rooms.js";
import { TimeTravel } from "./time-travel.js";
import { Verdict } from "./verdict.js";
import { kindOf } from "./words.js";

/** How often the lists are read again, in ms; between, the stream moves what moves. */
const refresh = 5000;
/** How often what new gateways hear is read, in ms, while they wait for a name. */
const refreshHeard = 2000;
/** How often all fixes are read again, in ms: the stream delivers each as it comes, and only lost ones are missing. */
const refreshFixes = 30000;
/** How often the occupancy of the last hour is read again, in ms: it changes once a minute. */
const refreshRooms = 60000;
/** An hour up to now touches so many minutes. */
const minutesOfHour = 61;
/** How many of the latest events stand beside the plan. */
const latest = 9;

export function show(root, { signal, query }) {
  const figures = new Figures();
  const plan = h("section", { class: "card" });
  const begin = new FirstRun(() => picture.startOver());
  const events = h("ol", { class: "feed tight" });
  const rooms = new Rooms("The last hour", "The number of things in each room and region.");
  const recent = card("Latest events", null, events);
  recent.firstChild.append(h("a", { href: "#/events" }, "All events"));
  replace(
    root,
    pageHead("Overview", "Where everything is now, and what happened last."),
    h(
      "div",
      { class: "stack" },
      new Verdict(signal, { onlyBad: true }).element,
      begin.element,
      figures.element,
      h("div", { class: "split overview" }, plan, rooms.element, recent),
    ),
  );

  const showLatest = () => {
    const shown = feed.items.filter((item) => item.type === "event" && isNews(item.event)).slice(-latest).reverse();
    if (!shown.length) replace(events, empty("Nothing yet", "Events appear here as they are decided."));
    else {
      if (events.querySelector(".empty")) replace(events);
      follow(events, shown, (item) => item.sequence, (item) => eventRow(item, { isTight: true }), updateEventRow);
    }
  };
  showLatest();
  signal.addEventListener("abort", feed.listen(showLatest));
  const picture = new Plan(plan, signal, figures, begin, query.get("subject"));
  const lastHour = new Range({ span: "1h" });
  poll(
    async () => {
      const { places = [] } = await get(`/v1/history/occupancy?${lastHour.query(minutesOfHour)}`, signal);
      rooms.set(places, lastHour);
    },
    refreshRooms,
    signal,
  );
}

/** Returns false for a state change, whose enter or exit is shown, and for an exit to another zone, whose enter is. */
function isNews(event) {
  const kind = kindOf(event);
  return kind !== "region.state" && !(kind === "zone.exit" && event.data.to);
}

/** The plan's card: which picture, the picture, and what it shows in words. */
class Plan {
  constructor(element, signal, figures, begin, subject) {
    this.subject = subject;
    this.element = element;
    this.signal = signal;
    this.figures = figures;
    this.begin = begin;
    this.sources = { zones: new ZonesSource(), regions: new RegionsSource(), floor: new FloorSource() };
    this.chosen = null;
    this.view = null;
    this.fixesAt = -Infinity;
    this.fixes = [];
    this.known = { zones: [], tags: [], observers: [] };
    this.past = null;
    this.travel = new TimeTravel(signal, (frame) => this.showPast(frame));
    this.ask = poll(() => this.load(), refresh, signal, (error) => {
      if (!this.view) replace(element, refusal(error));
    });
    poll(
      async () => {
        if (begin.isAsking) begin.hear(await getAll("/v1/heard?identified=true", "beacons", signal));
      },
      refreshHeard,
      signal,
    );
    signal.addEventListener("abort", feed.listen((batch) => this.follow(batch)));
    signal.addEventListener("abort", () => this.view?.close());
  }

  async load() {
    const isDue = serverNow() - this.fixesAt >= refreshFixes;
    const [seen, zones, venues, fixes, applications] = await Promise.all([
      getIfAllowed("/v1/observers", {}, this.signal).then((body) => body.observers ?? null),
      getIfAllowed("/v1/zones", {}, this.signal).then((body) => body.zones ?? []),
      getIfAllowed("/v1/venues", {}, this.signal).then((body) => body.venues ?? []),
      isDue ? getAll("/v1/fixes", "fixes", this.signal) : null,
      get("/v1/applications", this.signal).then((body) => body.applications ?? []),
    ]);
    const observers = seen ?? [];
    const tags = zones.length ? await getAll("/v1/tags", "tags", this.signal) : [];
    const regions = await Promise.all(
      applications.map((application) => get(`/v1/applications/${part(application.id)}/regions`, this.signal)),
    );
    const states = (await Promise.all(applications.map(async (application) => {
      const rows = await getAll(`/v1/applications/${part(application.id)}/states`, "states", this.signal, 2000);
      return rows.map((row) => ({ ...row, application: application.id }));
    }))).flat();
    names.learnDirectory(observers);
    names.learnRooms(zones);
    names.learn(tags, (entry) => entry.beacon);
    this.known = { zones, tags, observers };
    this.showZones();
    this.travel.open.disabled = seen === null;
    this.sources.regions.set(
      applications.map(({ id }, index) => ({ id, regions: (regions[index].regions ?? []).map((region) => region.id) })),
      states,
    );
    this.sources.floor.setVenues(venues);
    this.sources.floor.setDown(observers.filter((row) => !row.isUp).map((row) => row.id));
    this.sources.floor.setFences(
      fencesOf(applications.map(({ id }, index) => ({ id, regions: regions[index].regions ?? [] }))),
    );
    if (fixes) {
      names.learn(fixes, (entry) => entry.subject);
      this.fixes = fixes;
      this.sources.floor.set(fixes);
      this.fixesAt = serverNow();
    }
    const { gateways } = divide(observers, zones, this.fixes);
    this.figures.set(seen && gateways, tags, states, this.fixes);
    if (seen) {
      const [{ observers: quarantined }, heard] = await Promise.all([
        get("/v1/quarantine", this.signal),
        getAll("/v1/heard?identified=true", "beacons", this.signal),
      ]);
      const isSilent = !observers.length && !quarantined.length;
      this.begin.set({
        observers,
        quarantined,
        status: isSilent ? await arrivalStatus(this.signal) : null,
        heard,
        zones,
        fixes: this.fixes,
        applications: applications.map((application, index) => ({
          ...application,
          list: regions[index].regions ?? [],
        })),
      });
    }
    this.choose(this.chosen ?? this.preferred());
  }

  /** Shows where subjects were, `{ at, subjects }`, or with null where they are. */
  showPast(frame) {
    this.past = frame;
    this.element.classList.toggle("is-past", frame !== null);
    setText(
      this.element.querySelector("header p"),
      frame ? "Past positions, not the current ones." : this.sources[this.chosen].note,
    );
    this.sources.floor.setPast(frame);
    this.showZones();
    this.view?.refresh();
  }

  showZones() {
    const { zones, tags, observers } = this.known;
    const past = this.past?.subjects.filter((row) => row.subjectKind === "beacon")
      .map(({ subject, name, zone, zoneState }) => ({ beacon: subject, name, zone, zoneState }));
    this.sources.zones.set(zones, past ?? tags, past ? [] : observers);
  }

  /** Reads all again, and shows the picture that suits best then. */
  startOver() {
    this.chosen = null;
    this.ask();
  }

  preferred() {
    if (this.sources.floor.subjects.has(this.subject)) return "floor";
    if (this.sources.zones.marks.has(this.subject)) return "zones";
    if (this.sources.floor.subjects.size) return "floor";
    return ["zones", "floor", "regions"].find((name) => this.sources[name].hasPlaces) ?? "zones";
  }

  choose(wanted) {
    const name = this.sources[wanted].hasPlaces ? wanted : this.preferred();
    // Of the past the server stores where subjects were, not who was inside which region.
    if (name === "regions" && this.past) this.travel.end();
    this.travel.open.hidden = name === "regions" || this.travel.at !== null;
    const source = this.sources[name];
    const choices = ["floor", "zones", "regions"].filter((key) => this.sources[key].hasPlaces);
    if (this.chosen !== name || this.choices?.join() !== choices.join()) {
      this.view?.close();
      this.view = source.hasPlaces ? viewOf(source, this.subject) : null;
      const isAskedFor = this.subject !== null && this.chosen === null;
      this.chosen = name;
      this.choices = choices;
      replace(
        this.element,
        this.head(source, choices, name),
        this.travel.element,
        this.view ? this.view.element : source.nothing(),
      );
      if (isAskedFor) this.view?.element.scrollIntoView({ block: "center" });
    }
    this.view?.refresh();
  }

  head(source, choices, chosen) {
    const titles = choices.map((key) => [key, this.sources[key].title]);
    return h(
      "header",
      null,
      h("div", null, h("h2", null, source.title), h("p", null, source.note)),
      h(
        "div",
        { class: "actions" },
        this.travel.open,
        titles.length > 1 ? segments("What the plan shows", titles, chosen, (name) => this.turnTo(name)) : null,
      ),
    );
  }

  /** Shows another picture and reads what no stream has delivered meanwhile. */
  turnTo(name) {
    this.fixesAt = -Infinity;
    this.choose(name);
    this.ask();
  }

  follow(batch) {
    let isStale = false;
    for (const item of batch) {
      if (item.type !== "event" || (this.past && this.chosen === "zones")) continue;
      if (this.sources[this.chosen]?.receive(item.event) === "stale") isStale = true;
    }
    this.view?.refresh();
    if (isStale) this.ask();
  }
}

function viewOf(source, subject) {
  return source.isFloorPlan ? new FloorView(source, subject) : new PlanView(source, subject);
}

/** The figures above the plan. */
class Figures {
  constructor() {
    this.values = {};
    const figure = (key, title) => {
      this.values[key] = h("span", null, "–");
      this.values[`${key}Note`] = h("small");
      return h(
        "div",
        { class: "figure" },
        h("dt", null, title),
        h("dd", null, this.values[key], " ", this.values[`${key}Note`]),
      );
    };
    this.element = h(
      "dl",
      { class: "figures" },
      figure("gateways", "Gateways up"),
      figure("tags", "Tags in a room"),
      figure("people", "People located"),
      figure("inside", "Inside a region"),
    );
  }

  /** Shows what is known; `gateways` is null where this token may not see them. */
  set(gateways, tags, states, fixes) {
    const due = gateways && expected(gateways, serverNow());
    const inside = new Set(states.filter((row) => row.state === "inside").map((row) => row.subject));
    setText(this.values.gateways, count(due?.filter((row) => row.isUp).length));
    setText(this.values.gatewaysNote, due ? `of ${count(due.length)}` : "an operator sees them");
    setText(this.values.tags, due ? count(tags.filter((tag) => tag.zone).length) : none);
    setText(this.values.tagsNote, tags.length ? `of ${plural(tags.length, "tag")}` : due ? "no rooms" : "");
    setText(this.values.people, count(fixes.filter((fix) => fix.subjectKind === "observer").length));
    setText(this.values.inside, count(inside.size));
    setText(this.values.insideNote, inside.size === 1 ? "thing" : "things");
    setAttribute(this.element, "aria-label", "Figures of the moment");
  }
}
