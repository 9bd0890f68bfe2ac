import type { IncomingMessage } from "node:http";
import { invalid, ServiceError } from "../errors.js";

/** Forms of a record, the default first. */
const FORMATS = [
  "application/ld+json",
  "application/json",
  "text/html",
  "text/turtle",
  "application/n-quads",
] as const;
export type Format = (typeof FORMATS)[number] | "application/linkset+json";

/** Names of the forms in `?format=`, for links that state their form. */
export const FORMAT_NAMES: Readonly<Record<string, Format>> = {
  jsonld: "application/ld+json",
  json: "application/json",
  html: "text/html",
  turtle: "text/turtle",
  nquads: "application/n-quads",
  linkset: "application/linkset+json",
};

/** True when If-None-Match names this representation (weak comparison, RFC 9110 section 13.1.2). */
export function notModified(req: IncomingMessage, etag: string): boolean {
  const header = req.headers["if-none-match"];
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  const bare = etag.replace(/^W\//, "");
  return header.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === bare);
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
  const match = header === undefined ? null : /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim());
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

/** Parts of the ETag that distinguish the forms; JSON-LD and JSON are the same bytes. */
export const VARIANT: Readonly<Record<Format, string>> = {
  "application/ld+json": "",
  "application/json": "",
  "text/html": "-html",
  "text/turtle": "-ttl",
  "application/n-quads": "-nq",
  "application/linkset+json": "-ls",
};

/**
 * Most ranges of one Accept header that count; browsers send seven, and each is compared with each
 * form.
 */
const MOST_RANGES = 50;

interface Range {
  range: string;
  quality: number;
  specific: number;
}

function readRange(part: string): Range {
  const [range = "", ...parameters] = part.split(";").map((chunk) => chunk.trim().toLowerCase());
  const quality = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
  return {
    range,
    quality: Number.isFinite(quality) ? quality : 0,
    specific: range === "*/*" ? 0 : range.endsWith("/*") ? 1 : 2,
  };
}

/**
 * How well a form fits: the quality of the most specific range that names it (RFC 9110, section
 * 12.5.1).
 */
function fitOf(format: string, ranges: readonly Range[]): Range | undefined {
  return ranges
    .filter(
      ({ range }) =>
        range === format ||
        range === "*/*" ||
        (range.endsWith("/*") && format.startsWith(range.slice(0, -1))),
    )
    .toSorted((a, b) => b.specific - a.specific)[0];
}

/**
 * The form that `?format=` names, else the one that Accept prefers; JSON-LD without a preference.
 * @throws ServiceError `NOT_ACCEPTABLE`; ValidationError for an unknown name
 */
export function negotiate(accept: string | undefined, name?: string): Format {
  return name === undefined ? preferred(accept, FORMATS) : formatNamed(name, FORMAT_NAMES);
}

/** The form that `?format=` names. @throws ValidationError for an unknown name */
export function formatNamed<F>(name: string, names: Readonly<Record<string, F>>): F {
  if (Object.hasOwn(names, name)) return names[name]!;
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
  formats: readonly [F, ...F[]],
): F {
  if (accept === undefined || accept === "" || accept === "*/*") return formats[0];
  const ranges = accept.split(",", MOST_RANGES).map(readRange);
  let best: { format: F; fit: Range } | undefined;
  for (const format of formats) {
    const fit = fitOf(format, ranges);
    if (
      fit &&
      fit.quality > 0 &&
      (!best ||
        fit.quality > best.fit.quality ||
        (fit.quality === best.fit.quality && fit.specific > best.fit.specific))
    )
      best = { format, fit };
  }
  if (!best)
    throw new ServiceError(
      "NOT_ACCEPTABLE",
      `None of the requested media types (${accept.slice(0, 200)}) is supported; request ` +
        `one of ${formats.join(", ")}.`,
      {},
      { Vary: "Accept" },
    );
  return best.format;
}
