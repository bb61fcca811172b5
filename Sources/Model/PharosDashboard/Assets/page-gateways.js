// Gateways: which are up, which room each hears, and which wait to be accepted.

import { change, listIfAllowed, part, serverNow } from "./api.js";
import { attempt } from "./dialog.js";
import { h, replace, setAttribute, setText } from "./dom.js";
import { byName, count, none, plural, rate } from "./format.js";
import { arrivalStatus, showArrival } from "./first-run.js";
import { divide, expected, roomsOf } from "./gateways.js";
import { gatewayActions, lost, showGateway } from "./gateway-detail.js";
import { historyAddress } from "./history.js";
import * as names from "./names.js";
import { card, chip, empty, pageHead, refusal, setAgo, setChip, Table } from "./parts.js";
import { poll } from "./poll.js";

const period = 2000;

export function show(root, context) {
  if (context.rest[0]) showGateway(root, context, context.rest[0]);
  else showAll(root, context);
}

const columns = [
  {
    title: "Gateway",
    class: "first",
    sort: (row) => names.nameOf(row.id).toLowerCase(),
    make: () => h("a", null, h("span"), h("span", { class: "under" })),
    update: (node, row) => {
      setAttribute(node, "href", historyAddress("observer", row.id));
      setText(node.firstChild, row.name || row.id);
      setText(node.lastChild, row.name ? row.id : row.format ?? "");
    },
  },
  { title: "Room", sort: (row) => row.rooms.toLowerCase() || null, text: (row) => row.rooms || none },
  {
    title: "State",
    sort: (row) => Number(row.isUp),
    make: () => chip("", ""),
    update: (node, row) => setChip(node, row.isUp ? "good" : "bad", row.isUp ? "up" : "down"),
  },
  { title: "Last heard", make: () => h("time"), update: (node, row) => setAgo(node, row.lastHeard) },
  {
    title: "Adverts",
    class: "number",
    sort: (row) => (row.isUp ? row.advertsPerSecond ?? null : null),
    text: (row) => (row.isUp ? rate(row.advertsPerSecond) : none),
    hint: (row) => `${count(row.adverts)} in all`,
  },
  {
    title: "Lost",
    class: "number",
    text: lost,
    hint: (row) => `${count(row.lostDatagrams)} datagrams by their sequence numbers`,
  },
];

function showAll(root, { signal }) {
  const waiting = quarantine(signal);
  let zones = [];
  let ask = () => {};
  const actions = gatewayActions(() => zones, () => ask());
  const table = new Table("Gateways", [...columns, actions], (row) => row.id);
  const all = card("All gateways", null);
  const arrival = h("div", { hidden: true });
  const rest = h("div");
  all.append(rest);
  replace(
    root,
    pageHead("Gateways", "The radios that hear tags: which are up, and which room each hears. Handsets are things."),
    h("div", { class: "stack" }, arrival, waiting, all),
  );
  let isShown = false;
  ask = poll(
    async () => {
      const list = (path, member) => listIfAllowed(path, member, signal);
      const [observers, fixes] = await Promise.all([list("/v1/observers", "observers"), list("/v1/fixes", "fixes")]);
      zones = await list("/v1/zones", "zones");
      names.learnDirectory(observers);
      const { gateways, handsets } = divide(observers, zones, fixes);
      if (!gateways.length) {
        isShown = false;
        const status = observers.length ? null : await arrivalStatus(signal);
        arrival.hidden = !status;
        if (status) showArrival(arrival, status);
        return replace(rest, nothing(handsets));
      }
      arrival.hidden = true;
      table.showIn(rest);
      isShown = true;
      gateways.sort((a, b) => byName(a.name || a.id, b.name || b.id));
      table.show(gateways.map((row) => ({ ...row, rooms: roomsOf(row.id, zones) })));
      const due = expected(gateways, serverNow());
      const up = due.filter((row) => row.isUp).length;
      setText(all.querySelector("h2"), `${up} of ${plural(due.length, "gateway")} up`);
    },
    period,
    signal,
    (error) => {
      if (!isShown) replace(rest, refusal(error));
    },
  );
}

function nothing(handsets) {
  const people = handsets.length
    ? `${plural(handsets.length, "handset reports", "handsets report")}: see Things. `
    : "";
  return empty("No gateways yet", `${people}A gateway is listed here as soon as it sends.`);
}

/** Returns the card of gateways that wait to be accepted; it is hidden while there are none. */
function quarantine(signal) {
  let ask = () => {};
  const accept = async (id) => {
    await attempt(
      () => change("POST", `/v1/observers/${part(id)}/accept`),
      `${id} is accepted: what it hears counts from now on.`,
    );
    ask();
  };
  const table = new Table("Gateways that wait to be accepted", [
    { title: "Gateway", class: "first", text: (row) => row.id },
    { title: "From", text: (row) => row.source ?? none },
    { title: "First heard", make: () => h("time"), update: (node, row) => setAgo(node, row.firstHeard) },
    { title: "Last heard", make: () => h("time"), update: (node, row) => setAgo(node, row.lastHeard) },
    { title: "Reports", class: "number", text: (row) => count(row.reports) },
    {
      title: "",
      class: "bare",
      make: (row) =>
        h(
          "div",
          { class: "actions" },
          h("button", {
            type: "button",
            class: "small primary",
            "aria-label": `Accept ${row.id}`,
            onClick: () => accept(row.id),
          }, "Accept"),
        ),
    },
  ], (row) => row.id);
  const element = card(
    "Waiting to be accepted",
    "The site takes only gateways that it knows. What these hear changes nothing until you accept them.",
    h("div", { class: "scroll" }, table.element),
  );
  element.hidden = true;
  ask = poll(
    async () => {
      const waiting = await listIfAllowed("/v1/quarantine", "observers", signal);
      element.hidden = !waiting.length;
      table.show(waiting);
    },
    period,
    signal,
    () => {
      element.hidden = true;
    },
  );
  return element;
}
