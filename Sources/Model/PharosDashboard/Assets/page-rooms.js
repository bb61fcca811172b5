// Rooms: who is in each, which gateways hear it, how full it was; and adding, changing, removing rooms.

import { get, listIfAllowed } from "./api.js";
import { drawSparkline, sparkline } from "./charts.js";
import { attempt, confirmThat } from "./dialog.js";
import { h, replace, setAttribute, setText } from "./dom.js";
import { count, none } from "./format.js";
import { divide } from "./gateways.js";
import { showPlace } from "./history-detail.js";
import { historyAddress, Range } from "./history.js";
import * as names from "./names.js";
import { card, chip, empty, pageHead, refusal, setChip, Table } from "./parts.js";
import { poll } from "./poll.js";
import { openRoomForm } from "./room-form.js";
import { isOfSiteFile, removeRoom, roomDependents, siteFileHint } from "./site-changes.js";

const period = 3000;
/** The lines of the last hour change once a minute; an hour up to now touches so many. */
const [linePeriod, minutesOfHour] = [60000, 61];
/** How many things of a room are named; beyond, a number says how many more there are. */
const maximumNames = 6;

export function show(root, context) {
  if (context.rest[0]) return showPlace(root, context, { zone: context.rest[0] });
  return new RoomsPage(root, context);
}

class RoomsPage {
  constructor(root, { signal }) {
    this.signal = signal;
    this.zones = [];
    this.gateways = [];
    this.lines = new Map();
    this.isLoaded = false;
    this.place = h("div");
    this.table = new Table("Rooms", this.columns(), (row) => row.id);
    const add = h("button", { type: "button", class: "primary", onClick: () => this.change() }, "Add room");
    replace(
      root,
      pageHead("Rooms", "Who is in each room, and the gateways that hear it. Choose one to see how full it was.", add),
      card("Rooms", null, this.place),
    );
    this.ask = poll(() => this.load(), period, signal, (error) => {
      if (!this.isLoaded) replace(this.place, refusal(error));
    });
    poll(() => this.loadLines(), linePeriod, signal);
  }

  columns() {
    const button = (text, tone, act) => (row) =>
      h("button", { type: "button", class: `small ${tone}`, onClick: () => act(this.row(row.id)) }, text);
    const [edit, remove] = [
      button("Change", "", (row) => this.change(row)),
      button("Remove", "danger", (row) => this.remove(row)),
    ];
    return [
      {
        title: "Room",
        class: "first",
        sort: (row) => (row.name || row.id).toLowerCase(),
        make: () => h("a"),
        update: (node, row) => {
          setAttribute(node, "href", `${historyAddress("zone", row.id)}?range=24h`);
          setAttribute(node, "title", row.id);
          setText(node, row.name || row.id);
        },
      },
      {
        title: "In it now",
        sort: (row) => row.things.length,
        make: () => h("div", null, h("b"), " ", h("span", { class: "soft" })),
        update: (node, { things }) => {
          setText(node.firstChild, count(things.length));
          const more = things.length - maximumNames;
          const shown = things.slice(0, maximumNames).map(names.nameOf).join(", ");
          setText(node.lastChild, more > 0 ? `${shown} and ${more} more` : shown);
        },
      },
      {
        title: "Gateways",
        make: () => h("div", null, h("span"), " ", chip("", "")),
        update: (node, { observers }) => {
          const down = observers.filter((id) => this.gateways.some((row) => row.id === id && !row.isUp));
          setText(node.firstChild, observers.map(names.nameOf).join(", ") || none);
          node.lastChild.hidden = !down.length;
          setChip(node.lastChild, "bad", `${down.length === observers.length ? "" : `${down.length} `}down`);
        },
      },
      {
        title: "Last hour",
        class: "wide",
        make: () => sparkline([], "Things inside in the last hour"),
        update: (node, row) => {
          const words = `Things in ${row.name || row.id} in the last hour`;
          drawSparkline(node, this.lines.get(row.id) ?? [], words, { minimum: 0, maximum: 2 });
        },
      },
      {
        title: "",
        class: "bare",
        make: (row) => h("div", { class: "actions" }, edit(row), remove(row)),
        update: (node, row) => {
          for (const child of node.children) {
            setAttribute(child, "aria-label", `${child.textContent} ${row.name || row.id}`);
            child.disabled = isOfSiteFile(row);
            setAttribute(child, "title", child.disabled ? siteFileHint : null);
          }
        },
      },
    ];
  }

  row(id) {
    return this.zones.find((zone) => zone.id === id);
  }

  async load() {
    const all = (path, member) => listIfAllowed(path, member, this.signal);
    const [zones, observers, fixes, tags] = await Promise.all([
      all("/v1/zones", "zones"),
      all("/v1/observers", "observers"),
      all("/v1/fixes", "fixes"),
      all("/v1/tags", "tags"),
    ]);
    names.learn(observers, (row) => row.id);
    names.learnRooms(zones);
    names.learn(tags, (row) => row.beacon);
    this.zones = zones;
    this.gateways = divide(observers, zones, fixes).gateways;
    this.isLoaded = true;
    if (!zones.length) {
      const text = "A room is what its gateways hear. Add one for each gateway or group of gateways.";
      return replace(this.place, empty("No rooms yet", text));
    }
    this.table.showIn(this.place);
    const within = (id) => tags.filter((tag) => tag.zone === id).map((tag) => tag.beacon);
    return this.table.show(zones.map((zone) => ({ ...zone, things: within(zone.id) })));
  }

  async loadLines() {
    const range = new Range({ span: "1h" });
    const { places = [] } = await get(`/v1/history/occupancy?${range.query(minutesOfHour)}`, this.signal);
    this.lines = new Map(places.filter(({ zone }) => zone).map(({ zone, inside }) => [zone, inside]));
    this.ask();
  }

  async change(room = null) {
    if (!this.isLoaded) await this.load().catch(() => {});
    if (await openRoomForm({ room, zones: this.zones, gateways: this.gateways })) this.ask();
  }

  async remove(room) {
    const name = room.name || room.id;
    if (!await confirmThat(`Remove ${name}?`, roomDependents(room, this.zones), "Remove room")) return;
    await attempt(() => removeRoom(room, this.zones), `${name} was removed.`);
    this.ask();
  }
}
