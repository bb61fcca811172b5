// Who may learn of whom, by application.

import { change, get, part } from "./api.js";
import { attempt, openDialog } from "./dialog.js";
import { follow, h, replace, setText } from "./dom.js";
import { saveButton, sheetForm } from "./form-parts.js";
import * as names from "./names.js";
import { empty, field, refusal, setTime, Table } from "./parts.js";
import { poll } from "./poll.js";
import { permission } from "./words.js";

const period = 5000;
const states = ["notDetermined", "denied", "restricted", "whenInUse", "always"];

/** Shows each application's authorisations in a place, and keeps them as the server has them. */
export function authorisations(place, signal) {
  let isShown = false;
  const cards = new Map();
  const ask = poll(
    async () => {
      const { applications = [] } = await get("/v1/applications", signal);
      const lists = await Promise.all(
        applications.map(({ id }) => get(`/v1/applications/${part(id)}/authorisations`, signal)),
      );
      const entries = applications.map((application, index) => ({
        ...application,
        ...lists[index],
        id: application.id,
      }));
      isShown = true;
      if (!entries.length) {
        return replace(
          place,
          h(
            "section",
            { class: "card" },
            empty(
              "No applications",
              "Authorisations belong to applications, and there is none yet.",
              h("a", { class: "button", href: "#/regions" }, "Add one"),
            ),
          ),
        );
      }
      if (!place.followed) replace(place);
      return follow(place, entries, (entry) => entry.id, (entry) => {
        const made = new AuthorisationCard(entry, () => ask());
        cards.set(entry.id, made);
        return made.element;
      }, (_, entry) => cards.get(entry.id).set(entry));
    },
    period,
    signal,
    (error) => {
      if (!isShown) replace(place, refusal(error));
    },
  );
}

class AuthorisationCard {
  constructor(application, reload) {
    this.id = application.id;
    this.reload = reload;
    this.purpose = h("p");
    this.table = new Table(`Authorisations of ${application.id}`, [
      { title: "Subject", class: "first", text: (row) => names.nameOf(row.subject), hint: (row) => row.subject },
      { title: "Since", make: () => h("time"), update: (node, row) => setTime(node, row.since) },
      {
        title: "A person",
        make: (row) => this.person(row),
        update: (node, row) => {
          node.firstChild.checked = Boolean(row.person);
        },
      },
      {
        title: "May learn",
        class: "choice-cell",
        make: (row) => this.choice(row),
        update: (node, row) => {
          if (document.activeElement !== node) node.value = row.state;
        },
      },
    ], (row) => row.subject);
    this.place = h("div");
    const add = h("button", { type: "button", class: "small", onClick: () => this.add() }, "Decide about a subject");
    this.element = h(
      "section",
      { class: "card" },
      h("header", null, h("div", null, h("h2", null, application.id), this.purpose), add),
      this.place,
    );
  }

  choice(row) {
    const select = h("select", {
      "aria-label": `What ${this.id} may learn about ${names.nameOf(row.subject)}`,
      onChange: () => this.decide(row.subject, select.value),
    }, states.map((state) => h("option", { value: state, selected: state === row.state }, permission(state))));
    return select;
  }

  person(row) {
    const box = h("input", {
      type: "checkbox",
      "aria-label": `${names.nameOf(row.subject)} is a person`,
      onChange: async () => {
        await attempt(
          () => change("PUT", this.path(row.subject), { person: box.checked }),
          `${names.nameOf(row.subject)} is ${
            box.checked ? "a person: events are published only if you allow it" : "a thing"
          }.`,
        );
        this.reload();
      },
    });
    return h("label", { class: "choice" }, box);
  }

  path(subject) {
    return `/v1/applications/${part(this.id)}/authorisations/${part(subject)}`;
  }

  set(entry) {
    setText(
      this.purpose,
      entry.purpose ? `Purpose: ${entry.purpose}` : "No purpose is given: it may not ask about persons.",
    );
    const rows = entry.authorisations ?? [];
    if (rows.length) {
      if (this.place.firstChild !== this.table.element) replace(this.place, this.table.element);
      this.table.show(rows);
    } else {
      replace(
        this.place,
        empty("No decisions yet", "Events about things are allowed; those about persons only once you allow them."),
      );
    }
  }

  async decide(subject, state) {
    await attempt(
      () => change("PUT", this.path(subject), { state }),
      `${this.id} and ${names.nameOf(subject)}: ${permission(state)}.`,
    );
    this.reload();
  }

  async add() {
    const chosen = await openDialog(`What may ${this.id} learn?`, (close) => {
      const subject = field(
        "Subject",
        h("input", { id: "subject-id", class: "code", required: true, autocomplete: "off", spellcheck: "false" }),
        "An observer's or a beacon's identity, as events name it.",
      );
      const state = field(
        "It may learn",
        h(
          "select",
          { id: "state" },
          states.map((value) => h("option", { value, selected: value === "always" }, permission(value))),
        ),
      );
      const submit = () => close({ subject: subject.input.value.trim(), state: state.input.value });
      return sheetForm([subject.element, state.element], saveButton("Decide"), submit, () => close());
    });
    if (chosen?.subject) await this.decide(chosen.subject, chosen.state);
  }
}
