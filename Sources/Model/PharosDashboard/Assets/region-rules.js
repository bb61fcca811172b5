// The form entries for the rules that decide when a person is inside and when gone.

import { h } from "./dom.js";
import { checkedText, fine, numberOrNothing, select, setMember } from "./form-parts.js";
import { checkNumber, checkTime } from "./identity.js";
import { field } from "./parts.js";

const silences = [
  ["adaptive", "adaptive: learned from the beacon"],
  ["fixed", "fixed: after a set time"],
  ["never", "never: silent beacons stay"],
];

/** Samples and level to enter; level, dwell and silence to leave. What is left empty keeps its default. */
export class RuleFields {
  constructor({ enter = {}, exit = {} }, onInput) {
    this.before = { enter, exit };
    const text = (id, label, check, value, placeholder) =>
      checkedText(id, label, check, { value, placeholder, onInput });
    const samples = (entered) => checkNumber(entered, 1, 255, "The number of adverts");
    this.samples = text("samples", "Adverts to enter", samples, enter.samples, "2");
    this.within = text("within", "Within", (entered) => checkTime(entered, "The time"), enter.within, "learned");
    this.enterLevel = text("enter-rssi", "Enter from (dBm)", checkLevel, enter.rssi, "any level");
    const exitLevel = (entered) => this.checkExitLevel(entered);
    this.exitLevel = text("exit-rssi", "Leave below (dBm)", exitLevel, exit.rssi, "never by level");
    this.dwell = text("dwell", "Stay below for", (entered) => checkTime(entered, "The dwell"), exit.dwell, "5s");
    const silence = exit.silence ?? "adaptive";
    const mode = silence === "adaptive" || silence === "never" ? silence : "fixed";
    this.silence = select("silence", silences, mode);
    const fixed = (entered) => this.checkFixed(entered);
    this.fixed = text("fixed", "Silence", fixed, mode === "fixed" ? silence : "30s", "30s");
    this.shown = [this.samples, this.within, this.enterLevel, this.exitLevel, this.dwell, this.fixed];
    const showFixed = () => {
      this.fixed.element.hidden = this.silence.value !== "fixed";
    };
    this.silence.addEventListener("change", () => {
      showFixed();
      onInput();
    });
    showFixed();
    const row = (...elements) => h("div", { class: "fields" }, elements);
    this.element = h(
      "div",
      { class: "stack" },
      row(this.samples.element, this.within.element),
      row(this.enterLevel.element, this.exitLevel.element, this.dwell.element),
      row(field("Gone after silence", this.silence).element, this.fixed.element),
    );
  }

  checkExitLevel(text) {
    const found = checkLevel(text);
    const enter = numberOrNothing(this.enterLevel.input.value);
    const isAbove = found.ok && text.trim() && enter !== undefined && numberOrNothing(text) >= enter;
    return isAbove ? { ok: false, isWrong: true, text: "It lies below the level to enter." } : found;
  }

  checkFixed(text) {
    if (this.silence.value !== "fixed") return fine;
    return text.trim() ? checkTime(text, "The silence") : { ok: false, text: "A time with its unit, as in 30s." };
  }

  /** The entry behind a field that the server names. */
  entry(name) {
    return {
      "enter.samples": this.samples,
      "enter.within": this.within,
      "enter.rssi": this.enterLevel,
      "exit.rssi": this.exitLevel,
      "exit.dwell": this.dwell,
      "exit.silence": this.fixed,
    }[name];
  }

  /** The members of the document; rules that are not shown stay as they were. */
  document() {
    const enter = { ...this.before.enter };
    setMember(enter, "samples", numberOrNothing(this.samples.input.value));
    setMember(enter, "within", this.within.input.value.trim());
    setMember(enter, "rssi", numberOrNothing(this.enterLevel.input.value));
    const exit = { ...this.before.exit };
    setMember(exit, "rssi", numberOrNothing(this.exitLevel.input.value));
    setMember(exit, "dwell", this.dwell.input.value.trim());
    exit.silence = this.silence.value === "fixed" ? this.fixed.input.value.trim() : this.silence.value;
    return Object.keys(enter).length ? { enter, exit } : { exit };
  }
}

function checkLevel(text) {
  const value = numberOrNothing(text);
  if (value === undefined) return fine;
  const isLevel = Number.isFinite(value) && value >= -127 && value <= 20;
  return isLevel ? fine : { ok: false, isWrong: true, text: "A level is a number from −127 to 20, as in −80." };
}
