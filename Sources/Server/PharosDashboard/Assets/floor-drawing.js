// The still parts of a floor: its image, where one can walk, walls, ways in and up, and how long ten metres are.

import { fit } from "./plan-drawing.js";

const symbols = { stairs: "≣", lift: "⇅", escalator: "⇗", ramp: "⟋" };
const wayNames = { stairs: "Stairs", lift: "Lift", escalator: "Escalator", ramp: "Ramp" };
/** From so many pixels a metre on, radios are drawn; before, they would be a rash. */
const radiosFrom = 5;
/** From so many pixels a metre on, ways up and down are named. */
const namesFrom = 7;

/** Draws a floor as a viewport shows it: its map tiles if there are any, and its shapes until they have come. */
export function drawFloor(pen, shapes, tiles, view, palette, density) {
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  pen.fillStyle = palette.sunk;
  pen.fillRect(0, 0, view.width, view.height);
  // Tiles are drawn for a light page.
  const isTiled = Boolean(tiles) && !tiles.isBroken && !palette.isDark;
  if (shapes) drawOutlines(pen, shapes, view, palette, density);
  pen.setTransform(density, 0, 0, density, 0, 0);
  if (isTiled) tiles.draw(pen, view, density);
  if (shapes) {
    if (!isTiled && !showsImage(shapes, palette)) drawNames(pen, shapes, view, palette);
    drawPoints(pen, shapes, view, palette, isTiled);
  }
  drawScale(pen, view, palette);
}

/** Sets a pen so that it draws metres east and north. */
function useMetres(pen, view, density) {
  const scale = view.scale * density;
  const [left, top] = [view.pixelX(0) * density, view.pixelY(0) * density];
  pen.setTransform(scale, 0, 0, -scale, left, top);
}

function drawOutlines(pen, shapes, view, palette, density) {
  useMetres(pen, view, density);
  pen.fillStyle = palette.surface;
  pen.fill(shapes.walkable);
  pen.lineJoin = "round";
  if (showsImage(shapes, palette)) {
    drawImage(pen, shapes.image, palette);
  } else {
    pen.fillStyle = palette.sunk;
    pen.fill(shapes.obstacles);
  }
  pen.strokeStyle = palette.line;
  pen.lineWidth = 1 / view.scale;
  pen.stroke(shapes.obstacles);
  pen.strokeStyle = palette.strong;
  pen.lineWidth = (shapes.hasWalls ? 1 : 1.5) / view.scale;
  pen.stroke(shapes.walkable);
  pen.strokeStyle = palette.soft;
  pen.lineWidth = Math.min(0.25, 2 / view.scale);
  pen.stroke(shapes.walls);
}

/** Whether the plan's image is shown: on a dark page outlines with names say the same without glare. */
function showsImage({ image, names }, palette) {
  return Boolean(image) && !(palette.isDark && names.length);
}

/** The image of the plan, faint where the page is dark: plans are drawn on white. */
function drawImage(pen, { bitmap, start, right, down, width, height }, palette) {
  pen.save();
  pen.transform(right.x, right.y, down.x, down.y, start.x, start.y);
  pen.globalAlpha = palette.isDark ? 0.22 : 0.8;
  pen.drawImage(bitmap, 0, 0, width, height);
  pen.restore();
}

function drawNames(pen, { names }, view, palette) {
  pen.font = palette.plain;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = palette.soft;
  for (const { text, left, right, bottom, top } of names) {
    const room = (right - left) * view.scale - 8;
    const [x, y] = [(left + right) / 2, (bottom + top) / 2];
    if (room < 40 || (top - bottom) * view.scale < 18 || !view.shows(x, y)) continue;
    const shown = fit(pen, text, room);
    if (shown.length > 3 || shown === text) pen.fillText(shown, view.pixelX(x), view.pixelY(y));
  }
}

function drawPoints(pen, { points }, view, palette, isTiled) {
  for (const point of points) {
    if (!view.shows(point.x, point.y)) continue;
    // Tiles show the ways in and up, but not where radios hang.
    if (isTiled && (symbols[point.kind] || point.kind === "entrance")) continue;
    const [x, y] = [view.pixelX(point.x), view.pixelY(point.y)];
    if (symbols[point.kind]) drawWay(pen, point, x, y, view, palette);
    else if (point.kind === "entrance") drawEntrance(pen, x, y, palette);
    else if (view.scale >= radiosFrom) drawRadio(pen, point.kind, x, y, palette);
  }
}

function drawWay(pen, { kind }, x, y, view, palette) {
  pen.beginPath();
  pen.roundRect(x - 8, y - 8, 16, 16, 4);
  pen.fillStyle = palette.paper;
  pen.fill();
  pen.strokeStyle = palette.strong;
  pen.lineWidth = 1;
  pen.stroke();
  pen.font = palette.bold;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = palette.ink;
  pen.fillText(symbols[kind], x, y + 0.5);
  if (view.scale < namesFrom) return;
  pen.font = palette.plain;
  pen.textAlign = "left";
  pen.fillStyle = palette.soft;
  pen.fillText(wayNames[kind], x + 12, y + 0.5);
}

/** A door to the outdoors: an opening with its two posts. */
function drawEntrance(pen, x, y, palette) {
  pen.beginPath();
  pen.arc(x, y, 5, 0, 2 * Math.PI);
  pen.fillStyle = palette.surface;
  pen.fill();
  pen.strokeStyle = palette.good;
  pen.lineWidth = 2;
  pen.stroke();
}

function drawRadio(pen, kind, x, y, palette) {
  pen.fillStyle = palette.soft;
  pen.beginPath();
  if (kind === "observer") {
    pen.moveTo(x, y - 6);
    pen.lineTo(x + 5, y + 3);
    pen.lineTo(x - 5, y + 3);
    pen.closePath();
  } else {
    pen.arc(x, y, kind === "beacon" ? 2 : 2.5, 0, 2 * Math.PI);
  }
  if (kind === "accessPoint") {
    pen.strokeStyle = palette.soft;
    pen.lineWidth = 1;
    pen.stroke();
  } else {
    pen.fill();
  }
}

/** How long some round number of metres is, and where north is. */
function drawScale(pen, view, palette) {
  const metres = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].findLast((length) => length * view.scale <= 120) ?? 1;
  const [x, y] = [16, view.height - 16];
  pen.fillStyle = palette.soft;
  pen.fillRect(x, y - 1, metres * view.scale, 2);
  pen.fillRect(x, y - 4, 1.5, 7);
  pen.fillRect(x + metres * view.scale - 1.5, y - 4, 1.5, 7);
  pen.font = palette.plain;
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.fillText(metres < 1000 ? `${metres} m` : `${metres / 1000} km`, x + 4, y - 7);
}
