// Answers for the page of a venue while there is no network: what the network last said, kept by the browser.
//
// The network comes first, so that a page is as new as can be, and what the owner has withdrawn is forgotten.

const page = new URL(self.registration.scope).pathname;
const store = `visitor ${page}`;
/** The ways that are kept; the oldest go first. */
const maximumWays = 200;
const scripts = ["visitor.js", "visitor-map.js", "visitor-labels.js", "visitor-words.js", "dom.js", "floor-drawing.js"];
const files = [...scripts, "base.css", "visitor.css", "icon.svg"];

self.addEventListener("install", (event) => {
  const paths = [page, `${page}/data`, ...files.map((file) => `/assets/${file}`)];
  event.waitUntil(caches.open(store).then((cache) => cache.addAll(paths)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  const isOurs = pathname === page || pathname.startsWith(`${page}/`) || pathname.startsWith("/assets/");
  if (event.request.method !== "GET" || origin !== self.location.origin || !isOurs) return;
  event.respondWith(answer(event.request));
});

async function answer(request) {
  const cache = await caches.open(store);
  try {
    const response = await fetch(request);
    if (response.ok) {
      await cache.put(request, response.clone());
      await forgetOldWays(cache);
    } else if (response.status === 404) {
      await cache.delete(request);
    }
    return response;
  } catch (error) {
    const kept = await cache.match(request);
    if (kept) return kept;
    throw error;
  }
}

async function forgetOldWays(cache) {
  const ways = (await cache.keys()).filter(({ url }) => new URL(url).pathname === `${page}/routes`);
  for (const way of ways.slice(0, Math.max(0, ways.length - maximumWays))) await cache.delete(way);
}
