// Who may learn of whom, and who may ask: authorisations and tokens.

import { setToken, token } from "./api.js";
import { authorisations } from "./authorisations.js";
import { h, replace } from "./dom.js";
import { pageHead } from "./parts.js";
import { tokens } from "./tokens.js";

export function show(root, { signal }) {
  const place = h("div", { class: "stack" });
  replace(
    root,
    pageHead("Access", "What applications may learn about whom, and the tokens that programs ask with."),
    h("div", { class: "stack" }, session(), place, tokens(signal)),
  );
  authorisations(place, signal);
}

/** What this tab asks with. */
function session() {
  if (!token()) return null;
  return h(
    "div",
    { class: "banner calm" },
    h("span", null, "This tab asks with a token. "),
    h("button", {
      type: "button",
      class: "small",
      onClick: () => {
        setToken(null);
        location.reload();
      },
    }, "Forget it"),
  );
}
