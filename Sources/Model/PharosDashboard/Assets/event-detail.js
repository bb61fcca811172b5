// One event in full: the reason in words, the picture, the numbers, the JSON.

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { decimal, exactTime, level, metres, percent, seconds, time, utc } from "./format.js";
import { Range, historyAddress } from "./history.js";
import { levelPicture } from "./level-picture.js";
import * as names from "./names.js";
import { timeline } from "./timeline.js";
import { reasonText, ruleWords } from "./words.js";

/** What evidence holds, what it is called and how it is written. */
const facts = [
  ["rule", "Rule", ruleWords],
  ["samples", "Samples asked for", (value) => value],
  ["counted", "Samples that counted", (value) => value],
  ["window", "Window", seconds],
  ["spread", "First to last sample", seconds],
  ["gap", "Silence counted", seconds],
  ["allowedGap", "Silence allowed", seconds],
  ["interval", "Learned interval", seconds],
  ["receptionShare", "Share received", percent],
  ["lossRun", "Mean run of losses", (value) => decimal(value, 1)],
  ["level", "Filtered level", level],
  ["levelDeviation", "Its deviation", (value) => `${decimal(value, 1)} dB`],
  ["sampleLevel", "Deciding sample", level],
  ["threshold", "Compared with", level],
  ["distance", "Given distance", metres],
  ["belowFor", "Below for", seconds],
  ["deafFor", "Gateway deaf for", seconds],
  ["waitedForProof", "Waited for proof", seconds],
  ["stretch", "Stretched for scanning", (value) => `× ${decimal(value, 2)}`],
];

/** The detail of an entry; words are fetched from the server, which knows the rules. */
export function eventDetail(item, signal) {
  const words = h("div", { class: "words" });
  const element = h(
    "div",
    { class: "detail" },
    words,
    timeline(item.event),
    levelPicture(item.event),
    factList(item.event),
    historyLink(item.event),
    json(item.event),
  );
  if (item.sequence) {
    replace(words, h("p", { class: "soft" }, "Asking for the reason in words …"));
    get(`/v1/events/${item.sequence}`, signal).then((entry) => {
      const lines = Array.isArray(entry.words) ? entry.words : String(entry.words ?? "").split(/\n\s*\n/);
      replace(words, lines.filter(Boolean).map((line) => h("p", null, reasonText(item.event, line))));
    }, (error) => {
      if (!signal.aborted) {
        replace(words, h("p", { class: "soft" }, `The reason in words cannot be had: ${error.message}`));
      }
    });
  }
  return element;
}

function fact(title, value, hint) {
  return h("div", null, h("dt", null, title), h("dd", hint ? { title: hint } : null, value));
}

function factList(event) {
  const { data = {} } = event;
  const evidence = data.evidence ?? data;
  const list = [
    fact("Happened", exactTime(event.time), utc(event.time)),
    fact("Decided", exactTime(data.decidedAt), utc(data.decidedAt)),
  ];
  if (event.subject) list.push(fact("Tag or person", names.nameOf(event.subject), event.subject));
  if (data.application) list.push(fact("Application", data.application));
  if (data.region) list.push(fact("Region", data.region));
  if (data.from || data.to) list.push(fact("Change", `${data.from ?? "nowhere"} → ${data.to ?? "nowhere"}`));
  if (data.observer) list.push(fact("Settled by", names.nameOf(data.observer), data.observer));
  if (data.refinement) list.push(fact("Beacon", names.nameOf(data.refinement), data.refinement));
  if (data.enteredAt) list.push(fact("Entered", time(data.enteredAt), utc(data.enteredAt)));
  if (data.duration !== undefined) list.push(fact("Stayed for", seconds(data.duration)));
  if (data.probability !== undefined) list.push(fact("Probability", percent(data.probability)));
  if (data.runnerUp) {
    list.push(fact("Runner-up", `${names.nameOf(data.runnerUp.zone)}, ${percent(data.runnerUp.probability)}`));
  }
  if (data.reason) list.push(fact("Reason", data.reason));
  for (const [key, title, write] of facts) {
    if (evidence[key] !== undefined) list.push(fact(title, write(evidence[key])));
  }
  return h("dl", { class: "facts" }, list);
}

/** A link to the history of the subject, half an hour to either side. */
function historyLink(event) {
  const at = Date.parse(event.time);
  if (!event.subject || Number.isNaN(at)) return null;
  const range = new Range({ from: at - 1_800_000, to: at + 1_800_000 });
  const href = `${historyAddress("subject", event.subject)}?${range.address}`;
  return h("p", null, h("a", { href }, `History of ${names.nameOf(event.subject)} around this time`));
}

function json(event) {
  return h("details", null, h("summary", null, "As JSON"), h("pre", { tabindex: "0" }, JSON.stringify(event, null, 2)));
}
