// Asking again and again, one request at a time, while a page is open and visible.

import { isAbort } from "./api.js";

/** The shortest interval between two requests, in ms, for callers that ask soon: events may come by the hundred. */
const minimum = 500;

/**
 * Calls `ask` now and every `period` ms until the signal aborts; a hidden tab does not ask.
 *
 * Returns a function that calls `ask` soon.
 *
 * Calls `fail` with each error; the next attempt follows a second later at the earliest.
 */
export function poll(ask, period, signal, fail = () => {}) {
  let timer = null;
  let isAsking = false;
  let isWanted = false;
  let began = -Infinity;

  const again = (wait) => {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(run, Math.max(0, wait));
  };
  const since = () => performance.now() - began;
  const soon = () => {
    if (isAsking) isWanted = true;
    else again(minimum - since());
  };
  const run = async () => {
    if (signal.aborted || document.hidden || isAsking) return;
    isAsking = true;
    began = performance.now();
    try {
      await ask(signal);
      again((isWanted ? minimum : period) - since());
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      fail(error);
      // Who is refused does not become welcome by asking again every second.
      again(error.status === 401 || error.status === 403 ? 30000 : Math.max(1000, period));
    } finally {
      isAsking = false;
      isWanted = false;
    }
  };
  const shown = () => {
    if (!document.hidden) soon();
  };
  document.addEventListener("visibilitychange", shown);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", shown);
  });
  run();
  return soon;
}
