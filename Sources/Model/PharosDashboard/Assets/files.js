// Files that a page saves, and tables for spreadsheets.

import { h } from "./dom.js";

/** Saves a file on the reader's machine: a link of its own would carry no token. */
export function saveFile(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  h("a", { href: address, download: name.replace(/[^\p{L}\p{N}.-]+/gu, "-") }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Rows as CSV below a head: `columns` are pairs of a title and a function that gives a row's value. */
export function csvOf(columns, rows) {
  const lines = [columns.map(([title]) => title), ...rows.map((row) => columns.map(([, valueOf]) => valueOf(row)))];
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

/** A cell; a text that a spreadsheet would compute gets an apostrophe, since names come from the air. */
function cell(value) {
  if (typeof value === "number") return String(value);
  const text = String(value ?? "").replace(/^[=+\-@\t\r]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
