// A secret that is shown once.

import { openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";

/** Shows a secret with a way to copy it; it is in the page only until the sheet closes. */
export function showSecret(title, text, secret) {
  return openDialog(title, (close) => {
    const code = h("code", { id: "secret" }, secret);
    const copy = h("button", { type: "button", class: "small", onClick: () => copySecret(code, copy, secret) }, "Copy");
    return h(
      "div",
      { class: "sheet" },
      h("p", null, text),
      h("div", { class: "secret" }, code, copy),
      h("footer", null, h("button", { type: "button", class: "primary", onClick: () => close() }, "I have kept it")),
    );
  });
}

/** The clipboard is there only on loopback and HTTPS; elsewhere the text is selected for the reader to copy. */
async function copySecret(code, button, secret) {
  try {
    await navigator.clipboard.writeText(secret);
    setText(button, "Copied");
  } catch {
    getSelection().selectAllChildren(code);
    setText(button, "Selected: press Ctrl+C");
  }
}
