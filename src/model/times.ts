/** How dates and times are written for people, on pages and in labels. */
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A date as people write it: `21 Nov 2026`; what is no date stays as it is. */
export function dateText(value: string): string {
  const [, year, month, day] = /^(-?\d{4,6})-(\d\d)(?:-(\d\d))?/.exec(value) ?? [];
  const name = MONTHS[Number(month) - 1];
  if (year === undefined || name === undefined) return value;
  return day === undefined ? `${name} ${year}` : `${Number(day)} ${name} ${year}`;
}

/**
 * Date and minute, of other time zones in UTC: `21 Nov 2026, 14:05 UTC`. A time that states no zone
 * is of none.
 */
export function timeText(value: string): string {
  const [, minute, zone] =
    /^\S+T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/i.exec(value) ?? [];
  if (minute === undefined || dateText(value) === value) return dateText(value);
  if (zone === undefined) return `${dateText(value)}, ${minute}`;
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return `${dateText(value)}, ${minute} ${zone}`;
  const universal = time.toISOString();
  return `${dateText(universal)}, ${universal.slice(11, 16)} UTC`;
}
