// The sheet in which a webhook is added or changed, and the one that shows its secret once.

import { change, get, part } from "./api.js";
import { openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { saveButton, sheetForm } from "./form-parts.js";
import { field } from "./parts.js";
import { showSecret } from "./secret.js";

const kinds = [
  ["region.enter", "Enter"],
  ["region.exit", "Exit"],
  ["region.state", "Every change of state"],
  ["region.unmonitored", "Unmonitored"],
  ["zone.enter", "Room entered"],
  ["zone.exit", "Room left"],
  ["zone.unmonitored", "Room unmonitored"],
  ["zone.monitored", "Room monitored again"],
  ["observer.online", "Gateway up"],
  ["observer.offline", "Gateway down"],
  ["beacon.battery", "Battery"],
  ["notification", "Notifications"],
];

/** Opens the sheet; true once a webhook was made or changed. */
export async function openWebhookForm(webhook) {
  const applications = await get("/v1/applications").then((body) => body.applications ?? [], () => []);
  const made = await openDialog(
    webhook ? "Change the webhook" : "Add a webhook",
    (close) => form(webhook, applications, close),
  );
  if (made?.secret) {
    await showSecret(
      "Keep this secret",
      "The receiver verifies signatures with it (Standard Webhooks). It is shown this once.",
      made.secret,
    );
  }
  return Boolean(made);
}

function form(webhook, applications, close) {
  const url = field(
    "Address",
    h("input", {
      id: "url",
      type: "url",
      class: "code",
      required: true,
      value: webhook?.url ?? "",
      placeholder: "https://example.org/hooks/pharos",
      autocomplete: "off",
      spellcheck: "false",
    }),
  );
  const summary = field(
    "What it is for",
    h("input", { id: "summary", value: webhook?.summary ?? "", autocomplete: "off" }),
  );
  const application = field(
    "Application",
    h(
      "select",
      { id: "hook-application" },
      [["", "all"], ...applications.map(({ id }) => [id, id])].map(([value, text]) =>
        h("option", { value, selected: value === (webhook?.application ?? "") }, text)
      ),
    ),
  );
  const chosen = new Set((webhook?.filter?.kinds ?? []).map((kind) => kind.replace(/^pharos\./, "")));
  const boxes = kinds.map(([kind, text]) => {
    const input = h("input", { type: "checkbox", value: kind, checked: chosen.has(kind), id: `kind-${kind}` });
    return { input, element: h("label", { class: "choice", for: input.id }, input, h("span", null, text)) };
  });
  const enabled = h("input", { type: "checkbox", id: "enabled", checked: webhook?.enabled ?? true });
  const problem = h("p", { class: "banner bad", role: "alert", hidden: true });
  const save = saveButton(webhook ? "Save changes" : "Add webhook");
  const submit = async () => {
    const known = new Set(kinds.map(([kind]) => kind));
    const others = [...chosen].filter((kind) => !known.has(kind));
    const wanted = [...boxes.filter(({ input }) => input.checked).map(({ input }) => input.value), ...others];
    const filter = { ...webhook?.filter };
    for (const [key, value] of Object.entries(filter)) if (value === null || value?.length === 0) delete filter[key];
    if (wanted.length) filter.kinds = wanted.map((kind) => `pharos.${kind}`);
    else delete filter.kinds;
    const document = {
      url: url.input.value.trim(),
      summary: summary.input.value.trim(),
      filter,
      enabled: enabled.checked,
    };
    if (application.input.value) document.application = application.input.value;
    if (webhook?.concurrency !== undefined) document.concurrency = webhook.concurrency;
    if (webhook?.deferral) document.deferral = webhook.deferral;
    save.disabled = true;
    try {
      close(
        (webhook
          ? await change("PUT", `/v1/webhooks/${part(webhook.id)}`, document)
          : await change("POST", "/v1/webhooks", document)) ?? {},
      );
    } catch (error) {
      save.disabled = false;
      problem.hidden = false;
      setText(
        problem,
        error.errors?.length
          ? error.errors.map((found) =>
            `${found.field}: ${found.message}${found.expected ? ` (expected ${found.expected})` : ""}`
          ).join(" ")
          : error.message,
      );
    }
  };
  const parts = [
    problem,
    url.element,
    summary.element,
    application.element,
    h(
      "fieldset",
      null,
      h("legend", { class: "legend" }, "Which events"),
      h("p", { class: "soft small" }, "None chosen means every event that the journal keeps."),
      h("div", { class: "fields" }, boxes.map(({ element }) => element)),
    ),
    h("label", { class: "choice", for: "enabled" }, enabled, h("span", null, "Send events")),
  ];
  return sheetForm(parts, save, submit, () => close());
}
