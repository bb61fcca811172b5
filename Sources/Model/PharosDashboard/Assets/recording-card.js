// An hour of the site's own traffic, recorded by the server, and two sites compared on it: the one that is, and an edited one.

import { change, get, getText, part, serverNow } from "./api.js";
import { attempt, confirmThat } from "./dialog.js";
import { h, replace, setAttribute, setText } from "./dom.js";
import { bytes, instant, seconds, time } from "./format.js";
import { card, field } from "./parts.js";
import { poll } from "./poll.js";

const period = 5000;
/** How long it records, in s. */
const duration = 3600;

/**
 * The card: `made(comparison)` is called with each comparison, and gives the link to its page.
 *
 * A recording that ends while the page is open is compared at once, with the site as it was edited by then.
 */
export class RecordingCard {
  #signal;
  #made;
  #site = null;
  #recording = null;
  #isComparing = false;
  #ask;

  constructor(signal, made) {
    this.#signal = signal;
    this.#made = made;
    const button = (text, action, kind) => h("button", { type: "button", class: kind, onClick: () => attempt(action) }, text);
    this.start = button("Record an hour and compare", () => this.#start(), "primary");
    this.stop = button("End now and compare", () => this.#end());
    this.again = button("Compare the recording", () => this.#compare());
    this.drop = button("Drop the recording", () => this.#drop());
    this.bar = h("i");
    this.meter = h("div", {
      class: "meter",
      role: "progressbar",
      "aria-label": "Recorded",
      "aria-valuemin": "0",
      "aria-valuemax": "100",
    }, this.bar);
    this.progress = h("p");
    this.state = h("p", { class: "soft", role: "status" });
    this.editor = h("textarea", { id: "edited-site", rows: "14", spellcheck: "false", onInput: () => this.site.say("", "") });
    this.site = field("The edited site, in the form of the site file", this.editor);
    this.timeout = h("input", { type: "number", id: "recording-timeout", min: "1", max: "3600", step: "any", value: "30" });
    this.rule = field("The time-out of the rule that you use, in seconds", this.timeout);
    const edit = h(
      "details",
      { onToggle: (event) => event.target.open && attempt(() => this.#loadSite()) },
      h("summary", null, "Edit the site to compare with"),
      this.site.element,
    );
    this.element = card(
      "An hour of your own traffic",
      "The server records what it receives, and plays it to the site as it is and to one that you edit.",
      h(
        "div",
        { class: "body compare" },
        this.progress,
        this.meter,
        edit,
        this.rule.element,
        h("div", { class: "actions" }, this.start, this.stop, this.again, this.drop),
        this.state,
      ),
    );
    this.#show();
    this.#ask = poll(() => this.#look(), period, signal, (error) => {
      if (!this.#recording) setText(this.progress, error.message);
    });
  }

  async #look() {
    const { recordings } = await get("/v1/recordings", this.#signal);
    const [newest = null] = recordings;
    const wasGoing = this.#isGoing && newest?.id === this.#recording.id;
    this.#recording = newest;
    this.#show();
    if (wasGoing && !this.#isGoing) await this.#compare().catch((error) => setText(this.state, error.message));
  }

  get #isGoing() {
    return Boolean(this.#recording?.endsAt);
  }

  #show() {
    const recording = this.#recording;
    this.start.hidden = this.#isGoing;
    this.stop.hidden = !this.#isGoing;
    this.again.hidden = !recording || this.#isGoing;
    this.drop.hidden = !recording;
    this.meter.hidden = !this.#isGoing;
    setText(this.progress, progress(recording));
    if (!this.#isGoing) return;
    const share = elapsed(recording) / (total(recording) || 1);
    const percent = Math.round(100 * Math.min(1, Math.max(0, share, recording.bytes / recording.maximumBytes)));
    setAttribute(this.meter, "aria-valuenow", percent);
    this.bar.style.width = `${percent}%`;
  }

  async #start() {
    setText(this.state, "");
    this.#recording = await change("POST", "/v1/recordings", { seconds: duration });
    this.#show();
    this.#ask();
  }

  async #end() {
    this.#recording = await change("POST", `/v1/recordings/${part(this.#recording.id)}/end`);
    this.#show();
    await this.#compare();
  }

  async #drop() {
    const isSure = await confirmThat(
      "Drop the recording?",
      "It can then no longer be compared. Comparisons that were made stay.",
      "Drop",
    );
    if (!isSure) return;
    await change("DELETE", `/v1/recordings/${part(this.#recording.id)}`);
    this.#recording = null;
    this.#show();
    this.#ask();
  }

  async #loadSite() {
    if (this.#site !== null) return;
    this.#site = await getText("/v1/site", this.#signal);
    this.editor.value = this.#site;
  }

  async #compare() {
    const timeout = Number(this.timeout.value);
    const isGood = timeout >= 1 && timeout <= 3600;
    this.rule.say(isGood ? "" : "bad", isGood ? "" : "From 1 to 3600.");
    if (!isGood || this.#isComparing) return;
    this.#isComparing = true;
    this.again.disabled = true;
    setText(this.state, "Comparing …");
    const isEdited = this.#site !== null && this.editor.value !== this.#site;
    const body = isEdited ? { timeout, site: this.editor.value } : { timeout };
    try {
      const made = await change("POST", `/v1/recordings/${part(this.#recording.id)}/comparison`, body);
      replace(this.state, `${made.headline} `, this.#made(made));
    } catch (error) {
      if (this.#signal.aborted) return;
      const isOfSite = error.errors?.some(({ field }) => field === "site") || (isEdited && error.status === 422);
      if (isOfSite) this.site.say("bad", error.message);
      setText(this.state, isOfSite ? "The edited site has mistakes." : error.message);
    } finally {
      this.#isComparing = false;
      this.again.disabled = false;
    }
  }
}

/** How long a recording goes on already, in s. */
function elapsed(recording) {
  return (serverNow() - instant(recording.startedAt)) / 1000;
}

/** How long a recording is to go on, in s. */
function total(recording) {
  return (instant(recording.endsAt) - instant(recording.startedAt)) / 1000;
}

/** How far a recording is, in words. */
function progress(recording) {
  if (!recording) return "Nothing is recorded. A recording ends by itself, at 256 MB at the latest, and stays on the server.";
  if (recording.endsAt) {
    const gone = Math.max(0, Math.min(elapsed(recording), total(recording)));
    return `Recording: ${seconds(Math.floor(gone))} of ${seconds(total(recording))}, ${bytes(recording.bytes)}.`;
  }
  const begin = `Recorded from ${time(recording.startedAt)} to ${time(recording.endedAt)}, ${bytes(recording.bytes)}.`;
  return recording.problem ? `${begin} ${recording.problem}` : begin;
}
