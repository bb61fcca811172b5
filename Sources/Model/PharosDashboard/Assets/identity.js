// Identities of beacons: their text, and what is wrong with one while it is typed.

const digits = /^[0-9a-f]$/i;

/** A UUID as it is usually written, from any text that holds its 32 digits; or null. */
export function uuidText(text) {
  const plain = text.replace(/[-\s{}]/g, "");
  if (!/^[0-9a-f]{32}$/i.test(plain)) return null;
  const parts = [plain.slice(0, 8), plain.slice(8, 12), plain.slice(12, 16), plain.slice(16, 20), plain.slice(20)];
  return parts.join("-").toUpperCase();
}

/** What to say about a UUID as it is being typed: `{ ok, text }`. */
export function checkUUID(text) {
  return checkHex(text, 32, "A UUID", "as in E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", /[-\s{}]/);
}

/** The same for hexadecimal text of any length. */
export function checkHex(text, wanted, noun, example, skipped = /[-:\s]/) {
  const trimmed = text.trim();
  if (!trimmed) return { ok: false, isEmpty: true, text: `${noun} has ${wanted} hexadecimal digits, ${example}.` };
  let found = 0;
  for (const [place, character] of [...trimmed].entries()) {
    if (skipped.test(character)) continue;
    if (!digits.test(character)) {
      return {
        ok: false,
        isWrong: true,
        text: `“${character}” at place ${place + 1} is no hexadecimal digit (0–9, A–F).`,
      };
    }
    found += 1;
  }
  if (found < wanted) return { ok: false, text: `${found} of ${wanted} digits; ${wanted - found} to go.` };
  if (found > wanted) {
    return {
      ok: false,
      isWrong: true,
      text: `${found - wanted} too many: ${noun.toLowerCase()} has ${wanted} digits.`,
    };
  }
  return { ok: true, text: "Complete." };
}

/** What to say about a whole number in a range, which may be left out. */
export function checkNumber(text, minimum, maximum, noun) {
  const trimmed = text.trim();
  if (!trimmed) return { ok: true, isEmpty: true, text: "" };
  if (!/^-?\d+$/.test(trimmed) || Number(trimmed) < minimum || Number(trimmed) > maximum) {
    return {
      ok: false,
      isWrong: true,
      text: `${noun} is a whole number from ${minimum} to ${maximum.toLocaleString("en")}.`,
    };
  }
  return { ok: true, text: "" };
}

/** What to say about a time with a unit, which may be left out. */
export function checkTime(text, noun) {
  const trimmed = text.trim();
  if (!trimmed) return { ok: true, isEmpty: true, text: "" };
  if (/^\d+(\.\d+)?(ms|s|m|h)$/.test(trimmed)) return { ok: true, text: "" };
  return { ok: false, isWrong: true, text: `${noun} is a time with its unit, as in 350ms, 3s, 5m or 1h.` };
}

/** The parts of an identity's text as the server writes it. */
export function parseIdentity(text) {
  const eddystone = /^eddystone:([0-9a-f]{20})\/([0-9a-f]{12}|\*)/i.exec(text);
  if (eddystone) {
    return { kind: "eddystone", namespace: eddystone[1], ...(eddystone[2] === "*" ? {} : { instance: eddystone[2] }) };
  }
  const mac = /^mac:(.+)$/i.exec(text);
  if (mac) return { kind: "mac", mac: mac[1] };
  const proximity = /^([0-9a-f-]{36})\/(\d+|\*)\/(\d+|\*)/i.exec(text);
  if (!proximity) return null;
  const parts = { kind: "uuid", uuid: proximity[1] };
  if (proximity[2] !== "*") parts.major = Number(proximity[2]);
  if (proximity[3] !== "*") parts.minor = Number(proximity[3]);
  return parts;
}

/** An identity in a few characters: the begin of its UUID, major and minor. */
export function shortIdentity(text) {
  const parts = parseIdentity(text ?? "");
  if (!parts) return text ?? "";
  if (parts.kind === "uuid") return `${parts.uuid.slice(0, 8)}… ${parts.major ?? "any"}/${parts.minor ?? "any"}`;
  if (parts.kind === "eddystone") return `Eddystone ${parts.namespace.slice(0, 6)}… ${parts.instance ?? "any"}`;
  return parts.mac;
}

/** What a beacon without a name is called: “Tag 7/4”; the identity itself for anything else. */
export function tagName(text) {
  const parts = parseIdentity(text ?? "");
  if (!parts) return text ?? "";
  if (parts.kind === "uuid") return `Tag ${parts.major ?? "any"}/${parts.minor ?? "any"}`;
  return parts.kind === "eddystone" ? `Tag ${parts.instance ?? "any"}` : `Tag ${parts.mac}`;
}

/** Which beacons a region's document asks about, in words and in full. */
export function constraintText(region) {
  if (region.uuid) return `${region.uuid} / ${region.major ?? "any major"} / ${region.minor ?? "any minor"}`;
  if (region.namespace) return `Eddystone ${region.namespace} / ${region.instance ?? "any instance"}`;
  if (region.mac) return `MAC ${region.mac}`;
  return areaText(region);
}

/** The area of a geofence in words, such as "circle of 20m around 48.1, 11.5, level 0"; empty if the region is none. */
/** The polygons of an area, each a list of rings: `coordinates` holds one polygon or a list of them. */
export function polygonsOf(region) {
  const coordinates = region.coordinates ?? [];
  return Array.isArray(coordinates[0]?.[0]?.[0]) ? coordinates : [coordinates];
}

function areaText(region) {
  const floor = `${region.building ? `, ${region.building}` : ""}${
    region.level === undefined ? "" : `, level ${region.level}`
  }`;
  if (region.kind === "circle") {
    return `circle of ${region.radius} around ${region.latitude}, ${region.longitude}${floor}`;
  }
  if (region.kind !== "polygon") return "";
  const polygons = polygonsOf(region);
  const rings = polygons.flat();
  const outline = rings[0] ?? [];
  const holes = rings.length - polygons.length;
  const cut = holes > 0 ? ` with ${holes} ${holes === 1 ? "hole" : "holes"}` : "";
  const at = outline[0] ? ` at ${outline[0][1]}, ${outline[0][0]}` : "";
  const shape = polygons.length > 1
    ? `${polygons.length} polygons of ${rings.flat().length} corners`
    : `polygon of ${outline.length} corners`;
  return `${shape}${cut}${at}${floor}`;
}
