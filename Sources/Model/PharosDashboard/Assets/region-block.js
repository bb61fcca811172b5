// One region: whom it asks about, and who is inside, how near.

import { drawSparkline, sparkline } from "./charts.js";
import { h, replace, setAttribute, setText } from "./dom.js";
import { byName, level, metres, none, plural } from "./format.js";
import { historyAddress } from "./history.js";
import { constraintText } from "./identity.js";
import * as names from "./names.js";
import { chip, setAgo, setChip, Table } from "./parts.js";
import { stateTone } from "./words.js";

/** How many subjects of a region are shown: the nearest; a page of thousands is no help. */
const maximum = 200;

/** One region: its name, whom it asks about, and a row for each subject. */
export class RegionBlock {
  constructor(card) {
    this.card = card;
    this.name = h("h3");
    this.constraint = h("p", { class: "code soft" });
    this.kind = h("span", { class: "soft small" });
    this.counts = chip("", "");
    this.line = sparkline([], "Subjects inside in the last hour");
    this.line.setAttribute("hidden", "");
    this.history = h("a", { class: "button small" }, "History");
    this.edit = h("button", {
      type: "button",
      class: "small",
      onClick: () => card.page.add({ application: card.application.id }, this.region),
    }, "Change");
    this.delete = h("button", {
      type: "button",
      class: "small danger",
      onClick: () => card.page.remove(card.application, this.region),
    }, "Remove");
    this.rows = h("div", { hidden: true });
    this.silent = h("p", { class: "soft small" });
    this.more = h("p", { class: "soft small", hidden: true });
    this.element = h(
      "section",
      { class: "region" },
      h(
        "div",
        { class: "region-head" },
        h("div", null, h("div", { class: "actions" }, this.name, this.counts, this.line, this.kind), this.constraint),
        h("div", { class: "actions" }, this.history, this.edit, this.delete),
      ),
      this.silent,
      this.rows,
      this.more,
    );
  }

  keep(region) {
    this.element.block = this;
    this.set(region);
    return this.element;
  }

  set(region) {
    this.region = region;
    const { kind = "", subject } = region;
    if (this.shape !== `${kind} ${subject}`) {
      this.shape = `${kind} ${subject}`;
      this.table = new Table("Who this region knows", [...columnsOf(region), this.levels()], (row) => row.subject);
      this.table.showIn(replace(this.rows));
    }
    setText(this.name, region.id);
    setText(this.constraint, constraintText(region));
    setAttribute(
      this.history,
      "href",
      `${historyAddress("region", this.card.application.id, region.id)}?range=24h`,
    );
    setAttribute(this.history, "aria-label", `History of ${region.id}`);
    const isSite = region.source === "site";
    const isArea = region.kind === "circle" || region.kind === "polygon";
    setText(
      this.kind,
      `${isArea ? "area, " : ""}about ${region.subject === "beacon" ? "beacons" : "observers"} · ${
        isSite ? "site file" : "made over HTTP"
      }`,
    );
    for (const button of [this.edit, this.delete]) {
      button.disabled = isSite;
      setAttribute(button, "title", isSite ? "The site file declares this region: change it there and reload." : null);
      setAttribute(button, "aria-label", `${button.textContent} ${region.id}`);
    }
    if (isArea && !isSite) {
      // The form has no map: an area is changed where it was made.
      this.edit.disabled = true;
      setAttribute(this.edit, "title", "An area is changed over HTTP.");
    }
    if (this.card.hasStates) this.setStates(this.card.states.get(region.id) ?? []);
    else this.wait();
  }

  /** The column with the RSSI of the last hour. */
  levels() {
    return {
      title: "Last hour",
      class: "wide",
      make: () => sparkline([], "RSSI of the last hour"),
      update: (node, row) => {
        const values = this.card.page.levels.get(row.subject) ?? [];
        const name = row.subjectName || names.nameOf(row.subject);
        drawSparkline(node, values, `RSSI of ${name} in the last hour`, { minimum: -100, maximum: -40 });
      },
    };
  }

  /** Shows how many were inside in the last hour. */
  setOccupancy(values) {
    this.line.toggleAttribute("hidden", !values.some((value) => value !== null));
    drawSparkline(this.line, values, `Subjects inside ${this.region.id} in the last hour`, { minimum: 0, maximum: 2 });
  }

  // Shows no count before the server has reported who is inside.
  wait() {
    this.counts.hidden = true;
    setText(this.silent, "Asking who is inside.");
  }

  setStates(rows) {
    this.counts.hidden = false;
    const shown = rows.filter((row) => row.state !== "outside" || row.nearest);
    const order = { inside: 0, unmonitored: 1, unknown: 2, outside: 3 };
    shown.sort((a, b) =>
      (order[a.state] ?? 9) - (order[b.state] ?? 9) || distanceOf(a) - distanceOf(b) ||
      byName(names.nameOf(a.subject), names.nameOf(b.subject))
    );
    const inside = rows.filter((row) => row.state === "inside").length;
    const away = rows.filter((row) => row.state === "unmonitored").length;
    setChip(
      this.counts,
      inside ? "good" : "",
      `${plural(inside, "inside", "inside")}${away ? ` · ${away} unmonitored` : ""}`,
    );
    this.rows.hidden = !shown.length;
    this.silent.hidden = shown.length > 0;
    const outside = rows.length - shown.length;
    setText(
      this.silent,
      outside ? `${plural(outside, "subject")} outside, not heard.` : "No subject has been heard for this region yet.",
    );
    this.table.show(shown.slice(0, maximum));
    const more = shown.length - maximum;
    this.more.hidden = more <= 0;
    setText(this.more, more > 0 ? `${plural(more, "more subject")} heard, farther away.` : "");
  }
}

function distanceOf(row) {
  const distance = row.nearest?.distance;
  return typeof distance === "number" && distance >= 0 ? distance : Infinity;
}

/** Columns that say something of a region: a tag has no nearest beacon, and an area hears nothing. */
function columnsOf({ kind, subject }) {
  const isArea = kind === "circle" || kind === "polygon";
  const empty = isArea ? ["Proximity", "Distance", "RSSI", "Nearest beacon", "Heard"] : [];
  if (subject === "beacon") empty.push("Proximity", "Distance", "Nearest beacon");
  return columns.filter((column) => !empty.includes(column.title));
}

const columns = [
  {
    title: "Subject",
    class: "first",
    text: (row) => row.subjectName || names.nameOf(row.subject),
    hint: (row) => row.subject,
  },
  {
    title: "State",
    make: () => chip("", ""),
    update: (node, row) => setChip(node, stateTone(row.state), row.state),
  },
  { title: "Since", make: () => h("time"), update: (node, row) => setAgo(node, row.enteredAt ?? row.since) },
  { title: "Proximity", text: (row) => row.nearest?.proximity ?? none },
  {
    title: "Distance",
    class: "number",
    text: (row) => distanceText(row.nearest),
    hint: () => "As Core Location's accuracy: metres, with its deviation",
  },
  { title: "RSSI", class: "number", text: (row) => level(row.nearest?.rssi) },
  {
    title: "Nearest beacon",
    text: (row) => names.nameOf(row.nearest?.beacon ?? row.refinement) || none,
    hint: (row) => row.nearest?.beacon ?? row.refinement,
  },
  { title: "Heard", make: () => h("time"), update: (node, row) => setAgo(node, row.nearest?.lastHeard) },
];

function distanceText(nearest) {
  const distance = nearest?.distance ?? nearest?.accuracy;
  const deviation = nearest?.deviation;
  return deviation > 0 ? `${metres(distance).replace(" m", "")} ± ${metres(deviation)}` : metres(distance);
}
