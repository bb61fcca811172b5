// One gateway: how it fares, what it hears, its past; and its name, its room and its removal.

import { get, getAll, listIfAllowed, part } from "./api.js";
import { attempt, confirmThat } from "./dialog.js";
import { h, replace, setAttribute } from "./dom.js";
import { count, decimal, level, none, percent, rate, seconds, time } from "./format.js";
import { loudest, roomsOf } from "./gateways.js";
import { showObserver } from "./history-detail.js";
import * as names from "./names.js";
import { notifyButton } from "./notification-form.js";
import { card, empty, refusal, setAgo, Table } from "./parts.js";
import { poll } from "./poll.js";
import { openGatewayForm } from "./room-form.js";
import { gatewayDependents, isOfSiteFile, removeGateway, siteFileHint } from "./site-changes.js";

/** The interval at which the gateway is read again, in ms. */
const period = 2000;

/** The share of a gateway's datagrams that were lost, or how many where the share is not known. */
export function lost(row) {
  const received = row.datagrams;
  if (row.lossShare !== undefined) return percent(row.lossShare);
  return received ? percent(row.lostDatagrams / (row.lostDatagrams + received)) : count(row.lostDatagrams);
}

/** The column with what can be done to a gateway; `zonesOf` gives the rooms, and `onDone` is called after a change. */
export function gatewayActions(zonesOf, onDone) {
  // The rooms as they are when a button is pressed: the page's own are some seconds old.
  const present = () => listIfAllowed("/v1/zones", "zones");
  const edit = async (gateway) => {
    if (await openGatewayForm({ gateway, zones: await present() })) onDone();
  };
  const remove = async (gateway) => {
    const name = gateway.name || gateway.id;
    const zones = await present();
    const text = await gatewayDependents(gateway.id, zones).catch((error) => error.message);
    if (!await confirmThat(`Remove ${name}?`, text, "Remove gateway")) return;
    let back = async () => {};
    const undo = ["Undo", async () => {
      if (await attempt(back, `${name} is back.`)) onDone();
    }];
    const isGone = await attempt(
      async () => {
        back = await removeGateway(gateway, zones);
      },
      `${name} was removed.`,
      { action: undo },
    );
    if (isGone) onDone(true);
  };
  return {
    title: "",
    class: "bare",
    make: () => {
      const row = h("div", { class: "actions" });
      const button = (text, tone, act) =>
        h("button", { type: "button", class: `small ${tone}`, onClick: () => act(row.gateway) }, text);
      row.append(button("Change", "", edit), button("Remove", "danger", remove));
      return row;
    },
    update: (row, gateway) => {
      row.gateway = gateway;
      for (const button of row.children) {
        setAttribute(button, "aria-label", `${button.textContent} ${gateway.name || gateway.id}`);
        const inFile = zonesOf().some((zone) => isOfSiteFile(zone) && zone.observers.includes(gateway.id));
        button.disabled = isOfSiteFile(gateway) || inFile;
        setAttribute(button, "title", button.disabled ? siteFileHint : null);
      }
    },
  };
}

/** The page of one gateway. */
export function showGateway(root, context, id) {
  const { signal } = context;
  const facts = h("dl", { class: "facts" });
  const tracks = card("What it hears", "The beacons that some room or region asks about.");
  const table = new Table("What it hears", trackColumns, (row) => row.beacon);
  const rest = h("div");
  tracks.append(rest);
  let zones = [];
  let heard = [];
  let ask = () => {};
  const actions = gatewayActions(() => zones, (isGone) => {
    if (isGone) location.hash = "#/gateways";
    else ask();
  });
  const buttons = actions.make();
  const watch = notifyButton(() => ({
    title: `Notify me when ${names.nameOf(id)} goes offline`,
    among: ["offline"],
    subject: id,
    text: "{name} is offline.",
  }));
  showObserver(root, context, id, {
    actions: [h("a", { class: "button", href: "#/gateways" }, "All gateways"), buttons, watch],
    before: [h("section", { class: "card" }, h("div", { class: "body" }, facts)), tracks],
  });
  ask = poll(
    async () => {
      const row = await get(`/v1/observers/${part(id)}`, signal);
      zones = await listIfAllowed("/v1/zones", "zones", signal);
      names.learnDirectory([row]);
      actions.update(buttons, row);
      const best = loudest(heard);
      const list = [
        ["State", row.isUp ? "up" : "down"],
        ["Room", roomsOf(id, zones) || none],
        ["Loudest tag here now", best ? `${names.nameOf(best.beacon)}, ${level(best.level)}` : none],
        ["Last heard", time(row.lastHeard)],
        ["First heard", time(row.firstHeard)],
        ["Adverts", count(row.adverts) + (row.isUp ? ` (${rate(row.advertsPerSecond)})` : "")],
        ["Datagrams lost", lost(row)],
        ["Late reports", count(row.late)],
        ["Lag", seconds(row.lag)],
        ["Clock offset", typeof row.clockOffset === "number" ? seconds(row.clockOffset) : "it reports no times"],
        ["Silence until down", seconds(row.allowedGap)],
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
      heard = await getAll(`/v1/tracks?observer=${part(id)}`, "tracks", signal, 1000);
      if (!heard.length) return replace(rest, empty("Nothing", "It hears no beacon that a room or region asks about."));
      table.showIn(rest);
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
    hint: () => "The share of its adverts that this gateway receives",
  },
  { title: "Samples", class: "number", text: (row) => count(row.samples) },
  {
    title: "Regions",
    text: (row) => (row.regions ?? []).map((region) => `${region.region}: ${region.state}`).join(", ") || none,
  },
  { title: "Heard", make: () => h("time"), update: (node, row) => setAgo(node, row.lastHeard) },
];
