// Everyone on the map as a list of names with their rooms, for screen readers and for people who look for a name.

import { follow, h, setAttribute, setText } from "./dom.js";
import { whereWords } from "./floor-source.js";
import { byName, metres, plural } from "./format.js";

/** How many are listed; beyond, a number says how many there are more. */
const maximum = 200;

/** A list of things, each a button that chooses it; `onChoose` gets the subject. */
export class FloorList {
  #title = h("summary", null, "The same in words");
  #items = h("ul", { class: "floor-list" });
  #more = h("p", { class: "soft", hidden: true });

  constructor(onChoose) {
    this.onChoose = onChoose;
    this.element = h("details", { class: "body plan-words" }, this.#title, this.#items, this.#more);
  }

  /** Follows who is on the map, on whatever floor. */
  follow(marks, chosen) {
    setText(this.#title, `The same in words: ${plural(marks.length, "thing")}`);
    if (!this.element.open) return;
    const names = marks.map((mark) => [mark.name(), mark]).sort(([a], [b]) => byName(a, b));
    follow(
      this.#items,
      names.slice(0, maximum),
      ([, mark]) => mark.subject,
      ([, mark]) =>
        h(
          "li",
          null,
          h("button", { type: "button", class: "small", onClick: () => this.onChoose(mark.subject) }),
          h("span", { class: "soft" }),
        ),
      (item, [name, mark]) => {
        setText(item.firstChild, name);
        setAttribute(item.firstChild, "title", mark.subject);
        setAttribute(item.firstChild, "aria-pressed", String(mark.subject === chosen));
        setText(item.lastChild, `${whereWords(mark)}, ±${metres(mark.accuracy)}`);
      },
    );
    this.#more.hidden = names.length <= maximum;
    setText(this.#more, `and ${plural(names.length - maximum, "more", "more")}`);
  }
}
