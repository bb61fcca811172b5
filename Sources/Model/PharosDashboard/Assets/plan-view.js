// The picture of a plan on a canvas: still parts are drawn once, marks as they move.

import { follow, h, setText } from "./dom.js";
import { plural } from "./format.js";
import { cellFrames, drawStill, readPalette } from "./plan-drawing.js";
import { drawCounts, drawLabels, drawMarks, drawRing } from "./plan-marks.js";
import { Scene, Slots } from "./plan-scene.js";

/** How near a pointer must come to a mark, in pixels. */
const reach = 12;
/** How far apart marks with names stand, in pixels: a line of text. */
const labelStep = 19;
/** Device pixels drawn for one of the layout: more than two cannot be seen and cost their square. */
const sharpest = 2;

/** The system's setting for reduced motion: where it is set, marks move to their new place at once. */
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** A canvas that shows a source's marks, with the same in words below it. */
export class PlanView {
  #source;
  #scene = new Scene();
  #slots = new Map();
  #canvas = h("canvas", { role: "img" });
  #still = document.createElement("canvas");
  #tip = h("div", { class: "tip", hidden: true });
  #words = h("ul", { class: "facts" });
  #width = 0;
  #height = 0;
  #version = -1;
  #frames = null;
  #palette = readPalette();
  #request = 0;
  #drawnAt = 0;
  #pointed = null;
  #chosen;

  /** Shows a source; a ring is around the mark of a subject that is `chosen`. */
  constructor(source, chosen = null) {
    this.#source = source;
    this.#chosen = chosen;
    this.element = h(
      "div",
      { class: "plan" },
      this.#canvas,
      this.#tip,
      this.#legend(),
      h("details", { class: "body plan-words" }, h("summary", null, "The same in words"), this.#words),
    );
    this.#resizer = new ResizeObserver(() => this.#resize());
    this.#resizer.observe(this.element);
    addEventListener("pharos:theme", this.#themeChanged);
    this.#canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.#canvas.addEventListener("pointerleave", () => this.#hide());
  }

  #resizer;
  #themeChanged = () => {
    this.#palette = readPalette();
    this.#version = -1;
    this.refresh();
  };

  /** Takes up what the source has now. */
  refresh() {
    if (!this.#width) return;
    const isNew = this.#version !== this.#source.version;
    if (isNew) this.#arrange();
    this.#aim();
    if (isNew && !this.#drawnAt) this.#scene.arrive();
    this.#describe();
    this.#wake();
  }

  /** Stops drawing, and removes the observers and listeners of the picture. */
  close() {
    this.#resizer.disconnect();
    removeEventListener("pharos:theme", this.#themeChanged);
    cancelAnimationFrame(this.#request);
  }

  #resize() {
    const width = this.element.clientWidth;
    if (!width || width === this.#width) return;
    this.#width = width;
    this.#version = -1;
    this.#drawnAt = 0;
    this.refresh();
  }

  #arrange() {
    this.#version = this.#source.version;
    this.#frames = cellFrames(this.#source.groups, this.#width);
    this.#height = this.#frames.height;
    const density = Math.min(devicePixelRatio || 1, sharpest);
    for (const canvas of [this.#canvas, this.#still]) {
      canvas.width = Math.round(this.#width * density);
      canvas.height = Math.round(this.#height * density);
    }
    this.#canvas.style.height = `${this.#height}px`;
    const pen = this.#still.getContext("2d");
    pen.setTransform(density, 0, 0, density, 0, 0);
    drawStill(pen, this.#frames, this.#palette, this.#width, this.#height);
  }

  /** Says where each mark belongs now. */
  #aim() {
    const keys = new Set();
    this.#aimAtCells(keys);
    this.#scene.keep(keys);
  }

  #aimAtCells(keys) {
    const inside = new Map();
    for (const [key, mark] of this.#source.marks) {
      if (!this.#frames.places.has(mark.place)) continue;
      if (!inside.has(mark.place)) inside.set(mark.place, new Map());
      inside.get(mark.place).set(key, mark);
      keys.add(key);
    }
    for (const [id, frame] of this.#frames.places) {
      const marks = inside.get(id) ?? new Map();
      if (!this.#slots.has(id)) this.#slots.set(id, new Slots());
      const slots = this.#slots.get(id);
      slots.follow(marks);
      frame.count = marks.size;
      if (!marks.size) continue;
      if (this.#aimAtLabels(frame, marks)) continue;
      const { x, y, width, height } = frame.inner;
      const step = gridStep(width, height, slots.size);
      const across = Math.max(1, Math.floor(width / step));
      for (const [key, mark] of marks) {
        const slot = slots.slot(key);
        mark.size = Math.min(5.5, step * 0.36);
        mark.room = 0;
        const column = slot % across;
        const row = Math.floor(slot / across);
        this.#scene.aim(key, x + (column + 0.5) * step, Math.min(y + (row + 0.5) * step, y + height - 2), mark);
      }
    }
  }

  /** Few marks stand below each other with their names; false where there are too many. */
  #aimAtLabels({ inner }, marks) {
    const maximum = Math.floor(inner.height / labelStep);
    if (marks.size > maximum) return false;
    [...marks].forEach(([key, mark], row) => {
      mark.size = 5;
      mark.room = inner.width - 20;
      this.#scene.aim(key, inner.x + 6, inner.y + (row + 0.5) * labelStep, mark);
    });
    return true;
  }

  #wake() {
    if (!this.#request) this.#request = requestAnimationFrame((now) => this.#draw(now));
  }

  #draw(now) {
    this.#request = 0;
    const span = this.#drawnAt ? Math.min(0.1, (now - this.#drawnAt) / 1000) : 1;
    this.#drawnAt = now;
    if (stillness.matches) this.#scene.arrive();
    const moves = this.#scene.step(span);
    const pen = this.#canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    pen.drawImage(this.#still, 0, 0);
    const density = Math.min(devicePixelRatio || 1, sharpest);
    pen.setTransform(density, 0, 0, density, 0, 0);
    const { places } = this.#frames;
    drawCounts(pen, places, this.#palette);
    drawMarks(pen, this.#scene.marks, this.#palette);
    drawRing(pen, this.#scene.marks.get(this.#chosen), this.#palette);
    drawLabels(pen, this.#scene.marks, this.#palette);
    if (moves) this.#wake();
  }

  #point(event) {
    const box = this.#canvas.getBoundingClientRect();
    const mark = this.#scene.nearest(event.clientX - box.left, event.clientY - box.top, reach);
    if (!mark) return this.#hide();
    if (this.#pointed !== mark.key) {
      this.#pointed = mark.key;
      setText(this.#tip, mark.look.tip());
      this.#tip.hidden = false;
    }
    this.#tip.style.left = `${Math.max(70, Math.min(this.#width - 70, mark.x))}px`;
    this.#tip.style.top = `${Math.max(30, mark.y)}px`;
  }

  #hide() {
    this.#pointed = null;
    this.#tip.hidden = true;
  }

  #legend() {
    const marks = {
      accent: "dot plan-accent",
      good: "dot good",
      warn: "dot warn",
      off: "dot off",
      observer: "observer-mark",
      "observer-down": "observer-mark down",
    };
    return h(
      "div",
      { class: "legend-row" },
      this.#source.legend().map(([mark, text]) => h("span", null, h("i", { class: marks[mark] }), text)),
    );
  }

  /** Writes the plan in words, for screen readers and for people who look for a name. */
  #describe() {
    const places = [];
    for (const group of this.#source.groups) {
      places.push(...group.places);
    }
    const here = new Map();
    for (const mark of this.#source.marks.values()) {
      if (!here.has(mark.place)) here.set(mark.place, []);
      here.get(mark.place).push(mark);
    }
    setText(this.#canvas, "");
    this.#canvas.setAttribute(
      "aria-label",
      `${this.#source.title}: ${plural(this.#source.marks.size, "mark")} in ${plural(places.length, "place")}`,
    );
    follow(
      this.#words,
      places,
      (place) => String(place.id),
      (place) => h("li", null, h("b", null, place.name), h("span", { class: "under soft" })),
      (item, place) => {
        const marks = here.get(place.id) ?? [];
        const few = marks.slice(0, 6).map((mark) => mark.tip().split(":")[0]).join(", ");
        setText(
          item.lastChild,
          marks.length ? ` ${few}${marks.length > 6 ? ` and ${marks.length - 6} more` : ""}` : " empty",
        );
      },
    );
  }
}

/** The distance of marks in a grid, in pixels: as wide as so many allow, at most 20 and at least 5. */
function gridStep(width, height, count) {
  let step = 20;
  while (step > 5 && Math.floor(width / step) * Math.floor(height / step) < count) step -= 0.5;
  return step;
}
