// Sheets over the page, short notices, and the question before what cannot be undone.

import { freshId, h } from "./dom.js";

/** Opens a sheet; the promise is fulfilled when it closes, with what it was closed with. */
export function openDialog(title, build) {
  const label = freshId("dialog");
  const dialog = h("dialog", { "aria-labelledby": label });
  const content = build((value) => {
    dialog.outcome = value;
    dialog.close();
  });
  content.prepend(h("h2", { id: label }, title));
  dialog.append(content);
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.outcome);
    });
    dialog.showModal();
  });
}

/** Asks before something is done; true if it is to be done. */
export function confirmThat(title, text, action) {
  return openDialog(
    title,
    (close) =>
      h(
        "div",
        { class: "sheet" },
        h("p", null, text),
        h(
          "footer",
          null,
          h("button", { type: "button", onClick: () => close(false) }, "Cancel"),
          h("button", { type: "button", class: "danger", onClick: () => close(true) }, action),
        ),
      ),
  );
}

/** Asks for a token; null if the person declines. */
export function askForToken(wasRefused) {
  return openDialog("This server asks for a token", (close) => {
    const input = h("input", {
      class: "code",
      type: "password",
      name: "token",
      autocomplete: "off",
      spellcheck: "false",
      required: true,
      id: "token",
    });
    const kept = h("input", { type: "checkbox", id: "token-kept" });
    return h(
      "form",
      {
        method: "dialog",
        onSubmit: (event) => {
          event.preventDefault();
          const entered = input.value.trim();
          close(entered ? { token: entered, isKept: kept.checked } : null);
        },
      },
      h(
        "p",
        null,
        wasRefused
          ? "The token that you gave is not accepted: it may have expired or been revoked."
          : "Enter an operator's token, or one of an application to see that application.",
      ),
      h(
        "div",
        { class: "field" },
        h("label", { for: "token" }, "Token"),
        input,
        h(
          "p",
          { class: "hint" },
          "It begins with pht_ and is made by “pharos token create”. It is kept in this tab only, until you close it.",
        ),
      ),
      h(
        "label",
        { class: "choice", for: "token-kept" },
        kept,
        h("span", null, "Keep it in this browser: for a wall display, whose token should be an application's"),
      ),
      h(
        "footer",
        null,
        h("button", { type: "button", onClick: () => close(null) }, "Not now"),
        h("button", { type: "submit", class: "primary" }, "Use token"),
      ),
    );
  });
}

/** How long a notice stays in ms: time to read two lines. */
const noticeTime = 7000;

/** Shows a text that passes, or with `stays` stays until it is dismissed; screen readers read it out. */
export function notify(text, { stays = false } = {}) {
  const place = document.getElementById("notices");
  const notice = h("div", { class: "notice" }, h("span", null, text));
  notice.append(
    h("button", { type: "button", class: "quiet", "aria-label": "Dismiss", onClick: () => notice.remove() }, "✕"),
  );
  place.append(notice);
  while (place.children.length > 3) place.firstElementChild.remove();
  if (!stays) setTimeout(() => notice.remove(), noticeTime);
}

/** Does something and says how it went; true if it went well. */
export async function attempt(action, success) {
  try {
    await action();
    if (success) notify(success);
    return true;
  } catch (error) {
    notify(error.message);
    return false;
  }
}
