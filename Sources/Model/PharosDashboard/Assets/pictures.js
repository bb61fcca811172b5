// Pictures of floors on a page that stands alone: what they show is a block of data in the page.

import { h, replace, s } from "./dom.js";

/** The size of the largest plan, in pixels, and its largest scale, in pixels for a metre. */
const plan = { width: 1200, height: 820, scale: 24 };
const scaleHeight = 26;

/** The elements of a layer by its kind; values are lists of numbers in metres. */
const kinds = {
  lines: ({ values, color, width, dash }, { path }) => [
    s("path", {
      d: values.map(path).join(""),
      fill: "none",
      stroke: color,
      "stroke-width": width,
      "stroke-dasharray": dash ? "6 3" : null,
      "stroke-linejoin": "round",
    }),
  ],
  dots: ({ values, color, width }, { place }) => [
    s("path", {
      d: values.map(([x, y]) => `M${place(x, y)}h0`).join(""),
      stroke: color,
      "stroke-width": width,
      "stroke-linecap": "round",
    }),
  ],
  circles: ({ values, color, width, dash }, { place, scale }) =>
    values.map(([x, y, radius]) => {
      const [cx, cy] = place(x, y);
      const r = radius * scale;
      return s("circle", {
        cx,
        cy,
        r,
        fill: "none",
        stroke: color,
        "stroke-width": width,
        "stroke-dasharray": dash ? "6 3" : null,
      });
    }),
  cells: ({ values, color }, { place, scale }) => [
    s("path", {
      d: values.map(([x, y, width, height]) =>
        `M${place(x, y + height)}h${width * scale}v${height * scale}h${-width * scale}z`
      ).join(""),
      fill: color,
      "shape-rendering": "crispEdges",
    }),
  ],
};

/** How the metres of a picture become pixels. */
function frameOf([left, bottom, right, top]) {
  const [width, height] = [Math.max(right - left, 1), Math.max(top - bottom, 1)];
  const scale = Math.min(plan.scale, plan.width / width, plan.height / height);
  const place = (x, y) => [x - left, top - y].map((metres) => Math.round(metres * scale * 10) / 10);
  const path = (line) => {
    const points = [];
    for (let at = 0; at < line.length; at += 2) points.push(place(line[at], line[at + 1]).join(" "));
    return points.length ? `M${points.join("L")}` : "";
  };
  return { scale, place, path, width: width * scale, height: height * scale };
}

function drawFloor(image, floor, { layers, labels, marks }, frame) {
  const areas = (rings, name) =>
    rings.map((area) =>
      s("path", { class: name, d: area.map((ring) => `${frame.path(ring)}z`).join(""), "fill-rule": "evenodd" })
    );
  const draw = (layer) => kinds[layer.kind](layer, frame);
  replace(
    image,
    s("rect", { class: "ground", width: frame.width, height: frame.height }),
    areas(floor.walkable, "walkable"),
    layers.filter(({ kind }) => kind === "cells").map(draw),
    areas(floor.obstacles, "obstacle"),
    s("path", { class: "wall", d: floor.walls.map(frame.path).join("") }),
    s("g", { class: "layers" }, layers.filter(({ kind }) => kind !== "cells").map(draw)),
    labels.map(({ text, x, y }) => {
      const [left, top] = frame.place(x, y);
      // A name at the upper edge stands below it.
      return s("text", { x: left, y: Math.max(top + 4, 13) }, text);
    }),
    numbered(marks, frame),
    scaleBar(frame),
  );
}

/** Marks with their numbers; those at one place stand beside each other. */
function numbered(marks, { place }) {
  const inUse = [];
  return marks.map((mark) => {
    let [x, y] = place(mark.x, mark.y);
    while (inUse.some((other) => Math.abs(other.x - x) < 15 && Math.abs(other.y - y) < 15)) x += 16;
    inUse.push({ x, y });
    return s("g", null, s("title", null, mark.text), badge(mark, x, y));
  });
}

function badge({ number, color }, x, y) {
  return [
    s("circle", { cx: x, cy: y, r: 8, fill: color }),
    s("text", { class: "number", x, y: y + 3.5, "text-anchor": "middle" }, number),
  ];
}

function scaleBar({ scale, width, height }) {
  const metres = [1, 2, 5, 10, 20, 50, 100, 200].findLast((length) => length * scale <= 160) ?? 1;
  const x = width - metres * scale;
  return [
    s("rect", { x, y: height + 12, width: metres * scale, height: 3, fill: "currentColor" }),
    s("text", { x: x - 24, y: height + 17 }, `${metres} m`),
  ];
}

/** An entry of the legend: its layer drawn small. */
function entry(layer) {
  const values = {
    lines: [[0, 5, 22, 5]],
    dots: [[4, 5], [11, 8], [18, 4]],
    circles: [[11, 5, 4]],
    cells: [[0, 0, 22, 10]],
  };
  const frame = { scale: 1, place: (x, y) => [x, 10 - y], path: ([x, y, right]) => `M${x} ${y}H${right}` };
  const image = s("svg", { width: 22, height: 10 }, kinds[layer.kind]({ ...layer, values: values[layer.kind] }, frame));
  return h("li", null, image, layer.name);
}

function section(picture, floors, id) {
  const frame = frameOf(picture.extent);
  const size = { width: frame.width, height: frame.height + scaleHeight };
  const image = s("svg", {
    class: "floor",
    role: "img",
    "aria-label": `${picture.title}: ${picture.figures}`,
    viewBox: `0 0 ${size.width} ${size.height}`,
    ...size,
  });
  // A page may hold hundreds of walks: a plan is drawn when it comes near the window.
  new IntersectionObserver(([{ isIntersecting }], observer) => {
    if (!isIntersecting) return;
    observer.disconnect();
    drawFloor(image, floors[picture.floor], picture, frame);
  }, { rootMargin: "600px" }).observe(image);
  const list = picture.marks.map((mark) =>
    h("li", null, s("svg", { class: "badge", width: 16, height: 16 }, badge(mark, 8, 8)), mark.text)
  );
  return h(
    "section",
    { id },
    h("h2", null, picture.title),
    h("p", null, picture.figures),
    h("ul", { class: "legend" }, picture.layers.filter(({ name }) => name).map(entry)),
    image,
    list.length > 0 && h("ol", { class: "marks" }, list),
  );
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const setTheme = () => {
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
};
dark.addEventListener("change", setTheme);
setTheme();

const block = document.getElementById("data");
if (block) {
  const { title, floors, pictures } = JSON.parse(block.textContent);
  document.title = title;
  replace(
    document.getElementById("main"),
    h("h1", null, title),
    pictures.length > 1 &&
      h(
        "nav",
        { "aria-label": "Pictures" },
        pictures.map((picture, index) => h("a", { href: `#p${index}` }, picture.title)),
      ),
    pictures.map((picture, index) => section(picture, floors, `p${index}`)),
  );
}
