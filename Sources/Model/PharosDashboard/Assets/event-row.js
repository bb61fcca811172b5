// One event as a row of a list, and the notes between events about the stream itself.

import { h, setAttribute, setText } from "./dom.js";
import { count, plural, time, utc } from "./format.js";
import { headline } from "./words.js";

/** What the colour and the shape of a dot say; an event without a tone has none. */
const tones = { good: "came, or works", off: "left", warn: "worth a look", bad: "wrong" };

/** The dot of a tone, with its meaning at hand. */
export function toneMark(tone) {
  const words = tones[tone];
  return h("span", words ? { class: `dot ${tone}`, title: words, "aria-hidden": "true" } : { "aria-hidden": "true" });
}

/** A row for an entry of the feed. `onOpen` makes it open in place; without, it leads to the page of events. */
export function eventRow(item, { onOpen, isTight } = {}) {
  if (item.type === "note") return noteRow(item);
  const { tone, text } = headline(item.event);
  // The feed is in the order of decisions, which that of the events' own times may differ from.
  const decidedAt = item.event.data?.decidedAt ?? item.event.time;
  const parts = [
    h("time", { datetime: decidedAt, title: utc(decidedAt) }, time(decidedAt)),
    toneMark(tone),
    h("span", { class: "text" }, text),
    isTight ? null : h(
      "span",
      { class: "sequence", title: "Sequence number in the journal" },
      item.sequence ? `#${item.sequence}` : "live",
    ),
  ];
  if (isTight) parts.push(parts.shift());
  const row = onOpen
    ? h("button", { type: "button", class: "row", "aria-expanded": "false", onClick: () => onOpen(item) }, parts)
    : h("a", { class: "row", href: `#/events/${item.sequence ?? ""}` }, parts);
  return h("li", null, row);
}

/** Names may have become known since. */
export function updateEventRow(element, item) {
  if (item.type === "note") return setText(element.firstChild, noteWords(item));
  setText(element.querySelector(".text"), headline(item.event).text);
  return undefined;
}

function noteRow(item) {
  const isCalm = item.note === "resumed" || item.note === "paused" || item.note === "skipped";
  return h(
    "li",
    { class: "note" },
    h("p", { class: `gap ${isCalm ? "calm" : ""}`, title: utc(new Date(item.at).toISOString()) }, noteWords(item)),
  );
}

/** What happened to the stream, without embellishment. */
export function noteWords(item) {
  const at = time(new Date(item.at).toISOString());
  const number = item.after ? ` after #${item.after}` : "";
  switch (item.note) {
    case "lost":
      return `${at} Connection lost${number}. Nothing below is missing; what comes next is fetched when the server is back.`;
    case "resumed":
      return `${at} Resumed${number}: ${
        item.missed ? `${plural(item.missed, "event")} caught up` : "nothing was missed"
      }.`;
    case "paused":
      return `${at} Paused while this tab was hidden; resumed${number} from the journal.`;
    case "skipped":
      return `${at} This tab was hidden for long. It loaded the latest events; those in between are in the journal.`;
    case "gap":
      return `${at} Events #${item.from} to #${item.to} are no longer kept by the server: its journal is limited by age and size.`;
    case "dropped":
      return `${at} The server left out ${plural(item.count, "event")}: this page was too slow to take them.`;
    default:
      return `${at} ${count(item.count)}`;
  }
}

/** Marks a row as open or closed. */
export function setOpen(element, isOpen) {
  const row = element.querySelector(".row");
  if (row) setAttribute(row, "aria-expanded", String(isOpen));
}
