// What is wrong with the site now, in words: since when, what it means, and what to do about it.

import { getIfAllowed, listIfAllowed, part, send, serverNow } from "./api.js";
import { follow, h, replace, setAttribute, setText } from "./dom.js";
import { ago, instant, plural, time } from "./format.js";
import { divide, expected } from "./gateways.js";
import { nameOf } from "./names.js";
import { poll } from "./poll.js";

/** How often the verdict is read again, in ms. */
const period = 5000;
/** How many gateways that are down have a line of their own. */
const maximumGateways = 5;
/** A refusal this old, in ms, is no longer a present trouble. */
const recentRefusal = 600000;

/**
 * The troubles of a site, the gravest first: `{ key, tone, title, text, href, action }`.
 *
 * `bad` needs a person now; `warn` can wait.
 */
export function troublesOf(site) {
  return [
    ...checkTroubles(site),
    ...gatewayTroubles(site),
    ...site.webhooks.flatMap(webhookTroubles),
    ...limitTroubles(site),
    ...conflictTroubles(site),
    ...waitingTroubles(site),
  ].sort((a, b) => Number(b.tone === "bad") - Number(a.tone === "bad"));
}

const checkTitles = {
  journal: "The journal cannot be written or is damaged",
  ingest: "No reports of gateways are received",
};
const checkActions = {
  journal: "Decisions are kept and the write is tried again. Check the space of the disk; “Operations” says what to do",
  ingest: "Check the server's log",
};

function checkTroubles({ checks }) {
  return checks.filter((check) => !check.ok).map(({ name, problem }) => ({
    key: `check ${name}`,
    tone: "bad",
    title: checkTitles[name] ?? `The server is not ready: ${name}`,
    text: sentences(problem, checkActions[name]),
  }));
}

function gatewayTroubles({ gateways, zones, now }) {
  const due = expected(gateways, now);
  const down = due.filter((row) => !row.isUp);
  if (down.length > 1 && down.length === due.length) {
    return [{
      key: "gateways",
      tone: "bad",
      title: `All ${due.length} gateways are down`,
      text: "Nothing is noticed until one is back. Check the network between the gateways and this server.",
      href: "#/gateways",
      action: "See the gateways",
    }];
  }
  const troubles = down.slice(0, maximumGateways).map((row) => ({
    key: `gateway ${row.id}`,
    tone: "bad",
    title: downTitle(row, now),
    text: sentences(outageMeaning(row, gateways, zones), "Check its power and its network."),
    href: `#/gateways/${encodeURIComponent(row.id)}`,
    action: "See this gateway",
  }));
  const more = down.length - troubles.length;
  if (more > 0) {
    troubles.push({
      key: "more gateways",
      tone: "bad",
      title: `${plural(more, "more gateway is", "more gateways are")} down`,
      text: "",
      href: "#/gateways",
      action: "See the gateways",
    });
  }
  return troubles;
}

function downTitle({ id, name, lastHeard }, now) {
  const words = `Gateway ${name || nameOf(id)} is down`;
  if (!lastHeard) return `${words}: not heard since the server started`;
  return `${words} since ${time(lastHeard)} (${ago(lastHeard, now)})`;
}

/** What the owner misses while a gateway is down. */
function outageMeaning({ id }, gateways, zones) {
  const rooms = zones.filter((zone) => zone.observers?.includes(id));
  if (!rooms.length) return "It belongs to no room.";
  const up = new Map(gateways.filter((row) => row.isUp).map((row) => [row.id, row.name || nameOf(row.id)]));
  return rooms.map(({ id: room, name, observers }) => {
    const others = observers.filter((other) => up.has(other)).map((other) => up.get(other));
    return others.length
      ? `${name || room} is still heard by ${others.join(" and ")}, less surely.`
      : `${name || room} hears nothing: what was there last stays shown there, and who comes or leaves is not noticed.`;
  }).join(" ");
}

function webhookTroubles(webhook) {
  const { id, url, summary, state, enabled, failingSince, lastFailureReason, lag, dead, disabledBecause } = webhook;
  const name = summary || new URL(url, location.href).host;
  const link = { key: `hook ${id}`, href: "#/webhooks", action: "See the webhooks" };
  if (disabledBecause) {
    const text = sentences(disabledBecause);
    return [{ tone: "bad", title: `Webhook ${name} was switched off`, text, ...link }];
  }
  if (state === "failing" && enabled !== false) {
    const text = sentences(
      lastFailureReason ? `The receiver answered: ${lastFailureReason}` : "",
      `${plural(lag ?? 0, "event waits", "events wait")} and will be sent when it answers again.`,
    );
    const since = failingSince ? ` since ${time(failingSince)}` : "";
    return [{ tone: "bad", title: `Webhook ${name} fails${since}`, text, ...link }];
  }
  if (!dead) return [];
  const title = `Webhook ${name} gave up ${plural(dead, "event")}`;
  return [{ tone: "warn", title, text: "They can be sent again.", ...link }];
}

function limitTroubles({ applications, status, now }) {
  const full = applications.filter(({ regions, regionLimit }) => regionLimit && regions >= regionLimit);
  const sources = (status?.ingest?.refusedSources ?? [])
    .filter(({ lastRefused }) => now - instant(lastRefused) < recentRefusal);
  return [
    ...full.map(({ id, regionLimit, source }) => ({
      key: `limit ${id}`,
      tone: "warn",
      title: `${id} has all ${regionLimit} regions that it may have`,
      text: `A further one is refused. Remove one, or raise the limit ${
        source === "site" ? "in the site file" : `with PUT /v1/applications/${part(id)} (regionLimit)`
      }.`,
      href: "#/regions",
      action: "See the regions",
    })),
    ...sources.map(({ source, count, lastReason }) => ({
      key: `refused ${source}`,
      tone: "warn",
      title: `${source} sends what cannot be read`,
      text: sentences(`${plural(count, "datagram was", "datagrams were")} refused`, lastReason),
    })),
  ];
}

const conflictLinks = {
  sharedIdentity: { href: "#/things", action: "See the things" },
  spelling: { href: "#/gateways", action: "See the gateways" },
  sharedName: { href: "#/gateways", action: "See the gateways" },
};

function conflictTroubles({ status }) {
  return (status?.conflicts ?? []).map(({ kind, message, remedy, addresses = [] }) => ({
    key: `conflict ${message}`,
    tone: "warn",
    title: message.replace(/\.$/, ""),
    text: sentences(addresses.length ? `Heard from ${addresses.join(", ")}` : "", remedy),
    ...conflictLinks[kind],
  }));
}

function waitingTroubles({ quarantined }) {
  if (!quarantined.length) return [];
  return [{
    key: "quarantine",
    tone: "warn",
    title: `${plural(quarantined.length, "gateway waits", "gateways wait")} to be accepted`,
    text: "What they hear changes nothing until then.",
    href: "#/gateways",
    action: "See the gateways",
  }];
}

/** Joins texts to sentences, each with one full stop. */
function sentences(...texts) {
  return texts.filter(Boolean).map((text) => (/[.!?]$/.test(text) ? text : `${text}.`)).join(" ");
}

/** Reads what the verdict is made of; what this token may not see is left out. */
async function readSite(signal) {
  const list = (path, member) => listIfAllowed(path, member, signal);
  const [observers, zones, fixes, quarantined, webhooks, applications, status, readiness] = await Promise.all([
    list("/v1/observers", "observers"),
    list("/v1/zones", "zones"),
    list("/v1/fixes", "fixes"),
    list("/v1/quarantine", "observers"),
    list("/v1/webhooks", "webhooks"),
    list("/v1/applications", "applications"),
    getIfAllowed("/v1/status", null, signal),
    // A server that is not ready says so with a status of 503 and a document.
    send("/readyz", { signal }).then((response) => response.json()).catch(() => ({})),
  ]);
  const { gateways } = divide(observers, zones, fixes);
  const checks = readiness.checks ?? [];
  return { gateways, zones, quarantined, webhooks, applications, status, checks, now: serverNow() };
}

/** The verdict of the moment; with `onlyBad` it shows nothing but what needs a person now. */
export class Verdict {
  constructor(signal, { onlyBad = false } = {}) {
    this.onlyBad = onlyBad;
    this.title = h("h2");
    this.note = h("p", { class: "soft" });
    const dot = h("span", { class: "dot", "aria-hidden": "true" });
    this.head = h("header", { class: "verdict" }, dot, h("div", null, this.title, this.note));
    this.list = h("ul", { class: "troubles" });
    const named = { role: "status", "aria-label": "Verdict", hidden: true };
    this.element = h("section", named, onlyBad ? null : this.head, this.list);
    poll(async () => this.show(await readSite(signal)), period, signal);
  }

  show(site) {
    const troubles = troublesOf(site).filter(({ tone }) => !this.onlyBad || tone === "bad");
    this.element.hidden = this.onlyBad && !troubles.length;
    const isBad = troubles.some(({ tone }) => tone === "bad");
    setAttribute(this.head.firstChild, "class", `dot ${isBad ? "bad" : troubles.length ? "warn" : "good"}`);
    const due = expected(site.gateways, site.now);
    const some = plural(troubles.length, "thing needs attention", "things need attention");
    setText(this.title, troubles.length ? some : "All is well");
    const all = due.length === 1 ? "The gateway is up" : `All ${due.length} gateways are up`;
    const up = due.length ? all : "No gateway is heard yet";
    const well = `${up}, the journal is written, and no webhook fails.`;
    setText(this.note, troubles.length ? "Each with what to do about it." : well);
    follow(this.list, troubles, ({ key }) => key, () => h("li"), updateTrouble);
  }
}

/** Shows a trouble, or what an application lacks, in an item of a list. */
export function updateTrouble(item, { tone, title, text, href, action }) {
  const words = JSON.stringify([tone, title, text]);
  if (item.words === words) return;
  item.words = words;
  setAttribute(item, "class", `banner ${tone === "bad" ? "bad" : ""}`);
  const link = href ? h("a", { href }, action) : null;
  replace(item, h("div", null, h("b", null, title), text ? h("p", null, text) : null), link);
}
