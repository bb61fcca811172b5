// One live stream of events that comes back by itself and says what it missed.

import { send, serverNow } from "./api.js";
import { instant } from "./format.js";
import { EventParser } from "./sse.js";

/** The waits between attempts in ms: soon at first, then every ten seconds, so that a restarted server is found quickly. */
const waits = [300, 600, 1200, 2500, 5000, 10000];
/** A stream without even a heartbeat for so many ms is taken for dead: two of the server's 5 s, and two for the network. */
const silenceLimit = 12000;
/** A connection that lasted longer than this, in ms, was sound: after it, the waits start from the shortest again. */
const soundFor = 3000;

/**
 * Follows `/v1/events` from a sequence number on.
 *
 * `query` is a text or a function that gives one. `onItems` gets arrays of `{ type: "event", sequence, event }` and
 * `{ type: "note", … }`; `onState` gets `{ kind: connecting | live | waiting | paused | refused, … }`.
 */
export class EventStream {
  #query;
  #onItems;
  #onState;
  #stop = null;
  #wake = null;

  /** The last sequence number that was received, or null before the first. */
  last = null;

  constructor({ query = "", onItems, onState = () => {} }) {
    this.#query = query;
    this.#onItems = onItems;
    this.#onState = onState;
  }

  /** Begins after a sequence number; null begins with what comes next. */
  start(after = this.last) {
    this.stop();
    this.last = after;
    const stop = new AbortController();
    this.#stop = stop;
    this.#run(stop.signal);
  }

  /** Ends; `start()` goes on where it stopped. */
  stop() {
    this.#stop?.abort();
    this.#stop = null;
  }

  /** Tries again at once, if it is waiting. */
  expedite() {
    this.#wake?.();
  }

  async #run(signal) {
    let failures = 0;
    let lostAt = null;
    while (!signal.aborted) {
      this.#onState({ kind: lostAt ? "waiting" : "connecting", attempt: failures });
      const began = Date.now();
      const reason = await this.#connect(signal, lostAt, () => {
        lostAt = null;
      });
      if (signal.aborted) return;
      if (reason === "refused") return this.#onState({ kind: "refused" });
      if (!lostAt) {
        lostAt = serverNow();
        this.#onItems([{ type: "note", note: "lost", at: lostAt, after: this.last }]);
      }
      if (Date.now() - began > soundFor) failures = 0;
      const wait = waits[Math.min(failures, waits.length - 1)];
      failures += 1;
      this.#onState({ kind: "waiting", until: Date.now() + wait, attempt: failures });
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, wait);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener("abort", this.#wake, { once: true });
      });
    }
  }

  async #connect(signal, lostAt, connected) {
    const abort = new AbortController();
    const cancel = () => abort.abort();
    signal.addEventListener("abort", cancel, { once: true });
    let watchdog = setTimeout(cancel, silenceLimit);
    try {
      const headers = { accept: "text/event-stream" };
      if (this.last !== null) headers["last-event-id"] = String(this.last);
      const query = typeof this.#query === "string" ? this.#query : await this.#query();
      const response = await send(`/v1/events${query}`, { headers, signal: abort.signal, cache: "no-store" });
      if (response.status === 401 || response.status === 403) return "refused";
      if (!response.ok || !response.body) return "failed";
      const resumedAt = serverNow();
      connected();
      this.#onState({ kind: "live" });
      if (lostAt) this.#onItems([{ type: "note", note: "resumed", at: resumedAt, after: this.last, missed: 0 }]);
      const parser = new EventParser();
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return "ended";
        clearTimeout(watchdog);
        watchdog = setTimeout(cancel, silenceLimit);
        this.#receive(parser.receive(decoder.decode(value, { stream: true })), lostAt ? resumedAt : null);
      }
    } catch {
      return "failed";
    } finally {
      clearTimeout(watchdog);
      signal.removeEventListener("abort", cancel);
      abort.abort();
    }
  }

  #receive(messages, resumedAt) {
    const items = [];
    for (const message of messages) {
      let data;
      try {
        data = JSON.parse(message.data);
      } catch {
        continue;
      }
      if (!data.specversion) {
        if (message.id !== "") this.last = Math.max(this.last ?? 0, Number(message.id));
        items.push({ type: "note", note: data.from !== undefined ? "gap" : "dropped", at: serverNow(), ...data });
        continue;
      }
      const sequence = message.id === "" ? null : Number(message.id);
      if (sequence !== null) {
        if (this.last !== null && sequence <= this.last) continue;
        this.last = sequence;
      }
      const isLate = resumedAt !== null && instant(data.data?.decidedAt ?? data.time) < resumedAt;
      items.push({ type: "event", sequence, event: data, isCaughtUp: isLate });
    }
    if (items.length) this.#onItems(items);
  }
}
