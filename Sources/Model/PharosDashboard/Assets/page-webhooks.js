// Webhooks: where events are sent, how that goes, what was given up and can be sent again.

import { get } from "./api.js";
import { follow, h, replace } from "./dom.js";
import { empty, pageHead, refusal } from "./parts.js";
import { poll } from "./poll.js";
import { WebhookCard } from "./webhook-card.js";
import { openWebhookForm } from "./webhook-form.js";

const period = 2000;

export function show(root, { signal }) {
  const place = h("div", { class: "stack" });
  const add = async (webhook) => {
    if (await openWebhookForm(webhook)) ask();
  };
  replace(
    root,
    pageHead(
      "Webhooks",
      "Addresses that every event is sent to: at least once, in order for each subject, signed.",
      h("button", {
        type: "button",
        class: "primary",
        onClick: () => add(),
      }, "Add webhook"),
    ),
    place,
  );
  let isShown = false;
  const ask = poll(
    async () => {
      const { webhooks = [] } = await get("/v1/webhooks", signal);
      isShown = true;
      if (!webhooks.length) {
        place.followed = null;
        return replace(
          place,
          h(
            "section",
            { class: "card" },
            empty(
              "No webhooks",
              "Add the address of a program of yours, and it receives every event that you choose.",
              h("button", {
                type: "button",
                class: "primary",
                onClick: () => add(),
              }, "Add webhook"),
            ),
          ),
        );
      }
      if (!place.followed) replace(place);
      return follow(
        place,
        webhooks,
        (webhook) => webhook.id,
        () => new WebhookCard(add, () => ask(), signal).element,
        (element, webhook) => element.card.set(webhook),
      );
    },
    period,
    signal,
    (error) => {
      if (!isShown) replace(place, refusal(error));
    },
  );
}
