// All that radios hear, and the way from there to a region.

import { getAll, part } from "./api.js";
import { h, replace, setAttribute, setText } from "./dom.js";
import { level, plural, rate, seconds } from "./format.js";
import { shortIdentity } from "./identity.js";
import * as names from "./names.js";
import { card, chip, empty, field, pageHead, refusal, setAgo, setChip, Table } from "./parts.js";
import { poll } from "./poll.js";
import { constraintOf, identifierOf } from "./suggestions.js";

const period = 2000;
/** The largest number of rows that are shown: a busy street has thousands of phones, too many to read. */
const most = 400;
/** The number of registered beacons that are heard so seldom that they may be outside, of which the page asks why. */
const maximumEntries = 20;
const seldom = 0.1;

export function show(root, { signal }) {
  const search = h("input", {
    id: "search",
    type: "search",
    placeholder: "UUID, address, name",
    autocomplete: "off",
    spellcheck: "false",
  });
  const which = h(
    "select",
    { id: "which" },
    [["beacons", "Unregistered beacons"], ["all", "All devices, registered ones too"]].map(([value, text]) =>
      h("option", { value }, text)
    ),
  );
  const table = new Table("What is heard", columns, (row) => row.key);
  const place = h("div");
  const heard = card(
    "Heard now",
    null,
    h(
      "form",
      {
        class: "filters",
        role: "search",
        "aria-label": "Filter what is heard",
        onSubmit: (event) => event.preventDefault(),
      },
      field("Show", which).element,
      field("Find", search).element,
    ),
    place,
  );
  replace(
    root,
    pageHead("Heard", "What the radios hear, asked about or not. One click makes a region of a beacon."),
    heard,
  );
  let all = null;
  const render = () => {
    if (!all) return;
    const text = search.value.trim().toLowerCase();
    const rows = all.filter((row) =>
      (which.value === "all" || (!row.registered && (row.identities.length || row.company !== undefined))) && (!text || row.text.includes(text))
    );
    setText(
      heard.querySelector("h2"),
      which.value === "all" ? plural(rows.length, "device") : plural(rows.length, "unregistered beacon"),
    );
    if (!rows.length) return replace(place, nothing(all, which.value, text));
    if (!place.contains(table.element)) replace(place, h("div", { class: "scroll" }, table.element));
    return table.show(rows.slice(0, most));
  };
  search.addEventListener("input", render);
  const ask = poll(
    async () => {
      // A row of each device that is no beacon would be asked for in vain.
      const query = which.value === "all" ? "" : "?identified=true";
      const rows = gather(await getAll(`/v1/heard${query}`, "beacons", signal));
      if (which.value === "all") await noteEntries(rows, signal);
      all = rows;
      render();
    },
    period,
    signal,
    (error) => {
      if (!all) replace(place, refusal(error));
    },
  );
  which.addEventListener("change", () => {
    render();
    ask();
  });
}

/** Notes of registered beacons that are heard seldom what they lack to enter. */
async function noteEntries(rows, signal) {
  const waiting = rows.filter((row) =>
    row.registered && row.identities.length && !(row.best.advertsPerSecond >= seldom)
  );
  await Promise.all(waiting.slice(0, maximumEntries).map(async (row) => {
    const tracks = await getAll(`/v1/tracks?beacon=${part(row.identities[0])}`, "tracks", signal);
    const states = tracks.flatMap((track) => track.regions);
    if (states.some((state) => state.state === "inside")) return;
    const entries = states.map((state) => state.entry).filter(Boolean);
    row.entry = entries.sort((a, b) => b.heard - a.heard)[0];
  }));
}

/** What a beacon that is outside lacks: "heard 3 times in 2 min 0 s; enters with the next". */
function entryText({ entry }) {
  if (!entry) return "";
  const heard = entry.heard > 1 ? `heard ${plural(entry.heard, "time")} in ${seconds(entry.span)}` : "heard once";
  if (entry.nextIsEnough) return `${heard}; enters with the next in regular distance`;
  return `${heard}; enters with ${plural(entry.needed, "advert")} within ${seconds(entry.window)}`;
}

/** One row a transmitter, with all who hear it, the strongest first. */
function gather(beacons) {
  const rows = new Map();
  for (const entry of beacons) {
    const identities = entry.identities ?? [];
    const key = identities[0] ?? (entry.address ? `mac:${entry.address}` : entry.pseudonym);
    const row = rows.get(key) ??
      {
        key,
        identities,
        address: entry.address,
        name: entry.name,
        company: entry.iBeaconCompany,
        registered: Boolean(entry.registered),
        hearings: [],
      };
    row.name ??= entry.name;
    row.hearings.push(entry);
    rows.set(key, row);
  }
  const list = [...rows.values()];
  for (const row of list) {
    row.hearings.sort((a, b) => (b.rssi ?? -999) - (a.rssi ?? -999));
    row.best = row.hearings[0];
    row.lastHeard = row.hearings.map((entry) => entry.lastHeard).sort().at(-1);
    row.text = [row.key, row.address, row.name, ...row.identities].join(" ").toLowerCase();
  }
  return list.sort((a, b) =>
    Number(b.identities.length > 0) - Number(a.identities.length > 0) || (b.best.rssi ?? -999) - (a.best.rssi ?? -999)
  );
}

function nothing(all, which, text) {
  if (text) return empty("Nothing fits", "No device that is heard has this in its identity, address or name.");
  if (which === "beacons" && all.length) {
    return empty("No unregistered beacons", "Every beacon that is heard is asked about by some region.");
  }
  return empty(
    "No unregistered beacons are heard",
    "Is a gateway sending? Turn a beacon on near one, or show all devices.",
    h("a", { class: "button", href: "#/gateways" }, "See the observers"),
  );
}

/** What stands in place of an identity: of an iBeacon's layout under another company, the setting that reads it. */
function unread(company) {
  if (company === undefined) return "no beacon identity";
  const number = company.toString(16).padStart(4, "0");
  return `iBeacon layout of company ${number}; iBeaconCompanies: [0x${number}] in the site file reads it`;
}

const columns = [
  {
    title: "Beacon",
    class: "first",
    make: () => h("div", null, h("span"), h("span", { class: "under code" }), h("span", { class: "under" })),
    update: (node, row) => {
      setText(node.firstChild, row.name || (names.isNamed(row.key) ? names.nameOf(row.key) : shortIdentity(row.key)));
      setText(node.children[1], row.identities.length ? row.identities.join(" · ") : unread(row.company));
      setText(node.lastChild, row.address ? `address ${row.address}` : row.registered ? "" : "address not kept");
    },
  },
  { title: "Level", class: "number", text: (row) => level(row.best.rssi) },
  {
    title: "Heard by",
    text: (row) => {
      // One observer may hear several identities of a device.
      const others = new Set(row.hearings.map((entry) => entry.observer)).size - 1;
      return names.nameOf(row.best.observer) + (others > 0 ? ` and ${others} more` : "");
    },
    hint: (row) => row.hearings.map((entry) => `${names.nameOf(entry.observer)} ${level(entry.rssi)}`).join("\n"),
  },
  {
    title: "Adverts",
    class: "number",
    make: () => h("div", null, h("span"), h("span", { class: "under" })),
    update: (node, row) => {
      setText(node.firstChild, rate(row.best.advertsPerSecond));
      setText(node.lastChild, entryText(row));
    },
  },
  { title: "Heard", make: () => h("time"), update: (node, row) => setAgo(node, row.lastHeard) },
  {
    title: "",
    class: "bare",
    make: () => h("div", { class: "actions" }, chip("", "asked about"), h("a", { class: "button" }, "Make a region")),
    update: (node, row) => {
      const [mark, link] = node.children;
      mark.hidden = !row.registered;
      setChip(mark, "good", "asked about");
      link.hidden = row.registered || !(row.identities.length || row.address);
      setAttribute(link, "href", regionLink(row));
      setAttribute(link, "aria-label", `Make a region of ${row.key}`);
    },
  },
];

/** How many of those who hear a beacon the address names: enough to tell gateways from handsets. */
const maximumObservers = 5;

/** The address at which a region for a row can be added: the form is filled. */
function regionLink(row) {
  const identity = row.identities.find((found) => !found.startsWith("mac:")) ?? `mac:${row.address}`;
  const query = new URLSearchParams({ new: "" });
  for (const [member, value] of Object.entries(constraintOf(identity))) {
    if (value !== undefined) query.set(member, value);
  }
  query.set("observers", row.hearings.slice(0, maximumObservers).map((entry) => entry.observer).join(","));
  const id = identifierOf(row.name ?? "");
  if (id) query.set("id", id);
  return `#/regions?${query}`;
}
