// The sheets in which a room, a gateway or a person gets a name, and a gateway its room.

import { attempt, notify, openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { checkAll, checkbox, checkedText, fine, saveButton, select, sheetForm } from "./form-parts.js";
import { byName, listed } from "./format.js";
import * as names from "./names.js";
import { field } from "./parts.js";
import { isOfSiteFile, mergeRooms, moveGateway, moveWords, placeRoom, saveObserver, saveTag } from "./site-changes.js";
import { identifierOf, unusedIdentifier } from "./suggestions.js";

const maximumName = 60;

/**
 * Opens the sheet of a room; true once it was saved. `gateways` are those that it may have: one that is in another room
 * moves, and the sheet says so.
 */
export function openRoomForm({ room = null, zones, gateways }) {
  return openDialog(room ? `Change ${room.name || room.id}` : "Add a room", (close) => {
    const others = (id) => zones.filter((zone) => zone.id !== room?.id && zone.observers.includes(id));
    const label = (id) => {
      const rooms = others(id).map((zone) => zone.name || zone.id);
      return rooms.length && !room?.observers.includes(id)
        ? `${names.nameOf(id)}, now in ${listed(rooms)}`
        : names.nameOf(id);
    };
    const boxes = gateways.map(({ id }) => checkbox(`gateway-${id}`, label(id), room?.observers.includes(id)));
    const known = new Set(gateways.map(({ id }) => id));
    const checked = () => gateways.filter((_, index) => boxes[index].input.checked).map(({ id }) => id);
    const chosen = () => [...checked(), ...(room?.observers ?? []).filter((id) => !known.has(id))];
    const moved = () => checked().filter((id) => !room?.observers.includes(id) && others(id).length);
    const inUse = new Set(zones.map((zone) => zone.id));
    const id = (name) => room?.id ?? unusedIdentifier(identifierOf(name) || "room", inUse);
    const moves = h("p", { class: "banner", role: "status", hidden: true });
    let back = null;
    const save = async (name) => {
      const next = { ...room, id: id(name), name, observers: chosen() };
      back = await placeRoom(next, moved(), zones);
      names.rename(next.id, name);
    };
    return nameSheet(room ? room.name || room.id : "", "Room", close, {
      describe: (name) => {
        setText(moves, moved().map((gateway) => moveWords(gateway, room?.id, zones)).join(" "));
        moves.hidden = !moves.textContent;
        if (!chosen().length) return { ok: false, text: name && "Choose the gateways that hear it." };
        const twin = zones.find((zone) => zone.id !== room?.id && sameName(zone.name || zone.id, name));
        return twin
          ? { ok: true, isDoubtful: true, text: "Another room has this name. Merge makes one room of two." }
          : fine;
      },
      rest: [
        h("fieldset", null, h("legend", { class: "legend" }, "Gateways in it"), boxes.map(({ element }) => element)),
        moves,
        gateways.length ? null : h("p", { class: "soft small" }, "No gateway is heard yet."),
      ],
      watched: boxes.map(({ input }) => input),
      save,
      done: (name) => {
        if (!room || sameName(room.name ?? "", name) && room.observers.join() === chosen().join()) return null;
        return [`${name} was saved.`, back];
      },
    });
  });
}

/** Opens the sheet in which a room is merged into another; gives `{ into, back }` once it was. */
export function openMergeForm({ room, zones }) {
  const name = room.name || room.id;
  return openDialog(`Merge ${name} into …`, (close) => {
    const others = zones.filter((zone) => zone.id !== room.id && !isOfSiteFile(zone));
    const choices = others.map((zone) => [zone.id, zone.name || zone.id]).sort(([, a], [, b]) => byName(a, b));
    const into = select("merge-into", choices);
    const words = h("p", { class: "soft" });
    const describe = () => {
      const target = others.find((zone) => zone.id === into.value);
      const gateways = [...new Set([...target?.observers ?? [], ...room.observers])].map(names.nameOf);
      setText(
        words,
        target
          ? `${target.name || target.id} is then heard by ${listed(gateways)}, and ${name} is gone. Its past stays.`
          : "There is no other room that can be changed here.",
      );
    };
    into.addEventListener("change", describe);
    describe();
    const problem = h("p", { class: "banner bad", role: "alert", hidden: true });
    const submit = async () => {
      try {
        const target = others.find((zone) => zone.id === into.value);
        close({ into: target, back: await mergeRooms(room, target, zones) });
      } catch (error) {
        problem.hidden = false;
        setText(problem, error.message);
      }
    };
    const save = saveButton("Merge");
    save.disabled = !others.length;
    return sheetForm([problem, field("Into", into).element, words], save, submit, () => close());
  });
}

/** Opens the sheet of a gateway; true once it was saved. */
export function openGatewayForm({ gateway, zones }) {
  return openDialog(`Change ${names.nameOf(gateway.id)}`, (close) => {
    const own = zones.filter((zone) => zone.observers.includes(gateway.id));
    const choices = [["", "no room"], ...zones.map((zone) => [zone.id, zone.name || zone.id])];
    if (own.length > 1) choices.unshift(["*", `${own.length} rooms, as now`]);
    const start = own.length > 1 ? "*" : own[0]?.id ?? "";
    const room = select("gateway-room", choices, start);
    const entry = field("Room", room);
    const show = () => entry.say("", room.value === start ? "" : moveWords(gateway.id, room.value, zones));
    room.addEventListener("change", show);
    return nameSheet(gateway.name ?? "", "Name", close, {
      isOptional: true,
      describe: (name) => twinWords(name, gateway.id),
      rest: [entry.element],
      watched: [],
      save: async (name) => {
        if (name !== (gateway.name ?? "")) await saveObserver(gateway.id, name);
        if (room.value !== start) await moveGateway(gateway.id, room.value, zones);
      },
      done: (
        name,
      ) => (room.value === start ? renamed(name, gateway.name ?? "", (text) => saveObserver(gateway.id, text)) : null),
    });
  });
}

/** Opens the sheet in which a tag or a person's handset gets a name, or loses it; true once it was saved. */
export function openThingForm({ id, name, kind }) {
  const start = names.isNamed(id) ? name : "";
  const save = (text) => (kind === "tag" ? saveTag(id, text) : saveObserver(id, text));
  return openDialog(`Name ${name}`, (close) =>
    nameSheet(start, "Name", close, {
      isOptional: start !== "",
      describe: (text) => twinWords(text, id),
      rest: [],
      watched: [],
      save,
      done: (text) => renamed(text, start, save),
    }));
}

/** Whether two names are the same for a reader. */
function sameName(one, other) {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** Says that something else has a name already; it may be given nevertheless. */
function twinWords(name, id) {
  const count = names.namesakes(name, id).length;
  return count
    ? { ok: true, isDoubtful: true, text: `${count === 1 ? "Something else has" : `${count} others have`} this name.` }
    : fine;
}

/** What a notice says of a name that was given or taken back, and the function that brings the old one back. */
function renamed(name, before, save) {
  if (name === before) return null;
  return [name ? `The name is ${name} now.` : `${before} is no longer a name.`, () => save(before)];
}

/**
 * A sheet with a name and more; `describe(name)` checks the rest, and `save(name)` does it.
 *
 * With `isOptional` a button takes the name back. `done(name)` gives what a notice says, with the function that undoes it.
 */
function nameSheet(start, label, close, { isOptional, describe, rest, watched, save, done }) {
  const button = saveButton("Save");
  const check = () => {
    button.disabled = !checkAll([name]);
  };
  const checkName = (text) => (text.trim() || isOptional ? describe(text.trim()) : { ok: false, text: "" });
  const name = checkedText("sheet-name", label, checkName, { value: start, onInput: check });
  name.input.maxLength = maximumName;
  for (const input of watched) input.addEventListener("change", check);
  const problem = h("p", { class: "banner bad", role: "alert", hidden: true });
  const submit = async () => {
    button.disabled = true;
    const text = name.input.value.trim();
    try {
      await save(text);
      const [words, back] = done?.(text) ?? [];
      if (words) notify(words, back ? { action: ["Undo", () => attempt(back, "Undone.")] } : {});
      close(true);
    } catch (error) {
      button.disabled = false;
      problem.hidden = false;
      setText(problem, error.message);
    }
  };
  const takeBack = () => {
    name.input.value = "";
    submit();
  };
  const back = isOptional && start
    ? h("div", null, h("button", { type: "button", class: "small", onClick: takeBack }, "Take the name back"))
    : null;
  check();
  return sheetForm([problem, name.element, back, rest], button, submit, () => close());
}
