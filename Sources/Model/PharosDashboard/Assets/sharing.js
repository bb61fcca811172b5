// Who may see where a person or thing is, until when and how finely, and who looked.

import { change, getIfAllowed, part, serverNow } from "./api.js";
import { attempt, confirmThat, openDialog } from "./dialog.js";
import { h, replace } from "./dom.js";
import { checkAll, checkedText, fine, localMoment, saveButton, select, setMember, sheetForm } from "./form-parts.js";
import { dayTime, none } from "./format.js";
import * as names from "./names.js";
import { card, empty, field, setTime, Table } from "./parts.js";
import { poll } from "./poll.js";

const period = 5000;
/** How finely one may see where another is, from fine to coarse. */
const accuracies = [
  ["full", "the exact place"],
  ["zone", "the room"],
  ["floor", "the floor"],
  ["building", "the building"],
  ["venue", "the venue"],
];
const states = { asked: "asks", accepted: "may see", refused: "was refused" };
const means = { friends: "the list of friends", stream: "the live view", guidance: "the way there" };

/** The card of what a subject shares; hidden where this token may not see it. */
export function sharing(subject, signal) {
  const [given, looks] = [h("div"), h("div")];
  const own = `/v1/subjects/${part(subject)}`;
  const pathTo = (viewer) => `${own}/shares/${part(viewer)}`;
  const allow = async (share) => {
    const document = { state: "accepted", accuracy: share.accuracy };
    setMember(document, "until", share.until);
    await attempt(() => change("PUT", pathTo(share.viewer), document), `${names.nameOf(share.viewer)} may see it.`);
    ask();
  };
  const revoke = async ({ viewer }) => {
    const name = names.nameOf(viewer);
    if (!await confirmThat(`Revoke ${name}'s view?`, "It ends at once, in open views too.", "Revoke")) return;
    await attempt(() => change("DELETE", pathTo(viewer)), `${name} no longer sees where it is.`);
    ask();
  };
  const add = h("button", {
    type: "button",
    class: "small",
    onClick: async () => {
      const share = await openDialog("Let someone see where it is", (close) => form(subject, close));
      if (share) await allow(share);
    },
  }, "Let someone see it");
  const element = card("Shared with", "Who may see where it is, until when and how finely, and who looked.", given, looks);
  element.hidden = true;
  element.firstChild.append(add);
  const shares = new Table("Shared with", shareColumns(allow, revoke), ({ viewer }) => viewer);
  const looked = new Table("Looks", lookColumns, ({ viewer, since, means: by, accuracy }) => [viewer, since, by, accuracy].join());
  const ask = poll(
    async () => {
      const [shared, seen] = await Promise.all([
        getIfAllowed(`${own}/shares`, null, signal),
        getIfAllowed(`${own}/looks`, null, signal),
      ]);
      element.hidden = !shared || !seen;
      if (element.hidden) return;
      if (shared.given.length) {
        shares.showIn(given);
        shares.show(shared.given);
      } else {
        replace(given, empty("Not shared", "Only those who run the site see where it is."));
      }
      if (!seen.looks.length) return replace(looks);
      looked.showIn(looks);
      return looked.show(seen.looks);
    },
    period,
    signal,
    () => {
      element.hidden = true;
    },
  );
  return element;
}

function accuracyWords(accuracy) {
  return accuracies.find(([value]) => value === accuracy)?.[1] ?? accuracy;
}

function shareColumns(allow, revoke) {
  const button = (row, text, action, tone) =>
    h("button", {
      type: "button",
      class: `small ${tone}`,
      onClick: () => action(row.share),
    }, text);
  const actions = () => {
    const row = h("div", { class: "actions" });
    row.allow = button(row, "Allow", allow, "");
    row.append(row.allow, button(row, "Revoke", revoke, "danger"));
    return row;
  };
  return [
    { title: "Who", class: "first", text: ({ viewer }) => names.nameOf(viewer), hint: ({ viewer }) => viewer },
    { title: "State", text: ({ state }) => states[state] ?? state },
    { title: "What", text: ({ accuracy }) => accuracyWords(accuracy) },
    { title: "Until", text: ({ until }) => until ? dayTime(Date.parse(until)) : none },
    {
      title: "",
      class: "bare",
      make: actions,
      update: (row, share) => {
        row.share = share;
        row.allow.hidden = share.state === "accepted";
      },
    },
  ];
}

const lookColumns = [
  { title: "Looked", class: "first", text: ({ viewer }) => names.nameOf(viewer), hint: ({ viewer }) => viewer },
  { title: "At", text: (look) => means[look.means] ?? look.means },
  { title: "Saw", text: ({ accuracy }) => accuracyWords(accuracy) },
  { title: "Times", text: ({ count }) => String(count) },
  { title: "Last", make: () => h("time"), update: (node, { until }) => setTime(node, until) },
];

function form(subject, close) {
  let save = null;
  let entries = [];
  const check = () => {
    save.disabled = !checkAll(entries);
  };
  const checkViewer = (text) => {
    if (text.trim() === subject) return { ok: false, isWrong: true, text: "It sees itself anyway." };
    return text.trim() ? fine : { ok: false, text: "As events name it: a handset, or a tag." };
  };
  const checkEnd = (text) => {
    if (!text || Date.parse(text) > serverNow()) return fine;
    return { ok: false, isWrong: true, text: "A time to come." };
  };
  const viewer = checkedText("share-viewer", "Who", checkViewer, { onInput: check });
  const until = checkedText("share-until", "Until", checkEnd, { onInput: check });
  until.input.type = "datetime-local";
  until.input.min = localMoment(serverNow());
  const accuracy = select("share-accuracy", accuracies, "full");
  save = saveButton("Let them see it");
  entries = [viewer, until];
  check();
  const submit = () =>
    close({
      viewer: viewer.input.value.trim(),
      accuracy: accuracy.value,
      until: until.input.value ? new Date(until.input.value).toISOString() : undefined,
    });
  const row = h("div", { class: "fields" }, field("They may see", accuracy).element, until.element);
  return sheetForm([viewer.element, row], save, submit, () => close());
}
