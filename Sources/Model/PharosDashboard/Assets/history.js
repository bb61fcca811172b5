// What pages of the past have in common: ranges of time, runs of what stayed the same, tables for spreadsheets.

import { get, part, Problem, send, serverNow } from "./api.js";
import { h, setAttribute, setText } from "./dom.js";
import { saveFile } from "./files.js";
import { field } from "./parts.js";

const hour = 3600000;

/** The ranges that end now: a key, a text, and the length in ms. */
export const spans = [
  ["10m", "10 min", hour / 6],
  ["1h", "1 h", hour],
  ["6h", "6 h", 6 * hour],
  ["24h", "24 h", 24 * hour],
  ["7d", "7 d", 168 * hour],
  ["30d", "30 d", 720 * hour],
];

/** A range of time: the last so many hours, or from one instant to another in ms. */
export class Range {
  constructor({ span = null, from = null, to = null }) {
    this.span = spans.some(([key]) => key === span) ? span : null;
    this.fixed = Number.isFinite(from) && Number.isFinite(to) && from < to ? { from, to } : null;
    if (!this.fixed) this.span ??= "24h";
  }

  get from() {
    return this.fixed?.from ?? this.to - spans.find(([key]) => key === this.span)[2];
  }

  get to() {
    return this.fixed?.to ?? serverNow();
  }

  /** The length of the range in ms. */
  get length() {
    return this.to - this.from;
  }

  /** The range as a part of a page's address. */
  get address() {
    return this.fixed ? `from=${iso(this.from)}&to=${iso(this.to)}` : `range=${this.span}`;
  }

  /** The range as a query of the server, divided into at most so many steps. */
  query(points) {
    return `from=${iso(this.from)}&to=${iso(this.to)}&points=${points}`;
  }
}

/** The range that an address names. */
export function rangeOf(query) {
  const at = (name) => (query.get(name) ? Date.parse(query.get(name)) : null);
  return new Range({ span: query.get("range"), from: at("from"), to: at("to") });
}

/** The first minute of which something is stored of one of the first subjects, in ms; without any it is now. */
export async function firstStored(signal) {
  const { subjects = [] } = await get(`/v1/history/subjects?limit=3&${new Range({ span: "30d" }).query(30)}`, signal);
  return Math.min(serverNow(), ...subjects.map((row) => Date.parse(row.first)));
}

function iso(at) {
  return new Date(at).toISOString();
}

/** The value that an input of a date and a time has for an instant: by the reader's clock. */
export function localInput(at) {
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

/** Buttons for ranges that end now, and two entries for any other; `onChange` gets each new range. */
export class RangeForm {
  constructor(range, onChange) {
    this.range = range;
    this.onChange = onChange;
    this.buttons = spans.map(([key, text]) =>
      h("button", { type: "button", "data-value": key, onClick: () => this.set(new Range({ span: key })) }, text)
    );
    const entry = (id, label) => field(label, h("input", { id, type: "datetime-local", onChange: () => this.receive() }));
    this.from = entry("history-from", "From");
    this.to = entry("history-to", "To");
    this.element = h(
      "form",
      { class: "range", "aria-label": "Range of time", onSubmit: (event) => event.preventDefault() },
      h("div", { class: "segments", role: "group", "aria-label": "The last" }, this.buttons),
      h("div", { class: "range-entries" }, this.from.element, this.to.element),
    );
    this.show();
  }

  receive() {
    const [from, to] = [this.from, this.to].map(({ input }) => Date.parse(input.value));
    if (!(from < to)) {
      this.to.say("bad", "later than From");
      return;
    }
    this.to.say("", "");
    this.set(new Range({ from, to }));
  }

  set(range) {
    this.range = range;
    this.show();
    this.onChange(range);
  }

  show() {
    for (const button of this.buttons) {
      setAttribute(button, "aria-pressed", String(!this.range.fixed && button.dataset.value === this.range.span));
    }
    this.from.input.value = localInput(this.range.from);
    this.to.input.value = localInput(this.range.to);
  }
}

/**
 * Joins neighbouring points with the same value: `{ from, to, value }` in ms.
 *
 * A point takes `step` ms; a point without a value, or that is missing, ends a run.
 */
export function runsOf(points, step, valueOf) {
  const runs = [];
  for (const point of points) {
    const value = valueOf(point);
    if (value === null || value === undefined) continue;
    const from = Date.parse(point.time);
    const last = runs.at(-1);
    if (last && last.value === value && last.to === from) last.to = from + step;
    else runs.push({ from, to: from + step, value });
  }
  return runs;
}

/** The points of a curve in ms, with a point without value wherever a step is missing. */
export function curveOf(points, step, { value, low, high }) {
  const curve = [];
  for (const point of points) {
    const time = Date.parse(point.time) + step / 2;
    if (curve.length && time - curve.at(-1).time > step) curve.push({ time: curve.at(-1).time + step, value: null });
    curve.push({ time, value: point[value] ?? null, low: point[low], high: point[high] });
  }
  return curve;
}

/** A button that saves a list of the server as a table for spreadsheets. */
export function downloadButton(pathOf, nameOf) {
  const button = h("button", { type: "button", onClick: () => save() }, "Download CSV");
  const save = async () => {
    button.disabled = true;
    try {
      const response = await send(pathOf(), { headers: { accept: "text/csv" } });
      if (!response.ok) throw new Problem(response.status, null);
      saveFile(`${nameOf()}.csv`, await response.blob());
      setText(button, "Download CSV");
    } catch (error) {
      setText(button, `Not downloaded: ${error.message}`);
    } finally {
      button.disabled = false;
    }
  };
  return button;
}

/** The page that shows the past of a subject, an observer, a zone or a region. */
const pages = { subject: "things", observer: "gateways", zone: "rooms", region: "regions" };

/** Where the history of a kind is now: addresses that readers have kept lead on. */
export function pageOf(kind) {
  return pages[kind] ?? "things";
}

/** The address of the page of a subject, an observer, a zone or a region. */
export function historyAddress(kind, ...ids) {
  return `#/${pages[kind]}/${ids.map(part).join("/")}`;
}

/** A tone for each value in the order of first occurrence; six tones are distinguishable. */
export function tonesOf(values) {
  const tones = new Map();
  for (const value of values) if (!tones.has(value)) tones.set(value, `room-${tones.size % 6}`);
  return tones;
}
