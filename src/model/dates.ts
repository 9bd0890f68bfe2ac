const TOO_SHORT = "input is too short";
const EXTRA = "unexpected extra characters at the end of the input";

/** Date in extended or basic form, time, zone (ISO 8601-1 5.2, 5.3; RFC 3339 section 5.6). */
const BASIC_DATE = /^([0-9]{4})([0-9]{2})([0-9]{2})(?=$|[Tt ])/;
const TIME = new RegExp(
  String.raw`^[Tt ](?:([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?|([0-9]{2})([0-9]{2})(?:(` +
    String.raw`[0-9]{2})(?:[.,]([0-9]+))?)?)(?:([Zz])|([+-])([0-9]{2})(?::?([0-9]{2}))?)?$`,
);

/**
 * The fault of a date or date-time, in the words that pydantic 2 has for it; `undefined` when it is
 * valid. Accepts RFC 3339 and ISO 8601 calendar dates, with or without time, with or without zone;
 * the day must exist.
 */
export function dateProblem(text: string): string | undefined {
  const basic = BASIC_DATE.exec(text);
  const date = basic ? `${basic[1]}-${basic[2]}-${basic[3]}` : text.slice(0, 10);
  const problem = calendarProblem(date);
  if (problem !== undefined) return problem;
  const rest = text.slice(basic ? 8 : 10);
  return rest === "" || isTime(rest) ? undefined : EXTRA;
}

/** ISO 8601 has the year 0000 by agreement only; who states it had no date. */
export const isOfYearZero = (text: string): boolean => /^\s*[+-]?0000/.test(text);

/**
 * The time that such a text names, in milliseconds since 1970; a date is the beginning of its day,
 * and without a zone UTC counts, wherever the service runs. `undefined` for text that is no date.
 */
export function instantOf(text: string): number | undefined {
  if (dateProblem(text) !== undefined) return undefined;
  const basic = BASIC_DATE.exec(text);
  const [year, month, day] = (
    basic ? basic.slice(1, 4) : [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)]
  ).map(Number) as [number, number, number];
  const date = new Date(0);
  // setUTCFullYear, because Date.UTC takes the years 0 to 99 for those of the last century.
  date.setUTCFullYear(year, month - 1, day);
  const time = TIME.exec(text.slice(basic ? 8 : 10));
  if (!time) return date.getTime();
  const [hour, minute, second] = [
    time[1] ?? time[5],
    time[2] ?? time[6],
    time[3] ?? time[7] ?? "0",
  ].map(Number) as [number, number, number];
  const fraction = Number(`0.${time[4] ?? time[8] ?? "0"}`);
  const offset = (time[10] === "-" ? -1 : 1) * (Number(time[11] ?? 0) * 60 + Number(time[12] ?? 0));
  return date.getTime() + ((hour * 60 + minute - offset) * 60 + second + fraction) * 1000;
}

function calendarProblem(date: string): string | undefined {
  if (date.length < 10) return TOO_SHORT;
  if (!/^[0-9]{4}/.test(date)) return "invalid character in year";
  if (date[4] !== "-") return "invalid date separator, expected `-`";
  if (!/^[0-9]{2}/.test(date.slice(5))) return "invalid character in month";
  const month = Number(date.slice(5, 7));
  if (month < 1 || month > 12) return "month value is outside expected range of 1-12";
  if (date[7] !== "-") return "invalid date separator, expected `-`";
  if (!/^[0-9]{2}$/.test(date.slice(8))) return "invalid character in day";
  const day = Number(date.slice(8));
  if (day < 1 || day > daysIn(Number(date.slice(0, 4)), month))
    return "day value is outside expected range";
  return undefined;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isTime(text: string): boolean {
  const found = TIME.exec(text);
  if (!found) return false;
  // Groups 1 to 4 with colons, 5 to 8 without.
  const [hours, minutes, seconds = "0", decimals = "0"] = found.slice(found[1] ? 1 : 5);
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
  const fraction = Number(`0.${decimals}`);
  const zoneHour = Number(found[11] ?? 0);
  const zoneMinute = Number(found[12] ?? 0);
  if (minute > 59 || zoneHour > 23 || zoneMinute > 59) return false;
  if (hour === 24) return minute === 0 && second === 0 && fraction === 0;
  if (hour > 23 || second > 60) return false;
  if (second < 60) return true;
  const hasZone = Boolean(found[9] || found[10]);
  const offset = (found[10] === "-" ? -1 : 1) * (zoneHour * 60 + zoneMinute);
  return isLeapMinute(hour * 60 + minute, hasZone ? offset : undefined);
}

/**
 * A leap second is the last second of a UTC day (RFC 3339 section 5.7); without a zone only the
 * minute can be validated.
 */
function isLeapMinute(minutes: number, offset: number | undefined): boolean {
  return offset === undefined ? minutes % 15 === 14 : (minutes - offset + 2880) % 1440 === 1439;
}
