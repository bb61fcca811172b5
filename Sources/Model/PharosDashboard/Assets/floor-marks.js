// The parts of a floor that move: who is where, how sure that is, where they came from and where they go.

const turn = 2 * Math.PI;
/** With more marks than this in the picture, wide trails and arrows would hide what they are about. */
const maximumTrails = 60;
const maximumArrows = 200;
/** Who goes slower than this goes nowhere: m/s. */
const minimumSpeed = 0.3;

/** Where each was in the last `span` ms: paler the longer ago, in as many strokes as there are shades. */
export function drawTrails(pen, marks, view, palette, { now, span, frame }) {
  const shades = [0.6, 0.36, 0.18].map((alpha) => ({ alpha, path: new Path2D() }));
  for (const mark of marks) {
    const { trail } = mark.look;
    let drawn = null;
    for (let index = trail.length - 1; index > 0; index -= 1) {
      const age = now - trail[index].time;
      if (age >= span) break;
      const { path } = shades[Math.floor(age / span * shades.length)];
      const [to, from] = [trail[index], trail[index - 1]];
      if (path !== drawn) path.moveTo(view.pixelX(frame.x(to.longitude)), view.pixelY(frame.y(to.latitude)));
      path.lineTo(view.pixelX(frame.x(from.longitude)), view.pixelY(frame.y(from.latitude)));
      drawn = path;
    }
  }
  pen.strokeStyle = palette.accent;
  // A hairline is drawn ten times as fast as anything wider.
  pen.lineWidth = marks.length > maximumTrails ? 1 : 2;
  pen.lineJoin = "bevel";
  for (const { alpha, path } of shades) {
    pen.globalAlpha = alpha;
    pen.stroke(path);
  }
  pen.globalAlpha = 1;
}

/** The marks themselves: each look is drawn once and then copied, so that a frame with hundreds costs little. */
export function drawSubjects(pen, marks, view, palette, density) {
  const size = marks.length > 200 ? 4 : 5.5;
  const half = size + 3;
  const stamps = new Map();
  for (const mark of marks) {
    const { tone, isTag } = mark.look;
    const key = isTag ? `${tone} tag` : tone;
    let stamp = stamps.get(key);
    if (!stamp) {
      stamp = stampOf(tone, isTag, size, half, palette, density);
      stamps.set(key, stamp);
    }
    pen.globalAlpha = mark.shown;
    pen.drawImage(stamp, view.pixelX(mark.x) - half, view.pixelY(mark.y) - half, 2 * half, 2 * half);
  }
  pen.globalAlpha = 1;
  if (marks.length <= maximumArrows) drawCourses(pen, marks, view, palette, size);
}

function stampOf(tone, isTag, size, half, palette, density) {
  const stamp = document.createElement("canvas");
  stamp.width = stamp.height = Math.ceil(2 * half * density);
  const pen = stamp.getContext("2d");
  pen.scale(density, density);
  if (isTag) {
    const reach = size + 1;
    pen.moveTo(half, half - reach);
    pen.lineTo(half + reach, half);
    pen.lineTo(half, half + reach);
    pen.lineTo(half - reach, half);
    pen.closePath();
  } else {
    pen.arc(half, half, size, 0, turn);
  }
  pen.lineWidth = 3;
  pen.strokeStyle = palette.surface;
  pen.stroke();
  pen.fillStyle = tone === "off" ? palette.surface : palette[tone];
  pen.fill();
  if (tone === "off") {
    pen.lineWidth = 1.5;
    pen.strokeStyle = palette.off;
    pen.stroke();
  }
  return stamp;
}

/** Draws a small arrow beside each moving subject, in the direction of its course. */
function drawCourses(pen, marks, view, palette, size) {
  pen.fillStyle = palette.accent;
  pen.beginPath();
  for (const mark of marks) {
    const { course, speed, tone } = mark.look;
    if (course === null || !(speed >= minimumSpeed) || tone === "off") continue;
    const angle = course * Math.PI / 180;
    const [east, south] = [Math.sin(angle), -Math.cos(angle)];
    const [x, y] = [view.pixelX(mark.x) + east * (size + 3), view.pixelY(mark.y) + south * (size + 3)];
    pen.moveTo(x + east * 6, y + south * 6);
    pen.lineTo(x - south * 4, y + east * 4);
    pen.lineTo(x + south * 4, y - east * 4);
    pen.closePath();
  }
  pen.fill();
}

/** Draws around the mark that the user chose the area in which 68 % of truths lie, and a ring. */
export function drawChosen(pen, mark, view, palette) {
  pen.beginPath();
  circle(pen, view, mark, Math.max(6, mark.look.accuracy * view.scale));
  pen.fillStyle = palette.accent;
  pen.globalAlpha = 0.13;
  pen.fill();
  pen.globalAlpha = 1;
  pen.strokeStyle = palette.accent;
  pen.lineWidth = 1.5;
  pen.stroke();
  pen.beginPath();
  circle(pen, view, mark, 10);
  pen.strokeStyle = palette.ink;
  pen.lineWidth = 2;
  pen.stroke();
}

function circle(pen, view, mark, radius) {
  if (!(radius > 0)) return;
  const [x, y] = [view.pixelX(mark.x), view.pixelY(mark.y)];
  pen.moveTo(x + radius, y);
  pen.arc(x, y, radius, 0, turn);
}
