// Which floor is shown: a lift's buttons, the highest above, and a choice of buildings where there are several.

import { follow, h, setAttribute, setText } from "./dom.js";
import { countWords } from "./floor-source.js";
import { count } from "./format.js";

/** Buttons for the floors of a building; `onChoose` gets a floor's key. */
export class FloorSwitch {
  #onChoose;
  #floors = [];
  #key = null;
  #buildings = h("select", { "aria-label": "Building", onChange: () => this.#chooseBuilding() });
  #buttons = h("div", { class: "floor-buttons", role: "group", "aria-label": "Floor" });

  constructor(onChoose) {
    this.#onChoose = onChoose;
    this.element = h("div", { class: "floor-switch" }, this.#buildings, this.#buttons);
  }

  /** Follows the floors that there are; `counts` says how many are on each. */
  follow(floors, key, counts) {
    this.#floors = floors;
    const places = new Map(floors.map((floor) => [floor.place, floor]));
    this.#buildings.hidden = places.size < 2;
    follow(
      this.#buildings,
      [...places.values()],
      (floor) => floor.place,
      (floor) => h("option", { value: floor.place }),
      (option, floor) => setText(option, titleOf(floor, floors)),
    );
    follow(
      this.#buttons,
      this.#own(key),
      (floor) => floor.key,
      (floor) =>
        h(
          "button",
          { type: "button", onClick: () => this.#onChoose(floor.key) },
          h("span", null),
          h("small", { "aria-hidden": "true" }),
        ),
      (button, floor) => {
        const present = counts.get(floor.key) ?? 0;
        setText(button.firstChild, floor.name);
        setText(button.lastChild, present ? count(present) : "");
        setAttribute(button, "aria-label", `${floor.name}, ${countWords(present)}`);
      },
    );
    this.mark(key);
  }

  /** Shows which floor is shown. */
  mark(key) {
    this.#key = key;
    const own = this.#own(key);
    for (const [index, button] of [...this.#buttons.children].entries()) {
      setAttribute(button, "aria-pressed", String(own[index]?.key === key));
    }
    const floor = this.#floors.find((candidate) => candidate.key === key);
    if (floor) this.#buildings.value = floor.place;
  }

  /** The key of the floor so many above the one that is shown, or that one itself at the end. */
  beside(step) {
    const own = this.#own(this.#key);
    const index = own.findIndex((floor) => floor.key === this.#key);
    return own[Math.max(0, Math.min(own.length - 1, index - step))]?.key ?? this.#key;
  }

  /** The floors of the building that a floor is in, the highest first. */
  #own(key) {
    const place = this.#floors.find((floor) => floor.key === key)?.place;
    return this.#floors.filter((floor) => floor.place === place).sort((a, b) => b.level - a.level);
  }

  #chooseBuilding() {
    const own = this.#floors.filter((floor) => floor.place === this.#buildings.value);
    const ground = own.reduce((best, floor) => (Math.abs(floor.level) < Math.abs(best.level) ? floor : best), own[0]);
    if (ground) this.#onChoose(ground.key);
  }
}

/** A building's name, with its venue's where there are several venues. */
function titleOf({ title: [venue, building] }, floors) {
  return new Set(floors.map((floor) => floor.title[0])).size > 1 ? `${venue}: ${building}` : building;
}
