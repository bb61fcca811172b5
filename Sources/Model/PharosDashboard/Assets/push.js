// Notifications of this browser, also while no page is open: its subscription at a push service is a webhook.

import { change, get, listIfAllowed, part } from "./api.js";
import { attempt, notify } from "./dialog.js";
import { h, replace } from "./dom.js";
import { card } from "./parts.js";

const worker = "/assets/push-worker.js";

/** The card that lets this browser be notified, or ends it. */
export function browserNotifications() {
  const place = h("div", { class: "body" });
  const element = card("This browser", "Notifications that arrive while this page is closed.", place);
  const show = async () => replace(place, await content(show));
  show().catch((error) => replace(place, h("p", { class: "soft" }, error.message)));
  return element;
}

async function content(show) {
  if (!("serviceWorker" in navigator) || !("PushManager" in globalThis)) {
    return h("p", { class: "soft" }, "It needs a browser with Web Push, and this page over https or from localhost.");
  }
  if (Notification.permission === "denied") {
    return h("p", { class: "soft" }, "This browser refuses notifications of this page. Its settings can allow them.");
  }
  const button = (text, action, tone = "") =>
    h("button", { type: "button", class: `small ${tone}`, onClick: () => attempt(action).then(show) }, text);
  const own = await ownWebhook();
  if (!own) return h("div", { class: "actions" }, button("Notify this browser", subscribe, "primary"));
  return h(
    "div",
    { class: "actions" },
    h("span", null, "This browser is notified."),
    button("Send a test", () => test(own)),
    button("Stop", () => unsubscribe(own), "danger"),
  );
}

/** The subscription of this browser, or null. */
async function subscription() {
  const registration = await navigator.serviceWorker.getRegistration(worker);
  return await registration?.pushManager.getSubscription() ?? null;
}

/** The webhook of this browser, or undefined. */
async function ownWebhook() {
  const endpoint = (await subscription())?.endpoint;
  if (!endpoint) return undefined;
  const webhooks = await listIfAllowed("/v1/webhooks", "webhooks");
  return webhooks.find(({ url }) => url === endpoint);
}

async function subscribe() {
  if (await Notification.requestPermission() !== "granted") return;
  const { publicKey } = await get("/v1/push");
  const registration = await active(await navigator.serviceWorker.register(worker));
  // An earlier one may be for the key of another server at this address.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const made = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  const { endpoint, keys } = made.toJSON();
  const system = navigator.userAgentData?.platform || navigator.platform;
  await change("POST", "/v1/webhooks", { url: endpoint, keys, summary: `A browser, ${system}` });
  notify("This browser is notified from now on.");
}

async function unsubscribe({ id }) {
  await change("DELETE", `/v1/webhooks/${part(id)}`);
  await (await subscription())?.unsubscribe();
  notify("This browser is not notified from now on.");
}

async function test({ id }) {
  const { delivered, reason } = await change("POST", `/v1/webhooks/${part(id)}/test`);
  if (!delivered) throw new Error(`The push service refused it: ${reason}`);
}

/** Waits until a worker can receive. */
function active(registration) {
  const starting = registration.installing ?? registration.waiting;
  if (registration.active || !starting) return registration;
  return new Promise((resolve) => {
    starting.addEventListener("statechange", () => {
      if (starting.state === "activated") resolve(registration);
    });
  });
}
