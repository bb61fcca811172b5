// One observer: how it fares, and what it hears.

import { change, get, getAll, part } from "./api.js";
import { attempt } from "./dialog.js";
import { h, replace, setText } from "./dom.js";
import { count, decimal, level, none, percent, rate, seconds, time } from "./format.js";
import * as names from "./names.js";
import { card, empty, pageHead, refusal, setAgo, Table } from "./parts.js";
import { poll } from "./poll.js";

/** The interval at which the observer is read again, in ms. */
const period = 2000;

/** The share of an observer's datagrams that were lost, or how many where the share is not known. */
export function lost(row) {
  const received = row.datagrams;
  if (row.lossShare !== undefined) return percent(row.lossShare);
  return received ? percent(row.lostDatagrams / (row.lostDatagrams + received)) : count(row.lostDatagrams);
}

/** The page of one observer. */
export function showOne(root, { signal }, id) {
  const facts = h("dl", { class: "facts" });
  const tracks = card("What it hears", "Tracks: kept for each beacon that some region, ranging or zone asks about.");
  const table = new Table("Tracks", trackColumns, (row) => row.beacon);
  const rest = h("div");
  tracks.append(rest);
  const displayOn = h("button", {
    type: "button",
    onClick: () =>
      attempt(
        () => change("POST", `/v1/observers/${part(id)}/displayOn`),
        "Sent: its regions report their state.",
      ),
  }, "Tell “display on”");
  const head = pageHead(
    names.nameOf(id),
    id,
    h("a", { class: "button", href: "#/gateways" }, "All observers"),
    h("a", { class: "button", href: `#/history/observer/${part(id)}?range=24h` }, "History"),
    displayOn,
  );
  replace(
    root,
    head,
    h("div", { class: "stack" }, h("section", { class: "card" }, h("div", { class: "body" }, facts)), tracks),
  );
  poll(
    async () => {
      const row = await get(`/v1/observers/${part(id)}`, signal);
      setText(head.querySelector("h1"), row.name || row.id);
      const list = [
        ["State", row.isUp ? "up" : "silent"],
        ["Last heard", time(row.lastHeard)],
        ["First heard", time(row.firstHeard)],
        ["Adverts", `${count(row.adverts)} (${rate(row.advertsPerSecond)})`],
        ["Datagrams lost", lost(row)],
        ["Late reports", count(row.late)],
        ["Lag", seconds(row.lag)],
        [
          "Clock offset",
          row.clockOffset === undefined || row.clockOffset === null ? "it reports no times" : seconds(row.clockOffset),
        ],
        ["Allowed gap", seconds(row.allowedGap)],
        ["Boot id", row.bootId ?? none],
        ["Scanning", row.scanState ?? none],
        ["Format", row.format ?? none],
        ["From", row.source ?? none],
      ];
      replace(facts, list.map(([title, text]) => h("div", null, h("dt", null, title), h("dd", null, text))));
    },
    period,
    signal,
    (error) => replace(facts, refusal(error)),
  );
  poll(
    async () => {
      const heard = await getAll(`/v1/tracks?observer=${part(id)}`, "tracks", signal, 1000);
      if (!heard.length) return replace(rest, empty("No tracks", "It hears no beacon of a region."));
      if (rest.firstChild?.firstChild !== table.element) replace(rest, h("div", { class: "scroll" }, table.element));
      return table.show(heard);
    },
    period,
    signal,
    (error) => replace(rest, refusal(error)),
  );
}

const trackColumns = [
  { title: "Beacon", class: "first", text: (row) => names.nameOf(row.beacon), hint: (row) => row.beacon },
  {
    title: "Level",
    class: "number",
    text: (
      row,
    ) => (row.levelDeviation > 0 ? `${level(row.level)} ± ${decimal(row.levelDeviation, 1)}` : level(row.level)),
    hint: () => "Filtered, with its standard deviation in dB",
  },
  { title: "Interval", class: "number", text: (row) => seconds(row.interval) },
  {
    title: "Received",
    class: "number",
    text: (row) => percent(row.receptionShare),
    hint: () => "The share of its adverts that this observer receives",
  },
  { title: "Samples", class: "number", text: (row) => count(row.samples) },
  {
    title: "Regions",
    text: (row) => (row.regions ?? []).map((region) => `${region.region}: ${region.state}`).join(", ") || none,
  },
  { title: "Heard", make: () => h("time"), update: (node, row) => setAgo(node, row.lastHeard) },
];
