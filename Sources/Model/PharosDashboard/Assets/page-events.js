// The live feed of events with its filters, and the way back in time.

import { get, isAbort } from "./api.js";
import { follow, h, replace, setText } from "./dom.js";
import { eventDetail } from "./event-detail.js";
import { eventRow, setOpen, updateEventRow } from "./event-row.js";
import * as feed from "./feed.js";
import { plural } from "./format.js";
import * as names from "./names.js";
import { empty, field, pageHead } from "./parts.js";
import { kindOf } from "./words.js";

/** The maximum number of rows in the document: more than a user reads without searching. */
const maximum = 300;
/** How many more are kept in hand, as while the list holds still. */
const reserve = 2000;
const pageSize = 100;

const groups = [
  ["", "All but state changes"],
  ["region.enter,region.exit", "Enter and exit"],
  [
    "region.enter,region.exit,region.state,region.unmonitored,region.holdExceeded,region.limitExceeded",
    "Everything about regions",
  ],
  ["zone.enter,zone.exit,zone.unmonitored,zone.monitored,zone.holdExceeded", "Rooms"],
  ["observer.online,observer.offline,observer.restarted,observer.quarantined", "Gateways"],
  ["beacon.battery", "Batteries"],
  ["notification,authorisation.changed,clock.stepped", "Other"],
];

export function show(root, { signal, rest, query }) {
  new EventsPage(root, signal, query, Number(rest[0]) || null);
}

class EventsPage {
  constructor(root, signal, query, wanted) {
    this.signal = signal;
    this.filter = {
      kind: query.get("kind") ?? "",
      application: query.get("application") ?? "",
      region: query.get("region") ?? "",
      subject: query.get("subject") ?? "",
    };
    this.items = [];
    this.open = wanted;
    this.isPaused = false;
    this.list = h("ol", { class: "feed" });
    this.older = h("button", { type: "button", onClick: () => this.loadOlder() }, "Load older events");
    this.note = h("p", { class: "soft small", role: "status" });
    this.pause = h(
      "button",
      { type: "button", "aria-pressed": "false", onClick: () => this.togglePause() },
      "Pause",
    );
    replace(
      root,
      pageHead(
        "Events",
        "Every decision, as the server publishes it, with its reason. Choose one to see why.",
        this.pause,
      ),
      h(
        "section",
        { class: "card" },
        this.filters(),
        this.list,
        h("div", { class: "body actions" }, this.older, this.note),
      ),
    );
    signal.addEventListener("abort", feed.listen((batch) => this.receive(batch)));
    this.begin();
  }

  filters() {
    const kind = h(
      "select",
      { id: "kind", onChange: () => this.set("kind", kind.value) },
      groups.map(([value, text]) => h("option", { value, selected: value === this.filter.kind }, text)),
    );
    const entry = (id, label, placeholder) => {
      const input = h("input", {
        id,
        value: this.filter[id],
        placeholder,
        autocomplete: "off",
        spellcheck: "false",
        onChange: () => this.set(id, input.value.trim()),
      });
      return field(label, input).element;
    };
    return h(
      "form",
      {
        class: "filters",
        role: "search",
        "aria-label": "Filter events",
        onSubmit: (event) => event.preventDefault(),
      },
      field("Kind", kind).element,
      entry("region", "Room or region", "any"),
      entry("subject", "Tag or person", "any"),
    );
  }

  set(name, value) {
    this.filter[name] = value;
    const query = new URLSearchParams(Object.entries(this.filter).filter(([, text]) => text));
    history.replaceState(null, "", `#/events${query.size ? `?${query}` : ""}`);
    this.begin();
  }

  get isFiltered() {
    return Object.values(this.filter).some(Boolean);
  }

  matches(item) {
    if (item.type === "note") return true;
    const { kind, application, region, subject } = this.filter;
    const { data = {} } = item.event;
    if (kind ? !kind.split(",").includes(kindOf(item.event)) : kindOf(item.event) === "region.state") return false;
    if (application && data.application !== application) return false;
    if (region && data.region !== region && data.zone !== region) return false;
    return !subject || item.event.subject === subject || names.nameOf(item.event.subject) === subject;
  }

  async begin() {
    this.isAtEnd = false;
    this.reached = feed.items.find((item) => item.sequence)?.sequence ?? Number.MAX_SAFE_INTEGER;
    this.items = feed.items.filter((item) => this.matches(item)).reverse();
    this.render();
    if (this.open && !this.items.some((item) => item.sequence === this.open)) await this.loadOne(this.open);
    if (this.items.length < pageSize / 2) await this.loadOlder();
  }

  receive(batch) {
    const fresh = batch.filter((item) => this.matches(item)).reverse();
    this.items = [...fresh, ...this.items].slice(0, (this.limit ?? maximum) + reserve);
    if (this.isPaused) setText(this.pause, `Resume: ${plural(this.held += fresh.length, "new event")}`);
    else this.render();
  }

  togglePause(isPaused = !this.isPaused) {
    this.isPaused = isPaused;
    this.held = 0;
    this.pause.setAttribute("aria-pressed", String(this.isPaused));
    setText(this.pause, this.isPaused ? "Resume" : "Pause");
    if (!this.isPaused) this.render();
  }

  async loadOne(sequence) {
    try {
      const entry = await get(`/v1/events/${sequence}`, this.signal);
      this.items = [...this.items, { type: "event", sequence, event: entry.event }].sort((a, b) =>
        (b.sequence ?? Infinity) - (a.sequence ?? Infinity)
      );
      this.render();
    } catch (error) {
      if (!isAbort(error)) setText(this.note, `#${sequence}: ${error.message}`);
    }
  }

  async loadOlder() {
    const query = new URLSearchParams({ before: this.reached, limit: pageSize });
    for (const [name, value] of Object.entries(this.filter)) if (value && name !== "subject") query.set(name, value);
    this.older.disabled = true;
    try {
      const body = await get(`/v1/events?${query}`, this.signal);
      const older = (body.events ?? []).map((entry) => ({
        type: "event",
        sequence: entry.sequence,
        event: entry.event,
      }));
      older.sort((a, b) => b.sequence - a.sequence);
      this.isAtEnd = older.length < pageSize;
      this.reached = older.at(-1)?.sequence ?? this.reached;
      this.items = [...this.items, ...older.filter((item) => this.matches(item))];
      this.limit = Math.max(this.limit ?? maximum, this.items.length);
      this.render();
    } catch (error) {
      if (!isAbort(error)) setText(this.note, `Older events cannot be loaded: ${error.message}`);
    } finally {
      this.older.disabled = false;
    }
  }

  render() {
    const shown = this.items.slice(0, this.limit ?? maximum);
    if (!shown.some((item) => item.type === "event")) {
      this.list.followed = null;
      replace(this.list, this.nothing());
    } else {
      if (this.list.querySelector(".empty")) replace(this.list);
      follow(
        this.list,
        shown,
        (item) => (item.sequence ? item.sequence : item),
        (item) => eventRow(item, { onOpen: (chosen) => this.toggle(chosen) }),
        (element, item) => this.update(element, item),
      );
    }
    this.older.hidden = this.isAtEnd;
    const words = this.isFiltered ? "Nothing older fits." : "This is where the journal begins.";
    setText(this.note, this.isAtEnd && shown.length ? words : "");
  }

  nothing() {
    return this.isFiltered
      ? empty(
        "No such events",
        "Nothing in the journal fits these filters.",
        h("a", {
          class: "button",
          href: "#/events",
          onClick: () => setTimeout(() => dispatchEvent(new HashChangeEvent("hashchange"))),
        }, "Show all"),
      )
      : empty(
        "No events yet",
        "Events appear when something comes to a room or a region, or leaves it. Is anything heard?",
        h("a", { class: "button", href: "#/things?show=unknown" }, "See what is heard"),
      );
  }

  update(element, item) {
    updateEventRow(element, item);
    const isOpen = item.sequence !== null && item.sequence !== undefined && item.sequence === this.open;
    setOpen(element, isOpen);
    const detail = element.querySelector(".detail");
    if (isOpen && !detail) element.append(eventDetail(item, this.signal));
    else if (!isOpen) detail?.remove();
  }

  /** Opens or closes an entry; the list holds still while one is read, and the entry stays under the pointer. */
  toggle(item) {
    const row = document.activeElement?.closest?.(".feed > li");
    const before = row?.getBoundingClientRect().top;
    this.open = this.open === item.sequence ? null : item.sequence;
    history.replaceState(null, "", this.open ? `#/events/${this.open}` : "#/events");
    this.togglePause(this.open !== null);
    this.render();
    if (row?.isConnected) scrollBy(0, row.getBoundingClientRect().top - before);
  }
}
