// Notification rules: a hello and a goodbye for a room or a region, sent as events and to webhooks.

import { change, get, part } from "./api.js";
import { attempt, confirmThat } from "./dialog.js";
import { h, replace, setText } from "./dom.js";
import { none, plural, time } from "./format.js";
import { shortIdentity } from "./identity.js";
import * as names from "./names.js";
import { openNotificationForm } from "./notification-form.js";
import { card, empty, refusal, Table } from "./parts.js";
import { poll } from "./poll.js";

/** The interval at which the rules are read again, in ms: they change only when a person changes them. */
const period = 5000;

/** The card of notification rules, of all applications that this tab may see. */
export function notifications(signal) {
  const place = h("div");
  const note =
    "A text on an occasion, such as a tag or person that enters a room, published as an event to webhooks and feeds.";
  const element = card("Notifications", note, place);
  const add = async (rule) => {
    if (await openNotificationForm(rule)) ask();
  };
  const remove = async (rule) => {
    const text = `“${rule.text}” is no longer published.`;
    if (!await confirmThat(`Remove ${rule.id}?`, text, "Remove rule")) return;
    await attempt(() => change("DELETE", rulePath(rule)), `${rule.id} was removed.`);
    ask();
  };
  const button = () => h("button", { type: "button", class: "small", onClick: () => add() }, "Add notification");
  element.firstChild.append(button());
  const table = new Table("Notification rules", columns(add, remove), (rule) => `${rule.application}/${rule.id}`);
  let isShown = false;
  const ask = poll(
    async () => {
      const applications = (await get("/v1/applications", signal)).applications ?? [];
      const lists = await Promise.all(
        applications.map(({ id }) => get(`/v1/applications/${part(id)}/notifications`, signal)),
      );
      const rules = lists.flatMap((body, index) =>
        (body.notifications ?? []).map((rule) => ({ ...rule, application: applications[index].id }))
      );
      isShown = true;
      setText(element.querySelector("h2"), rules.length ? plural(rules.length, "notification") : "Notifications");
      if (!rules.length) {
        return replace(
          place,
          empty("No notifications", "Say hello when someone enters a room or a region, or goodbye when they leave."),
        );
      }
      table.showIn(place);
      return table.show(rules);
    },
    period,
    signal,
    (error) => {
      if (!isShown) replace(place, refusal(error));
    },
  );
  return element;
}

/** Where a rule is found. */
function rulePath({ application, id }) {
  return `/v1/applications/${part(application)}/notifications/${part(id)}`;
}

const nearnessWords = { immediate: "right beside", near: "near", far: "within reach of" };

/** A beacon by its name; one of several in a few characters. */
function beaconWords(beacon) {
  return names.isNamed(beacon) ? names.nameOf(beacon) : shortIdentity(beacon);
}

/** What keeps a rule from being published each time, in words. */
function limitWords({ atMostOncePer, oncePer, onlyIfStillInsideAfter, quietHours }) {
  const each = oncePer ? ` for each ${oncePer}` : "";
  const limits = [
    atMostOncePer || oncePer ? `once${atMostOncePer ? ` in ${atMostOncePer}` : ""}${each}` : "",
    onlyIfStillInsideAfter ? `after ${onlyIfStillInsideAfter}` : "",
    quietHours ? `not ${quietHours.from}–${quietHours.to}` : "",
  ].filter(Boolean);
  return limits.join(", ") || none;
}

/** The occasion of a rule, in words. */
export function whenWords({ on, region, zone, beacon, proximity, belowMillivolts, appointment }) {
  const place = region ?? (zone ? names.nameOf(zone) : "any place");
  switch (on) {
    case "exit":
      return `leaves ${place}`;
    case "proximity":
      return `is ${nearnessWords[proximity] ?? proximity} ${beacon ? beaconWords(beacon) : `the beacons of ${place}`}`;
    case "arrive":
      return `arrives at ${place}`;
    case "depart":
      return `departs from ${place}`;
    case "lowBattery":
      return `has less than ${belowMillivolts} mV`;
    case "offline":
      return "goes offline";
    case "deadline":
      return `has to leave for ${appointment?.place} at ${time(appointment?.time)}`;
    default:
      return `enters ${place}`;
  }
}

function columns(change, remove) {
  const actions = (rule) => {
    const row = h("div", { class: "actions" });
    const button = (text, action, tone) =>
      h("button", {
        type: "button",
        class: `small ${tone}`,
        "aria-label": `${text} ${rule.id}`,
        onClick: () => action(row.rule),
      }, text);
    row.append(button("Change", change, ""), button("Remove", remove, "danger"));
    return row;
  };
  return [
    {
      title: "Text",
      class: "first",
      text: ({ title, text }) => title ? `${title}: ${text}` : text,
      hint: (rule) => rule.id,
    },
    { title: "When", text: whenWords, hint: (rule) => rule.subject },
    { title: "Application", text: (rule) => rule.application },
    { title: "Limits", text: limitWords, hint: (rule) => rule.quietHours?.timeZone },
    {
      title: "",
      class: "bare",
      make: actions,
      update: (row, rule) => {
        row.rule = rule;
      },
    },
  ];
}
