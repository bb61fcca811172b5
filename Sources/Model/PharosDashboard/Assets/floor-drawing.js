// The still parts of a floor: its image, where one can walk, walls, ways in and up, and how long ten metres are.

/** What stands for a way in or up. */
export const symbols = { entrance: "⇄", stairs: "≣", lift: "⇅", escalator: "⇗", ramp: "⟋" };
/** From so many pixels a metre on, radios are drawn; before, they would be a rash. */
const radiosFrom = 5;

/** Draws a floor as a viewport shows it; `down` are the gateways that are down. */
export function drawFloor(pen, shapes, view, palette, density, down) {
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  pen.fillStyle = palette.sunk;
  pen.fillRect(0, 0, view.width, view.height);
  if (shapes) drawOutlines(pen, shapes, view, palette, density);
  pen.setTransform(density, 0, 0, density, 0, 0);
  if (shapes) drawPoints(pen, shapes, view, palette, down);
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
  if (shapes.image) {
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

/** The image of the plan; plans are drawn on white, so that a dark page inverts them, or shows them faintly. */
function drawImage(pen, { bitmap, start, right, down, width, height }, palette) {
  pen.save();
  pen.transform(right.x, right.y, down.x, down.y, start.x, start.y);
  const canInvert = palette.isDark && typeof pen.filter === "string";
  if (canInvert) pen.filter = "invert(1) hue-rotate(180deg)";
  pen.globalAlpha = palette.isDark && !canInvert ? 0.22 : 0.8;
  pen.drawImage(bitmap, 0, 0, width, height);
  pen.restore();
}

function drawPoints(pen, { points }, view, palette, down) {
  for (const point of points) {
    if (!view.shows(point.x, point.y)) continue;
    const [x, y] = [view.pixelX(point.x), view.pixelY(point.y)];
    if (point.isBadge) drawWay(pen, point, x, y, palette);
    else if (down.has(point.id)) drawRadio(pen, point.kind, x, y, palette, palette.bad);
    else if (view.scale >= radiosFrom) drawRadio(pen, point.kind, x, y, palette, palette.soft);
  }
}

function drawWay(pen, { kind }, x, y, palette) {
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
}

/** A gateway is a triangle, a fixed beacon a cross, an access point a square: discs and diamonds are who is there. */
function drawRadio(pen, kind, x, y, palette, tone) {
  pen.fillStyle = pen.strokeStyle = tone;
  pen.lineWidth = 1.5;
  pen.beginPath();
  if (kind === "observer") {
    pen.moveTo(x, y - 6);
    pen.lineTo(x + 5, y + 3);
    pen.lineTo(x - 5, y + 3);
    pen.closePath();
    pen.fill();
    return;
  }
  if (kind === "beacon") {
    for (const side of [-1, 1]) {
      pen.moveTo(x - 3, y - 3 * side);
      pen.lineTo(x + 3, y + 3 * side);
    }
  } else {
    pen.rect(x - 2.5, y - 2.5, 5, 5);
  }
  pen.stroke();
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
