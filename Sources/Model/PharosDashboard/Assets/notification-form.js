// The sheet in which a notification rule is added or changed.

import { change, get, getIfAllowed, listIfAllowed, part, serverNow } from "./api.js";
import { notify, openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { checkAll, checkbox, checkedText, fine, localMoment, saveButton, select, setMember, sheetForm } from "./form-parts.js";
import { byName } from "./format.js";
import { checkTime, parseIdentity } from "./identity.js";
import * as names from "./names.js";
import { field } from "./parts.js";
import { Things } from "./things.js";

/** The occasions in words, what is entered for each, and what its texts may have besides names. */
const occasions = {
  enter: { words: "someone enters", about: "place", lasts: true, filled: "{region} and {room}" },
  exit: { words: "someone leaves", about: "place", filled: "{region} and {room}" },
  proximity: { words: "someone is close to a beacon", about: "beacon", lasts: true, filled: "{title} and {description}" },
  arrive: { words: "someone arrives for a visit", about: "visit", filled: "{room}" },
  depart: { words: "someone ends a visit", about: "visit", filled: "{room}" },
  deadline: { words: "it is time to leave", about: "appointment", filled: "{place}, {minutes} and {walk}" },
  lowBattery: { words: "a battery is low", about: "battery", filled: "{volts}" },
  offline: { words: "a gateway goes offline", about: "gateway", lasts: true },
};
/** The occasions that a rule may have once for each beacon or major. */
const countsBeacons = ["place", "beacon"];
/** How often such a rule speaks to one subject. */
const scopes = [
  ["", "each time"],
  ["beacon", "once for each beacon"],
  ["major", "once for each major"],
];
/** The members by which an application asks about beacons at a distance. */
const identities = ["uuid", "major", "minor", "namespace", "instance"];
/** How close is close. */
const nearness = [
  ["immediate", "right beside it: half a metre"],
  ["near", "near it: three metres"],
  ["far", "within reach of it"],
];
/** The members of a rule that the sheet keeps as they are, where the occasion has them. */
const kept = ["link", "picture"];
/** The time from now until an appointment, unless another is entered, in ms. */
const usualDelay = 3600000;

/**
 * Opens the sheet; true once the rule was saved. A new rule may have a `start`: its first members, as a rule has them, and the
 * occasions `among` which one chooses.
 */
export async function openNotificationForm(rule = null, start = {}) {
  const applications = await get("/v1/applications").then((body) => body.applications ?? [], () => []);
  const lists = await Promise.all(
    applications.map(({ id }) =>
      get(`/v1/applications/${part(id)}/regions`).then((body) => body.regions ?? [], () => [])
    ),
  );
  const ranging = await Promise.all(
    applications.map(({ id }) =>
      get(`/v1/applications/${part(id)}/ranging`).then((body) => body.ranging ?? [], () => [])
    ),
  );
  const all = (path, member) => applications.length ? listIfAllowed(path, member).catch(() => []) : [];
  const [zones, things, gateways, beacons, places] = await Promise.all([
    all("/v1/zones", "zones"),
    new Things().load().catch(() => []),
    all("/v1/observers", "observers"),
    all("/v1/beacons", "beacons"),
    placesOfVenues(),
  ]);
  // A rule about a room belongs to an application too: to the first, unless it has one.
  const owner = rule?.application ?? applications[0]?.id;
  const rooms = zones.map((zone) => [placeKey({ application: owner, zone: zone.id }), zone.name || zone.id]);
  const regions = applications.flatMap(({ id: application }, index) =>
    lists[index].map(({ id }) => [placeKey({ application, region: id }), `${id} (${application})`])
  );
  const anywhere = [placeKey({ application: owner }), "any place"];
  const named = things.filter(({ kind }) => kind === "tag" || kind === "person").map(({ id }) => id);
  const ranged = applications.flatMap(({ id }, index) => ranging[index].map((beacon) => ({ application: id, beacon })));
  const choices = {
    owner,
    place: [...regions, ...rooms],
    beacon: beaconChoices(ranged, beacons, rule),
    places,
    visit: [anywhere, ...rooms],
    // What a rule is about may be gone from the lists.
    things: subjects("anyone", named, rule),
    gateways: subjects("any gateway", gateways.map(({ id }) => id), rule),
  };
  const title = rule ? `Change ${rule.id}` : start.title ?? "Add a notification";
  return openDialog(title, (close) => form(choices, rule, start, close));
}

/** The names of all places that one can be due at. */
async function placesOfVenues() {
  const { venues = [] } = await getIfAllowed("/v1/venues", {}).catch(() => ({}));
  const lists = await Promise.all(
    venues.map(({ id }) => get(`/v1/venues/${part(id)}/places`).then((body) => body.places ?? [], () => [])),
  );
  return [...new Set(lists.flat().map(({ name }) => name))].sort(byName);
}

/** The named beacons that some application ranges, and all that it ranges; distances of others are not known. */
function beaconChoices(ranged, beacons, rule) {
  const known = ranged.filter(({ beacon }) => beacon.uuid || beacon.namespace);
  const agree = (wanted, own) => wanted === undefined || String(wanted).toLowerCase() === String(own).toLowerCase();
  const isOf = (asked, id) => {
    const one = parseIdentity(id);
    return Boolean(one) && identities.every((key) => agree(asked[key], one[key]));
  };
  const named = beacons.filter(({ name }) => name).flatMap(({ id, name }) => {
    const found = known.find(({ beacon }) => isOf(beacon, id));
    return found ? [[placeKey({ application: found.application, beacon: id }), name]] : [];
  });
  const sets = known.map(({ application, beacon: { uuid, major, minor, namespace, instance } }) => {
    const numbers = `${major ?? "*"}/${minor ?? "*"}`;
    const [beacon, text] = uuid
      ? [`${uuid}/${numbers}`, `${uuid.slice(0, 8)}… ${numbers}`]
      : [`eddystone:${namespace}/${instance ?? "*"}`, `Eddystone ${namespace.slice(0, 8)}… ${instance ?? "*"}`];
    return [placeKey({ application, beacon }), `any of ${text} (${application})`];
  });
  const list = [...named.sort((left, right) => byName(left[1], right[1])), ...sets];
  // What a rule is about may be gone from the lists, or be the beacons of a region.
  if (rule?.on !== "proximity" || list.some(([value]) => value === placeKey(rule))) return list;
  return [[placeKey(rule), rule.beacon ? names.nameOf(rule.beacon) : `the beacons of ${rule.region}`], ...list];
}

/** The choice of whom a rule is about. */
function subjects(anyone, ids, rule) {
  const all = rule?.subject && !ids.includes(rule.subject) ? [...ids, rule.subject] : ids;
  const list = all.map((id) => [id, names.nameOf(id)]).sort((left, right) => byName(left[1], right[1]));
  return [["", anyone], ...list];
}

/** What a rule is about, as the value of a choice. */
function placeKey({ application, region, zone, beacon }) {
  return JSON.stringify({ application, region, zone, beacon });
}

/** The members that say what a rule is about, and the entries for them, shown by the occasion. */
function aboutEntries(choices, given) {
  const application = given.application ?? choices.owner;
  const chosen = placeKey({ ...given, application });
  const first = (list) => list.some(([value]) => value === chosen) ? chosen : list[0]?.[0];
  const choice = (id, label, list, value) => field(label, select(id, list, value));
  const place = choice("rule-region", "Room or region", choices.place, first(choices.place));
  const visit = choice("rule-visit", "Room or place", choices.visit, first(choices.visit));
  const beacon = choice("rule-beacon", "Beacon", choices.beacon, first(choices.beacon));
  if (!choices.beacon.length) beacon.say("", "No application ranges a beacon: distances are not known.");
  const near = choice("rule-near", "How close", nearness, given.proximity ?? "immediate");
  const who = choice("rule-subject", "Who or what", choices.things, given.subject ?? "");
  const gateway = choice("rule-gateway", "Gateway", choices.gateways, given.subject ?? "");
  const checkVoltage = (text) =>
    /^\d+$/.test(text.trim()) && text >= 500 && text <= 10000
      ? fine
      : { ok: false, isWrong: true, text: "Millivolts, 500 to 10000." };
  const below = checkedText("rule-below", "Below (mV)", checkVoltage, { value: given.belowMillivolts ?? 2400 });
  const appointment = appointmentEntries(choices.places, given.appointment);
  const shown = {
    place: [place, who],
    visit: [visit, who],
    beacon: [beacon, near, who],
    battery: [who, below],
    gateway: [gateway],
    appointment: [who, ...appointment.entries],
  };
  const all = [place, visit, beacon, near, gateway, who, below, ...appointment.entries];
  const where = { place, visit, beacon };
  return {
    checked: (about) => about === "battery" ? [below] : about === "appointment" ? appointment.checked : [],
    inputs: [below, ...appointment.checked, who].map(({ input }) => input),
    elements: all.map(({ element }) => element),
    show: (about) => {
      for (const entry of all) entry.element.hidden = !shown[about].includes(entry);
      const isNeeded = about === "appointment" && !who.input.value;
      who.say("", isNeeded ? "An appointment is that of one person or thing." : "");
    },
    members: (about) => ({
      application,
      ...(where[about] ? JSON.parse(where[about].input.value) : {}),
      subject: (about === "gateway" ? gateway : who).input.value || undefined,
      belowMillivolts: about === "battery" ? Number(below.input.value) : undefined,
      proximity: about === "beacon" ? near.input.value : undefined,
      appointment: about === "appointment" ? appointment.document() : undefined,
    }),
    isReady: (about) =>
      !["place", "beacon"].includes(about) || choices[about].length > 0
        ? about !== "appointment" || Boolean(who.input.value)
        : false,
  };
}

/** The entries of an appointment. */
function appointmentEntries(places, given) {
  const checkPlace = (text) => text.trim() ? fine : { ok: false, text: "Where one has to be, as the map names it." };
  const place = checkedText("rule-place", "Place", checkPlace, { value: given?.place });
  const list = h("datalist", { id: "rule-places" }, places.map((name) => h("option", { value: name })));
  place.input.setAttribute("list", list.id);
  place.element.append(list);
  const checkMoment = (text) => Number.isNaN(Date.parse(text)) ? { ok: false, text: "A day and a time." } : fine;
  const at = checkedText("rule-at", "At", checkMoment, {
    value: localMoment(given ? Date.parse(given.time) : serverNow() + usualDelay),
  });
  at.input.type = "datetime-local";
  const margin = checkedText("rule-margin", "Time to spare", (text) => checkTime(text, "The time to spare"), {
    value: given?.margin,
    placeholder: "5m",
  });
  const steps = checkbox("rule-accessible", "Without steps", Boolean(given?.accessible));
  const document = () => {
    const made = { place: place.input.value.trim(), time: new Date(at.input.value).toISOString() };
    setMember(made, "margin", margin.input.value.trim());
    if (steps.input.checked) made.accessible = true;
    return made;
  };
  return { checked: [place, at, margin], entries: [place, at, margin, steps], document };
}

function form(choices, rule, start, close) {
  let save = null;
  let entries = [];
  const given = rule ?? start;
  const needed = (text) => (entered) => entered.trim() ? fine : { ok: false, text };
  const among = Object.entries(occasions).filter(([name]) => !start.among || start.among.includes(name));
  const on = select("rule-on", among.map(([name, { words }]) => [name, words]), given.on ?? among[0][0]);
  const occasion = () => occasions[on.value];
  const about = aboutEntries(choices, given);
  const scope = field("How often", select("rule-scope", scopes, rule?.oncePer ?? ""));
  const check = () => {
    about.show(occasion().about);
    scope.element.hidden = !countsBeacons.includes(occasion().about);
    const isComplete = checkAll([...entries, ...about.checked(occasion().about)]);
    save.disabled = !isComplete || !choices.owner || !about.isReady(occasion().about);
  };
  const entry = (id, label, checkText, options) => checkedText(id, label, checkText, { onInput: check, ...options });
  const name = entry("rule-id", "Identifier", needed("A short name, as in hello."), {
    value: given.id,
    placeholder: "hello",
  });
  name.input.disabled = Boolean(rule);
  const hint = () => `Filled in: {name}${occasion().filled ? `, ${occasion().filled}` : ""}.`;
  const title = entry("rule-title", "Title", () => fine, { value: given.title, placeholder: "none" });
  const text = entry("rule-text", "Text", (entered) => needed(hint())(entered), {
    value: given.text,
    placeholder: "Welcome, {name}!",
  });
  const time = (label) => (entered) => checkTime(entered, label);
  const once = entry("rule-once", "At most once in", time("The time"), {
    value: rule?.atMostOncePer,
    placeholder: "always",
  });
  const stay = entry("rule-stay", "If it still lasts after", (entered) => {
    const isWrong = entered.trim() && !occasion().lasts;
    if (isWrong) return { ok: false, isWrong: true, text: "It is for entering, closeness and outages." };
    return checkTime(entered, "The time");
  }, { value: rule?.onlyIfStillInsideAfter, placeholder: "at once" });
  const quiet = rule?.quietHours;
  const from = entry("rule-from", "Quiet from", checkClock, { value: quiet?.from, placeholder: "22:00" });
  const to = entry("rule-to", "Quiet until", (entered) => checkPair(entered, from.input.value), {
    value: quiet?.to,
    placeholder: "07:00",
  });
  const zone = quiet?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const problem = h("p", { class: "banner bad", role: "alert", hidden: true });
  save = saveButton(rule ? "Save changes" : "Add notification");
  entries = [name, title, text, once, stay, from, to];
  for (const input of about.inputs) input.addEventListener("input", check);
  on.addEventListener("change", check);
  check();

  const submit = async () => {
    const { application, ...members } = about.members(occasion().about);
    const document = { ...members, on: on.value, text: text.input.value.trim() };
    for (const key of kept) setMember(document, key, rule?.[key]);
    setMember(document, "title", title.input.value.trim());
    if (countsBeacons.includes(occasion().about)) setMember(document, "oncePer", scope.input.value);
    setMember(document, "atMostOncePer", once.input.value.trim());
    setMember(document, "onlyIfStillInsideAfter", stay.input.value.trim());
    if (from.input.value.trim()) {
      document.quietHours = { from: from.input.value.trim(), to: to.input.value.trim(), timeZone: zone };
    }
    const path = `/v1/applications/${part(application)}/notifications/${part(name.input.value.trim())}`;
    try {
      await change("PUT", path, document);
      notify(`${name.input.value.trim()} is active from now on.`, { link: ["#/notifications", "See the rules"] });
      close(true);
    } catch (error) {
      problem.hidden = false;
      setText(problem, [error.message, ...error.errors.map((found) => `${found.field}: ${found.message}`)].join(" "));
    }
  };
  const row = (...fields) => h("div", { class: "fields" }, fields);
  const parts = [
    problem,
    row(name.element, field("Whenever", on).element),
    row(...about.elements),
    title.element,
    text.element,
    row(scope.element, once.element, stay.element),
    row(from.element, to.element),
    h("p", { class: "soft small" }, `Quiet hours are those of ${zone}.`),
  ];
  return sheetForm(parts, save, submit, () => close());
}

/** The button of a page about a room or gateway that opens the sheet for a new rule; `start` gives its first members. */
export function notifyButton(start) {
  const onClick = async () => {
    await openNotificationForm(null, { id: `watch-${Date.now().toString(36)}`, ...start() });
  };
  return h("button", { type: "button", class: "primary", onClick }, "Notify me when…");
}

function checkClock(text) {
  if (!text.trim()) return fine;
  const isClock = /^([01]\d|2[0-3]):[0-5]\d$/.test(text.trim());
  return isClock ? fine : { ok: false, isWrong: true, text: "A time of day, as in 22:00." };
}

function checkPair(text, other) {
  if (Boolean(text.trim()) !== Boolean(other.trim())) {
    return { ok: false, text: "Quiet hours have a begin and an end." };
  }
  return checkClock(text);
}
