// The first hour: what waits to be accepted, and the rooms and regions that one click makes of a gateway.

import { change, part } from "./api.js";
import { notify } from "./dialog.js";
import { follow, h, replace, setText } from "./dom.js";
import { plural } from "./format.js";
import { divide } from "./gateways.js";
import { field } from "./parts.js";
import * as suggestions from "./suggestions.js";

/** The maximum number of gateways with a card; more do not help a new user. */
const maximumCards = 3;
/** How many regions one click makes: a street may send beacons of many. */
const maximumRegions = 5;
const laterKey = "pharos.later";

/** The banner and the cards; `onMade` is called when a room was made. */
export class FirstRun {
  constructor(onMade) {
    this.onMade = onMade;
    this.later = new Set(JSON.parse(sessionStorage.getItem(laterKey) ?? "[]"));
    this.banner = h("p", { class: "banner calm", role: "status" });
    this.cards = h("div", { class: "stack" });
    this.element = h("div", { class: "stack", hidden: true }, this.banner, this.cards);
  }

  /** Shows what is new; `heard` are the beacons that are heard, and applications have their regions as `list`. */
  set({ observers, quarantined, heard, applications, zones, fixes }) {
    this.site = { applications, zones };
    const placed = new Set(zones.flatMap((zone) => zone.observers));
    const nameless = divide(observers, zones, fixes).gateways.filter((row) => !row.listed && !placed.has(row.id));
    const beacons = new Map();
    for (const row of heard) {
      if (!beacons.has(row.observer)) beacons.set(row.observer, new Map());
      beacons.get(row.observer).set(row.identities[0], row);
    }
    const ids = new Set([...quarantined, ...nameless].map((row) => row.id));
    const waiting = [...ids].filter((id) => !this.later.has(id));
    const unknown = new Set(heard.filter((row) => !row.registered).map((row) => row.identities[0]));
    this.showBanner(unknown.size, quarantined.length, ids.size - quarantined.length);
    const shown = waiting.slice(0, maximumCards).map((id) => ({ id, heard: [...(beacons.get(id)?.values() ?? [])] }));
    const make = (gateway) => new GatewayCard(this).keep(gateway);
    follow(this.cards, shown, (gateway) => gateway.id, make, (node, gateway) => node.card.set(gateway));
    this.cards.hidden = !shown.length;
    this.element.hidden = this.banner.hidden && !shown.length;
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

  putOff(id) {
    this.later.add(id);
    sessionStorage.setItem(laterKey, JSON.stringify([...this.later]));
    this.onMade();
  }
}

/** One gateway without a name: what it hears, and the room that a click makes of it. */
class GatewayCard {
  constructor(owner) {
    this.owner = owner;
    this.title = h("h2");
    this.note = h("p");
    this.problem = h("p", { class: "banner bad", role: "alert", hidden: true });
    this.save = h("button", { type: "submit", class: "primary" }, "Make the room");
  }

  keep(gateway) {
    const { zones } = this.owner.site;
    const input = h("input", {
      id: `room-${gateway.id}`,
      maxlength: "60",
      required: true,
      autocomplete: "off",
      onInput: () => this.describe(),
    });
    const inUse = new Set(zones.map((zone) => zone.id));
    let number = zones.length + (this.owner.cards.followed?.size ?? 0) + 1;
    while (inUse.has(`room-${number}`)) number += 1;
    input.value = `Room ${number}`;
    this.name = input;
    const later = h("button", { type: "button", onClick: () => this.owner.putOff(this.gateway.id) }, "Not now");
    const form = h(
      "form",
      {
        class: "body",
        onSubmit: (event) => {
          event.preventDefault();
          this.make();
        },
      },
      this.problem,
      h("div", { class: "room-form" }, field("Room", input).element, this.save, later),
    );
    const element = h("section", { class: "card" }, h("header", null, h("div", null, this.title, this.note)), form);
    element.card = this;
    return element;
  }

  set(gateway) {
    this.gateway = gateway;
    setText(this.title, `Gateway ${gateway.id} found, ${plural(gateway.heard.length, "beacon")}. Name it?`);
    this.describe();
  }

  describe() {
    const regions = this.regions().map((region) => region.id);
    const made = regions.length
      ? `and the ${regions.length === 1 ? "region" : "regions"} ${regions.join(", ")}, whose beacons it then places`
      : this.gateway.heard.length
      ? "which places all that it hears"
      : "though it hears no beacon yet";
    setText(this.note, `Makes the room ${this.zone()} ${made}. Change or remove it on the page Rooms.`);
  }

  zone() {
    const inUse = new Set(this.owner.site.zones.map((zone) => zone.id));
    return suggestions.unusedIdentifier(suggestions.identifierOf(this.name.value) || "room", inUse);
  }

  /** The application that gets the regions: the first, or a new one. */
  get application() {
    return this.owner.site.applications[0] ?? { id: "default", list: [] };
  }

  /** The regions for the beacons that it hears and no region asks about, those of the most beacons first. */
  regions() {
    const sorts = new Map();
    for (const row of this.gateway.heard) {
      if (row.registered) continue;
      const constraint = suggestions.constraintOf(row.identities[0], true);
      const key = JSON.stringify(constraint);
      sorts.set(key, { constraint, count: (sorts.get(key)?.count ?? 0) + 1 });
    }
    const { application } = this;
    const subject = suggestions.usualSubject(this.owner.site.applications, [this.gateway.id]);
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

  async make() {
    const { id } = this.gateway;
    const [name, zone, regions] = [this.name.value.trim(), this.zone(), this.regions()];
    this.save.disabled = true;
    this.problem.hidden = true;
    try {
      await change("PUT", `/v1/observers/${part(id)}`, { name });
      await change("PUT", `/v1/zones/${part(zone)}`, { name, observers: [id] });
      for (const region of regions) {
        const path = `/v1/applications/${part(this.application.id)}/regions/${part(region.id)}`;
        await change("PUT", path, region.document);
      }
      notify(`${name} is a room now. “pharos site export” or the Status page gives the site file.`);
    } catch (error) {
      this.save.disabled = false;
      this.problem.hidden = false;
      setText(this.problem, error.message);
    }
    this.owner.onMade();
  }
}
