// Whether all is well, in words; behind that all that the server counts, by the names that it gives.

import { get, getText } from "./api.js";
import { attempt } from "./dialog.js";
import { h, replace } from "./dom.js";
import { bytes, count, decimal, none, seconds, time, utc } from "./format.js";
import { saveFile } from "./files.js";
import { card, pageHead, refusal, Table } from "./parts.js";
import { poll } from "./poll.js";
import { Verdict } from "./verdict.js";

const period = 2000;
/** How many rows of a list are shown. */
const maximumRows = 200;

export function show(root, { signal }) {
  const place = h("div", { class: "stack" });
  const summary = h("summary", null, "Counters: what came in, what was refused or lost, and what is kept");
  const counters = h("details", null, summary, place);
  const nodes = h("div");
  replace(
    root,
    pageHead(
      "Status",
      "Whether all is well, and what to do where it is not.",
      h("button", { type: "button", onClick: () => attempt(downloadSite) }, "Site file"),
      h("a", { class: "button", href: "/metrics" }, "Metrics"),
      h("a", { class: "button", href: "/openapi.json" }, "API"),
    ),
    h(
      "div",
      { class: "stack" },
      h("section", { class: "card" }, h("div", { class: "body" }, new Verdict(signal).element)),
      nodes,
      counters,
    ),
  );
  let isShown = false;
  poll(
    async () => {
      const status = await get("/v1/status", signal);
      const open = new Set([...place.querySelectorAll("details[open]")].map((element) => element.dataset.key));
      const { cluster, ...rest } = status;
      replace(nodes, cluster ? clusterCard(cluster) : null);
      replace(place, sections(rest, open));
      isShown = true;
    },
    period,
    signal,
    (error) => {
      if (!isShown) replace(place, refusal(error));
    },
  );
}

const roles = {
  delivers: "Decides and delivers",
  decides: "Decides",
  catchesUp: "Reads what the others have decided",
  shadow: "Shadow: decides for itself alone",
  gone: "Gone",
};

/** The nodes of a cluster: which of them answers, which delivers, and how far each is. */
function clusterCard({ node: own, nodes }) {
  const table = new Table(
    "Nodes",
    [
      { title: "Node", text: ({ name }) => (name === own ? `${name} (this one)` : name) },
      { title: "Does", text: ({ role }) => roles[role] },
      { title: "Version", text: ({ version }) => version },
      { title: "Behind", text: ({ behind }) => count(behind), hint: () => "Messages of the log to be decided" },
      { title: "Waiting", text: ({ waiting }) => count(waiting), hint: () => "Batches that the log has not stored yet" },
      { title: "Events", text: ({ events }) => count(events) },
      { title: "Address", text: ({ http }) => http ?? none },
      { title: "Seen", text: ({ seen }) => time(seen), hint: ({ seen }) => utc(seen) },
    ],
    ({ name }) => name,
  );
  table.show(nodes);
  return card("Cluster", null, h("div", { class: "scroll" }, table.element));
}

/** Saves the present site as a file. */
async function downloadSite() {
  saveFile("site.yaml", await getText("/v1/site"), "application/yaml");
}

function sections(status, open) {
  const plain = Object.entries(status).filter(([, value]) => isPlain(value));
  const rest = Object.entries(status).filter(([, value]) => !isPlain(value));
  return [
    plain.length ? h("section", { class: "card" }, h("div", { class: "body" }, facts(plain))) : null,
    ...rest.map(([key, value]) => card(title(key), null, h("div", { class: "body stack" }, content(value, key, open)))),
  ];
}

function isPlain(value) {
  return value === null || typeof value !== "object";
}

function content(value, key, open) {
  if (Array.isArray(value)) return list(value, key);
  const entries = Object.entries(value ?? {});
  const plain = entries.filter(([, entry]) => isPlain(entry));
  const rest = entries.filter(([, entry]) => !isPlain(entry));
  if (!entries.length) return h("p", { class: "soft" }, "Nothing.");
  return [
    plain.length ? facts(plain) : null,
    ...rest.map(([name, entry]) => h("div", null, h("h3", null, title(name)), content(entry, `${key}.${name}`, open))),
  ];
}

function list(items, key) {
  if (!items.length) return h("p", { class: "soft" }, /refus|error|lost|drop/i.test(key) ? "None." : "Nothing yet.");
  if (items.every(isPlain)) return h("ul", null, items.map((item) => h("li", { class: "code" }, String(item))));
  if (items.every((item) => Object.keys(item).join() === "name,count")) {
    return facts(items.map(({ name, count: value }) => [name, value]));
  }
  const names = [...new Set(items.flatMap((item) => Object.keys(item ?? {})))];
  const columns = names.map((name) => ({
    title: title(name),
    text: (item) => write(name, item[name]),
    hint: (item) => hint(item[name]),
  }));
  const table = new Table(title(key.split(".").at(-1)), columns, (item) => item);
  table.show(items.slice(0, maximumRows));
  return h("div", { class: "scroll" }, table.element);
}

function facts(entries) {
  return h(
    "dl",
    { class: "facts" },
    entries.map(([name, value]) =>
      h("div", null, h("dt", null, title(name)), h("dd", { title: hint(value) }, write(name, value)))
    ),
  );
}

const words = {
  http: "HTTP",
  udp: "UDP",
  sse: "Live streams",
  feeds: "Live streams",
  id: "Id",
  url: "URL",
  ok: "OK",
};

/** A member's name as words: `kernelDrops` is “Kernel drops”. */
function title(name) {
  if (words[name]) return words[name];
  const text = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_-]/g, " ").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const isTime = (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value);

function hint(value) {
  return isTime(value) ? utc(value) : undefined;
}

/** A value with the unit that its name implies. */
function write(name, value) {
  if (value === null || value === undefined || value === "") return none;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (isTime(value)) return time(value);
  if (typeof value === "object") {
    return Array.isArray(value)
      ? value.map(String).join(", ")
      : Object.entries(value).map(([key, entry]) => `${title(key)} ${entry}`).join(", ");
  }
  if (typeof value !== "number") return String(value);
  if (/bytes|receiveBuffer|size$/i.test(name)) return bytes(value);
  if (/(uptime|seconds|duration|latency|lag|age|delay|interval|lastCommit)$/i.test(name)) return seconds(value);
  if (/perSecond$/i.test(name)) return `${decimal(value, 1)}/s`;
  return Number.isInteger(value) ? count(value) : decimal(value, 2);
}
