// The entries that say which beacons a region is about.

import { h } from "./dom.js";
import { checkedText, fine, numberOrNothing, select, setMember } from "./form-parts.js";
import { checkHex, checkNumber, checkUUID, uuidText } from "./identity.js";
import { field } from "./parts.js";

const kinds = [["uuid", "UUID (iBeacon, AltBeacon)"], ["eddystone", "Eddystone-UID"], ["mac", "MAC address"]];

/** UUID with major and minor, a namespace with an instance, or an address: one of them is shown. */
export class IdentityFields {
  constructor(values, onInput) {
    this.kind = select("identity", kinds, values.namespace ? "eddystone" : values.mac ? "mac" : "uuid");
    const text = (id, label, check, options) =>
      checkedText(id, label, check, { value: values[id], onInput, ...options });
    const optional = (check) => (entered) => entered.trim() ? check(entered) : fine;
    this.uuid = text("uuid", "UUID", checkUUID, { class: "code" });
    this.major = text("major", "Major", (entered) => checkNumber(entered, 0, 65535, "Major"), { placeholder: "any" });
    this.minor = text("minor", "Minor", (entered) => this.checkMinor(entered), { placeholder: "any" });
    const namespace = (entered) => checkHex(entered, 20, "A namespace", "as in 00010203040506070809");
    this.namespace = text("namespace", "Namespace", namespace, { class: "code" });
    const instance = optional((entered) => checkHex(entered, 12, "An instance", "as in AABBCCDDEEFF"));
    this.instance = text("instance", "Instance", instance, { class: "code", placeholder: "any" });
    const mac = (entered) => checkHex(entered, 12, "A MAC address", "as in AC:23:3F:A0:00:01");
    this.mac = text("mac", "MAC address", mac, { class: "code" });
    this.parts = {
      uuid: [this.uuid.element, h("div", { class: "fields" }, this.major.element, this.minor.element)],
      eddystone: [this.namespace.element, this.instance.element],
      mac: [this.mac.element],
    };
    this.elements = [field("Which beacons", this.kind).element, ...Object.values(this.parts).flat()];
    this.uuid.input.addEventListener("blur", () => {
      const tidy = uuidText(this.uuid.input.value);
      if (tidy) this.uuid.input.value = tidy;
    });
    this.kind.addEventListener("change", () => {
      this.showKind();
      onInput();
    });
    this.showKind();
  }

  checkMinor(text) {
    const hasNoMajor = text.trim() && !this.major.input.value.trim();
    if (hasNoMajor) return { ok: false, isWrong: true, text: "A minor needs a major." };
    return checkNumber(text, 0, 65535, "Minor");
  }

  showKind() {
    for (const [kind, elements] of Object.entries(this.parts)) {
      for (const element of elements) element.hidden = kind !== this.kind.value;
    }
  }

  /** The entries that are shown. */
  get shown() {
    switch (this.kind.value) {
      case "eddystone":
        return [this.namespace, this.instance];
      case "mac":
        return [this.mac];
      default:
        return [this.uuid, this.major, this.minor];
    }
  }

  /** The entry behind a field that the server names. */
  entry(name) {
    return {
      uuid: this.uuid,
      major: this.major,
      minor: this.minor,
      namespace: this.namespace,
      instance: this.instance,
      mac: this.mac,
    }[name];
  }

  /** The members of the document. */
  document() {
    const document = {};
    for (const { input } of this.shown) {
      const isNumber = input.id === "major" || input.id === "minor";
      setMember(document, input.id, isNumber ? numberOrNothing(input.value) : input.value.trim());
    }
    return document;
  }
}
