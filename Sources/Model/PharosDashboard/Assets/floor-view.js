// The picture of a floor on a canvas: one floor at a time, to be moved, zoomed and switched by hand or by keys.

import { follow, h, replace, s, setAttribute, setText } from "./dom.js";
import { drawFloor, symbols } from "./floor-drawing.js";
import { around, Viewport } from "./floor-frame.js";
import { drawLabels } from "./floor-labels.js";
import { FloorList } from "./floor-list.js";
import { drawChosen, drawSubjects, drawTrails } from "./floor-marks.js";
import { factsOf, trailSpan } from "./floor-source.js";
import { ChosenDetails, drawFences, drawWay } from "./floor-overlays.js";
import { FloorSwitch } from "./floor-switch.js";
import { plural } from "./format.js";
import { historyAddress } from "./history.js";
import { readPalette } from "./plan-drawing.js";
import { Scene } from "./plan-scene.js";
import { EventStream } from "./stream.js";

/** How near a pointer must come to a mark, in pixels. */
const reach = 14;
/** The room around those who are on a floor at the first look, in metres; from what share on all of it is shown. */
const [thingRoom, wholeFrom] = [10, 0.6];
/** Around a chosen subject at most so many metres are shown, or so many times its accuracy. */
const [chosenRoom, chosenAccuracies] = [40, 6];
/** How far from the controls a chosen subject stays, in pixels. */
const besideControls = 36;
/** A press that moves farther than this many pixels drags; else it chooses. */
const dragFrom = 4;
/** How far a key moves the picture, in pixels, and how much it zooms. */
const keyStep = 60;
const keyZoom = 1.4;
/** Device pixels drawn for one of the layout: more than two cannot be seen and cost their square. */
const sharpest = 2;
/** The time in s in which a mark makes two thirds of its way: fixes come once a second, and people do not jump. */
const ease = 0.3;
/** The interval at which the picture is refreshed, in ms: ages grow even while no subject moves. */
const pace = 1000;
/** The interval at which the visit and the way of the chosen subject are read, in ms. */
const detailPace = 2000;
/** The interval at which trails are redrawn, in ms: they are most of the work, and change slowly. */
const trailPace = 250;

/** The system's setting for reduced motion: where it is set, marks move to their new place at once. */
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** A canvas with a floor of a source, what one does with it, and the same in words below it. */
export class FloorView {
  #source;
  #scene = new Scene(ease, 0.02);
  #view = new Viewport();
  #canvas = h("canvas", { role: "img" });
  #still = document.createElement("canvas");
  #trails = document.createElement("canvas");
  #trailsAt = 0;
  #stage;
  #tip = h("div", { class: "tip", hidden: true });
  #legend = h("div", { class: "legend-row" });
  #fences = [];
  #facts = h("section", { class: "floor-facts", hidden: true });
  #switch;
  #list;
  #floor = null;
  #chosen = null;
  /** Whether the picture has still to come near the subject that was chosen. */
  #isZoomDue = false;
  #details = new ChosenDetails();
  #detailsAt = 0;
  #palette = readPalette();
  #version = -1;
  #isStillDue = true;
  #request = 0;
  #drawnAt = 0;
  #press = null;
  #stop = new AbortController();
  #stream;

  /** Shows a source; a subject that is `chosen` already is in view from the start. */
  constructor(source, chosen = null) {
    this.#source = source;
    this.#switch = new FloorSwitch((key) => this.#show(key));
    this.#list = new FloorList((subject) => this.#choose(subject));
    this.#stage = h(
      "div",
      {
        class: "floor-stage",
        tabindex: "0",
        role: "group",
        "aria-label": "Floor plan. Arrow keys move it, plus and minus zoom, 0 shows all of it, Page Up and Page Down " +
          "change floors, Escape deselects.",
        onKeydown: (event) => this.#key(event),
      },
      this.#canvas,
      this.#tip,
      this.#zoomButtons(),
      this.#switch.element,
      this.#facts,
    );
    this.element = h("div", { class: "plan" }, this.#stage, this.#legend, this.#list.element);
    this.#list.element.addEventListener("toggle", () => this.refresh());
    const { signal } = this.#stop;
    this.#resizer.observe(this.#stage);
    addEventListener("pharos:theme", () => this.#redraw(true), { signal });
    this.#listen(signal);
    const timer = setInterval(() => this.refresh(), pace);
    signal.addEventListener("abort", () => clearInterval(timer));
    this.#stream = new EventStream({ query: source.streamQuery, onItems: (items) => this.#receive(items) });
    this.#stream.start(null);
    this.#chosen = chosen;
    this.#isZoomDue = chosen !== null;
  }

  #resizer = new ResizeObserver(() => this.#resize());

  /** Takes up what the source has now. */
  refresh() {
    const floors = [...this.#source.floors.values()];
    const counts = this.#source.counts();
    if (!this.#source.floors.has(this.#floor?.key)) this.#show(this.#first(floors, counts)?.key);
    else this.#floor = this.#source.floors.get(this.#floor.key);
    this.#switch.follow(floors, this.#floor?.key, counts);
    this.#stage.classList.toggle("is-past", this.#source.isPast);
    if (this.#version !== this.#source.version) {
      this.#version = this.#source.version;
      if (!this.#view.isMoved) this.#showThings();
      if (this.#floor) this.#source.load(this.#floor, this.#stop.signal);
      this.#isStillDue = true;
    }
    this.#aim();
    this.#describe();
    this.#wake();
  }

  /** Stops drawing, removes the listeners and the timer of the picture, and stops its stream. */
  close() {
    this.#stop.abort();
    this.#resizer.disconnect();
    cancelAnimationFrame(this.#request);
    this.#stream.stop();
  }

  /** The floor that most are on, or else the ground floor. */
  #first(floors, counts) {
    const rank = (floor) => (counts.get(floor.key) ?? 0) * 1000 - Math.abs(floor.level);
    return floors.reduce((best, floor) => (best && rank(best) >= rank(floor) ? best : floor), null);
  }

  #show(key) {
    const floor = this.#source.floors.get(key) ?? null;
    if (floor?.key === this.#floor?.key) return;
    const stays = floor && this.#floor?.place === floor.place;
    this.#floor = floor;
    this.#scene.marks.clear();
    this.#hide();
    this.#isStillDue = true;
    if (!floor) return;
    if (!stays) this.#showThings();
    this.#source.load(floor, this.#stop.signal).then(() => this.refresh());
    this.#switch.mark(floor.key);
    this.#aim();
    this.#describe();
    this.#wake();
  }

  /** Shows who is on the floor with some room around them, or all of it where they are all over it, or it is empty. */
  #showThings() {
    if (!this.#floor?.bounds || this.#view.width < 2) return;
    const { frame, bounds } = this.#floor;
    const marks = [...this.#source.marksOn(this.#floor)];
    const box = around(marks.map((mark) => ({ x: frame.x(mark.longitude), y: frame.y(mark.latitude) })));
    if (!box) return this.#showAll();
    const near = {
      left: box.left - thingRoom,
      right: box.right + thingRoom,
      bottom: box.bottom - thingRoom,
      top: box.top + thingRoom,
    };
    const share = Math.max(
      (near.right - near.left) / (bounds.right - bounds.left),
      (near.top - near.bottom) / (bounds.top - bounds.bottom),
    );
    if (share > wholeFrom && marks.every((mark) => mark.floor !== null)) return this.#showAll();
    this.#view.showAll(near);
    this.#redraw();
  }

  #showAll() {
    if (!this.#floor?.bounds || this.#view.width < 2) return;
    this.#view.showAll(this.#floor.bounds);
    this.#redraw();
  }

  #receive(items) {
    for (const item of items) if (item.type === "event") this.#source.receive(item.event);
    if (this.#version !== this.#source.version) return this.refresh();
    this.#aim();
    this.#wake();
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.#stage;
    if (!width || !height || (width === this.#view.width && height === this.#view.height)) return;
    Object.assign(this.#view, { width, height });
    const density = Math.min(devicePixelRatio || 1, sharpest);
    for (const canvas of [this.#canvas, this.#still, this.#trails]) {
      canvas.width = Math.round(width * density);
      canvas.height = Math.round(height * density);
    }
    if (!this.#view.isMoved) this.#showThings();
    this.#followChosen();
    this.#redraw();
  }

  #redraw(isThemeNew = false) {
    if (isThemeNew) this.#palette = readPalette();
    this.#isStillDue = true;
    this.#wake();
  }

  /** Says where each mark belongs now, in metres. */
  #aim() {
    if (!this.#floor) return;
    const { frame } = this.#floor;
    const keys = new Set();
    for (const mark of this.#source.marksOn(this.#floor)) {
      keys.add(mark.subject);
      this.#scene.aim(mark.subject, frame.x(mark.longitude), frame.y(mark.latitude), mark);
    }
    this.#scene.keep(keys);
    this.#followChosen();
  }

  /** Keeps the chosen subject in the picture, and follows it from floor to floor. */
  #followChosen() {
    const mark = this.#source.subjects.get(this.#chosen);
    if (!mark) return;
    if (mark.floor && mark.floor !== this.#floor.key && this.#source.floors.has(mark.floor)) this.#show(mark.floor);
    const [x, y] = [this.#floor.frame.x(mark.longitude), this.#floor.frame.y(mark.latitude)];
    const view = this.#view;
    const before = [view.x, view.y, view.scale];
    if (this.#isZoomDue && view.width > 1) {
      this.#isZoomDue = false;
      const across = Math.max(chosenRoom, chosenAccuracies * mark.accuracy);
      view.zoom(Math.max(1, Math.min(view.width, view.height) / across / view.scale), view.pixelX(x), view.pixelY(y));
    }
    view.reveal(x, y, this.#free());
    if (before.join() !== [view.x, view.y, view.scale].join()) this.#isStillDue = true;
  }

  /** The part of the picture that no control covers, in pixels. */
  #free() {
    const { width, height } = this.#view;
    const edge = besideControls;
    const free = { left: edge, right: width - edge, top: edge, bottom: height - edge };
    const [facts, floors] = [this.#facts, this.#switch.element];
    if (!facts.hidden && facts.offsetWidth < width / 2) free.left += facts.offsetLeft + facts.offsetWidth;
    else if (!facts.hidden) free.bottom = facts.offsetTop - edge;
    if (floors.offsetWidth < width / 2 && free.left < floors.offsetLeft - 2 * edge) {
      free.right = floors.offsetLeft - edge;
    } else {
      free.top += floors.offsetTop + floors.offsetHeight;
    }
    return { ...free, right: Math.max(free.left, free.right), bottom: Math.max(free.top, free.bottom) };
  }

  #wake() {
    if (!this.#request && !this.#stop.signal.aborted) this.#request = requestAnimationFrame((now) => this.#draw(now));
  }

  #draw(now) {
    this.#request = 0;
    const span = this.#drawnAt ? Math.min(0.1, (now - this.#drawnAt) / 1000) : 1;
    this.#drawnAt = now;
    if (stillness.matches) this.#scene.arrive();
    const moves = this.#scene.step(span);
    const density = Math.min(devicePixelRatio || 1, sharpest);
    const [view, palette] = [this.#view, this.#palette];
    if (this.#isStillDue) {
      const under = this.#still.getContext("2d");
      drawFloor(under, this.#floor?.shapes, view, palette, density, this.#source.down);
      this.#fences = this.#floor ? drawFences(under, this.#source.fences, this.#floor, view, palette) : [];
      this.#trailsAt = 0;
    }
    this.#isStillDue = false;
    const pen = this.#canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(this.#still, 0, 0);
    pen.setTransform(density, 0, 0, density, 0, 0);
    if (this.#floor) this.#drawMarks(pen, view, palette, now);
    if (moves) this.#wake();
  }

  #drawMarks(pen, view, palette, now) {
    const density = Math.min(devicePixelRatio || 1, sharpest);
    const shown = [];
    for (const mark of this.#scene.marks.values()) if (view.shows(mark.x, mark.y, mark.look.accuracy)) shown.push(mark);
    if (!this.#source.isPast) drawWay(pen, this.#details.guidance, this.#floor, view, palette);
    if (now - this.#trailsAt >= trailPace) {
      this.#trailsAt = now;
      const under = this.#trails.getContext("2d");
      under.setTransform(density, 0, 0, density, 0, 0);
      under.clearRect(0, 0, view.width, view.height);
      drawTrails(under, shown, view, palette, { now: Date.now(), span: trailSpan, frame: this.#floor.frame });
    }
    pen.drawImage(this.#trails, 0, 0, view.width, view.height);
    drawSubjects(pen, shown, view, palette, density);
    const chosen = this.#scene.marks.get(this.#chosen);
    if (chosen) drawChosen(pen, chosen, view, palette);
    const { shapes } = this.#floor;
    drawLabels(pen, { marks: shown, shapes, fences: this.#fences, chosen: this.#chosen }, view, palette);
  }

  // What people do.

  #listen(signal) {
    const canvas = this.#canvas;
    const options = { signal };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#press = { x: event.offsetX, y: event.offsetY, isDrag: false };
    }, options);
    canvas.addEventListener("pointermove", (event) => this.#move(event), options);
    canvas.addEventListener("pointerup", (event) => {
      const press = this.#press;
      this.#press = null;
      if (press && !press.isDrag) this.#choose(this.#markAt(event)?.key ?? null);
    }, options);
    canvas.addEventListener("pointercancel", () => {
      this.#press = null;
    }, options);
    canvas.addEventListener("pointerleave", () => this.#hide(), options);
    canvas.addEventListener("wheel", (event) => {
      // A page that is being scrolled past the picture goes on; a pinch, or a wheel over what has the focus, zooms.
      if (!event.ctrlKey && !this.#stage.contains(document.activeElement)) return;
      event.preventDefault();
      this.#zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.offsetX, event.offsetY);
    }, { passive: false, signal });
  }

  #move(event) {
    const press = this.#press;
    if (!press) return this.#point(event);
    const [right, down] = [event.offsetX - press.x, event.offsetY - press.y];
    if (!press.isDrag && Math.hypot(right, down) < dragFrom) return;
    this.#press = { x: event.offsetX, y: event.offsetY, isDrag: true };
    this.#hide();
    this.#view.pan(right, down);
    this.#redraw();
  }

  #key(event) {
    if (event.target !== this.#stage || event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      ArrowLeft: () => this.#pan(keyStep, 0),
      ArrowRight: () => this.#pan(-keyStep, 0),
      ArrowUp: () => this.#pan(0, keyStep),
      ArrowDown: () => this.#pan(0, -keyStep),
      "+": () => this.#zoom(keyZoom),
      "=": () => this.#zoom(keyZoom),
      "-": () => this.#zoom(1 / keyZoom),
      0: () => this.#showAll(),
      PageUp: () => this.#show(this.#switch.beside(1)),
      PageDown: () => this.#show(this.#switch.beside(-1)),
      Escape: () => this.#choose(null),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  #pan(right, down) {
    this.#view.pan(right, down);
    this.#redraw();
  }

  /** Zooms about a pixel: without one about the chosen subject, else the middle. */
  #zoom(factor, x, y) {
    const chosen = x === undefined ? this.#scene.marks.get(this.#chosen) : null;
    if (chosen) this.#view.zoom(factor, this.#view.pixelX(chosen.x), this.#view.pixelY(chosen.y));
    else this.#view.zoom(factor, x, y);
    this.#redraw();
  }

  #choose(subject) {
    this.#chosen = subject;
    this.#isZoomDue = subject !== null;
    this.#detailsAt = 0;
    this.#hide();
    this.#describe();
    this.#followChosen();
    this.#wake();
  }

  #markAt(event) {
    const { scale } = this.#view;
    return this.#scene.nearest(this.#view.metresX(event.offsetX), this.#view.metresY(event.offsetY), reach / scale);
  }

  #point(event) {
    const mark = this.#markAt(event);
    this.#canvas.classList.toggle("is-over", Boolean(mark));
    if (!mark) return this.#hide();
    setText(this.#tip, mark.look.tip());
    this.#tip.hidden = false;
    this.#tip.style.left = `${Math.max(70, Math.min(this.#view.width - 70, this.#view.pixelX(mark.x)))}px`;
    this.#tip.style.top = `${Math.max(30, this.#view.pixelY(mark.y))}px`;
  }

  #hide() {
    this.#tip.hidden = true;
  }

  // What is beside the picture.

  #zoomButtons() {
    const button = (text, label, act) =>
      h("button", { type: "button", "aria-label": label, title: label, onClick: act }, text);
    return h(
      "div",
      { class: "floor-zoom", role: "group", "aria-label": "Zoom" },
      button("+", "Zoom in", () => this.#zoom(keyZoom)),
      button("−", "Zoom out", () => this.#zoom(1 / keyZoom)),
      button(corners(), "Show the whole floor", () => this.#showAll()),
    );
  }

  #showLegend() {
    const marks = { accent: "dot plan-accent", diamond: "diamond", good: "dot good", off: "dot off hollow" };
    const lines = { fence: "fence", trail: "trail", way: "way" };
    const others = { observer: "radio gateway", down: "radio gateway down", ...lines };
    const icons = { beacon: "×", accessPoint: "▫", ...symbols };
    const way = this.#details.guidance ? [["way", "the way to its destination"]] : [];
    follow(
      this.#legend,
      [...this.#source.legend(this.#floor), ...way],
      ([mark]) => mark,
      ([mark, text]) => {
        const sign = { class: marks[mark] ?? others[mark] ?? "sign", "aria-hidden": "true" };
        return h("span", null, h("i", sign, icons[mark]), text);
      },
    );
  }

  /** Reads the visit and the way of the chosen subject, every few seconds. */
  async #readDetails() {
    if (performance.now() - this.#detailsAt < detailPace) return;
    this.#detailsAt = performance.now();
    if (await this.#details.load(this.#source.isPast ? null : this.#chosen, this.#stop.signal)) this.#wake();
  }

  /** Writes the floor in words, for screen readers and for people who look for a name. */
  #describe() {
    if (!this.#floor) return;
    const marks = [...this.#source.marksOn(this.#floor)];
    setAttribute(this.#canvas, "aria-label", `${this.#floor.name}: ${plural(marks.length, "thing")}`);
    this.#list.follow([...this.#source.present()], this.#chosen);
    this.#showLegend();
    const chosen = this.#source.subjects.get(this.#chosen);
    this.#readDetails();
    this.#facts.hidden = !chosen;
    if (!chosen) return;
    if (this.#facts.dataset.subject !== chosen.subject) {
      this.#facts.dataset.subject = chosen.subject;
      const close = h(
        "button",
        { type: "button", class: "small", "aria-label": "Deselect", onClick: () => this.#choose(null) },
        "✕",
      );
      const link = h("a", { href: historyAddress("subject", chosen.subject), title: chosen.subject }, chosen.name());
      replace(this.#facts, h("header", null, h("h3", null, link), close), h("dl"));
    }
    follow(
      this.#facts.lastChild,
      [...this.#details.facts(this.#source.now), ...factsOf(chosen, this.#source.now)],
      ([title]) => title,
      ([title, , hint]) => h("div", hint ? { title: hint } : null, h("dt", null, title), h("dd")),
      (row, [, text]) => setText(row.lastChild, text),
    );
  }
}

/** Four corners: the sign for all that there is. */
function corners() {
  return s(
    "svg",
    { viewBox: "0 0 14 14", width: "14", height: "14", "aria-hidden": "true" },
    s("path", {
      d: "M1 5V1h4M9 1h4v4M13 9v4H9M5 13H1V9",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": "1.8",
    }),
  );
}
