// The page of a venue for its visitors: map, search, directory and directions. It knows nothing of who visits.

import { freshId, h, replace, s, setText } from "./dom.js";
import { drawMap } from "./visitor-map.js";
import { folded, languages, words } from "./visitor-words.js";

const base = location.pathname.replace(/\/$/, "");
const state = { venue: null, language: "en", floor: null, chosen: null, query: "", route: null, problem: "" };
const parts = {};

function says() {
  return words[state.language];
}

/** A place with its floor and the words by which it is found, of which those in its headings count more. */
function indexed(place, floor) {
  const { title, description, address, category, properties } = place;
  const texts = [category, place.id, description, address, ...Object.values(properties ?? {})];
  return {
    place,
    floor,
    headings: [place.name, title ?? ""].flatMap(folded),
    words: texts.flatMap((text) => folded(text ?? "")),
  };
}

function label(place) {
  return place.title ?? place.name;
}

function category(place) {
  if (!place.category) return says().other;
  const known = says().categories[place.category.split(".")[0]];
  return known ?? place.category[0].toUpperCase() + place.category.slice(1);
}

/** The places that match the query, the best first: those whose headings have all of its words. */
function matches() {
  const asked = folded(state.query);
  const found = [];
  for (const entry of state.places) {
    const isHeading = asked.every((word) => entry.headings.some((other) => other.startsWith(word)));
    const all = [...entry.headings, ...entry.words];
    if (isHeading || asked.every((word) => all.some((other) => other.startsWith(word)))) {
      found.push({ ...entry, isHeading });
    }
  }
  return found.sort((a, b) => b.isHeading - a.isHeading || label(a.place).localeCompare(label(b.place)));
}

function choose(entry) {
  state.chosen = entry.place;
  state.floor = entry.floor;
  parts.to.value = entry.place.id;
  showMap();
  showPlace();
  parts.map.scrollIntoView({ block: "nearest" });
}

function chooseOnMap(place) {
  choose(state.places.find((entry) => entry.place.id === place.id));
}

function field(name, control) {
  control.id = freshId("field");
  return h("div", null, h("label", { for: control.id }, name), control);
}

function build() {
  const { venue } = state;
  const text = says();
  document.documentElement.lang = state.language;
  document.title = venue.name;
  const language = h(
    "select",
    { "aria-label": text.language, onChange: (event) => speak(event.target.value) },
    Object.entries(languages).map(([id, name]) => h("option", { value: id, selected: id === state.language }, name)),
  );
  replace(
    document.querySelector("#head"),
    h("div", null, h("h1", null, venue.name), venue.address ? h("p", { class: "soft lines" }, venue.address) : null),
    h(
      "div",
      { class: "tools" },
      venue.nearMe ? h("a", { class: "button", href: venue.nearMe }, text.nearMe) : null,
      h("button", { type: "button", onClick: () => print() }, text.print),
      language,
    ),
  );
  const query = h("input", { type: "search", value: state.query, placeholder: text.hint, autocomplete: "off" });
  query.addEventListener("input", () => {
    state.query = query.value;
    showPlaces();
  });
  Object.assign(parts, {
    floors: h("div", { class: "floors", role: "group", "aria-label": text.floor }),
    map: s("svg", { class: "map", role: "img" }),
    place: h("section", { "aria-live": "polite" }),
    count: h("p", { class: "soft", role: "status" }),
    found: h("ul", { class: "places" }),
    list: h("div", { class: "places" }),
    from: ends(),
    to: ends(),
    stepFree: h("input", { type: "checkbox" }),
    way: h("div", { "aria-live": "polite" }),
  });
  replace(
    document.querySelector("#main"),
    h("section", { id: "map" }, h("h2", null, text.map), parts.floors, parts.map),
    h("section", { id: "search" }, field(text.search, query), parts.count, parts.found),
    parts.place,
    h("section", { id: "directions" }, h("h2", null, text.directions), directionsForm(), parts.way),
    state.places.length ? h("section", { id: "directory" }, h("h2", null, text.directory), parts.list) : [],
  );
  parts.to.selectedIndex = Math.min(1, parts.to.options.length - 1);
  if (state.chosen) parts.to.value = state.chosen.id;
  showMap();
  showPlace();
  showPlaces();
  showDirectory();
  showWay();
}

/** A choice of the ends of a way: entrances, then places. */
function ends() {
  const entrances = state.venue.floors.flatMap((floor) => floor.entrances);
  return h(
    "select",
    null,
    entrances.map(({ id }) => h("option", { value: id }, `${says().entrance}: ${id}`)),
    state.places.map(({ place, floor }) => h("option", { value: place.id }, `${label(place)} (${floor.name})`)),
  );
}

function directionsForm() {
  const text = says();
  const form = h(
    "form",
    { class: "places" },
    field(text.from, parts.from),
    field(text.to, parts.to),
    h("label", { class: "check" }, parts.stepFree, text.stepFree),
    h("button", { type: "submit", class: "primary" }, text.go),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    findWay();
  });
  return form;
}

async function findWay() {
  const query = new URLSearchParams({ from: parts.from.value, to: parts.to.value, language: state.language });
  if (parts.stepFree.checked) query.set("accessible", "true");
  state.route = null;
  state.problem = "";
  try {
    const response = await fetch(`${base}/routes?${query}`);
    const answer = await response.json();
    if (response.ok) state.route = answer.routes[0];
    else state.problem = `${says().unknown} ${state.language === "en" ? (answer.detail ?? "") : ""}`.trim();
  } catch {
    state.problem = says().offline;
  }
  const first = state.route?.legs[0].steps[0];
  if (first && first.level !== state.floor.level) {
    state.floor = state.venue.floors.find(({ level }) => level === first.level) ?? state.floor;
  }
  showMap();
  showWay();
}

function showWay() {
  const { route, problem } = state;
  if (problem) return replace(parts.way, h("p", { class: "problem" }, problem));
  if (!route) return replace(parts.way);
  return replace(
    parts.way,
    h("p", { class: "soft" }, says().way(Math.round(route.distance), Math.max(1, Math.round(route.duration / 60)))),
    h("ol", { class: "steps" }, route.legs[0].steps.map((step) => h("li", null, step.instruction))),
  );
}

function showMap() {
  replace(
    parts.floors,
    state.venue.floors.map((floor) =>
      h(
        "button",
        { type: "button", class: "small", "aria-pressed": String(floor === state.floor), onClick: () => turnTo(floor) },
        state.severalBuildings ? `${floor.building}: ${floor.name}` : floor.name,
      ),
    ),
  );
  parts.map.setAttribute("aria-label", says().mapOf(state.floor.name));
  drawMap(parts.map, state.floor, {
    chosen: state.chosen?.id,
    steps: state.route?.legs[0].steps,
    choose: chooseOnMap,
  });
}

function turnTo(floor) {
  const index = state.venue.floors.indexOf(floor);
  state.floor = floor;
  showMap();
  parts.floors.children[index].focus();
}

function showPlace() {
  const place = state.chosen;
  parts.place.hidden = !place;
  if (!place) return;
  const text = says();
  const entry = state.places.find((other) => other.place.id === place.id);
  replace(
    parts.place,
    h("h2", null, label(place)),
    h("p", { class: "soft" }, `${category(place)}, ${entry.floor.name}`, place.accessible ? "" : `, ${text.noSteps}`),
    place.description ? h("p", { class: "lines" }, place.description) : null,
    place.address ? h("p", { class: "lines soft" }, place.address) : null,
    Object.entries(place.properties ?? {}).map(([name, value]) => h("p", { class: "lines" }, `${name}: ${value}`)),
    place.link ? h("p", null, h("a", { href: place.link }, text.open)) : null,
    place.picture ? h("p", null, h("a", { href: place.picture }, text.picture)) : null,
  );
}

function row(entry) {
  const name = h("button", { type: "button", class: "quiet", onClick: () => choose(entry) }, label(entry.place));
  return h("li", null, name, h("span", { class: "soft small" }, entry.floor.name));
}

function showPlaces() {
  const isSearch = folded(state.query).length > 0;
  const found = isSearch ? matches() : [];
  setText(parts.count, isSearch ? says().found(found.length) : "");
  replace(parts.found, found.map(row));
}

function showDirectory() {
  const groups = Map.groupBy(state.places, (entry) => category(entry.place));
  const names = [...groups.keys()].sort((a, b) => a.localeCompare(b));
  replace(
    parts.list,
    names.map((name) => [h("h3", null, name), h("ul", { class: "places" }, groups.get(name).map(row))]),
  );
}

function speak(language) {
  state.language = language;
  const hadWay = Boolean(state.route);
  const kept = [parts.from.value, parts.to.value, parts.stepFree.checked];
  build();
  [parts.from.value, parts.to.value, parts.stepFree.checked] = kept;
  document.querySelector("#head select").focus();
  if (hadWay) findWay();
}

async function start() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => document.documentElement.setAttribute("data-theme", dark.matches ? "dark" : "light");
  dark.addEventListener("change", paint);
  paint();
  state.language = navigator.languages.map((name) => name.slice(0, 2)).find((name) => words[name]) ?? "en";
  const response = await fetch(`${base}/data`).catch(() => null);
  if (!response?.ok) return replace(document.querySelector("#main"), h("p", { class: "problem" }, says().gone));
  state.venue = await response.json();
  const { floors } = state.venue;
  state.floor = floors.find(({ level }) => level === 0) ?? floors[0];
  state.severalBuildings = new Set(floors.map(({ building }) => building)).size > 1;
  state.places = floors.flatMap((floor) => floor.places.map((place) => indexed(place, floor)));
  build();
  // A browser has service workers only over TLS or on its own machine.
  await navigator.serviceWorker?.register("/assets/visitor-worker.js", { scope: base });
}

start();
