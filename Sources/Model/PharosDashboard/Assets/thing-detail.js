// One tag or person: where it is and why, its day, and what can be done about it.

import { get, getIfAllowed, isAbort, part, serverNow } from "./api.js";
import { h, replace, setAttribute, setText } from "./dom.js";
import { ago, level, metres, none, percent, time } from "./format.js";
import { showSubject } from "./history-detail.js";
import * as names from "./names.js";
import { card, timeNode } from "./parts.js";
import { poll } from "./poll.js";
import { openThingForm } from "./room-form.js";
import { sharing } from "./sharing.js";
import { isOfSiteFile, siteFileHint } from "./site-changes.js";
import { entryText, Things } from "./things.js";
import { openWatchForm, watchList } from "./watches.js";
import { headline, reasonText } from "./words.js";

const period = 3000;
/** How many of the last decisions are given with their reasons, and the kinds of events that decide about a place. */
const maximumReasons = 3;
const decisions = "zone.enter,zone.exit,region.enter,region.exit,visit.arrive,visit.depart";
/** Beyond any sequence number, and exact in a double. */
const end = Number.MAX_SAFE_INTEGER;

/** The page of a thing. */
export function showThing(root, context, id) {
  const { signal } = context;
  const things = new Things();
  const facts = h("dl", { class: "facts" });
  const reasons = h("ol", { class: "reasons" });
  const where = h("h2", null, "Reading …");
  const heard = h("p");
  const head = h("header", null, h("div", null, where, heard));
  const now = h("section", { class: "card" }, head, h("div", { class: "body" }, facts));
  const why = card("Why it is there", "Its last decisions and their reasons.", h("div", { class: "body" }, reasons));
  why.hidden = true;
  const map = h("a", { class: "button", hidden: true, href: `#/overview?subject=${part(id)}` }, "Show on map");
  let shown = null;
  const watch = h("button", {
    type: "button",
    class: "primary",
    onClick: async () => {
      if (!things.list.length) await things.load(signal).catch(() => {});
      await openWatchForm({ id, name: names.nameOf(id) }, things);
    },
  }, "Notify me when…");
  const rename = h("button", {
    type: "button",
    hidden: true,
    onClick: async () => {
      const kind = shown?.kind ?? "tag";
      if (await openThingForm({ id, name: names.nameOf(id), kind })) ask();
    },
  }, "Rename");
  const watching = watchList(id, signal);
  const before = [watching, h("div", { class: "split even" }, now, why), sharing(id, signal)];
  showSubject(root, context, id, { actions: [map, rename, watch], before });
  const ask = poll(
    async () => {
      const thing = (await things.load(signal)).find((found) => found.id === id || found.identities.includes(id));
      setText(where, thing?.where || "Not in a room");
      setText(heard, heardWords(thing));
      shown = thing ?? null;
      rename.hidden = !["tag", "person"].includes(thing?.kind);
      rename.disabled = Boolean(thing) && isOfSiteFile(thing);
      setAttribute(rename, "title", rename.disabled ? siteFileHint : null);
      setText(root.querySelector("h1"), names.nameOf(id));
      map.hidden = !thing?.fix && !thing?.zone;
      const list = thing ? factsOf(thing) : [];
      replace(
        facts,
        list.map(([title, text]) =>
          h("div", { class: title === "Identity" ? "wide" : null }, h("dt", null, title), h("dd", null, text))
        ),
      );
    },
    period,
    signal,
  );
  let drawn = "";
  poll(
    async () => {
      const path = `/v1/events?subject=${part(id)}&kind=${decisions}&before=${end}&limit=${maximumReasons}`;
      const { events = [] } = await getIfAllowed(path, {}, signal);
      const key = events.map((entry) => entry.sequence).join();
      if (key === drawn) return;
      replace(reasons, await Promise.all(events.map((entry) => reasonOf(entry, signal))));
      why.hidden = !events.length;
      drawn = key;
    },
    period,
    signal,
  );
}

function heardWords(thing) {
  if (!thing?.lastHeard) return "Not heard";
  const by = thing.best ? ` by ${names.nameOf(thing.best.observer)}` : "";
  return `${thing.since ? `since ${time(thing.since)}, ` : ""}last heard ${ago(thing.lastHeard, serverNow())}${by}`;
}

/** What there is to say of a thing now: pairs of a title and a text. */
function factsOf(thing) {
  const { fix, hearings, regions } = thing;
  const facts = [["What it is", thing.under]];
  if (thing.probability !== undefined) facts.push(["Sure of the room", percent(thing.probability)]);
  if (thing.entry) facts.push(["To come in", entryText(thing)]);
  if (hearings.length) {
    const heard = hearings.map((entry) => `${names.nameOf(entry.observer)} ${level(entry.level)}`);
    facts.push(["Heard by", heard.join(", ")]);
  }
  if (thing.battery) {
    facts.push([
      "Battery",
      `${(thing.battery.millivolts / 1000).toFixed(2)} V, ${ago(thing.battery.time, serverNow())}`,
    ]);
  }
  if (fix) facts.push(["Located", `±${metres(fix.horizontalAccuracy)}, ${ago(fix.time, serverNow())}`]);
  if (regions.length) facts.push(["Inside regions", [...new Set(regions)].join(", ")]);
  facts.push(["Identity", [...new Set([thing.id, ...thing.identities])].join(", ") || none]);
  if (thing.address) facts.push(["Address", thing.address]);
  return facts;
}

/** A decision in one line, with its reason in the server's words. */
async function reasonOf({ sequence, event }, signal) {
  const { words = "" } = await get(`/v1/events/${sequence}`, signal).catch((error) => {
    if (isAbort(error)) throw error;
    return {};
  });
  return h(
    "li",
    null,
    h("a", { href: `#/events/${sequence}` }, headline(event).text),
    " ",
    h("span", { class: "soft" }, timeNode(event.time)),
    h("p", { class: "soft" }, reasonText(event, [words].flat().join(" "))),
  );
}
