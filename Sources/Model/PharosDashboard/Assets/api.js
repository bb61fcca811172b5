// Requests to the server that this page came from; the token lives in this tab, or on a wall display in its browser.

const tokenKey = "pharos.token";
let asking = null;
let askForToken = null;
let isDeclined = false;
let clockOffset = 0;
/** The lists that the server gives whole: it refuses a limit there. */
const unpaged = new Set(["/v1/observers", "/v1/zones", "/v1/quarantine", "/v1/webhooks", "/v1/applications"]);
/** What this tab's token was refused: asking again would change nothing. */
const forbidden = new Set();

/** What a server refused, in its own words: a status, a title, a detail, and what is wrong with which field. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail || body?.title || `The server answered ${status}.`);
    this.status = status;
    this.title = body?.title ?? "";
    this.errors = Array.isArray(body?.errors) ? body.errors : [];
  }
}

/** Names the function that asks a person for a token and gives `{ token, isKept }`, or null if they decline. */
export function onTokenNeeded(ask) {
  askForToken = ask;
}

/** The token of this tab, or the one that this browser keeps, or null. */
export function token() {
  return sessionStorage.getItem(tokenKey) ?? localStorage.getItem(tokenKey);
}

/** Removes or replaces the token; with `isKept` it stays after the tab is closed. It may be asked for again. */
export function setToken(value, isKept = false) {
  isDeclined = false;
  forbidden.clear();
  for (const store of [sessionStorage, localStorage]) store.removeItem(tokenKey);
  if (value) (isKept ? localStorage : sessionStorage).setItem(tokenKey, value);
}

/** The time by the server's clock in milliseconds, as well as its answers' dates tell. */
export function serverNow() {
  return Date.now() + clockOffset;
}

function noteClock(response) {
  const date = Date.parse(response.headers.get("date") ?? "");
  if (Number.isNaN(date)) return;
  // The field has whole seconds: less than two of difference say nothing.
  const offset = date + 500 - Date.now();
  clockOffset = Math.abs(offset) > 2000 ? offset : 0;
}

/** Fetches with the token; asks for one where the server wants one, once for all who wait. */
export async function send(path, options = {}) {
  for (;;) {
    const used = token();
    const headers = new Headers(options.headers);
    if (used) headers.set("authorization", `Bearer ${used}`);
    const response = await fetch(path, { ...options, headers });
    noteClock(response);
    if (response.status !== 401) return response;
    if (token() !== used) continue;
    if (isDeclined) return response;
    asking ??= Promise.resolve(askForToken?.(used !== null)).finally(() => {
      asking = null;
    });
    const given = await asking;
    isDeclined = !given;
    if (!given) return response;
    setToken(given.token, given.isKept);
  }
}

async function answer(response) {
  const text = await response.text();
  let body = null;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    if (response.ok) throw new Problem(response.status, { detail: "The server's answer is not JSON." });
  }
  if (!response.ok) throw new Problem(response.status, body);
  return body;
}

/** Gets a document. */
export async function get(path, signal) {
  return answer(await send(path, { signal, headers: { accept: "application/json" } }));
}

/** Gets a text. */
export async function getText(path, signal) {
  const response = await send(path, { signal });
  return response.ok ? response.text() : answer(response);
}

/** Sends a document by a method and gives what comes back. */
export async function change(method, path, body) {
  const options = { method, headers: { accept: "application/json" } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["content-type"] = "application/json";
  }
  return answer(await send(path, options));
}

/** Gives what `ask` gives, or something else where this token may not see it: a page shows less then, not nothing. */
async function ifAllowed(path, otherwise, ask) {
  if (forbidden.has(path)) return otherwise;
  try {
    return await ask();
  } catch (error) {
    if (error.status !== 403) throw error;
    forbidden.add(path);
    return otherwise;
  }
}

/** Gets a document, or something else where this token may not see it. */
export function getIfAllowed(path, otherwise, signal) {
  return ifAllowed(path, otherwise, () => get(path, signal));
}

/** All entries of a list, or none where this token may not see it; of a list without pages its one page. */
export function listIfAllowed(path, member, signal) {
  const whole = () => get(path, signal).then((body) => body[member] ?? []);
  return ifAllowed(path, [], () => (unpaged.has(path) ? whole() : getAll(path, member, signal)));
}

/** All pages of a list, up to so many entries; a path may name the limit of a page. */
export async function getAll(path, member, signal, maximum = 5000) {
  const items = [];
  let cursor = null;
  do {
    const query = [path.includes("limit=") ? "" : "limit=1000", cursor && `cursor=${encodeURIComponent(cursor)}`];
    const added = query.filter(Boolean).join("&");
    const body = await get(added ? `${path}${path.includes("?") ? "&" : "?"}${added}` : path, signal);
    items.push(...(body?.[member] ?? []));
    cursor = body?.next ?? null;
  } while (cursor && items.length < maximum);
  return items;
}

/** A part of a path, with what would end it escaped. */
export function part(text) {
  return encodeURIComponent(text);
}

/** Returns whether an error only reports that the user left the page. */
export function isAbort(error) {
  return error?.name === "AbortError";
}

let described = null;

/** The schemas of documents by their names, as the server describes its interface; loaded once. */
export function schemas() {
  described ??= get("/openapi.json").then(({ components }) => components.schemas).catch((error) => {
    described = null;
    throw error;
  });
  return described;
}
