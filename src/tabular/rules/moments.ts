/** Dates and times as text: the forms of XML Schema, and forms that a pattern states. */

const ZONE = "(?<zone>Z|[+-]\\d\\d:\\d\\d)";
const DATE = "(?<year>-?\\d{4,})-(?<month>\\d\\d)-(?<day>\\d\\d)";
const TIME = "(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)(?<fraction>\\.\\d+)?";

/** Formats of dates and times, by the names of JSON Schema and of XML Schema. */
const FORMS: Readonly<Record<string, string>> = {
  date: DATE,
  time: `${TIME}${ZONE}`,
  "date-time": `${DATE}[Tt ]${TIME}${ZONE}`,
  "xsd:date": `${DATE}${ZONE}?`,
  "xsd:time": `${TIME}${ZONE}?`,
  "xsd:dateTime": `${DATE}T${TIME}${ZONE}?`,
  "xsd:dateTimeStamp": `${DATE}T${TIME}${ZONE}`,
  "xsd:gDay": `---(?<day>\\d\\d)${ZONE}?`,
  "xsd:gMonth": `--(?<month>\\d\\d)${ZONE}?`,
  "xsd:gMonthDay": `--(?<month>\\d\\d)-(?<day>\\d\\d)${ZONE}?`,
  "xsd:gYear": `(?<year>-?\\d{4,})${ZONE}?`,
  "xsd:gYearMonth": `(?<year>-?\\d{4,})-(?<month>\\d\\d)${ZONE}?`,
};

const DURATION_DAY = "(?:\\d+D)?";
const DURATION_TIME = "(?:T(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:\\.\\d+)?S)?)?";
const DURATIONS: Readonly<Record<string, RegExp>> = {
  "xsd:duration": new RegExp(`^-?P(?=.)(?:\\d+Y)?(?:\\d+M)?${DURATION_DAY}${DURATION_TIME}$`),
  "xsd:dayTimeDuration": new RegExp(`^-?P(?=.)${DURATION_DAY}${DURATION_TIME}$`),
  "xsd:yearMonthDuration": /^-?P(?=.)(?:\d+Y)?(?:\d+M)?$/,
};

/** Letters of a pattern (Unicode TR35) and the texts they stand for. */
const FIELDS: Readonly<Record<string, string>> = {
  yyyy: "(?<year>\\d{4})",
  yy: "(?<short>\\d\\d)",
  MM: "(?<month>\\d\\d)",
  M: "(?<month>\\d\\d?)",
  dd: "(?<day>\\d\\d)",
  d: "(?<day>\\d\\d?)",
  HH: "(?<hour>\\d\\d)",
  H: "(?<hour>\\d\\d?)",
  mm: "(?<minute>\\d\\d)",
  m: "(?<minute>\\d\\d?)",
  ss: "(?<second>\\d\\d)",
  s: "(?<second>\\d\\d?)",
  X: "(?<zone>Z|[+-]\\d\\d(?::?\\d\\d)?)",
  XX: "(?<zone>Z|[+-]\\d{4})",
  XXX: ZONE,
  x: "(?<zone>[+-]\\d\\d(?::?\\d\\d)?)",
  xx: "(?<zone>[+-]\\d{4})",
  xxx: "(?<zone>[+-]\\d\\d:\\d\\d)",
};

/** A point in time from its text, in milliseconds; `undefined` for a text that is none. */
export type ReadMoment = (text: string) => number | undefined;

/** Reads dates and times of a format; `undefined` for another format. */
export function momentsOf(format: string): ReadMoment | undefined {
  const form = Object.hasOwn(FORMS, format) ? FORMS[format] : undefined;
  return form === undefined ? undefined : formReader(form);
}

const formReader = (form: string): ReadMoment => momentReader(new RegExp(`^${form}$`));

/** Tests of the formats of XML Schema, by name. */
export const XSD_FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ...Object.entries(FORMS)
    .filter(([name]) => name.startsWith("xsd:"))
    .map(([name, form]): [string, (text: string) => boolean] => {
      const read = formReader(form);
      return [name, (text) => read(text) !== undefined];
    }),
  ...Object.entries(DURATIONS).map(([name, form]): [string, (text: string) => boolean] => [
    name,
    (text) => form.test(text),
  ]),
]);

/**
 * Reads dates and times as a pattern says, e.g. `dd.MM.yyyy HH:mm`; `undefined` for a pattern with
 * other letters.
 */
export function patternedMoments(pattern: string): ReadMoment | undefined {
  let form = "";
  for (const [token] of pattern.matchAll(/'[^']*'|([A-Za-z])\1*|[^]/g)) {
    const field = Object.hasOwn(FIELDS, token) ? FIELDS[token] : undefined;
    if (token === "T") form += token;
    else if (/^S+$/.test(token)) form += `(?<digits>\\d{1,${token.length}})`;
    else if (field !== undefined) form += field;
    else if (/^[A-Za-z]/.test(token)) return undefined;
    else form += literal(/^'.+'$/.test(token) ? token.slice(1, -1) : token);
  }
  try {
    return formReader(form);
  } catch {
    // The same field twice.
    return undefined;
  }
}

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** A leap year, for days without a year. */
const ANY_YEAR = 2000;

function momentReader(form: RegExp): ReadMoment {
  return (text) => {
    const fields = form.exec(text)?.groups;
    if (!fields) return undefined;
    const field = (name: string, otherwise: number): number =>
      fields[name] === undefined ? otherwise : Number(fields[name]);
    const { short, fraction, digits, zone } = fields;
    const year = short === undefined ? field("year", ANY_YEAR) : fullYear(Number(short));
    const [month, day] = [field("month", 1), field("day", 1)];
    const [hour, minute, second] = [field("hour", 0), field("minute", 0), field("second", 0)];
    const offset = minutesOf(zone);
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
    if (!isDay || hour > 23 || minute > 59 || second > 59 || offset === undefined) return undefined;
    const part = Number(fraction ?? (digits === undefined ? 0 : `.${digits}`));
    return date.getTime() + ((hour * 60 + minute - offset) * 60 + second + part) * 1000;
  };
}

/** As POSIX reads years of two digits. */
const fullYear = (short: number): number => short + (short < 69 ? 2000 : 1900);

const LARGEST_OFFSET = 14 * 60;

/** Minutes that a zone is ahead of UTC; none of it is UTC. */
function minutesOf(zone: string | undefined): number | undefined {
  if (zone === undefined || zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || 0);
  const total = hours * 60 + minutes;
  if (minutes > 59 || total > LARGEST_OFFSET) return undefined;
  return zone.startsWith("-") ? -total : total;
}
