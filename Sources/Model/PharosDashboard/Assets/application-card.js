// One application with its regions, and how many it may still have.

import { follow, h, replace, setAttribute, setText } from "./dom.js";
import { count, plural } from "./format.js";
import { empty } from "./parts.js";
import { RegionBlock } from "./region-block.js";
import { updateTrouble } from "./verdict.js";

/** One application with its regions and who is inside them. */
export class ApplicationCard {
  constructor(page) {
    this.title = h("h2");
    this.note = h("p");
    this.used = h("span", { class: "soft small" });
    this.bar = h("i");
    this.meter = h(
      "span",
      { class: "meter", role: "meter", "aria-label": "Regions in use", "aria-valuemin": "0" },
      this.bar,
    );
    this.addButton = h("button", {
      type: "button",
      class: "small",
      onClick: () => page.add({ application: this.application.id }),
    }, "Add region");
    this.diagnostics = h("ul", { class: "troubles", "aria-label": "Why something is missing" });
    this.regions = h("div");
    this.states = new Map();
    this.hasStates = false;
    this.page = page;
    this.element = h(
      "section",
      { class: "card" },
      h(
        "header",
        null,
        h("div", null, this.title, this.note),
        h("div", { class: "actions" }, this.used, this.meter, this.addButton),
      ),
      this.diagnostics,
      this.regions,
    );
  }

  set(application) {
    this.application = application;
    const limit = application.regionLimit ?? 20;
    const used = application.list.length;
    setText(this.title, application.id);
    setText(
      this.note,
      `${application.purpose || (application.source === "http" ? "Made over HTTP" : "From the site file")}`,
    );
    setText(this.used, `${count(used)} of ${plural(limit, "region")}`);
    this.bar.style.width = `${Math.min(100, (used / limit) * 100)}%`;
    setAttribute(this.meter, "class", used >= limit ? "meter full" : "meter");
    setAttribute(this.meter, "aria-valuenow", used);
    setAttribute(this.meter, "aria-valuemax", limit);
    this.addButton.disabled = used >= limit;
    setAttribute(
      this.addButton,
      "title",
      used >= limit ? `${application.id} has all ${limit} regions that it may have. Remove one first.` : null,
    );
    if (!used) {
      this.regions.followed = null;
      replace(
        this.regions,
        empty(
          "No regions",
          "Add one by its UUID, or choose a beacon that is heard.",
          h("button", {
            type: "button",
            class: "primary",
            onClick: () => this.page.add({ application: application.id }),
          }, "Add region"),
          h("a", { class: "button", href: "#/things?show=unknown" }, "See what is heard"),
        ),
      );
      return;
    }
    if (!this.regions.followed) replace(this.regions);
    follow(
      this.regions,
      application.list,
      (region) => region.id,
      (region) => new RegionBlock(this).keep(region),
      (element, region) => element.block.set(region),
    );
  }

  /** The subjects that are inside some region. */
  get insiders() {
    return [...this.states.values()].flat().filter((row) => row.state === "inside").map((row) => row.subject);
  }

  /** Shows how many were inside each region in the last hour. */
  setOccupancy(places) {
    const known = new Map(places.map((place) => [place.region, place.inside]));
    for (const { block } of this.regions.children) block?.setOccupancy(known.get(block.region.id) ?? []);
  }

  /** Shows why the application gets nothing, or less than it might, and what to do about it. */
  setDiagnostics(diagnostics) {
    // An application without a region has the offer of one below.
    const shown = diagnostics.filter(({ reason }) => reason !== "conditionMissing");
    follow(
      this.diagnostics,
      shown.map(({ reason, region, message, expected, remedy }) => ({
        key: `${reason} ${region ?? ""}`,
        tone: "warn",
        title: message,
        text: `Expected: ${expected}. ${remedy}`,
      })),
      ({ key }) => key,
      () => h("li"),
      updateTrouble,
    );
  }

  setStates(states) {
    this.hasStates = true;
    this.states = Map.groupBy ? Map.groupBy(states, (row) => row.region) : groupByRegion(states);
    for (const element of this.regions.children) {
      element.block?.setStates(this.states.get(element.block.region.id) ?? []);
    }
  }
}

function groupByRegion(states) {
  const groups = new Map();
  for (const row of states) groups.set(row.region, [...(groups.get(row.region) ?? []), row]);
  return groups;
}
