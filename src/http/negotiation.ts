import type { IncomingMessage } from "node:http";
import { invalid, ServiceError } from "../errors.js";
import { fullType, type RecordFormat } from "../services/formats/format.js";
import { FORMATS } from "../services/formats/table.js";
import { ownValue } from "../own.js";

/** True when If-None-Match names this representation (weak comparison, RFC 9110 section 13.1.2). */
export function notModified(req: IncomingMessage, etag: string): boolean {
  const header = req.headers["if-none-match"];
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  const bare = etag.replace(/^W\//, "");
  return header.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === bare);
}

/**
 * A state's date for Last-Modified (RFC 9110, section 8.8.2). Dates have whole seconds: a state that
 * may change within its second gets the second before, so that no later state has the same date.
 */
export const lastModified = (at: number): string =>
  new Date(Date.now() - at < 1000 ? at - 1000 : at).toUTCString();

/** True when If-Modified-Since is the date of this state, and no ETag is compared instead. */
export function notModifiedSince(req: IncomingMessage, at: number): boolean {
  const since = req.headers["if-modified-since"];
  return (
    since !== undefined &&
    req.headers["if-none-match"] === undefined &&
    Date.parse(since) >= Math.floor(at / 1000) * 1000
  );
}

/**
 * A revision that no record has: an If-Match with none of our ETags matches nothing (RFC 9110,
 * section 13.1.1).
 */
const NONE = 0;

/**
 * The revision that If-Match demands; `undefined` without the header or with `*`. The part after
 * the hyphen (newest back-link) is not compared: it changes without a write to the record. Of a
 * list the last revision counts: the others are earlier, and a record never returns to an earlier
 * revision.
 */
export function expectedRevision(req: IncomingMessage): number | undefined {
  const header = req.headers["if-match"]?.trim();
  if (header === undefined || header === "" || header === "*") return undefined;
  return Math.max(
    // oxlint-disable-next-line arkgraph/spread-into-call -- a header, of 16 KiB at most
    ...header
      .split(",")
      .map((tag) =>
        Number(/^(?:W\/)?"?(\d{1,9})(?:-[0-9a-z-]*)?"?$/.exec(tag.trim())?.[1] ?? NONE),
      ),
  );
}

/**
 * One byte range of a Range header (RFC 9110, section 14): `undefined` when the whole is to be sent
 * (no header, another unit, several ranges, malformed), with `end` inclusive otherwise.
 */
export function parseRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | "unsatisfiable" | undefined {
  const match = header === undefined ? null : /^bytes=(\d*)-(\d*)$/.exec(header.trim());
  if (!match || (match[1] === "" && match[2] === "")) return undefined;
  if (match[1] === "") {
    const last = Number(match[2]);
    return last === 0 || size === 0
      ? "unsatisfiable"
      : { start: Math.max(0, size - last), end: size - 1 };
  }
  const start = Number(match[1]);
  const end = match[2] === "" ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (match[2] !== "" && Number(match[2]) < start) return undefined;
  return start >= size ? "unsatisfiable" : { start, end };
}

/**
 * Most ranges of one Accept header that count; browsers send seven, and each is compared with each
 * form.
 */
const MAX_RANGES = 50;

/** A form that a client may ask for by its media type, and by its profile where it has one. */
interface Form {
  readonly mediaType: string;
  readonly profile?: string;
}

interface Range {
  range: string;
  quality: number;
  specific: number;
  /** URIs of the `profile` parameter. */
  profiles: readonly string[];
}

/** Splits at a separator outside quotes. */
const split = (text: string, separator: "," | ";"): string[] =>
  text.match(separator === "," ? /(?:[^,"]|"[^"]*"?)+/g : /(?:[^;"]|"[^"]*"?)+/g) ?? [];

function readRange(part: string): Range {
  const [range = "", ...parameters] = split(part, ";").map((chunk) => chunk.trim().toLowerCase());
  const valueOf = (name: string): string | undefined =>
    parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
  const quality = Number(valueOf("q") ?? 1);
  return {
    range,
    quality: Number.isFinite(quality) ? quality : 0,
    specific: range === "*/*" ? 0 : range.endsWith("/*") ? 1 : 2,
    profiles: valueOf("profile")?.replaceAll('"', "").split(/\s+/) ?? [],
  };
}

/** Whether Accept names a media type itself, not by a wildcard. */
export const accepts = (accept: string | undefined, mediaType: string): boolean =>
  accept?.toLowerCase().includes(mediaType) === true &&
  split(accept, ",")
    .slice(0, MAX_RANGES)
    .map(readRange)
    .some(({ range, quality }) => range === mediaType && quality > 0);

/** Whether a range names a form; a profile that no form of the media type has does not count. */
function matches({ range, profiles }: Range, form: Form, forms: readonly Form[]): boolean {
  if (range === "*/*" || (range.endsWith("/*") && form.mediaType.startsWith(range.slice(0, -1))))
    return true;
  if (range !== form.mediaType) return false;
  return (
    isNamed(form, profiles) ||
    !forms.some((other) => other.mediaType === range && isNamed(other, profiles))
  );
}

const isNamed = ({ profile }: Form, profiles: readonly string[]): boolean =>
  profile !== undefined && profiles.includes(profile.toLowerCase());

/**
 * How well a form fits: the quality of the most specific range that names it (RFC 9110, section
 * 12.5.1).
 */
const fitOf = (form: Form, ranges: readonly Range[], forms: readonly Form[]): Range | undefined =>
  ranges
    .filter((range) => matches(range, form, forms))
    .map((range) => (isNamed(form, range.profiles) ? { ...range, specific: 3 } : range))
    .toSorted((a, b) => b.specific - a.specific)[0];

/**
 * The form that `?format=` names, else the one that Accept prefers; JSON-LD without a preference.
 * @param formats those of the record
 * @throws ServiceError `NOT_ACCEPTABLE`; ValidationError for an unknown name
 */
export function negotiate(
  accept: string | undefined,
  name: string | undefined,
  formats: readonly [RecordFormat, ...RecordFormat[]] = FORMATS,
): RecordFormat {
  return name === undefined
    ? preferredForm(accept, formats)
    : formatNamed(name, Object.fromEntries(formats.map((format) => [format.name, format])));
}

/** The form that `?format=` names. @throws ValidationError for an unknown name */
export function formatNamed<F>(name: string, names: Readonly<Record<string, F>>): F {
  const found = ownValue(names, name);
  if (found !== undefined) return found;
  const expected = Object.keys(names)
    .map((known) => `'${known}'`)
    .join(", ");
  throw invalid(["query", "format"], `Input should be one of ${expected}`, "literal_error", {
    expected,
  });
}

/**
 * The media type that Accept prefers; the first without a preference.
 * @throws ServiceError `NOT_ACCEPTABLE`
 */
export function preferred<F extends string>(
  accept: string | undefined,
  types: readonly [F, ...F[]],
): F {
  const [first, ...rest] = types;
  return preferredForm(accept, [{ mediaType: first }, ...rest.map((mediaType) => ({ mediaType }))])
    .mediaType;
}

/** The same for forms that may have a profile. */
function preferredForm<F extends Form>(accept: string | undefined, forms: readonly [F, ...F[]]): F {
  if (accept === undefined || accept === "" || accept === "*/*") return forms[0];
  const ranges = split(accept, ",").slice(0, MAX_RANGES).map(readRange);
  let best: { form: F; fit: Range } | undefined;
  for (const form of forms) {
    const fit = fitOf(form, ranges, forms);
    if (
      fit &&
      fit.quality > 0 &&
      (!best ||
        fit.quality > best.fit.quality ||
        (fit.quality === best.fit.quality && fit.specific > best.fit.specific))
    )
      best = { form, fit };
  }
  if (!best)
    throw new ServiceError(
      "NOT_ACCEPTABLE",
      `None of the requested media types (${accept.slice(0, 200)}) is supported; request ` +
        `one of ${[...new Set(forms.map(fullType))].join(", ")}.`,
      {},
      { Vary: "Accept" },
    );
  return best.form;
}
