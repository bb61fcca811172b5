// History: where who was, how full rooms were, and how observers fared, as far back as the server stores it.

import { get, getIfAllowed, isAbort, part } from "./api.js";
import { drawSparkline, sparkline } from "./charts.js";
import { follow, h, replace, setAttribute, setText } from "./dom.js";
import { dayTime, decimal, none, plural } from "./format.js";
import { showObserver, showPlace, showSubject } from "./history-detail.js";
import { historyAddress, Range, rangeOf } from "./history.js";
import * as names from "./names.js";
import { card, empty, pageHead, refusal, segments, Table } from "./parts.js";
import { poll } from "./poll.js";
import { Rooms } from "./rooms.js";

/** Summaries come once a minute: how often they are read again, in ms. */
const period = 60000;
/** How many subjects a page of the list has, and how many steps a small line. */
const [pageSize, points] = [100, 100];
const choices = [["10m", "10 min"], ["1h", "1 h"], ["6h", "6 h"], ["24h", "24 h"]];

export function show(root, context) {
  const [kind, first, second] = context.rest;
  if (kind === "subject" && first) return showSubject(root, context, first);
  if (kind === "observer" && first) return showObserver(root, context, first);
  if (kind === "zone" && first) return showPlace(root, context, { zone: first });
  if (kind === "region" && second) return showPlace(root, context, { application: first, region: second });
  return new HistoryPage(root, context);
}

class HistoryPage {
  constructor(root, { signal, query }) {
    this.signal = signal;
    this.range = rangeOf(query);
    this.isChosen = query.get("range") !== null;
    this.subjects = [];
    this.next = null;
    this.text = "";
    this.rooms = new Rooms("Rooms and regions", "The number of subjects inside.");
    this.table = new Table("Subjects", this.columns(), (row) => row.subject);
    this.subjectsCard = card(
      "Subjects",
      "The RSSI at the nearest observer, or of the nearest beacon. Choose one to see where it was.",
    );
    this.rest = h("div");
    this.more = h("button", { type: "button", hidden: true, onClick: () => this.loadMore() }, "Load more subjects");
    this.note = h("p", { class: "soft small", role: "status" });
    this.subjectsCard.append(this.search(), this.rest, h("div", { class: "body actions" }, this.more, this.note));
    this.observers = card("Observers", "How many adverts each reported, and when it was down.");
    this.observerList = h("ul", { class: "links" });
    this.observers.append(h("div", { class: "body" }, this.observerList));
    this.observers.hidden = true;
    this.spans = segments("The last", choices, this.range.span, (span) => this.choose(span));
    replace(
      root,
      pageHead("History", "Where each subject was, minute by minute, as far back as the server stores it.", this.spans),
      h(
        "div",
        { class: "split history" },
        this.subjectsCard,
        h("div", { class: "stack" }, this.rooms.element, this.observers),
      ),
    );
    this.ask = poll(() => this.load(), period, signal, (error) => {
      if (!this.subjects.length) replace(this.rest, refusal(error));
    });
  }

  search() {
    const input = h("input", {
      id: "history-search",
      type: "search",
      placeholder: "a name or an identity",
      autocomplete: "off",
      spellcheck: "false",
      onInput: () => {
        this.text = input.value.trim().toLowerCase();
        this.render();
      },
    });
    return h(
      "form",
      { class: "filters", role: "search", onSubmit: (event) => event.preventDefault() },
      h("div", { class: "field" }, h("label", { for: "history-search" }, "Find a subject"), input),
    );
  }

  columns() {
    return [
      {
        title: "Subject",
        class: "first",
        make: () => h("a", null, h("span"), h("span", { class: "under" })),
        update: (node, row) => {
          setAttribute(node, "href", `${historyAddress("subject", row.subject)}?${this.range.address}`);
          setText(node.firstChild, row.name || names.nameOf(row.subject));
          setText(node.lastChild, row.name ? "" : row.subjectKind === "beacon" ? "beacon" : "observer");
        },
      },
      { title: "Room", text: (row) => names.nameOf(lastRoom(row)) || none },
      {
        title: "RSSI",
        make: () => sparkline([], "RSSI"),
        update: (node, row) => drawSparkline(node, row.rssi, rssiWords(row), { least: -100, most: -40 }),
      },
      { title: "Stored since", class: "nowrap", text: (row) => dayTime(Date.parse(row.first)) },
    ];
  }

  choose(span) {
    this.isChosen = true;
    this.range = new Range({ span });
    history.replaceState(null, "", `#/history?range=${span}`);
    this.load().catch((error) => {
      if (!isAbort(error)) setText(this.note, error.message);
    });
  }

  async load() {
    const query = this.range.query(points);
    const [body, occupancy, observers] = await Promise.all([
      getIfAllowed(`/v1/history/subjects?limit=${pageSize}&${query}`, null, this.signal),
      get(`/v1/history/occupancy?${query}`, this.signal),
      getIfAllowed("/v1/observers", {}, this.signal),
    ]);
    if (!this.isChosen && this.narrow(body, occupancy.places ?? [])) return;
    this.subjects = body?.subjects ?? [];
    this.next = body?.next ?? null;
    names.learn(this.subjects, (entry) => entry.subject);
    this.rooms.set(occupancy.places ?? [], this.range);
    this.showObservers(observers.observers ?? []);
    this.isRefused = body === null;
    this.isChosen = true;
    this.render();
  }

  /** Shows a shorter time if what is stored would be a line of a few points; true if it does. */
  narrow(body, places) {
    const lines = [...(body?.subjects ?? []).map((entry) => entry.rssi), ...places.map((place) => place.inside)];
    const known = Math.max(0, ...lines.map((values) => values.filter((value) => value !== null).length));
    const shorter = { "24h": "1h", "1h": "10m" }[this.range.span];
    if (!shorter || known > 8 || !lines.length) return false;
    this.range = new Range({ span: shorter });
    for (const button of this.spans.children) {
      setAttribute(button, "aria-pressed", String(button.dataset.value === shorter));
    }
    this.ask();
    return true;
  }

  async loadMore() {
    this.more.disabled = true;
    try {
      const path = `/v1/history/subjects?limit=${pageSize}&${this.range.query(points)}&cursor=${part(this.next)}`;
      const body = await get(path, this.signal);
      this.subjects = [...this.subjects, ...body.subjects];
      this.next = body.next;
      this.render();
    } catch (error) {
      if (!isAbort(error)) setText(this.note, error.message);
    } finally {
      this.more.disabled = false;
    }
  }

  render() {
    const shown = this.subjects.filter((row) =>
      `${row.subject} ${row.name ?? ""} ${names.nameOf(row.subject)}`.toLowerCase().includes(this.text)
    );
    this.more.hidden = !this.next;
    setText(
      this.note,
      this.subjects.length ? `${plural(shown.length, "subject")}${this.next ? ", and more" : ""}` : "",
    );
    if (!shown.length) return replace(this.rest, this.nothing());
    if (this.rest.firstChild?.firstChild !== this.table.element) {
      replace(this.rest, h("div", { class: "scroll" }, this.table.element));
    }
    return this.table.show(shown);
  }

  nothing() {
    if (this.isRefused) return empty("Not with this token", "An operator's token shows where subjects were.");
    if (this.subjects.length) return empty("No such subject", "No subject that is loaded has this name.");
    return empty("Nothing stored yet", "The server stores a summary of each minute soon after its end.");
  }

  showObservers(observers) {
    this.observers.hidden = !observers.length;
    follow(
      this.observerList,
      observers,
      (row) => row.id,
      () => h("li", null, h("a")),
      (item, row) => {
        setText(item.firstChild, row.name || row.id);
        setAttribute(item.firstChild, "href", `${historyAddress("observer", row.id)}?${this.range.address}`);
      },
    );
  }
}

/** The room in the last step of which something is stored. */
function lastRoom({ rssi, zones }) {
  const last = zones.findLastIndex((zone, index) => zone || rssi[index] !== null);
  return last < 0 ? "" : zones[last];
}

function rssiWords(row) {
  const known = row.rssi.filter((value) => value !== null);
  const words = `RSSI of ${row.name || names.nameOf(row.subject)}`;
  if (!known.length) return words;
  return `${words}: ${decimal(Math.min(...known), 0)} to ${decimal(Math.max(...known), 0)} dBm`;
}
