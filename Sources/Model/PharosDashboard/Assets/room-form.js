// The sheets in which a room, a gateway or a person gets a name, and a gateway its room.

import { openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { checkAll, checkbox, checkedText, fine, saveButton, select, sheetForm } from "./form-parts.js";
import * as names from "./names.js";
import { field } from "./parts.js";
import { saveGateway, saveRoom, saveTag } from "./site-changes.js";
import { identifierOf, unusedIdentifier } from "./suggestions.js";

const maximumName = 60;

/** Opens the sheet of a room; true once it was saved. `gateways` are those that it may have. */
export function openRoomForm({ room = null, zones, gateways }) {
  return openDialog(room ? `Change ${room.name || room.id}` : "Add a room", (close) => {
    const boxes = gateways.map(({ id }) => checkbox(`gateway-${id}`, names.nameOf(id), room?.observers.includes(id)));
    const known = new Set(gateways.map(({ id }) => id));
    const chosen = () => [
      ...gateways.filter((_, index) => boxes[index].input.checked).map(({ id }) => id),
      ...(room?.observers ?? []).filter((id) => !known.has(id)),
    ];
    const inUse = new Set(zones.map((zone) => zone.id));
    const id = (name) => room?.id ?? unusedIdentifier(identifierOf(name) || "room", inUse);
    return nameSheet(room ? room.name || room.id : "", "Room", close, {
      describe: (name) => (chosen().length ? fine : { ok: false, text: name && "Choose the gateways that hear it." }),
      rest: [
        h("fieldset", null, h("legend", { class: "legend" }, "Gateways in it"), boxes.map(({ element }) => element)),
        gateways.length ? null : h("p", { class: "soft small" }, "No gateway is heard yet."),
      ],
      watched: boxes.map(({ input }) => input),
      save: (name) => saveRoom({ ...room, id: id(name), name, observers: chosen() }),
    });
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
    return nameSheet(gateway.name ?? "", "Name", close, {
      describe: () => fine,
      rest: [field("Room", room, lastOne(own)).element],
      watched: [],
      save: (name) => {
        const isMoved = room.value !== start;
        return saveGateway(gateway.id, name === gateway.name ? "" : name, isMoved ? room.value : undefined, zones);
      },
    });
  });
}

/** Opens the sheet in which a tag or a person's handset gets a name; true once it was saved. */
export function openThingForm({ id, name, kind }) {
  return openDialog(`Name ${name}`, (close) =>
    nameSheet(names.isNamed(id) ? name : "", "Name", close, {
      describe: () => fine,
      rest: [],
      watched: [],
      save: (entered) => (kind === "tag" ? saveTag(id, entered) : saveGateway(id, entered, undefined, [])),
    }));
}

/** What it means to take the only gateway out of a room. */
function lastOne(rooms) {
  const alone = rooms.filter((zone) => zone.observers.length === 1).map((zone) => zone.name || zone.id);
  return alone.length ? `${alone.join(", ")} has no other gateway: moved elsewhere, that room is removed.` : "";
}

/** A sheet with a name and more; `describe(name)` checks the rest, and `save(name)` does it. */
function nameSheet(start, label, close, { describe, rest, watched, save }) {
  const button = saveButton("Save");
  const check = () => {
    button.disabled = !checkAll([name]);
  };
  const checkName = (text) => (text.trim() ? describe(text.trim()) : { ok: false, text: "" });
  const name = checkedText("sheet-name", label, checkName, { value: start, onInput: check });
  name.input.maxLength = maximumName;
  for (const input of watched) input.addEventListener("change", check);
  const problem = h("p", { class: "banner bad", role: "alert", hidden: true });
  const submit = async () => {
    button.disabled = true;
    try {
      await save(name.input.value.trim());
      close(true);
    } catch (error) {
      button.disabled = false;
      problem.hidden = false;
      setText(problem, error.message);
    }
  };
  check();
  return sheetForm([problem, name.element, rest], button, submit, () => close());
}
