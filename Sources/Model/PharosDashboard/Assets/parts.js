// Small parts that many pages use.

import { follow, h, replace, setAttribute, setText } from "./dom.js";
import { serverNow } from "./api.js";
import { ago, byName, none, time, utc } from "./format.js";

/** The head of a page: its title, what it is for, and what can be done. */
export function pageHead(title, text, ...actions) {
  return h(
    "div",
    { class: "page-head" },
    h("div", null, h("h1", null, title), h("p", null, text)),
    actions.length ? h("div", { class: "actions" }, actions) : null,
  );
}

/** A card with a heading. */
export function card(title, note, ...children) {
  return h(
    "section",
    { class: "card" },
    h("header", null, h("div", null, h("h2", null, title), note ? h("p", null, note) : null)),
    children,
  );
}

/** What stands where nothing is yet, and what to do about it. */
export function empty(title, text, ...actions) {
  return h(
    "div",
    { class: "empty" },
    h("b", null, title),
    text,
    actions.length ? h("div", { class: "actions" }, actions) : null,
  );
}

/** A mark with words: colour is never the only sign. */
export function chip(tone, text) {
  return h("span", { class: `chip ${tone}` }, text);
}

/** Changes a chip in place. */
export function setChip(node, tone, text) {
  setAttribute(node, "class", `chip ${tone}`);
  setText(node, text);
}

/** A time where the reader is, with UTC at hand. */
export function timeNode(text) {
  return setTime(h("time"), text);
}

/** Changes a time in place. */
export function setTime(node, text) {
  setText(node, time(text));
  setAttribute(node, "datetime", text || null);
  setAttribute(node, "title", utc(text) || null);
  return node;
}

/** Changes a time in place to how long ago it was. */
export function setAgo(node, text) {
  setText(node, text ? ago(text, serverNow()) : none);
  setAttribute(node, "datetime", text || null);
  setAttribute(node, "title", text ? `${time(text)} (${utc(text)})` : null);
  return node;
}

/**
 * A table that follows a list by key.
 *
 * A column is `{ title, class, text(item), hint(item) }`, or with nodes of its own
 * `{ title, make(item), update(node, item) }`; one with `sort(item)`, a number, a text or null, can be sorted by.
 */
export class Table {
  constructor(caption, columns, keyOf) {
    this.columns = columns;
    this.keyOf = keyOf;
    this.sorted = null;
    this.isDown = false;
    const isSortable = columns.some((column) => column.sort);
    const heads = columns.map((column) => {
      const head = h("th", { scope: "col", role: "columnheader", class: column.class?.replace("first", "") });
      const onClick = () => this.#sort(column, head);
      if (!column.title) head.append(h("span", { class: "visually-hidden" }, "Actions"));
      else {head.append(
          column.sort ? h("button", { type: "button", class: "sort", onClick }, column.title) : column.title,
        );}
      return head;
    });
    this.heads = heads;
    this.body = h("tbody", { role: "rowgroup" });
    this.element = h(
      "table",
      { class: `table${isSortable ? " sortable" : ""}`, role: "table", "aria-label": caption },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)),
      this.body,
    );
  }

  /** Puts the table in the place of what an element held, unless it is there. */
  showIn(place) {
    if (!place.contains(this.element)) replace(place, h("div", { class: "scroll" }, this.element));
  }

  /** Sorts by a column, or the other way round. */
  #sort(column, head) {
    this.isDown = this.sorted === column && !this.isDown;
    this.sorted = column;
    for (const other of this.heads) setAttribute(other, "aria-sort", null);
    setAttribute(head, "aria-sort", this.isDown ? "descending" : "ascending");
    this.show(this.items, this.maximum);
  }

  /** The items in the order that the reader chose; what has no value comes last. */
  order(items) {
    if (!this.sorted) return items;
    const valued = items.map((item) => [this.sorted.sort(item), item]);
    const isNone = (value) => value === null || value === undefined || Number.isNaN(value);
    valued.sort(([a], [b]) => {
      if (isNone(a) || isNone(b)) return Number(isNone(a)) - Number(isNone(b));
      const order = typeof a === "number" ? a - b : byName(a, b);
      return this.isDown ? -order : order;
    });
    return valued.map(([, item]) => item);
  }

  /** Shows items, at most so many. */
  show(items, maximum = Infinity) {
    Object.assign(this, { items, maximum });
    const shown = this.order(items).slice(0, maximum);
    follow(this.body, shown, this.keyOf, (item) => this.#make(item), (row, item) => this.#update(row, item));
  }

  #make(item) {
    const cells = this.columns.map((column) => {
      const cell = h("td", { role: "cell", class: column.class, "data-label": column.title });
      if (column.make) cell.append(column.make(item));
      return cell;
    });
    return h("tr", { role: "row" }, cells);
  }

  #update(row, item) {
    for (const [index, column] of this.columns.entries()) {
      const cell = row.children[index];
      if (column.make) column.update?.(cell.firstChild, item);
      else setText(cell, column.text(item));
      // A telephone leaves out what there is nothing to say of.
      cell.classList.toggle("is-none", cell.textContent === none);
      if (column.hint) setAttribute(cell, "title", column.hint(item) || null);
    }
  }
}

/** A row of buttons of which one is pressed. */
export function segments(label, choices, chosen, onChoose) {
  const buttons = choices.map(([value, text]) =>
    h("button", {
      type: "button",
      "aria-pressed": String(value === chosen),
      onClick: () => {
        for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === value));
        onChoose(value);
      },
      "data-value": value,
    }, text)
  );
  return h("div", { class: "segments", role: "group", "aria-label": label }, buttons);
}

/** A labelled entry of a form with a line below it that says what is wanted, or what is wrong. */
export function field(label, input, hint = "") {
  const line = h("p", { class: "hint", id: `${input.id}-hint` }, hint);
  input.setAttribute("aria-describedby", line.id);
  const element = h("div", { class: "field" }, h("label", { for: input.id }, label), input, line);
  const say = (tone, text) => {
    setAttribute(line, "class", `hint ${tone}`);
    setText(line, text);
    setAttribute(input, "aria-invalid", tone === "bad" ? "true" : null);
  };
  return { element, input, say };
}

/** Explains why a page cannot be shown: the token does not allow it, or the server does not answer. */
export function refusal(error) {
  if (error.status === 401) return empty("A token is needed", "Reload the page to enter one.");
  if (error.status === 403) {
    return empty("Not with this token", `${error.message} An operator's token shows all pages.`);
  }
  if (error.status === 404) return empty("Not there", error.message);
  if (error.status) return empty("The server could not answer", error.message);
  return empty("The server does not answer", "It may be restarting. This page keeps trying.");
}
