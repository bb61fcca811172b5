// Shows notifications that arrive while no page of the dashboard is open.

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("push", (event) => {
  const { id, title, text, link, picture, time } = event.data?.json() ?? {};
  const options = {
    body: text,
    // The same event once more takes the place of the first, without a sound.
    tag: id,
    image: picture,
    icon: "/assets/icon.svg",
    timestamp: Date.parse(time) || Date.now(),
    data: { link },
  };
  event.waitUntil(self.registration.showNotification(title || "Pharos", options));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.link));
});

async function open(link) {
  if (/^https?:/.test(link ?? "")) return self.clients.openWindow(link);
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find(({ url }) => new URL(url).pathname === "/");
  return page ? page.focus() : self.clients.openWindow("/#/notifications");
}
