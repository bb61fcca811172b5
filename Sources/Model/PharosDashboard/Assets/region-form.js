// The sheet in which a region is added or changed, checked as one types and by the server's own words.

import { change, part } from "./api.js";
import { openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { checkAll, checkbox, checkedText, saveButton, select, sheetForm } from "./form-parts.js";
import { field } from "./parts.js";
import { IdentityFields } from "./region-identity.js";
import { RuleFields } from "./region-rules.js";
import { captionMembers } from "./site-changes.js";
import { regionIdentifier, unusedIdentifier, usualSubject } from "./suggestions.js";

/** What a region's document holds besides what the form shows: it stays as it was. */
const kept = ["observers", "key", "notifyEntryStateOnDisplay", "maximumHold", ...captionMembers];
/** The application that is made where there is none yet. */
const firstApplication = "default";

/**
 * Opens the sheet; the promise gives the region saved, or nothing.
 *
 * `start` prefills a new one (`application`, `id`, `uuid`, `major`, `minor`, `namespace`, `instance`, `mac`, `subject`,
 * `observers`: those who hear it, with commas); `region` is the one to change.
 */
export function openRegionForm({ applications, start = {}, region = null }) {
  const title = region ? `Change ${region.id}` : "Add a region";
  return openDialog(title, (close) => new RegionForm(applications, start, region, close).element);
}

class RegionForm {
  constructor(applications, start, region, close) {
    const values = region ?? start;
    this.applications = applications;
    this.region = region;
    this.close = close;
    const check = () => this.check();
    const chosen = start.application ?? applications.find(hasRoom)?.id;
    const choices = applications.map(({ id }) => [id, id]);
    if (!choices.length) choices.push([firstApplication, `${firstApplication} (new)`]);
    this.application = select("application", choices, chosen);
    this.application.disabled = Boolean(region);
    this.limit = field("Application", this.application);
    const named = (text) => ({ ok: Boolean(text.trim()), text: text.trim() ? "" : "The application's name for it." });
    this.identity = new IdentityFields(values, check);
    this.subject = select(
      "subject",
      [["observer", "an observer: a handset that enters"], ["beacon", "a beacon: a tag that gateways hear"]],
      region ? region.subject ?? "observer" : start.subject ?? usualSubject(applications, start.observers?.split(",")),
    );
    const options = { value: values.id ?? this.suggested(start), placeholder: "entrance", onInput: check };
    this.name = checkedText("region-id", "Identifier", named, options);
    this.name.input.disabled = Boolean(region);
    this.entry = checkbox("notifyOnEntry", "Report when someone enters", values.notifyOnEntry ?? true);
    this.exit = checkbox("notifyOnExit", "Report when someone leaves", values.notifyOnExit ?? true);
    this.rules = new RuleFields(values, check);
    this.problem = h("p", { class: "banner bad", role: "alert", hidden: true });
    this.save = saveButton(region ? "Save changes" : "Add region");
    this.application.addEventListener("change", () => this.showLimit());
    this.build();
    this.showLimit();
    this.check();
  }

  /** An identifier for beacons that were named to begin with. */
  suggested(start) {
    if (!start.uuid && !start.namespace && !start.mac) return "";
    const inUse = new Set(this.applications.flatMap(({ list }) => (list ?? []).map((region) => region.id)));
    return unusedIdentifier(regionIdentifier(start, this.subject.value), inUse);
  }

  build() {
    const parts = [
      this.problem,
      h("div", { class: "fields" }, this.limit.element, this.name.element),
      this.identity.elements,
      field("Whose state is it", this.subject).element,
      h("fieldset", null, this.entry.element, this.exit.element),
      h("details", null, h("summary", null, "Rules for being inside"), this.rules.element),
    ];
    this.element = sheetForm(parts, this.save, () => this.submit(), () => this.close(), { novalidate: true });
  }

  showLimit() {
    const application = this.applications.find(({ id }) => id === this.application.value);
    if (!application) return this.limit.say("", "It is made together with its first region.");
    const limit = application.regionLimit ?? 20;
    const used = application.list?.length ?? 0;
    const isFull = used >= limit && !this.region;
    const text = isFull ? `All ${limit} regions are in use.` : `${used} of ${limit} regions in use.`;
    return this.limit.say(isFull ? "bad" : "", text);
  }

  check() {
    this.save.disabled = !checkAll([this.name, ...this.identity.shown, ...this.rules.shown]);
  }

  document() {
    const document = {};
    for (const member of kept) {
      if (this.region?.[member] !== undefined) document[member] = this.region[member];
    }
    Object.assign(document, this.identity.document());
    document.subject = this.subject.value;
    if (document.subject !== "beacon") delete document.observers;
    document.notifyOnEntry = this.entry.input.checked;
    document.notifyOnExit = this.exit.input.checked;
    return Object.assign(document, this.rules.document());
  }

  async submit() {
    this.problem.hidden = true;
    this.save.disabled = true;
    const id = this.name.input.value.trim();
    const application = `/v1/applications/${part(this.application.value)}`;
    try {
      const document = this.document();
      if (!this.applications.length) await change("PUT", application, {});
      await change("PUT", `${application}/regions/${part(id)}`, document);
      this.close({ ...document, id });
    } catch (error) {
      this.save.disabled = false;
      this.explain(error);
    }
  }

  /** Puts what the server says beside the fields that it names, and the rest above them. */
  explain(error) {
    const rest = [];
    for (const found of error.errors ?? []) {
      const text = found.expected ? `${found.message} (expected ${found.expected})` : found.message;
      const entry = this.identity.entry(found.field) ?? this.rules.entry(found.field);
      if (entry) entry.say("bad", text);
      else rest.push(text);
    }
    this.problem.hidden = false;
    setText(this.problem, rest.length ? rest.join(" ") : error.message);
  }
}

function hasRoom(application) {
  return (application.list?.length ?? 0) < (application.regionLimit ?? 20);
}
