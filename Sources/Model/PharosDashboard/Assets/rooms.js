// How full rooms and regions were: tiles with a small line each.

import { drawSparkline, sparkline } from "./charts.js";
import { follow, h, replace, setAttribute, setText } from "./dom.js";
import { count, none } from "./format.js";
import { historyAddress } from "./history.js";
import { card, empty } from "./parts.js";

/** Tiles of zones and regions with a small line of how many were inside. */
export class Rooms {
  constructor(title, note) {
    this.list = h("ul", { class: "tiles" });
    this.rest = h("div");
    this.element = card(title, note, this.list, this.rest);
  }

  set(places, range) {
    this.list.hidden = !places.length;
    replace(this.rest, places.length ? null : empty("No rooms", "Rooms and regions appear here after a minute."));
    follow(
      this.list,
      places,
      (place) => JSON.stringify([place.zone, place.application, place.region]),
      () =>
        h("li", null, h("a", null, h("span", { class: "name" }), h("span", { class: "number" }), sparkline([], ""))),
      (item, place) => this.update(item.firstChild, place, range),
    );
  }

  update(link, place, range) {
    const [name, number, line] = link.children;
    const text = place.zone ? place.name || place.zone : `${place.region}`;
    const address = place.zone
      ? historyAddress("zone", place.zone)
      : historyAddress("region", place.application, place.region);
    setAttribute(link, "href", `${address}?${range.address}`);
    setAttribute(link, "title", place.zone ? "Room" : `Region of ${place.application}`);
    setText(name, text);
    const known = place.inside.filter((value) => value !== null);
    setText(number, known.length ? count(known.at(-1)) : none);
    const words = known.length ? `: ${count(known.at(-1))} now, at most ${count(Math.max(...known))}` : "";
    drawSparkline(line, place.inside, `Things in ${text}${words}`, { minimum: 0, maximum: 2 });
  }
}
