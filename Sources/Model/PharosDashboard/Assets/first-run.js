// The first hour: where gateways send to, what waits to be accepted, and the rooms that one button makes of new gateways.

import { change, getIfAllowed, part } from "./api.js";
import { notify } from "./dialog.js";
import { follow, h, replace, setAttribute, setText } from "./dom.js";
import { level, listed, none, plural } from "./format.js";
import { divide, loudest } from "./gateways.js";
import { historyAddress } from "./history.js";
import * as names from "./names.js";
import { card, field } from "./parts.js";
import { changeRooms } from "./site-changes.js";
import * as suggestions from "./suggestions.js";

/** The maximum number of new gateways that have a field at once; the others follow. */
const maximumRows = 20;
/** How many regions one click makes: a street may send beacons of many. */
const maximumRegions = 5;
const laterKey = "pharos.later";

/** The banner, the card of new gateways and, before any is heard, where to send to; `onMade` is called after a change. */
export class FirstRun {
  constructor(onMade) {
    this.onMade = onMade;
    this.later = new Set(JSON.parse(sessionStorage.getItem(laterKey) ?? "[]"));
    this.banner = h("p", { class: "banner calm", role: "status" });
    this.arrival = h("div");
    this.gateways = new NewGateways(this);
    this.element = h("div", { class: "stack", hidden: true }, this.arrival, this.banner, this.gateways.element);
  }

  /**
   * Shows what is new; `heard` are the beacons that are heard, applications have their regions as `list`, and `status` is
   * that of the server where no gateway is heard yet.
   */
  set({ observers, quarantined, heard, applications, zones, fixes, status }) {
    this.site = { applications, zones };
    const placed = new Set(zones.flatMap((zone) => zone.observers));
    const nameless = divide(observers, zones, fixes).gateways.filter((row) => !row.listed && !placed.has(row.id));
    const beacons = byObserver(heard);
    const ids = new Set([...quarantined, ...nameless].map((row) => row.id));
    const waiting = [...ids].filter((id) => !this.later.has(id));
    const unknown = new Set(heard.filter((row) => !row.registered).map((row) => row.identities[0]));
    this.showBanner(unknown.size, quarantined.length, ids.size - quarantined.length);
    this.gateways.set(waiting.map((id) => ({ id, heard: beacons.get(id) ?? [] })));
    const isSilent = Boolean(status) && !observers.length && !quarantined.length;
    this.arrival.hidden = !isSilent;
    if (isSilent) showArrival(this.arrival, status);
    this.element.hidden = this.banner.hidden && !waiting.length && !isSilent;
  }

  /** Whether gateways wait for a name here, so that what they hear is worth reading often. */
  get isAsking() {
    return !this.gateways.element.hidden;
  }

  /** Takes what is heard now: a tag that is held to a gateway shows within two seconds. */
  hear(heard) {
    this.gateways.hear(heard);
  }

  showBanner(unknown, quarantined, nameless) {
    const parts = [];
    if (unknown) parts.push(h("a", { href: "#/things?show=unknown" }, plural(unknown, "unknown beacon")));
    const gateways = (number, words) => {
      const verb = number === 1 ? words[0] : words[1];
      parts.push(h("span", null, h("a", { href: "#/gateways" }, plural(number, "gateway")), ` ${verb}`));
    };
    if (quarantined) gateways(quarantined, ["waits to be accepted", "wait to be accepted"]);
    if (nameless) gateways(nameless, ["waits for a name", "wait for a name"]);
    const text = parts.map((node) => node.textContent).join(", ");
    this.banner.hidden = !parts.length;
    if (this.banner.textContent === text) return;
    replace(this.banner, h("span", null, parts.map((node, index) => [index ? ", " : "", node])));
  }

  putOff(ids) {
    for (const id of ids) this.later.add(id);
    sessionStorage.setItem(laterKey, JSON.stringify([...this.later]));
    this.onMade();
  }
}

/** What each gateway hears: one row for a beacon. */
function byObserver(heard) {
  const beacons = new Map();
  for (const row of heard) {
    if (!beacons.has(row.observer)) beacons.set(row.observer, new Map());
    beacons.get(row.observer).set(row.identities[0], row);
  }
  return new Map([...beacons].map(([observer, rows]) => [observer, [...rows.values()]]));
}

/** The status of the server, which says where gateways send to; null where this token may not see it. */
export function arrivalStatus(signal) {
  return getIfAllowed("/v1/status", null, signal);
}

const loopback = /^(127\.|\[::1\]|localhost)/;
const anyAddress = /^(0\.0\.0\.0|\[::\]):/;

/** Whether an address, with or without its port, can be reached from the same machine only. */
export function isLoopback(address) {
  return loopback.test(address);
}

/** Shows where gateways send to, in which formats, and from where that can be reached. */
export function showArrival(place, status) {
  const addresses = [...new Set((status.listeners ?? []).map(({ address }) => address))];
  const isLocal = addresses.every(isLoopback);
  const host = isLoopback(location.hostname) ? "this machine’s address" : location.hostname;
  const targets = addresses.map((address) =>
    anyAddress.test(address) ? `${host}, port ${address.split(":").at(-1)}` : address
  );
  const { datagrams = 0 } = status.ingest ?? {};
  const facts = [
    ["Send by UDP to", targets.join(" or ") || "no UDP port is open"],
    ["Or by HTTP to", `POST ${location.origin}/v1/adverts`],
    ["Formats", (status.formats ?? []).join(", ")],
    [
      "Who can reach the UDP port",
      isLocal
        ? "Only this machine. For gateways on the network start the server with --udp 0.0.0.0:50001."
        : "Other machines too, unless a firewall is between.",
    ],
  ].filter(([, text]) => text);
  const key = JSON.stringify([facts, datagrams]);
  if (place.arrival === key) return;
  place.arrival = key;
  const title = datagrams ? "No gateway is heard yet" : "Nothing has arrived yet";
  const note = datagrams
    ? `${plural(datagrams, "datagram has", "datagrams have")} arrived, and none could be used. Status says why.`
    : "As soon as a gateway sends, it appears here by itself.";
  const list = facts.map(([name, text]) => h("div", null, h("dt", null, name), h("dd", null, text)));
  replace(place, card(title, note, h("div", { class: "body" }, h("dl", { class: "facts wide-facts" }, list))));
}

/** All gateways without a name: a field for the room of each, and one button for all. */
class NewGateways {
  #rows = [];

  constructor(owner) {
    this.owner = owner;
    this.title = h("h2");
    this.note = h("p");
    this.problem = h("p", { class: "banner bad", role: "alert", hidden: true });
    this.list = h("ul", { class: "new-gateways" });
    this.save = h("button", { type: "submit", class: "primary" });
    this.made = h("p", { class: "soft small" });
    const later = h(
      "button",
      { type: "button", onClick: () => owner.putOff(this.#rows.map(({ id }) => id)) },
      "Not now",
    );
    const onSubmit = (event) => {
      event.preventDefault();
      this.make();
    };
    this.element = h(
      "section",
      { class: "card", hidden: true },
      h("header", null, h("div", null, this.title, this.note)),
      h(
        "form",
        { class: "body stack", onSubmit },
        this.problem,
        this.list,
        h("div", { class: "actions" }, this.save, later),
        this.made,
      ),
    );
  }

  set(gateways) {
    const shown = gateways.slice(0, maximumRows);
    this.#rows = shown;
    this.element.hidden = !shown.length;
    follow(this.list, shown, (row) => row.id, (row) => this.#makeRow(row), (item, row) => item.show(row));
    if (!shown.length) return;
    const [{ id, heard }] = shown;
    setText(
      this.title,
      gateways.length === 1
        ? `Gateway ${id} found, ${plural(heard.length, "beacon")}. Name it?`
        : `${gateways.length} new gateways found. Name their rooms?`,
    );
    const more = gateways.length - shown.length;
    const which = "To learn which is which, hold a tag to a gateway: it becomes the loudest there.";
    setText(this.note, `${gateways.length > 1 ? `${which} ` : ""}${more > 0 ? `${more} more follow. ` : ""}`);
    this.note.hidden = !this.note.textContent;
    this.describe();
  }

  hear(heard) {
    const beacons = byObserver(heard);
    for (const [index, item] of [...this.list.children].entries()) {
      item.show({ heard: beacons.get(this.#rows[index]?.id) ?? [] });
    }
  }

  #makeRow({ id }) {
    const onInput = () => this.describe();
    const input = h("input", { id: `room-${id}`, maxlength: "60", autocomplete: "off", onInput });
    const inUse = new Set([
      ...this.owner.site.zones.map((zone) => zone.id),
      ...this.#names().map(suggestions.identifierOf),
    ]);
    let number = this.owner.site.zones.length + 1;
    while (inUse.has(`room-${number}`)) number += 1;
    input.value = `Room ${number}`;
    const [title, hears] = [h("b", { class: "code" }, id), h("span", { class: "soft small" })];
    const room = field("Room", input);
    setAttribute(room.element.querySelector("label"), "aria-label", `Room of ${id}`);
    const item = h("li", null, h("div", null, title, hears), room.element);
    item.room = room;
    item.show = ({ heard }) => showHearings(hears, heard);
    return item;
  }

  /** The names that the fields have, in the order of the gateways. */
  #names() {
    return [...this.list.children].map((item) => item.room.input.value.trim());
  }

  /** The rooms that the button makes or completes: `{ id, name, observers, zone }`; an empty field leaves its gateway out. */
  plan() {
    const { zones } = this.owner.site;
    const inUse = new Set(zones.map((zone) => zone.id));
    const rooms = new Map();
    for (const [index, name] of this.#names().entries()) {
      if (!name || !this.#rows[index]) continue;
      const key = name.toLowerCase();
      const zone = zones.find((found) => (found.name || found.id).toLowerCase() === key);
      if (!rooms.has(key)) {
        const id = zone?.id ?? suggestions.unusedIdentifier(suggestions.identifierOf(name) || "room", inUse);
        inUse.add(id);
        rooms.set(key, { id, name: zone?.name ?? name, observers: [], zone });
      }
      rooms.get(key).observers.push(this.#rows[index].id);
    }
    return [...rooms.values()];
  }

  describe() {
    const rooms = this.plan();
    const made = rooms.filter(({ zone }) => !zone);
    for (const item of this.list.children) {
      const room = rooms.find(({ name }) => name.toLowerCase() === item.room.input.value.trim().toLowerCase());
      const text = !room
        ? "Left out: it stays without a name."
        : room.zone
        ? `Joins the room ${room.name}, which exists.`
        : room.observers.length > 1
        ? `One room of ${plural(room.observers.length, "gateway")}.`
        : "";
      item.room.say("", text);
    }
    this.save.disabled = !rooms.length;
    setText(
      this.save,
      made.length > 1
        ? `Make ${made.length} rooms`
        : made.length || !rooms.length
        ? "Make the room"
        : "Add to the room",
    );
    const regions = this.regions().map((region) => region.id);
    const places = rooms.map(({ id }) => id);
    const found = regions.length
      ? ` and the ${regions.length === 1 ? "region" : "regions"} ${listed(regions)}, whose beacons ${
        places.length > 1 ? "they then place" : "it then places"
      }`
      : this.#rows.some(({ heard }) => heard.length)
      ? ", which places all that is heard"
      : ", though no beacon is heard yet";
    setText(
      this.made,
      rooms.length
        ? `Makes the ${places.length > 1 ? "rooms" : "room"} ${
          listed(places)
        }${found}. Change or remove it on the page Rooms.`
        : "",
    );
  }

  /** The application that gets the regions: the first, or a new one. */
  get application() {
    return this.owner.site.applications[0] ?? { id: "default", list: [] };
  }

  /** The regions for the beacons that the gateways hear and no region asks about, those of the most beacons first. */
  regions() {
    const sorts = new Map();
    const beacons = new Map(this.#rows.flatMap(({ heard }) => heard).map((row) => [row.identities[0], row]));
    for (const row of beacons.values()) {
      if (row.registered) continue;
      const constraint = suggestions.constraintOf(row.identities[0], true);
      const key = JSON.stringify(constraint);
      sorts.set(key, { constraint, count: (sorts.get(key)?.count ?? 0) + 1 });
    }
    const { application } = this;
    const subject = suggestions.usualSubject(this.owner.site.applications, this.#rows.map(({ id }) => id));
    const inUse = new Set((application.list ?? []).map((region) => region.id));
    const room = (application.regionLimit ?? 20) - inUse.size;
    return [...sorts.values()].sort((a, b) => b.count - a.count).slice(0, Math.min(maximumRegions, room)).map(
      ({ constraint }) => {
        const id = suggestions.unusedIdentifier(suggestions.regionIdentifier(constraint, subject), inUse);
        inUse.add(id);
        // The room's events say each move: those of a region of all tags would say it twice.
        const events = subject === "beacon" ? { notifyOnEntry: false, notifyOnExit: false } : {};
        return { id, document: { ...constraint, subject, ...events } };
      },
    );
  }

  /** Makes all rooms before any region: a tag whose own room is still missing would be placed in the first, and move. */
  async make() {
    const [rooms, regions] = [this.plan(), this.regions()];
    this.save.disabled = true;
    this.problem.hidden = true;
    try {
      for (const { name, observers, zone } of rooms) {
        const before = zone?.observers.length ?? 0;
        for (const [index, id] of observers.entries()) {
          const number = before + index + 1;
          await change("PUT", `/v1/observers/${part(id)}`, { name: number > 1 ? `${name} ${number}` : name });
        }
      }
      await changeRooms(
        rooms.map(({ zone, ...room }) => ({
          ...zone,
          ...room,
          observers: [...zone?.observers ?? [], ...room.observers],
        })),
      );
      for (const region of regions) {
        const path = `/v1/applications/${part(this.application.id)}/regions/${part(region.id)}`;
        await change("PUT", path, region.document);
      }
      const verb = rooms.length > 1 ? "are rooms now" : "is a room now";
      notify(`${listed(rooms.map(({ name }) => name))} ${verb}.`, { link: ["#/rooms", "See the rooms"] });
    } catch (error) {
      this.problem.hidden = false;
      setText(this.problem, error.message);
    }
    this.save.disabled = false;
    this.owner.onMade();
  }
}

/** Says how many beacons a gateway hears, and which is loudest there. */
function showHearings(place, heard) {
  const best = loudest(heard);
  const id = best?.identities[0];
  const words = plural(heard.length, "beacon");
  const key = JSON.stringify([words, id, best?.rssi, id && names.nameOf(id)]);
  if (place.key === key) return;
  place.key = key;
  const link = best ? h("a", { href: historyAddress("subject", id) }, best.name || names.nameOf(id)) : none;
  replace(place, `hears ${words}`, best ? [", loudest ", link, `, ${level(best.rssi)}`] : null);
}
