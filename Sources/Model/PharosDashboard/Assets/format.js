// Numbers with their units, times where the reader is, with UTC at hand.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const hourAndMinute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const dayAndMonth = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });

/** A day, the one way in which all pages write it: with its year only where that is not this one. */
function day(at) {
  const date = new Date(at);
  return (date.getFullYear() === new Date().getFullYear() ? dayAndMonth : dayOfYear).format(date);
}

/** What stands where nothing is known. */
export const none = "–";

const known = (value) => typeof value === "number" && Number.isFinite(value);

/** A count with separators: 12,345. */
export function count(value) {
  return known(value) ? whole.format(value) : none;
}

/** A number with so many decimals. */
export function decimal(value, places = 1) {
  return known(value)
    ? value.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places })
    : none;
}

/** A count and its noun: 1 region, 2 regions. */
export function plural(value, noun, many = `${noun}s`) {
  return `${count(value)} ${value === 1 ? noun : many}`;
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** The order of two names: numbers in them count as numbers, so that 9 comes before 10. */
export function byName(a, b) {
  return collator.compare(a, b);
}

/** Texts as a list: a, b and c. */
export function listed(texts) {
  return texts.length > 1 ? `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}` : texts.join("");
}

/** A level in dBm. */
export function level(value) {
  return known(value) && value !== 0 ? `${decimal(value, 0).replace("-", "−")} dBm` : none;
}

/** A distance in metres; what is negative is undetermined. */
export function metres(value) {
  return known(value) && value >= 0 ? `${decimal(value, value < 10 ? 1 : 0)} m` : none;
}

/** A rate a second. */
export function rate(value) {
  if (!known(value)) return none;
  return `${decimal(value, value !== 0 && value < 10 ? 1 : 0)}/s`;
}

/** A share from 0 to 1 in per cent. */
export function percent(share) {
  if (!known(share)) return none;
  const value = share * 100;
  if (value > 0 && value < 0.05) return "< 0.1 %";
  return `${decimal(value, value !== 0 && value < 10 ? 1 : 0)} %`;
}

/** A length of time that is given in seconds, in the unit that fits. */
export function seconds(value) {
  if (!known(value)) return none;
  const sign = value < 0 ? "−" : "";
  const size = Math.abs(value);
  if (size > 0 && size < 0.00995) return `${sign}${decimal(size * 1000, 1)} ms`;
  if (size < 0.9995) return `${sign}${decimal(size * 1000, 0)} ms`;
  if (size < 59.95) return `${sign}${decimal(size, size < 10 ? 1 : 0)} s`;
  const total = Math.round(size);
  if (total < 3600) return `${sign}${Math.floor(total / 60)} min ${total % 60} s`;
  if (total < 86400) return `${sign}${Math.floor(total / 3600)} h ${Math.floor((total % 3600) / 60)} min`;
  return `${sign}${Math.floor(total / 86400)} d ${Math.floor((total % 86400) / 3600)} h`;
}

/** A number of bytes. */
export function bytes(value) {
  if (!known(value)) return none;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${decimal(value, unit === 0 || value >= 100 ? 0 : 1)} ${units[unit]}`;
}

/** The instant of an RFC 3339 text in milliseconds since 1970, or NaN. */
export function instant(text) {
  return typeof text === "string" ? Date.parse(text) : NaN;
}

/** Local time of day, with the day where it is not today's. */
export function time(text) {
  const at = instant(text);
  if (Number.isNaN(at)) return none;
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? clock.format(date) : `${day(date)} ${clock.format(date)}`;
}

/** Hours and minutes of an instant in ms, or the day at midnight and where only days count. */
export function shortTime(at, isDay = false) {
  const date = new Date(at);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return isDay || isMidnight ? day(date) : hourAndMinute.format(date);
}

/** The day, hours and minutes of an instant in ms. */
export function dayTime(at) {
  return `${day(at)} ${hourAndMinute.format(at)}`;
}

/** Local time of day to the millisecond, for what is compared. */
export function exactTime(text) {
  const at = instant(text);
  return Number.isNaN(at) ? none : `${time(text)}.${String(new Date(at).getMilliseconds()).padStart(3, "0")}`;
}

/** The same instant in UTC, to the millisecond, for tooltips. */
export function utc(text) {
  const at = instant(text);
  return Number.isNaN(at) ? "" : `${new Date(at).toISOString().replace("T", " ").replace("Z", "")} UTC`;
}

/** How long ago an instant was, by the server's clock. */
export function ago(text, now) {
  const at = instant(text);
  if (Number.isNaN(at)) return none;
  const past = (now - at) / 1000;
  if (past < 1.5) return "now";
  if (past < 60) return `${Math.round(past)} s ago`;
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  return `${seconds(past)} ago`;
}
