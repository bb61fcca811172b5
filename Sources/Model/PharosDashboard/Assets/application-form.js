// The sheet in which an application is added.

import { change, part } from "./api.js";
import { notify, openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { saveButton, sheetForm } from "./form-parts.js";
import { checkNumber } from "./identity.js";
import { field } from "./parts.js";

/** Opens the sheet; true once an application was made. */
export function openApplicationForm() {
  return openDialog("Add an application", (close) => {
    const id = field(
      "Identifier",
      h("input", { id: "app-id", required: true, autocomplete: "off", spellcheck: "false" }),
      "A short name, as in gallery.",
    );
    const purpose = field(
      "Purpose",
      h("input", { id: "purpose", autocomplete: "off" }),
      "Why it wants to know where people are; they are asked with these words. It may stay empty for things.",
    );
    const limit = field(
      "Region limit",
      h("input", { id: "limit", inputmode: "numeric", placeholder: "20" }),
      "20 is Core Location's; a venue with more uses a rotation.",
    );
    const problem = h("p", { class: "banner bad", role: "alert", hidden: true });
    const submit = async () => {
      const checked = checkNumber(limit.input.value, 1, 1000, "The limit");
      limit.say(checked.ok ? "" : "bad", checked.text);
      if (!checked.ok || !id.input.value.trim()) return;
      const document = {};
      if (purpose.input.value.trim()) document.purpose = purpose.input.value.trim();
      if (limit.input.value.trim()) document.regionLimit = Number(limit.input.value);
      try {
        await change("PUT", `/v1/applications/${part(id.input.value.trim())}`, document);
        notify(`Application ${id.input.value.trim()} was added.`);
        close(true);
      } catch (error) {
        problem.hidden = false;
        setText(problem, [error.message, ...(error.errors ?? []).map((found) => found.message)].join(" "));
      }
    };
    const parts = [problem, id.element, purpose.element, limit.element];
    return sheetForm(parts, saveButton("Add application"), submit, () => close(false));
  });
}
