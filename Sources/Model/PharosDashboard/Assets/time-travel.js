// A slider over a stored day: the positions of all subjects in a minute, and the way back to now.

import { get, isAbort, serverNow } from "./api.js";
import { h, replace, setText } from "./dom.js";
import { dayTime, plural } from "./format.js";
import { firstStored, localInput } from "./history.js";

const minute = 60000;
const lastOfDay = 24 * 60 - 1;
/** How long the slider must rest before a minute is fetched, in ms. */
const patience = 120;

/** The controls; `onFrame` gets `{ at, subjects }` of the past, and null when it shows what is now. */
export class TimeTravel {
  constructor(signal, onFrame) {
    this.signal = signal;
    this.onFrame = onFrame;
    /** The beginning of the minute that is shown, in ms; null while that is now. */
    this.at = null;
    /** The first minute of which something is stored. */
    this.first = -Infinity;
    this.open = h("button", { type: "button", class: "small", onClick: () => this.begin() }, "Look back in time");
    this.day = h("input", { type: "date", id: "travel-day", onChange: () => this.turnTo(this.dayStart, this.minutes) });
    this.slider = h("input", {
      type: "range",
      id: "travel-time",
      min: "0",
      max: String(lastOfDay),
      step: "1",
      "aria-label": "Time of day",
      onInput: () => this.turnTo(this.dayStart, Number(this.slider.value)),
    });
    this.title = h("b");
    this.status = h("span", { role: "status" });
    const step = (span, text, label) =>
      h("button", {
        type: "button",
        class: "small",
        "aria-label": label,
        onClick: () => this.show(this.at + span),
      }, text);
    this.element = h(
      "section",
      { class: "travel", "aria-label": "The past", hidden: true },
      h("p", { class: "travel-words" }, h("span", { class: "chip warn" }, "Past"), " ", this.title, " ", this.status),
      h(
        "div",
        { class: "travel-bar" },
        h("label", { for: "travel-day", class: "visually-hidden" }, "Day"),
        this.day,
        step(-10 * minute, "−10 min", "Ten minutes earlier"),
        this.slider,
        step(10 * minute, "+10 min", "Ten minutes later"),
        h("button", { type: "button", class: "small primary", onClick: () => this.end() }, "Back to live"),
      ),
    );
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  get dayStart() {
    const [year, month, date] = this.day.value.split("-").map(Number);
    return new Date(year, month - 1, date).getTime();
  }

  get minutes() {
    return Number(this.slider.value);
  }

  /** Begins ten minutes ago, or where data begin. */
  async begin() {
    this.element.hidden = false;
    this.open.hidden = true;
    this.first = await firstStored(this.signal).catch(() => -Infinity);
    this.day.min = Number.isFinite(this.first) ? localInput(this.first).slice(0, 10) : "";
    this.show(serverNow() - 10 * minute);
    this.slider.focus();
  }

  /** Shows what is now. */
  end() {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.at = null;
    this.element.hidden = true;
    this.open.hidden = false;
    this.open.focus();
    this.onFrame(null);
  }

  turnTo(start, minutes) {
    if (Number.isNaN(start)) return;
    const date = new Date(start);
    // By the reader's clock: a day that is an hour shorter or longer has its minutes too.
    this.show(new Date(date.getFullYear(), date.getMonth(), date.getDate(), 0, minutes).getTime());
  }

  show(at) {
    // The last minute that is over: what came later is not stored.
    const last = Math.floor(serverNow() / minute) * minute - minute;
    this.at = Math.min(Math.max(Math.floor(at / minute) * minute, this.first), last);
    const local = localInput(this.at);
    this.day.value = local.slice(0, 10);
    this.day.max = localInput(last).slice(0, 10);
    const date = new Date(this.at);
    this.slider.value = String(date.getHours() * 60 + date.getMinutes());
    this.slider.setAttribute("aria-valuetext", dayTime(this.at));
    setText(this.title, dayTime(this.at));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), patience);
  }

  async load() {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    const { at } = this;
    try {
      const signal = AbortSignal.any([asking.signal, this.signal]);
      const body = await get(`/v1/history/positions?at=${new Date(at).toISOString()}`, signal);
      const subjects = body.frames[0]?.subjects ?? [];
      setText(
        this.status,
        subjects.length
          ? `${plural(subjects.length, "thing")}, as they were then.`
          : "Nothing is stored of this minute.",
      );
      this.onFrame({ at: at + minute, subjects });
    } catch (error) {
      if (!isAbort(error)) replace(this.status, error.message);
    }
  }
}
