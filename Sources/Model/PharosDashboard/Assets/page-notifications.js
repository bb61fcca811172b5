// Notifications: the rules, what they sent, and what could not be delivered.

import { get, listIfAllowed } from "./api.js";
import { follow, h, replace, setText } from "./dom.js";
import { historyAddress } from "./history.js";
import * as names from "./names.js";
import { notifications } from "./notifications.js";
import { card, empty, pageHead, refusal, setTime } from "./parts.js";
import { poll } from "./poll.js";
import { browserNotifications } from "./push.js";
import { kindOf } from "./words.js";

const period = 2000;
/** The number of notifications that the page lists: more are in the events. */
const limit = 50;

export function show(root, { signal }) {
  const sent = h("ol", { class: "feed texts" });
  const nothing = h("div");
  const troubles = h("ul", { class: "troubles" });
  replace(
    root,
    pageHead("Notifications", "Texts for people: when they are sent, which were, and what could not be delivered."),
    h(
      "div",
      { class: "stack" },
      troubles,
      notifications(signal),
      browserNotifications(),
      card("Sent", "The latest first. Webhooks, streams, MQTT, mail and browsers get each of them.", sent, nothing),
    ),
  );
  poll(
    async () => {
      const query = `kind=notification&before=${Number.MAX_SAFE_INTEGER}&limit=${limit}`;
      const [{ events = [] }, webhooks] = await Promise.all([
        get(`/v1/events?${query}`, signal),
        listIfAllowed("/v1/webhooks", "webhooks").catch(() => []),
      ]);
      const failing = webhooks.filter(({ state, disabledBecause, lastFailureReason }) =>
        disabledBecause || state === "failing" && lastFailureReason
      );
      follow(troubles, failing, ({ id }) => id, trouble, showTrouble);
      const entries = events.filter(({ event }) => kindOf(event) === "notification")
        .sort((left, right) => right.sequence - left.sequence);
      if (entries.length) replace(nothing);
      else replace(nothing, empty("Nothing sent yet", "A notification stands here as soon as a rule has a reason for one."));
      follow(sent, entries, ({ sequence }) => String(sequence), row);
    },
    period,
    signal,
    (error) => replace(nothing, refusal(error)),
  );
}

function trouble() {
  const text = h("div");
  return Object.assign(h("li", { class: "banner bad" }, text, h("a", { href: "#/webhooks" }, "See the webhooks")), {
    text,
  });
}

function showTrouble(node, { url, disabledBecause, lastFailureReason }) {
  setText(node.text, `${url} gets nothing: ${disabledBecause ?? lastFailureReason}.`);
}

function row({ event }) {
  const { title, text, rule } = event.data ?? {};
  return h(
    "li",
    null,
    setTime(h("time"), event.time),
    " ",
    h("b", null, title ? `${title}: ${text}` : text),
    " ",
    event.subject ? h("a", { href: historyAddress("subject", event.subject) }, names.nameOf(event.subject)) : null,
    h("span", { class: "soft small" }, ` by ${rule}`),
  );
}
