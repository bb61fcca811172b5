// The events that all pages share: one stream, kept in a bounded list.

import { get, isAbort, schemas, serverNow } from "./api.js";
import { EventStream } from "./stream.js";

/** How many entries are kept: a few screens of history, some 2 MB. */
const maximum = 2000;
/** How many events are loaded before the stream begins. */
const before = 200;
/** Beyond any sequence number, and exact in a double. */
const end = Number.MAX_SAFE_INTEGER;
/** A tab that was hidden for longer than this, in ms, loads the latest events instead of all that it missed. */
const longAbsence = 600000;
/** A hidden tab gives its connection back after so many ms: browsers allow six to a server. */
const hiddenPatience = 15000;
let kinds = null;

/** The kinds that the journal keeps, as the server describes them: not ranging and fixes, which have their own streams. */
async function query() {
  kinds ??= (await schemas()).WebhookDocument.properties.filter.properties.kinds.items.enum
    .filter((kind) => kind.startsWith("pharos."));
  return `?kind=${kinds.join(",")}`;
}

/** The entries, oldest first. */
export const items = [];
/** How the stream stands. */
export let state = { kind: "connecting" };

/** Whether the stream goes on while the tab is hidden. */
let staysOpen = false;

const listeners = new Set();
const stateListeners = new Set();
let pausedAt = null;
let resumption = null;

const stream = new EventStream({ query, onItems: receive, onState: setState });

/** Calls back with each new batch of entries until the returned function is called. */
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls back with the stream's state, now and whenever it changes. */
export function listenToState(listener) {
  stateListeners.add(listener);
  listener(state);
  return () => stateListeners.delete(listener);
}

/** Keeps the stream open while the tab is hidden, or no longer. */
export function stayOpen(stays) {
  staysOpen = stays;
}

/** The last sequence number seen, or null. */
export function lastSequence() {
  return stream.last;
}

/** Loads the latest events and follows from there. */
export async function start() {
  document.addEventListener("visibilitychange", watchVisibility);
  addEventListener("online", () => stream.expedite());
  await begin();
}

async function begin() {
  let after = null;
  try {
    const body = await get(`/v1/events${await query()}&before=${end}&limit=${before}`);
    const loaded = (body.events ?? []).map((entry) => ({
      type: "event",
      sequence: entry.sequence,
      event: entry.event,
      isOld: true,
    }));
    loaded.sort((left, right) => left.sequence - right.sequence);
    receive(loaded);
    after = loaded.at(-1)?.sequence ?? 0;
  } catch (error) {
    if (isAbort(error)) return;
    if (error.status === 401 || error.status === 403) return setState({ kind: "refused" });
    // A server that is not there yet: the stream goes on trying, from the journal's begin if need be.
    after = 0;
  }
  stream.start(after);
}

function receive(batch) {
  for (const item of batch) {
    if (item.type === "note" && item.note === "resumed") resumption = item;
    if (item.isCaughtUp && resumption) resumption.missed += 1;
    items.push(item);
  }
  if (items.length > maximum) items.splice(0, items.length - maximum);
  for (const listener of listeners) listener(batch);
}

function setState(next) {
  state = next;
  for (const listener of stateListeners) listener(state);
}

let hiding = null;
function watchVisibility() {
  clearTimeout(hiding);
  if (document.hidden) {
    hiding = setTimeout(() => {
      if (staysOpen) return;
      pausedAt = serverNow();
      stream.stop();
      setState({ kind: "paused" });
    }, hiddenPatience);
  } else if (pausedAt !== null) {
    const isLong = serverNow() - pausedAt > longAbsence;
    receive([{ type: "note", note: isLong ? "skipped" : "paused", at: pausedAt, after: stream.last }]);
    pausedAt = null;
    if (isLong) begin();
    else stream.start();
  }
}
