// The picture of a plan on a canvas: still parts are drawn once, marks as they move.

import { follow, h, setText } from "./dom.js";
import { byName, plural } from "./format.js";
import { cellFrames, drawStill, labelColumns, labelStep, readPalette } from "./plan-drawing.js";
import { drawCounts, drawLabels, drawMarks, drawRing } from "./plan-marks.js";
import { Scene, Slots } from "./plan-scene.js";

/** How near a pointer must come to a mark, in pixels. */
const reach = 12;
/** How many lines below the names are kept for the dots of marks without one. */
const dotLines = 2;
/** How many things of a place are listed in words; beyond, a link leads to the rest. */
const maximumWords = 24;
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
  #stage = h(
    "div",
    {
      class: "plan-stage",
      tabindex: "0",
      role: "group",
      "aria-label": "Plan. Arrow keys go from one thing to the next, Enter opens it, Escape leaves it.",
      onKeydown: (event) => this.#key(event),
      onBlur: () => this.#select(null),
    },
    this.#canvas,
  );
  #said = h("p", { class: "visually-hidden", role: "status" });
  #selected = null;
  #still = document.createElement("canvas");
  #tip = h("div", { class: "tip", hidden: true });
  #words = h("ul", { class: "facts" });
  #inWords = h("details", { class: "body plan-words" }, h("summary", null, "The same in words"), this.#words);
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
      this.#stage,
      this.#tip,
      this.#said,
      this.#legend(),
      this.#inWords,
    );
    this.#inWords.addEventListener("toggle", () => this.refresh());
    this.#resizer = new ResizeObserver(() => this.#resize());
    this.#resizer.observe(this.element);
    addEventListener("pharos:theme", this.#themeChanged);
    this.#canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.#canvas.addEventListener("pointerleave", () => this.#hide());
    this.#canvas.addEventListener("click", (event) => this.#open(this.#under(event)?.href));
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
      frame.count = marks.size;
      if (marks.size) this.#aimInCell(frame, [...marks], slots);
    }
  }

  /** Marks with a name stand below each other with it, all where there is room; the others are dots below. */
  #aimInCell({ inner }, marks, slots) {
    const maximum = Math.floor(inner.height / labelStep);
    const columns = labelColumns(inner.width);
    const lines = marks.length <= maximum * columns ? maximum : Math.max(0, maximum - dotLines);
    marks.sort(([, a], [, b]) => Number(b.isNamed) - Number(a.isNamed) || byName(a.name, b.name));
    const labelled = marks.slice(0, lines * columns);
    const columnWidth = inner.width / columns;
    for (const [index, [key, mark]] of labelled.entries()) {
      mark.size = 5;
      mark.room = columnWidth - 20;
      const [column, row] = [index % columns, Math.floor(index / columns)];
      this.#scene.aim(key, inner.x + column * columnWidth + 6, inner.y + (row + 0.5) * labelStep, mark);
    }
    const isLabelled = new Set(labelled.map(([key]) => key));
    const rest = marks.filter(([key]) => !isLabelled.has(key));
    slots.follow(new Set(rest.map(([key]) => key)));
    const top = inner.y + Math.ceil(labelled.length / columns) * labelStep;
    const height = inner.y + inner.height - top;
    const step = gridStep(inner.width, height, slots.size);
    const across = Math.max(1, Math.floor(inner.width / step));
    for (const [key, mark] of rest) {
      const slot = slots.slot(key);
      mark.size = Math.min(5.5, step * 0.36);
      mark.room = 0;
      const column = slot % across;
      const row = Math.floor(slot / across);
      this.#scene.aim(key, inner.x + (column + 0.5) * step, Math.min(top + (row + 0.5) * step, top + height - 2), mark);
    }
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
    drawRing(pen, this.#scene.marks.get(this.#selected ?? this.#chosen), this.#palette);
    drawLabels(pen, this.#scene.marks, this.#palette);
    if (moves) this.#wake();
  }

  /** What is under a pointer: `{ mark, href }` of a mark or of its name, or `{ href }` of a place's head; or null. */
  #under(event) {
    const box = this.#canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const isOnName = (mark) => Math.abs(y - mark.y) < labelStep / 2 && x > mark.x && x < mark.x + 11 + mark.look.room;
    const mark = this.#scene.nearest(x, y, reach) ??
      [...this.#scene.marks.values()].find((found) => found.look.room && !found.isGone && isOnName(found));
    if (mark) return { mark, href: mark.look.href };
    const isOnHead = (cell) => x > cell.x && x < cell.x + cell.width && y > cell.y && y < cell.inner.y;
    const cell = this.#frames && [...this.#frames.places.values()].find(isOnHead);
    return cell?.place.href ? { href: cell.place.href } : null;
  }

  #open(href) {
    if (href) location.hash = href;
  }

  #point(event) {
    const found = this.#under(event);
    this.#canvas.classList.toggle("is-over", Boolean(found?.href));
    if (found?.mark) this.#showTip(found.mark);
    else this.#hide();
  }

  #showTip(mark) {
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

  /** Goes from mark to mark in the order of reading, opens one, or leaves it. */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const marks = [...this.#scene.marks.values()].filter((mark) => !mark.isGone);
    if (event.key in steps && marks.length) {
      const places = [...this.#frames.places.keys()];
      const rank = new Map(places.map((id, index) => [id, index]));
      marks.sort((a, b) =>
        (rank.get(a.look.place) ?? 0) - (rank.get(b.look.place) ?? 0) || a.toY - b.toY || a.toX - b.toX
      );
      const at = marks.findIndex((mark) => mark.key === this.#selected);
      const next = at < 0 ? 0 : (at + steps[event.key] + marks.length) % marks.length;
      this.#select(marks[next]);
    } else if (event.key === "Enter" && this.#selected !== null) {
      this.#open(this.#scene.marks.get(this.#selected)?.look.href);
    } else if (event.key === "Escape") this.#select(null);
    else return;
    event.preventDefault();
  }

  #select(mark) {
    this.#selected = mark?.key ?? null;
    setText(this.#said, mark ? mark.look.tip() : "");
    if (mark) this.#showTip(mark);
    else this.#hide();
    this.#wake();
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
    if (!this.#inWords.open) return;
    follow(
      this.#words,
      places,
      (place) => String(place.id),
      (place) =>
        h(
          "li",
          null,
          place.href ? h("a", { href: place.href }, h("b", null, place.name)) : h("b", null, place.name),
          h("ul", { class: "under" }),
          h("span", { class: "under soft" }),
        ),
      (item, place) => {
        const [list, more] = [item.children[1], item.lastChild];
        const marks = (here.get(place.id) ?? []).sort((a, b) => byName(a.name, b.name));
        const shown = marks.slice(0, maximumWords);
        follow(list, shown, (mark) => mark.href, (mark) => h("li", null, h("a", { href: mark.href })), (line, mark) => {
          setText(line.firstChild, mark.name);
        });
        const left = marks.length - shown.length;
        setText(more, !marks.length ? "empty" : left > 0 ? `and ${left} more` : "");
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
