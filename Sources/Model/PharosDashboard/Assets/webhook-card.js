// One webhook: where it sends, how that goes, what can be sent again.

import { change, get, part } from "./api.js";
import { attempt, confirmThat, notify } from "./dialog.js";
import { follow, h, replace, setAttribute, setText } from "./dom.js";
import { count, decimal, metres, none, plural, seconds, time, utc } from "./format.js";
import * as names from "./names.js";
import { chip, refusal, setChip } from "./parts.js";
import { headline } from "./words.js";

const tones = { active: "good", failing: "bad", disabled: "" };

/** A webhook, how it fares, and what was given up. */
export class WebhookCard {
  constructor(edit, reload, signal) {
    this.signal = signal;
    this.reload = reload;
    this.url = h("h2", { class: "code" });
    this.summary = h("p");
    this.state = chip("", "");
    this.facts = h("dl", { class: "facts" });
    this.trouble = h("p", { class: "banner bad", hidden: true });
    this.dead = h(
      "details",
      { hidden: true, onToggle: () => this.dead.open && this.loadDead() },
      this.deadTitle = h("summary"),
      this.deadList = h("div"),
    );
    const button = (text, action, tone = "") =>
      h("button", { type: "button", class: `small ${tone}`, onClick: action }, text);
    this.element = h(
      "section",
      { class: "card" },
      h(
        "header",
        null,
        h("div", null, this.url, this.summary),
        h(
          "div",
          { class: "actions" },
          this.state,
          button("Send a test", () => this.test()),
          button("Change", () => edit(this.webhook)),
          button("Remove", () => this.remove(), "danger"),
        ),
      ),
      h("div", { class: "body stack" }, this.trouble, this.facts, this.dead),
    );
    this.element.card = this;
  }

  get path() {
    return `/v1/webhooks/${part(this.webhook.id)}`;
  }

  set(webhook) {
    this.webhook = webhook;
    setText(this.url, webhook.url);
    setText(
      this.summary,
      [webhook.summary, webhook.application ? `for ${webhook.application}` : ""].filter(Boolean).join(" · "),
    );
    setChip(this.state, tones[webhook.state] ?? "", webhook.state ?? "");
    const reason = webhook.disabledBecause ?? (webhook.state === "failing" ? webhook.lastFailureReason : null);
    this.trouble.hidden = !reason;
    setText(
      this.trouble,
      reason
        ? `${webhook.state === "failing" ? `Failing since ${time(webhook.failingSince)}` : "Switched off"}: ${reason}${
          webhook.nextAttempt ? `. Next attempt ${time(webhook.nextAttempt)}` : ""
        }.`
        : "",
    );
    const facts = [
      ["Sends", filterWords(webhook.filter)],
      ["Delivered", count(webhook.delivered)],
      ["Waiting", count(webhook.lag), "Sequence numbers of the journal that lie ahead"],
      ["Failed attempts", count(webhook.failures)],
      ["Subjects behind", count(webhook.subjectsBehind)],
      ["Last delivery", time(webhook.lastDelivery), utc(webhook.lastDelivery)],
    ];
    const { deferral } = webhook;
    if (deferral) {
      const moved = deferral.distance ? `, ${metres(deferral.distance)}` : "";
      const limits = `${seconds(deferral.time)}${moved} or ${plural(deferral.maximumCount, "event")}`;
      facts.push(["Deferred", limits, "The receiver sleeps: its events wait and are sent together"]);
    }
    if (webhook.missed) facts.push(["Missed", `${count(webhook.missed)}: no longer in the journal`]);
    follow(
      this.facts,
      facts,
      ([title]) => title,
      ([title]) => h("div", null, h("dt", null, title), h("dd")),
      (node, [, text, hint]) => {
        setText(node.lastChild, text);
        setAttribute(node.lastChild, "title", hint || null);
      },
    );
    this.dead.hidden = !webhook.dead;
    setText(this.deadTitle, `${plural(webhook.dead ?? 0, "event")} given up`);
  }

  async test() {
    try {
      const trial = await change("POST", `${this.path}/test`);
      notify(
        trial?.delivered === false
          ? `The test was not taken: ${trial.reason}.`
          : `The test was delivered${
            trial?.milliseconds !== undefined ? ` in ${decimal(trial.milliseconds, 0)} ms` : ""
          }.`,
      );
    } catch (error) {
      notify(error.message);
    }
    this.reload();
  }

  async remove() {
    const isSure = await confirmThat(
      "Remove this webhook?",
      `${this.webhook.url} receives no further events, and those that wait for it are dropped.`,
      "Remove webhook",
    );
    if (isSure && await attempt(() => change("DELETE", this.path), "The webhook was removed.")) this.reload();
  }

  async loadDead() {
    try {
      const body = await get(`${this.path}/dead?limit=100`, this.signal);
      const letters = body.dead ?? body.letters ?? body.events ?? [];
      const replay = async (sequences) => {
        await attempt(
          () => change("POST", `${this.path}/dead/replay`, sequences ? { sequences } : {}),
          "They are being sent again.",
        );
        this.loadDead();
        this.reload();
      };
      replace(
        this.deadList,
        h(
          "div",
          { class: "actions" },
          h("button", { type: "button", class: "small primary", onClick: () => replay(null) }, "Send all again"),
        ),
        h(
          "ul",
          { class: "feed" },
          letters.map((letter) =>
            h(
              "li",
              { class: "dead" },
              h(
                "div",
                null,
                h("b", null, `#${letter.sequence} `),
                letter.event ? headline(letter.event).text : "",
                h(
                  "span",
                  { class: "under soft small" },
                  `${plural(letter.attempts, "attempt")}, given up ${time(letter.diedAt)}: ${letter.reason ?? none}`,
                ),
              ),
              h("button", {
                type: "button",
                class: "small",
                disabled: Boolean(letter.replaying),
                "aria-label": `Send #${letter.sequence} again`,
                onClick: () => replay([letter.sequence]),
              }, letter.replaying ? "Being sent" : "Send again"),
            )
          ),
        ),
      );
    } catch (error) {
      if (!this.signal.aborted) replace(this.deadList, refusal(error));
    }
  }
}

function filterWords(filter = {}) {
  const parts = [];
  if (filter?.kinds?.length) parts.push(filter.kinds.map((kind) => kind.replace(/^pharos\./, "")).join(", "));
  if (filter?.regions?.length) parts.push(`of ${filter.regions.join(", ")}`);
  if (filter?.subjects?.length) parts.push(`about ${filter.subjects.map(names.nameOf).join(", ")}`);
  if (filter?.observers?.length) parts.push(`from ${filter.observers.map(names.nameOf).join(", ")}`);
  return parts.join(" ") || "every journalled event";
}
