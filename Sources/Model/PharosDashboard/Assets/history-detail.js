// The past of one thing, gateway, room or region: lanes over time, the same in words, and what the journal has.

import { get, isAbort, part, serverNow } from "./api.js";
import { timeChart } from "./charts.js";
import { h, replace, setText } from "./dom.js";
import { toneMark } from "./event-row.js";
import { count, dayTime, decimal, level, none, percent, plural, rate, seconds } from "./format.js";
import { curveOf, downloadButton, Range, RangeForm, rangeOf, runsOf, spans, tonesOf } from "./history.js";
import * as names from "./names.js";
import { card, chip, empty, pageHead, refusal, Table, timeNode } from "./parts.js";
import { poll } from "./poll.js";
import { stateTone } from "./words.js";

const period = 60000;
/** How many steps a picture has: about one for three pixels. */
const points = 360;
/** How many of the latest decisions are listed. */
const maximumDecisions = 25;
/** How many runs are listed in words. */
const maximumRuns = 200;

/** The past of a thing: states, rooms, nearest gateways, RSSI; `more` holds further `actions` and what is `before`. */
export function showSubject(root, context, subject, more) {
  const path = `/v1/history/subjects/${part(subject)}`;
  return new Detail(root, context, {
    path,
    id: subject,
    title: names.nameOf(subject),
    lanes: subjectLanes,
    words: runWords,
    ...more,
  });
}

/** The past of a gateway or handset: its rate and outages; `more` as for a subject. */
export function showObserver(root, context, observer, more) {
  const path = `/v1/history/observers/${part(observer)}`;
  const title = names.nameOf(observer);
  const own = { path, id: observer, title, lanes: observerLanes, words: outageWords };
  return new Detail(root, context, { ...own, ...more });
}

/** The page of a zone or region: how many were inside; `more` as for a subject. */
export function showPlace(root, context, { zone, application, region }, more) {
  const path = zone
    ? `/v1/history/zones/${part(zone)}`
    : `/v1/history/applications/${part(application)}/regions/${part(region)}`;
  const title = zone ? names.nameOf(zone) : region;
  const id = zone ? `Room ${zone}` : `Region of ${application}`;
  return new Detail(root, context, { path, id, title, lanes: placeLanes, words: placeWords, ...more });
}

class Detail {
  constructor(root, { signal, query }, subject) {
    Object.assign(this, subject);
    this.signal = signal;
    this.isChosen = query.has("range") || query.has("from");
    this.form = new RangeForm(rangeOf(query), (range) => this.turnTo(range));
    this.picture = h("div", { class: "body" });
    this.legend = h("div", { class: "legend-row" });
    this.summary = h("summary", null, "The same in words");
    this.list = h("div");
    this.transitions = card("Decisions", "What the journal has of this time, the newest first.");
    this.events = h("div");
    this.transitions.append(this.events);
    this.transitions.hidden = true;
    this.head = pageHead(
      this.title,
      this.id,
      this.actions ?? null,
      downloadButton(() => `${this.path}?${this.form.range.query(1500)}`, () => `pharos-${this.title}`),
    );
    const chart = card("Over time", null, this.form.element, this.picture, this.legend);
    chart.append(h("details", { class: "body plan-words" }, this.summary, this.list));
    this.chart = chart;
    const past = h("div", { class: "split detail-split" }, chart, this.transitions);
    replace(root, this.head, h("div", { class: "stack" }, this.before ?? null, past));
    this.ask = poll(() => this.load(), period, signal, (error) => this.refuse(error));
  }

  turnTo(range) {
    this.isChosen = true;
    const [page] = location.hash.split("?");
    history.replaceState(null, "", `${page}?${range.address}`);
    this.load().catch((error) => {
      if (!isAbort(error)) this.refuse(error);
    });
  }

  refuse(error) {
    replace(this.picture, refusal(error));
    replace(this.legend);
  }

  async load() {
    const { range } = this.form;
    const body = await get(`${this.path}?${range.query(points)}`, this.signal);
    if (!this.isChosen && this.narrow(body)) return;
    if (body.name) setText(this.head.querySelector("h1"), body.name);
    const [from, to] = [
      Date.parse(body.from),
      Math.min(Date.parse(body.to), Math.max(range.to, Date.parse(body.from))),
    ];
    const step = body.step * 1000;
    setText(this.chart.querySelector("h2"), `${dayTime(from)} – ${dayTime(to)}`);
    if (!body.points.length) {
      replace(this.picture, empty("Nothing stored", "Nothing is stored of this time. Choose another range."));
      replace(this.legend);
      replace(this.list);
    } else {
      const { lanes, label, legend } = this.lanes(body, step);
      replace(this.picture, timeChart(lanes, { from, to, label: `${this.title}. ${label}` }));
      replace(
        this.legend,
        legend.map(([tone, text]) => h("span", null, h("i", { class: `swatch ${tone}` }), text)),
        h("span", null, `One step: ${stepWords(body.step)}`),
      );
      replace(this.list, this.words(body, step));
    }
    this.showTransitions(body.transitions ?? []);
  }

  /** Shows the shortest time that holds all that is stored, unless the reader chose one; true if it does. */
  narrow({ points: [first] }) {
    this.isChosen = true;
    const age = first ? serverNow() - Date.parse(first.time) : Infinity;
    const shorter = spans.find(([, , length]) => length >= age && length < this.form.range.length)?.[0];
    if (!shorter) return false;
    this.form.set(new Range({ span: shorter }));
    return true;
  }

  showTransitions(transitions) {
    this.transitions.hidden = !transitions.length;
    replace(
      this.events,
      h(
        "ol",
        { class: "feed tight" },
        transitions.slice(-maximumDecisions).reverse().map((entry) =>
          h(
            "li",
            null,
            h(
              "a",
              { class: "row", href: `#/events/${entry.sequence}` },
              toneMark(toneOf(entry.type)),
              h("span", { class: "text" }, transitionWords(entry)),
              timeNode(entry.time),
            ),
          )
        ),
      ),
    );
  }
}

function stepWords(step) {
  if (step < 3600) return plural(step / 60, "minute");
  return step < 86400 ? plural(step / 3600, "hour") : plural(step / 86400, "day");
}

function toneOf(type) {
  if ([".enter", ".online", ".monitored"].some((end) => type.endsWith(end))) return "good";
  return type.endsWith(".exit") ? "off" : type.endsWith(".offline") ? "bad" : "warn";
}

function transitionWords({ type, region, zone, application }) {
  const where = zone ? names.nameOf(zone) : region ?? "";
  const words = {
    "pharos.region.enter": `Entered ${where}`,
    "pharos.region.exit": `Left ${where}`,
    "pharos.region.unmonitored": `${where}: unmonitored`,
    "pharos.zone.enter": `Into ${where}`,
    "pharos.zone.exit": `Out of ${where}`,
    "pharos.zone.unmonitored": `${where}: unmonitored`,
    "pharos.zone.monitored": `${where}: monitored again`,
    "pharos.observer.online": "Came online",
    "pharos.observer.offline": "Went offline",
    "pharos.observer.restarted": "Restarted",
  }[type] ?? type;
  return application ? `${words} (${application})` : words;
}

// Lanes.

function marksOf(transitions) {
  return transitions.map((entry) => ({ time: Date.parse(entry.time), text: transitionWords(entry) }));
}

function subjectLanes({ points: all, transitions }, step) {
  const states = runsOf(all, step, (point) => (point.state === "unknown" ? null : point.state));
  const rooms = runsOf(all, step, (point) => point.zone && JSON.stringify([point.zone, point.zoneState]))
    .map(({ value, ...run }) => ({
      ...run,
      value: JSON.parse(value)[0],
      isKept: JSON.parse(value)[1] === "unmonitored",
    }));
  const nearest = runsOf(all, step, (point) => point.nearest);
  const tones = tonesOf(rooms.map((run) => run.value));
  const radios = tonesOf(nearest.map((run) => run.value));
  const lanes = [];
  if (transitions.length) lanes.push({ kind: "ticks", title: "Decisions", marks: marksOf(transitions) });
  if (states.length) {
    lanes.push({
      kind: "bars",
      title: "State",
      runs: states.map((run) => bar(run, run.value, stateTone(run.value) || "off")),
    });
  }
  if (rooms.length) {
    lanes.push({
      kind: "bars",
      title: "Room",
      runs: rooms.map((run) =>
        run.isKept
          ? bar(run, `${names.nameOf(run.value)}, unmonitored`, "warn")
          : bar(run, names.nameOf(run.value), tones.get(run.value))
      ),
    });
  }
  if (nearest.length) {
    const runs = nearest.map((run) => bar(run, names.nameOf(run.value), radios.get(run.value)));
    lanes.push({ kind: "bars", title: "Nearest", runs });
  }
  const curve = curveOf(all, step, { value: "rssi", low: "rssiLowest", high: "rssiHighest" });
  if (curve.some((point) => point.value !== null)) {
    lanes.push({ kind: "curve", title: "RSSI: mean, lowest and highest", points: curve, unit: "dBm" });
  }
  const label = `${plural(states.length, "state")}, ${plural(tones.size, "room")}, ${
    plural(transitions.length, "decision")
  }`;
  const legend = [["good", "inside"], ["warn", "unmonitored"], ["off", "outside"]]
    .filter(([, text]) => states.some((run) => run.value === text));
  return { lanes, label, legend };
}

function bar(run, text, tone) {
  return { ...run, text, tone };
}

function observerLanes({ points: all, outages, transitions }, step) {
  const runs = outages.map((outage) => ({
    from: Date.parse(outage.from),
    to: Date.parse(outage.to),
    text: "down",
    tone: "bad",
  }));
  const up = runsOf(all, step, (point) => (point.up > 0 ? "up" : null));
  const lanes = [
    { kind: "bars", title: "Up", runs: [...up.map((run) => bar(run, "up", "good")), ...runs] },
    {
      kind: "curve",
      title: "Adverts",
      points: curveOf(all, step, { value: "advertsPerSecond" }),
      unit: "/s",
      minimum: 0,
    },
  ];
  if (transitions.length) lanes.unshift({ kind: "ticks", title: "Decisions", marks: marksOf(transitions) });
  const legend = [["good", "up"], ["bad", "down"]];
  return { lanes, label: plural(outages.length, "outage"), legend };
}

function placeLanes({ points: all }, step) {
  const curve = curveOf(all, step, { value: "inside", low: "inside", high: "insideMaximum" });
  const lanes = [{
    kind: "curve",
    title: "Things inside: mean and largest number",
    points: curve,
    unit: "",
    minimum: 0,
  }];
  if (all.some((point) => point.unmonitored > 0)) {
    const points = curveOf(all, step, { value: "unmonitored" });
    lanes.push({ kind: "curve", title: "Unmonitored: their gateways were down", points, unit: "", minimum: 0 });
  }
  const maximum = Math.max(0, ...all.map((point) => point.insideMaximum ?? 0));
  return { lanes, label: `At most ${plural(maximum, "thing")} inside`, legend: [] };
}

// The same in words.

function roomOf({ zone, zoneState }) {
  if (!zone) return null;
  return zoneState === "unmonitored" ? `${names.nameOf(zone)}, unmonitored` : names.nameOf(zone);
}

function runWords({ points: all }, step) {
  const runs = runsOf(all, step, (point) => JSON.stringify([point.state, roomOf(point), point.nearest ?? null]));
  const rows = runs.slice(-maximumRuns).reverse().map(({ from, to, value }) => {
    const [state, room, nearest] = JSON.parse(value);
    const own = all.filter((point) => Date.parse(point.time) >= from && Date.parse(point.time) < to);
    const levels = own.map((point) => point.rssi).filter((mean) => mean !== undefined);
    const mean = levels.reduce((sum, value) => sum + value, 0) / levels.length;
    return { from, to, state, room, nearest, mean: levels.length ? mean : undefined };
  });
  return table("What stayed the same, the newest first", [
    ...times,
    { title: "State", make: (row) => chip(stateTone(row.state), row.state) },
    { title: "Room", text: (row) => row.room || none },
    { title: "Nearest", text: (row) => names.nameOf(row.nearest) || none },
    { title: "RSSI", class: "number", text: (row) => level(row.mean) },
  ], rows);
}

function outageWords({ points: all, outages }) {
  const up = all.reduce((sum, point) => sum + point.up * point.minutes, 0);
  const stored = all.reduce((sum, point) => sum + point.minutes, 0);
  const words = `Up for ${percent(up / stored)} of ${plural(stored, "minute")}; ${
    rate(all.reduce((sum, point) => sum + point.advertsPerSecond * point.minutes, 0) / stored)
  } on average.`;
  if (!outages.length) return h("p", null, words, " No outage.");
  const rows = outages.map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) })).reverse();
  return [h("p", null, words), table("Outages", times, rows)];
}

function placeWords({ points: all }) {
  const columns = [
    { title: "From", class: "first", text: (row) => dayTime(Date.parse(row.time)) },
    { title: "Inside, mean", class: "number", text: (row) => decimal(row.inside, 1) },
    { title: "Largest number", class: "number", text: (row) => count(row.insideMaximum) },
    { title: "Unmonitored", class: "number", text: (row) => decimal(row.unmonitored, 1) },
  ];
  return table("Numbers of things, the newest first", columns, all.slice(-maximumRuns).reverse());
}

const times = [
  { title: "From", class: "first", text: (row) => dayTime(row.from) },
  { title: "To", text: (row) => dayTime(row.to) },
  { title: "Length", class: "number", text: (row) => seconds((row.to - row.from) / 1000) },
];

function table(caption, columns, rows) {
  const built = new Table(caption, columns, (row) => row);
  built.show(rows);
  return h("div", { class: "scroll" }, built.element);
}
