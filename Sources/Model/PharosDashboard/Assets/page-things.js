// Things: where each tag and person is, and the way from a beacon that is heard to a region.

import { serverNow } from "./api.js";
import { follow, h, replace, setAttribute, setText } from "./dom.js";
import { csvOf, saveFile } from "./files.js";
import { byName, instant, level, none, plural } from "./format.js";
import { historyAddress } from "./history.js";
import * as names from "./names.js";
import { card, empty, field, pageHead, refusal, setAgo, Table } from "./parts.js";
import { poll } from "./poll.js";
import { constraintOf, identifierOf } from "./suggestions.js";
import { showThing } from "./thing-detail.js";
import { companyText, entryText, kinds, Things } from "./things.js";

const period = 3000;
/** The largest number of rows that are shown: a busy street has thousands of phones, too many to read. */
const maximumRows = 400;
/** The sets of kinds that can be shown. */
const sets = [
  ["known", "Tags and people", ["tag", "person"]],
  ["tag", "Tags", ["tag"]],
  ["person", "People", ["person"]],
  ["unknown", "Unknown beacons", ["unknown"]],
  ["all", "All devices that are heard", Object.keys(kinds)],
];

export function show(root, context) {
  if (context.rest[0]) return showThing(root, context, context.rest[0]);
  return new ThingsPage(root, context);
}

class ThingsPage {
  constructor(root, { signal, query }) {
    this.signal = signal;
    this.things = new Things();
    this.isLoaded = false;
    const chosen = sets.some(([key]) => key === query.get("show")) ? query.get("show") : "known";
    this.search = h("input", {
      id: "search",
      type: "search",
      placeholder: "name, number, room",
      autocomplete: "off",
      spellcheck: "false",
      value: query.get("find") ?? "",
      onInput: () => this.filter(),
    });
    this.kind = h(
      "select",
      { id: "kind", onChange: () => this.choose() },
      sets.map(([key, text]) => h("option", { value: key, selected: key === chosen }, text)),
    );
    this.room = h("select", { id: "room", onChange: () => this.filter() });
    const wanted = query.get("room") ?? "";
    this.showRooms(wanted ? [wanted] : []);
    this.room.value = wanted;
    this.table = new Table("Things", columns, (row) => row.id);
    this.place = h("div", null, h("p", { class: "body soft", role: "status" }, "Reading …"));
    this.card = card("Things", null, this.place);
    this.card.prepend(this.filters());
    const save = h("button", { type: "button", onClick: () => this.save() }, "Download CSV");
    replace(
      root,
      pageHead("Things", "Choose one to see its day and why it is there."),
      this.card,
      h("div", { class: "actions below" }, save),
    );
    this.ask = poll(() => this.load(), period, signal, (error) => {
      if (!this.isLoaded) replace(this.place, refusal(error));
    });
  }

  filters() {
    return h(
      "form",
      {
        class: "filters",
        role: "search",
        "aria-label": "Filter things",
        onSubmit: (event) => event.preventDefault(),
      },
      field("Where is …?", this.search).element,
      field("Show", this.kind).element,
      field("Room", this.room).element,
    );
  }

  /** Keeps the filters in the address, so that *Back* finds them again. */
  keep() {
    const query = new URLSearchParams();
    if (this.kind.value !== "known") query.set("show", this.kind.value);
    if (this.search.value.trim()) query.set("find", this.search.value.trim());
    if (this.room.value) query.set("room", this.room.value);
    history.replaceState(null, "", `#/things${query.size ? `?${query}` : ""}`);
  }

  filter() {
    this.keep();
    this.render();
  }

  choose() {
    this.filter();
    this.ask();
  }

  showRooms(rooms) {
    follow(this.room, ["", ...rooms], (room) => room, (room) => h("option", { value: room }, room || "Any room"));
  }

  async load() {
    await this.things.load(this.signal, { others: this.kind.value === "all" });
    this.isLoaded = true;
    this.render();
  }

  /** The things that the filters leave. */
  get shown() {
    const [, , wanted] = sets.find(([key]) => key === this.kind.value);
    const text = this.search.value.trim().toLowerCase();
    return this.things.list.filter((thing) =>
      wanted.includes(thing.kind) && thing.text.includes(text) && (!this.room.value || thing.where === this.room.value)
    );
  }

  render() {
    if (!this.isLoaded) return;
    const rooms = new Set(this.things.list.map((thing) => thing.where));
    if (this.room.value) rooms.add(this.room.value);
    this.showRooms([...rooms].filter(Boolean).sort(byName));
    const { shown } = this;
    setText(this.card.querySelector("h2"), countWords(shown));
    if (!shown.length) return replace(this.place, this.nothing());
    this.table.showIn(this.place);
    return this.table.show(shown, maximumRows);
  }

  nothing() {
    const isFiltered = this.search.value.trim() || this.room.value;
    if (isFiltered) return empty("Nothing fits", "No thing in this room has this name.");
    const unknown = this.things.list.filter((thing) => thing.kind === "unknown").length;
    if (this.kind.value === "unknown" || !unknown) {
      const text = this.things.list.length
        ? "Every beacon that is heard belongs to a room or a region."
        : "Is a gateway sending? Turn a tag on near one, or show all devices.";
      const link = h("a", { class: "button", href: "#/gateways" }, "See the gateways");
      return empty(this.kind.value === "unknown" ? "No unknown beacons" : "No things yet", text, link);
    }
    const link = h("a", { class: "button", href: "#/things?show=unknown" }, plural(unknown, "unknown beacon"));
    return empty("No things yet", "Beacons are heard that no room and no region asks about.", link);
  }

  save() {
    saveFile("pharos-things.csv", csvOf(csvColumns, this.table.order(this.shown)), "text/csv");
  }
}

/** How many of each kind there are: "7 tags, 2 people". */
function countWords(things) {
  const words = { tag: ["tag"], person: ["person", "people"], unknown: ["unknown beacon"], other: ["other device"] };
  const counts = Object.keys(words).map((kind) => [kind, things.filter((thing) => thing.kind === kind).length]);
  const known = counts.filter(([, count]) => count);
  return known.map(([kind, count]) => plural(count, ...words[kind])).join(", ") || "Things";
}

const csvColumns = [
  ["name", (thing) => thing.name],
  ["identity", (thing) => thing.id],
  ["kind", (thing) => thing.kind],
  ["room", (thing) => thing.where],
  ["since", (thing) => thing.since],
  ["lastHeard", (thing) => thing.lastHeard],
  ["gateway", (thing) => (thing.best ? names.nameOf(thing.best.observer) : "")],
  ["rssi", (thing) => thing.best?.level],
  ["latitude", (thing) => thing.fix?.latitude],
  ["longitude", (thing) => thing.fix?.longitude],
];

const columns = [
  {
    title: "Name",
    class: "first",
    sort: (thing) => thing.name.toLowerCase(),
    make: () => h("a", null, h("span"), h("span", { class: "under" })),
    update: (node, thing) => {
      setAttribute(node, "href", historyAddress("subject", thing.id));
      setAttribute(node, "title", thing.id);
      setText(node.firstChild, thing.name);
      setText(node.lastChild, thing.under);
    },
  },
  {
    title: "Room",
    sort: (thing) => thing.where.toLowerCase() || null,
    make: () => h("div", null, h("span"), h("span", { class: "under" })),
    update: (node, thing) => {
      setText(node.firstChild, thing.where || none);
      setText(node.lastChild, entryText(thing) || companyText(thing));
    },
  },
  {
    title: "Since",
    sort: (thing) => instant(thing.since) || null,
    make: () => h("time"),
    update: (node, thing) => setAgo(node, thing.since),
  },
  {
    title: "Last heard",
    sort: (thing) => (thing.lastHeard ? Math.floor((serverNow() - instant(thing.lastHeard)) / 5000) : null),
    make: () => h("time"),
    update: (node, thing) => setAgo(node, thing.lastHeard),
  },
  {
    title: "Heard best by",
    sort: (thing) => (thing.best ? names.nameOf(thing.best.observer).toLowerCase() : null),
    make: () => h("div", null, h("span"), h("span", { class: "under" })),
    update: (node, thing) => {
      const others = thing.hearings.length - 1;
      const more = others > 0 ? ` and ${others} more` : "";
      setText(node.firstChild, thing.best ? `${names.nameOf(thing.best.observer)}${more}` : none);
      setText(node.lastChild, thing.best ? level(thing.best.level) : "");
      const all = thing.hearings.map((entry) => `${names.nameOf(entry.observer)} ${level(entry.level)}`).join("\n");
      setAttribute(node, "title", all || null);
    },
  },
  {
    title: "",
    class: "bare",
    make: () => h("div", { class: "actions" }, h("a", { class: "button small" }, "Make a region")),
    update: (node, thing) => {
      const address = regionLink(thing);
      node.firstChild.hidden = thing.kind !== "unknown" || !address;
      setAttribute(node.firstChild, "href", address);
      setAttribute(node.firstChild, "aria-label", `Make a region of ${thing.id}`);
    },
  },
];

/** How many of those who hear a beacon the address names: enough to tell gateways from handsets. */
const maximumObservers = 5;

/** The address at which a region for a beacon can be added, the form filled; null for what has no identity. */
function regionLink({ identities, address, hearings, airName }) {
  const identity = identities.find((found) => !found.startsWith("mac:")) ?? (address ? `mac:${address}` : null);
  if (!identity) return null;
  const query = new URLSearchParams({ new: "" });
  for (const [member, value] of Object.entries(constraintOf(identity))) {
    if (value !== undefined) query.set(member, value);
  }
  query.set("observers", hearings.slice(0, maximumObservers).map((entry) => entry.observer).join(","));
  const id = identifierOf(airName ?? "");
  if (id) query.set("id", id);
  return `#/regions?${query}`;
}
