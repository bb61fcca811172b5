// The tokens that programs ask with.

import { change, get, part } from "./api.js";
import { attempt, confirmThat, openDialog } from "./dialog.js";
import { h, replace, setText } from "./dom.js";
import { saveButton, sheetForm } from "./form-parts.js";
import { plural, time } from "./format.js";
import { card, empty, field, refusal, setTime, Table } from "./parts.js";
import { poll } from "./poll.js";
import { showSecret } from "./secret.js";

const period = 5000;

/** The card of tokens: listing, creating, revoking. */
export function tokens(signal) {
  const place = h("div");
  const create = h("button", { type: "button", class: "small", onClick: () => make() }, "Create a token");
  const element = card(
    "Tokens",
    "Only their hashes are kept. A token is bound to one application, posts adverts of gateways, or is an operator's.",
    place,
  );
  element.firstChild.append(create);
  const revoke = async (row) => {
    const isSure = await confirmThat(
      "Revoke this token?",
      `Requests with “${row.name || row.id}” are refused from now on.`,
      "Revoke token",
    );
    if (isSure && await attempt(() => change("DELETE", `/v1/tokens/${part(row.id)}`), "The token was revoked.")) ask();
  };
  const table = new Table("Tokens", [
    { title: "Name", class: "first", text: (row) => row.name || row.id, hint: (row) => row.id },
    { title: "For", text: opens },
    { title: "Made", make: () => h("time"), update: (node, row) => setTime(node, row.createdAt) },
    { title: "Expires", text: (row) => (row.expiresAt ? time(row.expiresAt) : "never") },
    {
      title: "",
      class: "bare",
      make: (row) =>
        h(
          "div",
          { class: "actions" },
          h("button", {
            type: "button",
            class: "small danger",
            "aria-label": `Revoke ${row.name || row.id}`,
            onClick: () => revoke(row),
          }, "Revoke"),
        ),
    },
  ], (row) => row.id);
  let isShown = false;
  const ask = poll(
    async () => {
      const body = await get("/v1/tokens", signal);
      isShown = true;
      setText(element.querySelector("h2"), plural(body.tokens.length, "token"));
      if (!body.tokens.length) {
        return replace(
          place,
          empty("No tokens", "Loopback requests need no token. Create one before the server listens on a network."),
        );
      }
      if (place.firstChild !== table.element) replace(place, table.element);
      return table.show(body.tokens);
    },
    period,
    signal,
    (error) => {
      create.hidden = error.status === 403;
      if (!isShown) replace(place, refusal(error));
    },
  );
  const make = async () => {
    const applications = await get("/v1/applications", signal).then((body) => body.applications ?? [], () => []);
    const made = await openDialog("Create a token", (close) => tokenForm(applications, close));
    if (made) {
      await showSecret("Keep this token", "It is shown this once: only its hash is kept.", made.secret ?? made.token);
    }
    ask();
  };
  return element;
}

// No application has a name with a control character.
const GATEWAYS = "\u0001gateways";

function opens(row) {
  if (row.role === "gateway") return row.gateway ? `adverts of ${row.gateway}` : "adverts of all gateways";
  return row.application ? `application ${row.application}` : "operator: everything";
}

function tokenForm(applications, close) {
  const name = field(
    "Name",
    h("input", { id: "token-name", required: true, autocomplete: "off" }),
    "Who asks with it, as in wall display.",
  );
  const whose = field(
    "It opens",
    h(
      "select",
      { id: "token-for" },
      applications.map(({ id }) => h("option", { value: id }, `application ${id}`)),
      h("option", { value: GATEWAYS }, "posting adverts: a gateway's token"),
      h("option", { value: "" }, "everything: an operator's token"),
    ),
  );
  const days = field(
    "Expires after",
    h(
      "select",
      { id: "token-days" },
      [["", "never"], ["1", "1 day"], ["30", "30 days"], ["365", "1 year"]].map(([value, text]) =>
        h("option", { value }, text)
      ),
    ),
  );
  const problem = h("p", { class: "banner bad", role: "alert", hidden: true });
  const submit = async () => {
    const document = { name: name.input.value.trim() };
    if (whose.input.value === GATEWAYS) document.role = "gateway";
    else if (whose.input.value) document.application = whose.input.value;
    else document.role = "operator";
    if (days.input.value) document.expiresAt = new Date(Date.now() + Number(days.input.value) * 86400000).toISOString();
    try {
      close(await change("POST", "/v1/tokens", document));
    } catch (error) {
      problem.hidden = false;
      setText(
        problem,
        [error.message, ...(error.errors ?? []).map((found) => `${found.field}: ${found.message}`)].join(" "),
      );
    }
  };
  const parts = [problem, name.element, whose.element, days.element];
  return sheetForm(parts, saveButton("Create token"), submit, () => close());
}
