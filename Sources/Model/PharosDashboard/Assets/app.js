// The frame: pages by the address's hash, the theme, and how the live stream stands.

import { onTokenNeeded, setToken } from "./api.js";
import { askForToken } from "./dialog.js";
import { h, replace, setAttribute } from "./dom.js";
import * as feed from "./feed.js";
import { plural } from "./format.js";
import { pageOf } from "./history.js";
import * as names from "./names.js";
import { refusal } from "./parts.js";
import * as access from "./page-access.js";
import * as compare from "./page-compare.js";
import * as events from "./page-events.js";
import * as gateways from "./page-gateways.js";
import * as overview from "./page-overview.js";
import * as regions from "./page-regions.js";
import * as rooms from "./page-rooms.js";
import * as status from "./page-status.js";
import * as things from "./page-things.js";
import * as webhooks from "./page-webhooks.js";
import * as notifications from "./page-notifications.js";
import * as watches from "./watches.js";

const pages = new Map([
  ["overview", ["Overview", overview]],
  ["things", ["Things", things]],
  ["rooms", ["Rooms", rooms]],
  ["gateways", ["Gateways", gateways]],
  ["events", ["Events", events]],
  ["status", ["Status", status]],
  ["regions", ["Regions", regions]],
  ["notifications", ["Notifications", notifications]],
  ["webhooks", ["Webhooks", webhooks]],
  ["access", ["Access", access]],
  ["compare", ["Compare", compare]],
]);

/** The first pages are the owner's daily ones, which a telephone has at its foot; the last are the expert's. */
const [dailyPages, ownerPages] = [4, 6];
/** Pages that moved: addresses that readers have kept lead on. */
const moved = new Map([["observers", "gateways"], ["heard", "things"]]);

const main = document.getElementById("main");
let leaving = null;

/** The address behind the hash: `#/events/12?kind=…` is a page, its rest and its query. */
function address() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [first, ...rest] = path.split("/").map(decodeURIComponent);
  const name = first === "history" ? pageOf(rest.shift()) : moved.get(first) ?? first;
  return { name: pages.has(name) ? name : "overview", rest, query: new URLSearchParams(query) };
}

function showPage(isFirst = false) {
  const { name, rest, query } = address();
  const [title, page] = pages.get(name);
  leaving?.abort();
  leaving = new AbortController();
  document.title = `${title} – Pharos`;
  for (const link of document.querySelectorAll("#pages a")) {
    setAttribute(link, "aria-current", link.dataset.page === name ? "page" : null);
  }
  const root = h("div");
  replace(main, root);
  try {
    page.show(root, { signal: leaving.signal, rest, query });
  } catch (error) {
    replace(root, refusal(error));
  }
  scrollTo(0, 0);
  main.scrollTop = 0;
  if (!isFirst) main.focus({ preventScroll: true });
}

function buildPages() {
  const links = [...pages].map(([name, [title]]) =>
    h("li", null, h("a", { href: `#/${name}`, "data-page": name }, title))
  );
  const nav = document.getElementById("pages");
  const more = h("button", { type: "button", class: "more-pages", onClick: () => openMore() }, "More");
  const openMore = (isOpen = !nav.classList.contains("is-open")) => {
    nav.classList.toggle("is-open", isOpen);
    setAttribute(more, "aria-expanded", String(isOpen));
  };
  const rest = [
    h("ul", { class: "rest" }, links.slice(dailyPages, ownerPages)),
    h("ul", { class: "rest expert", "aria-label": "For experts" }, links.slice(ownerPages)),
  ];
  replace(nav, h("ul", null, links.slice(0, dailyPages)), rest, more);
  openMore(false);
  addEventListener("hashchange", () => openMore(false));
  nav.addEventListener("keydown", (event) => {
    if (event.key === "Escape") openMore(false);
  });
}

/** How long names may keep the first page waiting, in ms. */
const namePatience = 1000;
const themes = ["auto", "light", "dark"];
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function applyTheme() {
  const chosen = localStorage.getItem("pharos.theme") ?? "auto";
  const isDark = chosen === "dark" || (chosen === "auto" && prefersDark.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  const words = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" };
  const button = document.getElementById("theme");
  replace(
    button,
    h("span", { "aria-hidden": "true" }, isDark ? "☾" : "☀"),
    h("span", { class: "theme-word" }, words[chosen]),
  );
  setAttribute(button, "aria-label", words[chosen]);
  setAttribute(button, "title", "Change between the system's theme, light and dark");
  dispatchEvent(new Event("pharos:theme"));
}

function nextTheme() {
  const chosen = localStorage.getItem("pharos.theme") ?? "auto";
  localStorage.setItem("pharos.theme", themes[(themes.indexOf(chosen) + 1) % themes.length]);
  applyTheme();
}

let resumption = null;

/** Shows the state of the stream, so that readers do not take old numbers for live ones. */
function showState(state) {
  const [tone, title, more] = {
    connecting: ["off", "Connecting", ""],
    live: [
      "good",
      "Live",
      resumption ? `Resumed, ${plural(resumption.missed, "event")} caught up` : "Events as they are decided",
    ],
    waiting: ["bad", "Disconnected", "What you see is the last known; trying again"],
    paused: ["off", "Paused", "This tab was hidden"],
    refused: ["warn", "No token", ""],
  }[state.kind];
  const live = document.getElementById("live");
  const enter = state.kind === "refused"
    ? h("button", {
      type: "button",
      class: "small",
      onClick: () => {
        setToken(null);
        location.reload();
      },
    }, "Enter token")
    : null;
  replace(
    live,
    h("span", { class: `dot ${tone}` }),
    h("b", null, title),
    h("span", { class: "more" }, more ? ` · ${more}` : ""),
    enter,
  );
}

function watchStream() {
  feed.listenToState(showState);
  feed.listen((batch) => {
    for (const item of batch) {
      if (item.note === "resumed") resumption = item;
    }
    if (batch.some((item) => item.isCaughtUp || item.note === "resumed")) showState(feed.state);
  });
}

onTokenNeeded(askForToken);
prefersDark.addEventListener("change", applyTheme);
document.getElementById("theme").addEventListener("click", nextTheme);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", () => showPage());
buildPages();
applyTheme();
watchStream();
watches.start();
// Loads names first, so that no list flickers from identities to names, but waits `namePatience` ms at most.
await Promise.race([names.load().catch(() => {}), new Promise((resolve) => setTimeout(resolve, namePatience))]);
showPage(true);
feed.start();
