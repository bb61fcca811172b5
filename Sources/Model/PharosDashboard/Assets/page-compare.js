// Rules of presence on one's own capture: send it, read the page of the result, pass its address on.

import { Problem, get, send } from "./api.js";
import { attempt, confirmThat } from "./dialog.js";
import { h, replace, setText } from "./dom.js";
import { bytes } from "./format.js";
import { Table, card, empty, field, pageHead, refusal, timeNode } from "./parts.js";
import { poll } from "./poll.js";
import { RecordingCard } from "./recording-card.js";

const period = 10_000;
/** The largest capture that the server takes, in bytes. */
const largest = 256 * 2 ** 20;

export function show(root, { signal }) {
  const place = h("div");
  replace(
    root,
    pageHead(
      "Compare",
      "Your time-out, the rules of other systems and Pharos, on a capture of your own traffic.",
    ),
    h(
      "div",
      { class: "stack" },
      new RecordingCard(signal, (comparison) => {
        ask();
        return pageLink(comparison, "Open the page");
      }).element,
      card("A capture", null, h("div", { class: "body" }, form(() => ask(), signal))),
      place,
    ),
  );
  let isShown = false;
  const ask = poll(
    async () => {
      const { comparisons } = await get("/v1/comparisons", signal);
      showList(place, comparisons, () => ask());
      isShown = true;
    },
    period,
    signal,
    (error) => {
      if (!isShown) replace(place, refusal(error));
    },
  );
}

function form(done, signal) {
  const file = h("input", { type: "file", id: "capture", accept: ".pcap,.pcapng,.btsnoop,.log,.cap,.gz,.pharos" });
  const timeout = h("input", { type: "number", id: "timeout", min: "1", max: "3600", step: "any", value: "30" });
  const chosen = field("Capture: pcap, pcapng or btsnoop, at most 256 MB", file);
  const rule = field("Your rule: an exit after so many seconds without an advert", timeout);
  const button = h("button", { type: "submit", class: "primary" }, "Compare");
  const state = h("p", { class: "soft", role: "status" });
  const submit = async (event) => {
    event.preventDefault();
    const [capture] = file.files;
    const seconds = Number(timeout.value);
    const isGood = capture && capture.size <= largest;
    chosen.say(isGood ? "" : "bad", capture ? (isGood ? "" : `It has ${bytes(capture.size)}.`) : "Choose a file.");
    rule.say(seconds >= 1 && seconds <= 3600 ? "" : "bad", seconds >= 1 && seconds <= 3600 ? "" : "From 1 to 3600.");
    if (!isGood || !(seconds >= 1 && seconds <= 3600)) return;
    button.disabled = true;
    setText(state, `Sending ${bytes(capture.size)} and comparing …`);
    try {
      const made = await upload(capture, seconds, signal);
      replace(state, `${made.headline} `, pageLink(made, "Open the page"));
      done();
    } catch (error) {
      if (!signal.aborted) setText(state, error.message);
    } finally {
      button.disabled = false;
    }
  };
  return h(
    "form",
    { class: "compare", onSubmit: submit },
    chosen.element,
    rule.element,
    h("p", { class: "soft" }, "The capture is not kept. The page can be read by everyone who has its address."),
    h("div", { class: "actions" }, button),
    state,
  );
}

/** Sends a capture; it is no JSON, so it does not go the way of documents. */
async function upload(capture, seconds, signal) {
  const query = new URLSearchParams({ name: capture.name, timeout: String(seconds) });
  const response = await send(`/v1/comparisons?${query}`, {
    method: "POST",
    body: capture,
    headers: { "content-type": "application/octet-stream", accept: "application/json" },
    signal,
  });
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new Problem(response.status, answer);
  return answer;
}

function pageLink(comparison, text) {
  return h("a", { href: `/v1/comparisons/${comparison.id}`, target: "_blank", rel: "noopener" }, text);
}

function showList(place, comparisons, changed) {
  if (!comparisons.length) {
    place.table = null;
    replace(
      place,
      h(
        "section",
        { class: "card" },
        empty("No comparisons yet", "The newest 20 are kept here, each with a page that you can pass on."),
      ),
    );
    return;
  }
  if (!place.table) {
    place.table = new Table("Comparisons", columns(changed), (comparison) => comparison.id);
    replace(place, card("Comparisons", "The newest 20 are kept.", h("div", { class: "scroll" }, place.table.element)));
  }
  place.table.show(comparisons);
}

function columns(changed) {
  return [
    { title: "Capture", class: "first", make: (comparison) => pageLink(comparison, comparison.name) },
    { title: "Result", text: (comparison) => comparison.headline },
    { title: "Made", make: (comparison) => timeNode(comparison.madeAt) },
    {
      title: "Drop",
      make: (comparison) =>
        h("button", {
          type: "button",
          class: "small",
          "aria-label": `Drop ${comparison.name}`,
          onClick: () => attempt(() => drop(comparison, changed)),
        }, "Drop"),
    },
  ];
}

async function drop(comparison, changed) {
  const isSure = await confirmThat(
    "Drop the comparison?",
    `The page of ${comparison.name} can then no longer be read.`,
    "Drop",
  );
  if (!isSure) return;
  const response = await send(`/v1/comparisons/${comparison.id}`, { method: "DELETE" });
  if (!response.ok && response.status !== 404) throw new Problem(response.status, await response.json());
  changed();
}
