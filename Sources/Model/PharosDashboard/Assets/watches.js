// Notices in this browser: “notify me when it leaves the store room”, kept on this machine.

import { change, listIfAllowed, part } from "./api.js";
import { attempt, notify, openDialog } from "./dialog.js";
import { follow, h } from "./dom.js";
import * as feed from "./feed.js";
import { byName } from "./format.js";
import { saveButton, select, sheetForm } from "./form-parts.js";
import { historyAddress } from "./history.js";
import * as names from "./names.js";
import { field } from "./parts.js";
import { headline, kindOf } from "./words.js";

const storeKey = "pharos.watches";
let watches = JSON.parse(localStorage.getItem(storeKey) ?? "[]");
const listeners = new Set();

/** Changes the list, and keeps it for the next visit. */
function keep(next) {
  watches = next;
  localStorage.setItem(storeKey, JSON.stringify(watches));
  feed.stayOpen(watches.length > 0);
  for (const listener of listeners) listener();
}

/** Whether an event is what a watch waits for. */
export function fits({ id, on, place }, { type, subject, data = {} }) {
  const kind = kindOf({ type });
  if (subject !== id || kind !== `zone.${on}` && kind !== `region.${on}`) return false;
  return !place || (place.zone ? kind.startsWith("zone") && data.zone === place.zone : data.region === place.region);
}

/** Shows a notice for each event that a watch waits for, while a page of this server is open. */
export function start() {
  feed.stayOpen(watches.length > 0);
  feed.listen((batch) => {
    for (const { type, event, isOld } of batch) {
      if (type !== "event" || isOld || !watches.some((watch) => fits(watch, event))) continue;
      const { text } = headline(event);
      notify(text, { link: [historyAddress("subject", event.subject), "Show"], isNews: true });
      if (globalThis.Notification?.permission === "granted") new Notification("Pharos", { body: text });
    }
  });
}

/** What a watch waits for, in words. */
function watchWords({ on, place }) {
  const where = place ? names.nameOf(place.zone ?? "") || place.region : "a room or region";
  return `${on === "enter" ? "comes to" : "leaves"} ${where}`;
}

/** The watches on a thing, each with a button that ends it. */
export function watchList(id, signal) {
  const list = h("ul", { class: "troubles" });
  const show = () =>
    follow(list, watches.filter((watch) => watch.id === id), (watch) => JSON.stringify(watch), (watch) =>
      h(
        "li",
        { class: "banner calm" },
        h("div", null, `You are notified in this browser when it ${watchWords(watch)}.`),
        h("button", {
          type: "button",
          class: "small",
          onClick: () => keep(watches.filter((other) => other !== watch)),
        }, "Stop"),
      ));
  listeners.add(show);
  signal.addEventListener("abort", () => listeners.delete(show));
  show();
  return list;
}

/** Opens the sheet in which one says what to be notified of. */
export async function openWatchForm({ id, name }, { zones, list }) {
  const applications = await listIfAllowed("/v1/applications", "applications").catch(() => []);
  const thing = list.find((found) => found.id === id);
  const regions = [...new Set(list.flatMap((found) => found.regions))].sort(byName);
  return openDialog(`Notify me when ${name} …`, (close) => {
    const on = select("watch-on", [["exit", "leaves"], ["enter", "comes to"]], "exit");
    const places = [
      ["", "any room or region"],
      ...zones.map((zone) => [JSON.stringify({ zone: zone.id }), zone.name || zone.id]),
      ...regions.map((region) => [JSON.stringify({ region }), `${region} (region)`]),
    ];
    const place = select("watch-place", places, thing?.zone ? JSON.stringify({ zone: thing.zone }) : "");
    const by = select("watch-by", [
      ["", "this browser, while a page is open"],
      ...applications.map((application) => [application.id, `a rule of ${application.id}`]),
    ], "");
    const submit = () =>
      attempt(async () => {
        if (by.value) {
          if (!place.value) throw new Error("A rule is about one room or region: choose a place.");
          const rule = `watch-${Date.now().toString(36)}`;
          const text = on.value === "enter" ? "{name} is in {region}." : "{name} left {region}.";
          const about = JSON.parse(place.value);
          await change("PUT", `/v1/applications/${part(by.value)}/notifications/${rule}`, {
            ...about,
            subject: id,
            on: on.value,
            text: about.zone ? text.replace("{region}", "{room}") : text,
          });
          notify(`${rule} is active from now on.`, { link: ["#/notifications", "See the rules"] });
          return close(true);
        }
        const watch = { id, name, on: on.value, place: place.value ? JSON.parse(place.value) : null };
        keep([...watches.filter((other) => JSON.stringify(other) !== JSON.stringify(watch)), watch]);
        close(true);
        // A browser asks its user once; without leave, and where pages have none, the notice shows on the page alone.
        if (globalThis.Notification?.permission === "default") await Notification.requestPermission();
      });
    const parts = [
      h("div", { class: "fields" }, field("It", on).element, field("Place", place).element),
      field("Notified by", by).element,
      h(
        "p",
        { class: "soft small" },
        "A rule works at any time: what it sends goes to ",
        h("a", { href: "#/webhooks", onClick: () => close() }, "webhooks"),
        ", mail and browsers.",
      ),
    ];
    return sheetForm(parts, saveButton("Notify me"), submit, () => close());
  });
}
