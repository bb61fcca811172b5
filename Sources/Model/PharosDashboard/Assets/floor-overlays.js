// What lies over a floor: the geofences of applications, and the way of the chosen subject to its destination.

import { get, part } from "./api.js";
import { metres, seconds } from "./format.js";
import { polygonsOf } from "./identity.js";

/** The geofences among the regions of applications. */
export function fencesOf(lists) {
  return lists.flatMap(({ id, regions }) =>
    regions.filter((region) => region.kind === "circle" || region.kind === "polygon").map((region) => ({
      ...region,
      application: id,
      radius: region.kind === "circle" ? Number.parseFloat(region.radius) : null,
    }))
  );
}

/** The geofences of a floor. */
export function fencesOn(floor, fences) {
  return fences.filter((fence) => isOn(floor, fence));
}

/** Draws the geofences of a floor, on the ground floor also those of all floors; gives where their names belong. */
export function drawFences(pen, fences, floor, view, palette) {
  pen.save();
  pen.lineWidth = 1.5;
  pen.setLineDash([6, 4]);
  pen.strokeStyle = palette.warn;
  pen.fillStyle = palette.warn;
  const labels = [];
  for (const fence of fencesOn(floor, fences)) {
    const top = outline(pen, fence, floor.frame, view);
    if (!top) continue;
    pen.globalAlpha = 0.06;
    pen.fill("evenodd");
    pen.globalAlpha = 0.9;
    pen.stroke();
    labels.push({ id: fence.id, ...top });
  }
  pen.restore();
  return labels;
}

function isOn(floor, { level, building }) {
  if (building !== undefined && building !== floor.building) return false;
  return level === undefined ? floor.isGround : level === floor.level;
}

/** Makes the outline of a geofence the pen's path; gives the middle of its upper edge, or null outside the picture. */
function outline(pen, fence, frame, view) {
  pen.beginPath();
  if (fence.kind === "circle") {
    const [x, y] = [frame.x(fence.longitude), frame.y(fence.latitude)];
    if (!view.shows(x, y, fence.radius)) return null;
    pen.arc(view.pixelX(x), view.pixelY(y), fence.radius * view.scale, 0, 2 * Math.PI);
    return { x: view.pixelX(x), y: view.pixelY(y + fence.radius) };
  }
  let [left, right, top] = [Infinity, -Infinity, Infinity];
  for (const ring of polygonsOf(fence).flat()) {
    for (const [index, [longitude, latitude]] of ring.entries()) {
      const [x, y] = [view.pixelX(frame.x(longitude)), view.pixelY(frame.y(latitude))];
      if (index) pen.lineTo(x, y);
      else pen.moveTo(x, y);
      [left, right, top] = [Math.min(left, x), Math.max(right, x), Math.min(top, y)];
    }
    pen.closePath();
  }
  return right < 0 || left > view.width ? null : { x: (left + right) / 2, y: top };
}

/** The visit and the way of one subject, read again as long as it is chosen. */
export class ChosenDetails {
  visit = null;
  guidance = null;
  #subject = null;

  /** Reads what there is of a subject; false if another one was chosen meanwhile. */
  async load(subject, signal) {
    if (this.#subject !== subject) {
      this.#subject = subject;
      this.visit = null;
      this.guidance = null;
    }
    if (!subject) return true;
    const [visits, guidance] = await Promise.all([
      get(`/v1/visits?subject=${encodeURIComponent(subject)}&limit=1`, signal).catch(() => null),
      guidanceOf(subject, signal).catch(() => null),
    ]);
    if (this.#subject !== subject) return false;
    this.visit = visits?.visits?.[0] ?? null;
    this.guidance = guidance;
    return true;
  }

  /** What there is to say: pairs of a title and a text. */
  facts(now) {
    const facts = [];
    const { visit, guidance } = this;
    if (visit) {
      const arrived = Date.parse(visit.arrivalDate);
      const isOpen = !(Date.parse(visit.departureDate) <= now);
      const place = visit.place?.name ?? visit.place?.id ?? "here";
      const end = isOpen ? now : Date.parse(visit.departureDate);
      facts.push([isOpen ? "Stays at" : "Last stay", `${place}, ${seconds(Math.max(0, (end - arrived) / 1000))}`]);
    }
    if (guidance) {
      facts.push(["On the way to", guidance.destination || "a subject that may not be seen"]);
      const route = guidance.route;
      if (route) facts.push(["To go", `${metres(route.distance)}, ${seconds(route.duration)}`]);
      const step = guidance.instruction;
      if (step) facts.push(["Next", step]);
    }
    return facts;
  }
}

/** What guides a subject, with its way; null if nothing does. */
async function guidanceOf(subject, signal) {
  const { guidance } = await get(`/v1/guidance?subject=${encodeURIComponent(subject)}`, signal);
  return guidance.length ? get(`/v1/subjects/${part(subject)}/guidance`, signal) : null;
}

/** Draws the part of a way that lies on a floor, with its end. */
export function drawWay(pen, guidance, floor, view, palette) {
  const steps = guidance?.route?.legs?.flatMap((leg) => leg.steps) ?? [];
  pen.save();
  pen.strokeStyle = palette.good;
  pen.lineWidth = 4;
  pen.lineCap = "round";
  pen.lineJoin = "round";
  pen.globalAlpha = 0.75;
  pen.beginPath();
  let end = null;
  for (const step of steps) {
    if (step.level !== floor.level) continue;
    for (const [index, [longitude, latitude]] of (step.geometry?.coordinates ?? []).entries()) {
      const [x, y] = [view.pixelX(floor.frame.x(longitude)), view.pixelY(floor.frame.y(latitude))];
      if (index) pen.lineTo(x, y);
      else pen.moveTo(x, y);
      end = { x, y };
    }
  }
  pen.stroke();
  if (end) {
    pen.beginPath();
    pen.rect(end.x - 5, end.y - 5, 10, 10);
    pen.fillStyle = palette.good;
    pen.fill();
  }
  pen.restore();
}
