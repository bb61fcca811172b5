// Entries of forms that are checked at each key.

import { h } from "./dom.js";
import { field } from "./parts.js";

/** What a check says of an entry that may be left empty and is. */
export const fine = { ok: true, text: "" };

/**
 * A text entry: `{ element, input, say, check }`. `check(text)` gives `{ ok, isWrong, isDoubtful, text }`; `options` may hold `value`,
 * `placeholder`, `class`, and `onInput`, which is called at each key.
 */
export function checkedText(id, label, check, options = {}) {
  const input = h("input", {
    id,
    value: String(options.value ?? ""),
    placeholder: options.placeholder,
    class: options.class,
    autocomplete: "off",
    spellcheck: "false",
    onInput: options.onInput,
  });
  return { ...field(label, input), check };
}

/** Checks entries and says beside each what is wrong; true if nothing is. */
export function checkAll(entries) {
  let isReady = true;
  for (const entry of entries) {
    const { ok, isWrong, isDoubtful, text } = entry.check(entry.input.value);
    entry.say(isWrong ? "bad" : isDoubtful ? "warn" : ok && text ? "good" : "", text);
    if (!ok) isReady = false;
  }
  return isReady;
}

/** A choice among values. */
export function select(id, choices, chosen) {
  const options = choices.map(([value, text]) => h("option", { value, selected: value === chosen }, text));
  return h("select", { id }, options);
}

/** A box to check, with its label behind it. */
export function checkbox(id, label, checked) {
  const input = h("input", { type: "checkbox", id, checked });
  return { input, element: h("label", { class: "choice", for: id }, input, h("span", null, label)) };
}

/** The form of a sheet: its parts, and the buttons that call `cancel` and, unless an entry is invalid, `submit`. */
export function sheetForm(parts, save, submit, cancel, attributes = {}) {
  const onSubmit = (event) => {
    event.preventDefault();
    submit();
  };
  return h(
    "form",
    { method: "dialog", ...attributes, onSubmit },
    parts,
    h("footer", null, h("button", { type: "button", onClick: cancel }, "Cancel"), save),
  );
}

/** The button that sends a form. */
export function saveButton(text) {
  return h("button", { type: "submit", class: "primary" }, text);
}

/** A number from text, or undefined if there is none. */
export function numberOrNothing(text) {
  const trimmed = String(text).trim().replace("−", "-");
  return trimmed === "" ? undefined : Number(trimmed);
}

/** Sets a member, or removes it where there is nothing to set. */
export function setMember(object, key, value) {
  if (value === undefined || value === "") delete object[key];
  else object[key] = value;
}

/** A moment, in ms, as the entry of a day and a time has it: the reader's own, to the minute. */
export function localMoment(time) {
  return new Date(time - new Date(time).getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}
