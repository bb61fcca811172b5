// Rooms: who is in each, which gateways hear it, how full it was; and adding, changing, removing rooms.

import { get, listIfAllowed } from "./api.js";
import { drawSparkline, sparkline } from "./charts.js";
import { attempt, confirmThat, notify } from "./dialog.js";
import { follow, h, replace, setAttribute, setText } from "./dom.js";
import { byName, count, none, percent, plural } from "./format.js";
import { divide } from "./gateways.js";
import { showPlace } from "./history-detail.js";
import { historyAddress, Range } from "./history.js";
import * as names from "./names.js";
import { notifyButton } from "./notification-form.js";
import { card, chip, empty, pageHead, refusal, setAgo, setChip, Table } from "./parts.js";
import { poll } from "./poll.js";
import { openMergeForm, openRoomForm } from "./room-form.js";
import { isOfSiteFile, removeRoom, roomDependents, siteFileHint } from "./site-changes.js";

const period = 3000;
/** The lines of the last hour change once a minute; an hour up to now touches so many. */
const [linePeriod, minutesOfHour] = [60000, 61];
/** How many things of a room are named; beyond, a number says how many more there are. */
const maximumNames = 6;

export function show(root, context) {
  if (context.rest[0]) return new RoomPage(root, context, context.rest[0]);
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
    this.card = card("Rooms", null, this.place);
    this.table = new Table("Rooms", this.columns(), (row) => row.id);
    const add = h("button", { type: "button", class: "primary", onClick: () => this.add() }, "Add room");
    replace(
      root,
      pageHead("Rooms", "Who is in each room, and the gateways that hear it. Choose one to see how full it was.", add),
      this.card,
    );
    this.ask = poll(() => this.load(), period, signal, (error) => {
      if (!this.isLoaded) replace(this.place, refusal(error));
    });
    poll(() => this.loadLines(), linePeriod, signal);
  }

  columns() {
    const actions = roomActions(this.signal, () => this.ask());
    return [
      {
        title: "Room",
        class: "first",
        sort: (row) => (row.name || row.id).toLowerCase(),
        make: () => h("a", null, h("span"), h("span", { class: "under" })),
        update: (node, row) => {
          setAttribute(node, "href", `${historyAddress("zone", row.id)}?range=24h`);
          setAttribute(node, "title", row.id);
          setText(node.firstChild, row.name || row.id);
          setText(node.lastChild, row.hasTwin ? `${row.id}: another room has this name` : "");
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
        make: actions.make,
        update: actions.update,
      },
    ];
  }

  async load() {
    const { zones, tags } = Object.assign(this, await loadRooms(this.signal));
    this.isLoaded = true;
    setText(this.card.querySelector("h2"), zones.length ? plural(zones.length, "room") : "Rooms");
    if (!zones.length) {
      const text = "A room is what its gateways hear. Add one for each gateway or group of gateways.";
      return replace(this.place, empty("No rooms yet", text));
    }
    this.table.showIn(this.place);
    const within = (id) => tags.filter((tag) => tag.zone === id).map((tag) => tag.beacon);
    const named = (zone) => (zone.name || zone.id).toLowerCase();
    const hasTwin = (zone) => zones.some((other) => other !== zone && named(other) === named(zone));
    return this.table.show(zones.map((zone) => ({ ...zone, things: within(zone.id), hasTwin: hasTwin(zone) })));
  }

  async loadLines() {
    const range = new Range({ span: "1h" });
    const { places = [] } = await get(`/v1/history/occupancy?${range.query(minutesOfHour)}`, this.signal);
    this.lines = new Map(places.filter(({ zone }) => zone).map(({ zone, inside }) => [zone, inside]));
    this.ask();
  }

  async add() {
    if (await openRoomForm(await loadRooms(this.signal))) this.ask();
  }
}

/** Reads the rooms in the order of their names, the gateways, and the tags with the room of each. */
async function loadRooms(signal) {
  const all = (path, member) => listIfAllowed(path, member, signal);
  const [zones, observers, fixes, tags] = await Promise.all([
    all("/v1/zones", "zones"),
    all("/v1/observers", "observers"),
    all("/v1/fixes", "fixes"),
    all("/v1/tags", "tags"),
  ]);
  names.learnDirectory(observers);
  names.learnRooms(zones);
  names.learn(tags, (row) => row.beacon);
  zones.sort((a, b) => byName(a.name || a.id, b.name || b.id));
  return { zones, tags, gateways: divide(observers, zones, fixes).gateways };
}

/** What can be done to a room, as it is when a button is pressed; `onDone` is called after a change with where it led. */
function roomActions(signal, onDone) {
  const undo = (words, back) => ({
    action: ["Undo", async () => {
      if (await attempt(back, words)) onDone();
    }],
  });
  const acts = {
    Change: async (room, zones, gateways) => {
      if (await openRoomForm({ room, zones, gateways })) onDone();
    },
    Merge: async (room, zones) => {
      const name = room.name || room.id;
      const merged = await openMergeForm({ room, zones });
      if (!merged) return;
      const { into, back } = merged;
      notify(`${name} is part of ${into.name || into.id} now.`, undo(`${name} is a room of its own again.`, back));
      onDone(historyAddress("zone", into.id));
    },
    Remove: async (room, zones) => {
      const name = room.name || room.id;
      if (!await confirmThat(`Remove ${name}?`, await roomDependents(room, zones), "Remove room")) return;
      try {
        const back = await removeRoom(room, zones);
        notify(`${name} was removed.`, undo(`${name} is back.`, back));
        onDone("#/rooms");
      } catch (error) {
        notify(error.message);
      }
    },
  };
  const run = async (act, id) => {
    const { zones, gateways } = await loadRooms(signal);
    const room = zones.find((zone) => zone.id === id);
    if (room) await act(room, zones, gateways);
    else onDone();
  };
  return {
    make: () => {
      const row = h("div", { class: "actions" });
      for (const [text, act] of Object.entries(acts)) {
        const tone = text === "Remove" ? "danger" : "";
        const onClick = () => run(act, row.room.id).catch((error) => notify(error.message));
        row.append(h("button", { type: "button", class: `small ${tone}`, onClick }, text));
      }
      return row;
    },
    update: (row, room) => {
      row.room = room;
      for (const child of row.children) {
        setAttribute(child, "aria-label", `${child.textContent} ${room.name || room.id}`);
        child.disabled = isOfSiteFile(room);
        setAttribute(child, "title", child.disabled ? siteFileHint : null);
      }
    },
  };
}

/** One room: who is in it, which gateways hear it, what can be done to it, and how full it was. */
class RoomPage {
  constructor(root, context, id) {
    this.site = { zones: [], gateways: [], tags: [] };
    const actions = roomActions(context.signal, (address) => {
      if (address) location.hash = address;
      else this.ask();
    });
    const buttons = actions.make();
    buttons.hidden = true;
    const inside = card("In it now", null);
    const place = h("div");
    inside.append(place);
    const gateways = h("ul", { class: "plain-list" });
    const hears = card("Its gateways", null, h("div", { class: "body" }, gateways));
    const table = new Table("Things in the room", insideColumns, (row) => row.beacon);
    const watch = notifyButton(() => ({
      title: `Notify me when someone enters or leaves ${names.nameOf(id)}`,
      among: ["enter", "exit"],
      zone: id,
      text: "{name} is in {room}.",
    }));
    showPlace(root, context, { zone: id }, {
      actions: [h("a", { class: "button", href: "#/rooms" }, "All rooms"), buttons, watch],
      before: h("div", { class: "split" }, inside, hears),
    });
    this.ask = poll(
      async () => {
        this.site = await loadRooms(context.signal);
        const room = this.site.zones.find((zone) => zone.id === id);
        buttons.hidden = !room;
        if (!room) return replace(place, empty("This room was removed", "Its past is below."));
        setText(root.querySelector("h1"), room.name || id);
        actions.update(buttons, room);
        const tags = this.site.tags.filter((tag) => tag.zone === id);
        setText(inside.querySelector("h2"), tags.length ? `${plural(tags.length, "thing")} in it now` : "In it now");
        if (tags.length) {
          table.showIn(place);
          table.show(tags.sort((a, b) => byName(names.nameOf(a.beacon), names.nameOf(b.beacon))));
        } else replace(place, empty("Nothing is in it", "Tags that are heard loudest here appear in it."));
        follow(gateways, room.observers, (gateway) => gateway, makeGateway, (item, gateway) => {
          const row = this.site.gateways.find((found) => found.id === gateway);
          setText(item.firstChild, names.nameOf(gateway));
          setChip(item.lastChild, row?.isUp ? "good" : "bad", row?.isUp ? "up" : "down");
        });
      },
      period,
      context.signal,
      (error) => replace(place, refusal(error)),
    );
  }
}

function makeGateway(id) {
  return h("li", null, h("a", { href: historyAddress("observer", id) }), " ", chip("", ""));
}

const insideColumns = [
  {
    title: "Name",
    class: "first",
    sort: (row) => names.nameOf(row.beacon).toLowerCase(),
    make: () => h("a"),
    update: (node, row) => {
      setAttribute(node, "href", historyAddress("subject", row.beacon));
      setAttribute(node, "title", row.beacon);
      setText(node, names.nameOf(row.beacon));
    },
  },
  {
    title: "Since",
    sort: (row) => Date.parse(row.since) || null,
    make: () => h("time"),
    update: (node, row) => setAgo(node, row.since),
  },
  {
    title: "Sure",
    class: "number",
    sort: (row) => row.probability ?? null,
    text: (row) => (row.zoneState === "unmonitored" ? "last known" : percent(row.probability)),
  },
];
