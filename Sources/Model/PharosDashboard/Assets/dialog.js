// Sheets over the page, short notices, and the question before what cannot be undone.

import { freshId, h } from "./dom.js";
import { time } from "./format.js";

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

/** How long a notice stays in ms: time to read two lines, to decide about an action, and to come back to the desk. */
const [noticeTime, actionTime, newsTime] = [7000, 15000, 60000];
const maximumNotices = 3;

/**
 * Shows a text with its time, which goes by itself unless a pointer or the focus is on it; screen readers read it out.
 *
 * `link` is `[address, text]`; `action` is `[text, function]`, as of *Undo*; `isNews` keeps it for a minute.
 */
export function notify(text, { link = null, action = null, isNews = false } = {}) {
  const place = document.getElementById("notices");
  const close = () => notice.remove();
  const at = new Date().toISOString();
  const act = () => {
    close();
    action[1]();
  };
  const notice = h(
    "div",
    { class: "notice" },
    h("span", { class: "notice-text" }, text, " ", h("time", { class: "soft", datetime: at }, time(at))),
    link ? h("a", { href: link[0], onClick: close }, link[1]) : null,
    action ? h("button", { type: "button", class: "small", onClick: act }, action[0]) : null,
    h("button", { type: "button", class: "quiet", "aria-label": "Dismiss", onClick: close }, "✕"),
  );
  place.append(notice);
  while (place.children.length > maximumNotices) place.firstElementChild.remove();
  const goLater = (wait) => {
    setTimeout(() => (notice.matches(":hover, :focus-within") ? goLater(noticeTime) : close()), wait);
  };
  goLater(isNews ? newsTime : action ? actionTime : noticeTime);
}

/** Does something and says how it went; true if it went well. `more` is what the notice of the success has. */
export async function attempt(action, success, more) {
  try {
    await action();
    if (success) notify(success, more);
    return true;
  } catch (error) {
    notify(error.message);
    return false;
  }
}
