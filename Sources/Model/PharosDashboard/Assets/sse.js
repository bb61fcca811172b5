// Server-sent events from text that comes in pieces.

/**
 * Takes text and gives messages `{ id, event, data }`.
 *
 * Source: HTML Living Standard, section 9.2.6; the field `retry` is not used here.
 */
export class EventParser {
  #rest = "";
  #id = "";
  #event = "";
  #data = [];

  /** The messages that a piece of text completes; comments give none. */
  receive(text) {
    const messages = [];
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line === "") this.#finish(messages);
      else if (!line.startsWith(":")) this.#field(line);
    }
    return messages;
  }

  #field(line) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "id") this.#id = value;
    else if (name === "event") this.#event = value;
    else if (name === "data") this.#data.push(value);
  }

  #finish(messages) {
    if (this.#data.length) {
      messages.push({ id: this.#id, event: this.#event, data: this.#data.join("\n") });
    }
    this.#id = "";
    this.#event = "";
    this.#data = [];
  }
}
