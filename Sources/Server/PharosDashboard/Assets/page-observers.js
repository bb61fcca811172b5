// Observers: who hears, how well, and who waits to be accepted.

import { change, get, part } from "./api.js";
import { attempt } from "./dialog.js";
import { h, replace, setAttribute, setText } from "./dom.js";
import { count, none, plural, rate, seconds } from "./format.js";
import * as names from "./names.js";
import { lost, showOne } from "./observer-detail.js";
import { card, chip, empty, pageHead, refusal, setAgo, setChip, Table } from "./parts.js";
import { poll } from "./poll.js";

const period = 2000;

export function show(root, context) {
  if (context.rest[0]) showOne(root, context, context.rest[0]);
  else showAll(root, context);
}

const columns = [
  { title: "Observer", class: "first", make: nameCell, update: updateName },
  {
    title: "State",
    make: () => chip("", ""),
    update: (node, row) => setChip(node, row.isUp ? "good" : "bad", row.isUp ? "up" : "silent"),
  },
  { title: "Heard", make: () => h("time"), update: (node, row) => setAgo(node, row.lastHeard) },
  {
    title: "Adverts",
    class: "number",
    text: (row) => rate(row.advertsPerSecond),
    hint: (row) => `${count(row.adverts)} in all`,
  },
  {
    title: "Lost",
    class: "number",
    text: lost,
    hint: (row) => `${count(row.lostDatagrams)} datagrams by their sequence numbers`,
  },
  {
    title: "Late",
    class: "number",
    text: (row) => count(row.late),
    hint: () => "Reports older than the lag: shown, never deciding",
  },
  { title: "Lag", class: "number", text: (row) => seconds(row.lag) },
  {
    title: "Clock",
    class: "number",
    text: (row) => (row.clockOffset === undefined || row.clockOffset === null ? none : seconds(row.clockOffset)),
    hint: () => "How far its clock is behind the server's",
  },
  {
    title: "Allowed gap",
    class: "number",
    text: (row) => seconds(row.allowedGap),
    hint: () => "The silence after which it counts as down",
  },
  { title: "Tracks", class: "number", text: (row) => count(row.tracks) },
];

function nameCell() {
  return h("a", null, h("span"), h("span", { class: "under" }));
}

function updateName(node, row) {
  setAttribute(node, "href", `#/gateways/${encodeURIComponent(row.id)}`);
  setText(node.firstChild, row.name || row.id);
  setText(node.lastChild, row.name ? row.id : row.format ?? "");
}

function showAll(root, { signal }) {
  const place = h("div", { class: "stack" });
  const waiting = quarantine(signal);
  const table = new Table("Observers", columns, (row) => row.id);
  const all = card("All observers", null);
  const rest = h("div");
  all.append(rest);
  replace(
    root,
    pageHead("Observers", "The radios that hear: gateways and handsets, and how well each is doing."),
    place,
  );
  replace(place, waiting, all);
  let isShown = false;
  poll(
    async () => {
      const { observers = [] } = await get("/v1/observers", signal);
      names.learn(observers, (entry) => entry.id);
      if (!observers.length) {
        isShown = false;
        replace(
          rest,
          empty(
            "No observers yet",
            "Send adverts of a gateway to the server's UDP port, or run “pharos simulate” and “pharos replay”.",
            h("a", { class: "button", href: "#/status" }, "See the ports"),
          ),
        );
        return;
      }
      if (!isShown) replace(rest, h("div", { class: "scroll" }, table.element));
      isShown = true;
      table.show(observers);
      const down = observers.filter((row) => !row.isUp).length;
      setText(all.querySelector("h2"), `${plural(observers.length, "observer")}${down ? `, ${down} silent` : ""}`);
    },
    period,
    signal,
    (error) => {
      if (!isShown) replace(rest, refusal(error));
    },
  );
}

/** Returns the card of observers that wait to be accepted; it is hidden while there are none. */
function quarantine(signal) {
  let ask = () => {};
  const accept = async (id) => {
    await attempt(
      () => change("POST", `/v1/observers/${part(id)}/accept`),
      `${id} is accepted: what it hears counts from now on.`,
    );
    ask();
  };
  const table = new Table("Observers that wait to be accepted", [
    { title: "Observer", class: "first", text: (row) => row.id },
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
    "The site takes only observers that it knows. What these hear changes nothing until you accept them.",
    h("div", { class: "scroll" }, table.element),
  );
  element.hidden = true;
  ask = poll(
    async () => {
      const { observers = [] } = await get("/v1/quarantine", signal);
      element.hidden = !observers.length;
      table.show(observers);
    },
    period,
    signal,
    () => {
      element.hidden = true;
    },
  );
  return element;
}
