// Regions by application: who is inside, how near, once a second; and adding, changing, removing them.

import { change, get, getAll, getIfAllowed, part } from "./api.js";
import { ApplicationCard } from "./application-card.js";
import { openApplicationForm } from "./application-form.js";
import { attempt, confirmThat, notify } from "./dialog.js";
import { follow, h, replace } from "./dom.js";
import { showPlace } from "./history-detail.js";
import { Range } from "./history.js";
import { empty, pageHead, refusal } from "./parts.js";
import { poll } from "./poll.js";
import { openRegionForm } from "./region-form.js";

/** States, distances and levels are read once a second, as the first iBeacon apps showed them. */
const statePeriod = 1000;
const regionPeriod = 5000;
/** The lines of the last hour change once a minute. */
const historyPeriod = 60000;
/** How many subjects get a line: as many as one address names. */
const maximumLines = 100;
/** An hour up to now touches so many minutes. */
const minutesOfHour = 61;

export function show(root, context) {
  const { signal, query, rest: [application, region] } = context;
  if (region) return showPlace(root, context, { application, region });
  const page = new RegionsPage(root, signal);
  if (query.get("new") !== null) page.add(Object.fromEntries(query));
  return undefined;
}

class RegionsPage {
  constructor(root, signal) {
    this.signal = signal;
    this.applications = [];
    this.cards = new Map();
    /** The RSSI of the last hour by subject, where the token may see it. */
    this.levels = new Map();
    this.place = h("div", { class: "stack" });
    replace(
      root,
      pageHead(
        "Regions",
        "What each application asks about, and who is inside.",
        h("button", { type: "button", onClick: () => this.addApplication() }, "Add application"),
        h("button", {
          type: "button",
          class: "primary",
          onClick: () => this.add(),
        }, "Add region"),
      ),
      this.place,
    );
    this.reload = poll(() => this.loadRegions(), regionPeriod, signal, (error) => {
      if (!this.applications.length) replace(this.place, refusal(error));
    });
    poll(() => this.loadStates(), statePeriod, signal);
    poll(() => this.loadDiagnostics(), regionPeriod, signal);
    poll(() => this.loadHistory(), historyPeriod, signal);
  }

  async loadRegions() {
    const { applications = [] } = await get("/v1/applications", this.signal);
    const lists = await Promise.all(
      applications.map((application) => get(`/v1/applications/${part(application.id)}/regions`, this.signal)),
    );
    this.applications = applications.map((application, index) => ({
      ...application,
      list: lists[index].regions ?? [],
    }));
    if (!applications.length) {
      this.cards.clear();
      this.place.followed = null;
      replace(
        this.place,
        h(
          "section",
          { class: "card" },
          empty(
            "No application yet",
            "An application is a client with its own set of regions. Add one, or name one in the site file.",
            h("button", {
              type: "button",
              class: "primary",
              onClick: () => this.addApplication(),
            }, "Add application"),
          ),
        ),
      );
      return;
    }
    if (!this.place.followed) replace(this.place);
    follow(
      this.place,
      this.applications,
      (application) => application.id,
      (application) => this.makeCard(application),
      (_, application) => this.cards.get(application.id).set(application),
    );
  }

  makeCard(application) {
    const card = new ApplicationCard(this);
    this.cards.set(application.id, card);
    return card.element;
  }

  async loadStates() {
    await Promise.all(this.applications.map(async (application) => {
      const states = await getAll(`/v1/applications/${part(application.id)}/states`, "states", this.signal, 2000);
      this.cards.get(application.id)?.setStates(states);
    }));
  }

  async loadDiagnostics() {
    if (!this.applications.length) await this.loadRegions();
    await Promise.all(this.applications.map(async ({ id }) => {
      const { diagnostics = [] } = await get(`/v1/applications/${part(id)}/diagnostics`, this.signal);
      this.cards.get(id)?.setDiagnostics(diagnostics);
    }));
  }

  /** Reads the last hour: how many were inside each region, and how well those were heard that are. */
  async loadHistory() {
    const range = new Range({ span: "1h" });
    const { places = [] } = await get(`/v1/history/occupancy?${range.query(minutesOfHour)}`, this.signal);
    if (!this.applications.length) await this.loadRegions();
    await this.loadStates();
    for (const [id, card] of this.cards) card.setOccupancy(places.filter((place) => place.application === id));
    const subjects = new Set([...this.cards.values()].flatMap((card) => card.insiders).slice(0, maximumLines));
    if (!subjects.size || this.isForbidden) return;
    const named = [...subjects].map((subject) => `&subject=${part(subject)}`).join("");
    const body = await getIfAllowed(
      `/v1/history/subjects?limit=${maximumLines}&${range.query(minutesOfHour)}${named}`,
      null,
      this.signal,
    );
    this.isForbidden = body === null;
    for (const entry of body?.subjects ?? []) this.levels.set(entry.subject, entry.rssi);
  }

  async add(start = {}, region = null) {
    if (!this.applications.length) await this.loadRegions().catch(() => {});
    const saved = await openRegionForm({ applications: this.applications, start, region });
    if (!saved) return;
    notify(region ? `Region ${saved.id} was changed.` : `Region ${saved.id} was added: it is monitored from now on.`);
    this.reload();
  }

  async addApplication() {
    if (await openApplicationForm()) this.reload();
  }

  async remove(application, region) {
    const isSure = await confirmThat(
      "Remove this region?",
      `“${region.id}” of ${application.id} is no longer monitored. Its events stay in the journal.`,
      "Remove region",
    );
    if (!isSure) return;
    await attempt(
      () => change("DELETE", `/v1/applications/${part(application.id)}/regions/${part(region.id)}`),
      `Region ${region.id} was removed.`,
    );
    this.reload();
  }
}
