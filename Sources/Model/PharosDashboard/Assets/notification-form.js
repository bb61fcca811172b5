// The sheet in which a notification rule is added or changed.

import { change, get, listIfAllowed, part } from "./api.js";
import { notify, openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { checkAll, checkedText, fine, saveButton, select, sheetForm } from "./form-parts.js";
import { checkTime } from "./identity.js";
import { field } from "./parts.js";

/** Opens the sheet; true once the rule was saved. */
export async function openNotificationForm(rule = null) {
  const applications = await get("/v1/applications").then((body) => body.applications ?? [], () => []);
  const lists = await Promise.all(
    applications.map(({ id }) =>
      get(`/v1/applications/${part(id)}/regions`).then((body) => body.regions ?? [], () => [])
    ),
  );
  const zones = applications.length ? await listIfAllowed("/v1/zones", "zones").catch(() => []) : [];
  // A rule about a room belongs to an application too: to the first, unless it has one.
  const owner = rule?.application ?? applications[0]?.id;
  const places = [
    ...applications.flatMap(({ id: application }, index) =>
      lists[index].map(({ id }) => [placeKey({ application, region: id }), `${id} (${application})`])
    ),
    ...zones.map((zone) => [placeKey({ application: owner, zone: zone.id }), zone.name || zone.id]),
  ];
  return openDialog(rule ? `Change ${rule.id}` : "Add a notification", (close) => form(places, rule, close));
}

/** What a rule is about, as the value of a choice. */
function placeKey({ application, region, zone }) {
  return JSON.stringify({ application, region, zone });
}

function form(places, rule, close) {
  let save = null;
  let entries = [];
  const check = () => {
    save.disabled = !checkAll(entries) || !places.length;
  };
  const needed = (text) => (entered) => entered.trim() ? fine : { ok: false, text };
  const place = select("rule-region", places, rule ? placeKey(rule) : places[0]?.[0]);
  const on = select("rule-on", [["enter", "enters"], ["exit", "leaves"]], rule?.on ?? "enter");
  const entry = (id, label, checkText, options) => checkedText(id, label, checkText, { onInput: check, ...options });
  const name = entry("rule-id", "Identifier", needed("A short name, as in hello."), {
    value: rule?.id,
    placeholder: "hello",
  });
  name.input.disabled = Boolean(rule);
  const hint = "{name}, {subject}, {region} and {room} are filled in.";
  const text = entry("rule-text", "Text", needed(hint), { value: rule?.text, placeholder: "Welcome, {name}!" });
  const time = (label) => (entered) => checkTime(entered, label);
  const once = entry("rule-once", "At most once in", time("The time"), {
    value: rule?.atMostOncePer,
    placeholder: "always",
  });
  const stay = entry("rule-stay", "If still inside after", (entered) => {
    const isExit = entered.trim() && on.value === "exit";
    return isExit ? { ok: false, isWrong: true, text: "It is for entering only." } : checkTime(entered, "The time");
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
  entries = [name, text, once, stay, from, to];
  on.addEventListener("change", check);
  check();

  const submit = async () => {
    const { application, ...about } = JSON.parse(place.value);
    const document = { ...about, subject: rule?.subject, on: on.value, text: text.input.value.trim() };
    if (once.input.value.trim()) document.atMostOncePer = once.input.value.trim();
    if (stay.input.value.trim()) document.onlyIfStillInsideAfter = stay.input.value.trim();
    if (from.input.value.trim()) {
      document.quietHours = { from: from.input.value.trim(), to: to.input.value.trim(), timeZone: zone };
    }
    const path = `/v1/applications/${part(application)}/notifications/${part(name.input.value.trim())}`;
    try {
      await change("PUT", path, document);
      notify(`${name.input.value.trim()} is active from now on.`);
      close(true);
    } catch (error) {
      problem.hidden = false;
      setText(problem, [error.message, ...error.errors.map((found) => `${found.field}: ${found.message}`)].join(" "));
    }
  };
  const row = (...fields) => h("div", { class: "fields" }, fields);
  const parts = [
    problem,
    row(name.element, field("Whenever someone", on).element, field("Room or region", place).element),
    text.element,
    row(once.element, stay.element),
    row(from.element, to.element),
    h("p", { class: "soft small" }, `Quiet hours are those of ${zone}.`),
  ];
  return sheetForm(parts, save, submit, () => close());
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
