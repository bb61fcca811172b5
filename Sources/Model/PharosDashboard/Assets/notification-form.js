// The sheet in which a notification rule is added or changed.

import { change, get, listIfAllowed, part } from "./api.js";
import { notify, openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { checkAll, checkedText, fine, saveButton, select, setMember, sheetForm } from "./form-parts.js";
import { byName } from "./format.js";
import { checkTime } from "./identity.js";
import * as names from "./names.js";
import { field } from "./parts.js";
import { Things } from "./things.js";

/** The occasions that the sheet knows, in words, and what is entered for each. */
const occasions = {
  enter: { words: "someone enters", about: "place", lasts: true },
  exit: { words: "someone leaves", about: "place" },
  arrive: { words: "someone arrives for a visit", about: "visit" },
  depart: { words: "someone ends a visit", about: "visit" },
  lowBattery: { words: "a battery is low", about: "battery" },
  offline: { words: "a gateway goes offline", about: "gateway", lasts: true },
};
/** The members of a rule that the sheet keeps as they are, where the occasion has them. */
const kept = ["title", "link", "picture"];

/** Whether the sheet can change a rule. */
export function isEditable({ on }) {
  return on in occasions;
}

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
  const all = (path, member) => applications.length ? listIfAllowed(path, member).catch(() => []) : [];
  const [zones, things, gateways] = await Promise.all([
    all("/v1/zones", "zones"),
    new Things().load().catch(() => []),
    all("/v1/observers", "observers"),
  ]);
  // A rule about a room belongs to an application too: to the first, unless it has one.
  const owner = rule?.application ?? applications[0]?.id;
  const rooms = zones.map((zone) => [placeKey({ application: owner, zone: zone.id }), zone.name || zone.id]);
  const regions = applications.flatMap(({ id: application }, index) =>
    lists[index].map(({ id }) => [placeKey({ application, region: id }), `${id} (${application})`])
  );
  const anywhere = [placeKey({ application: owner }), "any place"];
  const named = things.filter(({ kind }) => kind === "tag" || kind === "person").map(({ id }) => id);
  const choices = {
    owner,
    place: [...regions, ...rooms],
    visit: [anywhere, ...rooms],
    // What a rule is about may be gone from the lists.
    things: subjects("anyone", named, rule),
    gateways: subjects("any gateway", gateways.map(({ id }) => id), rule),
  };
  const title = rule ? `Change ${rule.id}` : start.title ?? "Add a notification";
  return openDialog(title, (close) => form(choices, rule, start, close));
}

/** The choice of whom a rule is about. */
function subjects(anyone, ids, rule) {
  const all = rule?.subject && !ids.includes(rule.subject) ? [...ids, rule.subject] : ids;
  const list = all.map((id) => [id, names.nameOf(id)]).sort((left, right) => byName(left[1], right[1]));
  return [["", anyone], ...list];
}

/** What a rule is about, as the value of a choice. */
function placeKey({ application, region, zone }) {
  return JSON.stringify({ application, region, zone });
}

/** The members that say what a rule is about, and the entries for them, shown by the occasion. */
function aboutEntries(choices, given) {
  const application = given.application ?? choices.owner;
  const chosen = placeKey({ application, region: given.region, zone: given.zone });
  const first = (list) => list.some(([value]) => value === chosen) ? chosen : list[0]?.[0];
  const place = field("Room or region", select("rule-region", choices.place, first(choices.place)));
  const visit = field("Room or place", select("rule-visit", choices.visit, first(choices.visit)));
  const who = field("Who or what", select("rule-subject", choices.things, given.subject ?? ""));
  const gateway = field("Gateway", select("rule-gateway", choices.gateways, given.subject ?? ""));
  const checkVoltage = (text) =>
    /^\d+$/.test(text.trim()) && text >= 500 && text <= 10000
      ? fine
      : { ok: false, isWrong: true, text: "Millivolts, 500 to 10000." };
  const below = checkedText("rule-below", "Below (mV)", checkVoltage, { value: given.belowMillivolts ?? 2400 });
  const shown = { place: [place, who], visit: [visit, who], battery: [who, below], gateway: [gateway] };
  return {
    below,
    elements: [place, visit, gateway, who, below].map(({ element }) => element),
    show: (about) => {
      for (const entry of [place, visit, gateway, who, below]) entry.element.hidden = !shown[about].includes(entry);
    },
    members: (about) => {
      const subject = (about === "gateway" ? gateway : who).input.value || undefined;
      const belowMillivolts = about === "battery" ? Number(below.input.value) : undefined;
      const where = about === "place" ? place : about === "visit" ? visit : null;
      return { application, ...(where ? JSON.parse(where.input.value) : {}), subject, belowMillivolts };
    },
    isReady: (about) => about !== "place" || choices.place.length > 0,
  };
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
  const check = () => {
    about.show(occasion().about);
    const used = entries.filter((entry) => entry !== about.below || occasion().about === "battery");
    save.disabled = !checkAll(used) || !choices.owner || !about.isReady(occasion().about);
  };
  const entry = (id, label, checkText, options) => checkedText(id, label, checkText, { onInput: check, ...options });
  const name = entry("rule-id", "Identifier", needed("A short name, as in hello."), {
    value: given.id,
    placeholder: "hello",
  });
  name.input.disabled = Boolean(rule);
  const hint = "{name}, {subject}, {region} and {room} are filled in.";
  const text = entry("rule-text", "Text", needed(hint), { value: given.text, placeholder: "Welcome, {name}!" });
  const time = (label) => (entered) => checkTime(entered, label);
  const once = entry("rule-once", "At most once in", time("The time"), {
    value: rule?.atMostOncePer,
    placeholder: "always",
  });
  const stay = entry("rule-stay", "If it still lasts after", (entered) => {
    const isWrong = entered.trim() && !occasion().lasts;
    if (isWrong) return { ok: false, isWrong: true, text: "It is for entering and for outages." };
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
  entries = [name, text, about.below, once, stay, from, to];
  about.below.input.addEventListener("input", check);
  on.addEventListener("change", check);
  check();

  const submit = async () => {
    const { application, ...members } = about.members(occasion().about);
    const document = { ...members, on: on.value, text: text.input.value.trim() };
    for (const key of kept) setMember(document, key, rule?.[key]);
    if (occasion().about === "place") setMember(document, "oncePer", rule?.oncePer);
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
    text.element,
    row(once.element, stay.element),
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
