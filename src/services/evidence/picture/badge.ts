/** A badge for other sites: how much is known about the origin of a record, in one line. */
import type { Origin } from "../origin.js";

const HEIGHT = 20;
/** Width of a letter of 11 px on average, and the space beside a text. */
const [LETTER, SPACE] = [6.4, 7];
const LABEL = "provenance";

const counted = (count: number, one: string): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : `${one}s`}`;

/** `17 records · 3 runs`, or that nothing is stated. */
export function badgeText({ supporting, activities, filesDamaged, truncated }: Origin): string {
  if (supporting === 0) return "not stated";
  const runs =
    activities > 0 ? ` · ${counted(activities, "run")}${truncated ? " or more" : ""}` : "";
  return filesDamaged > 0 ? "files damaged" : counted(supporting, "record") + runs;
}

/** The badge as a picture that stands by itself; all its texts are ours. */
export function drawBadge(origin: Origin): string {
  const text = badgeText(origin);
  const [left, right] = [LABEL, text].map((each) => Math.ceil(each.length * LETTER) + 2 * SPACE);
  const width = left! + right!;
  const colour =
    origin.supporting === 0 ? "#59636f" : origin.filesDamaged > 0 ? "#a3271f" : "#1d6b3c";
  const written = (at: number, space: number, words: string): string =>
    `<text x="${at + space / 2}" y="14" textLength="${space - 2 * SPACE}">${words}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" ` +
    `aria-label="${LABEL}: ${text}"><title>${LABEL}: ${text}</title>` +
    `<clipPath id="r"><rect width="${width}" height="${HEIGHT}" rx="4"/></clipPath>` +
    `<g clip-path="url(#r)"><rect width="${left}" height="${HEIGHT}" fill="#16212e"/>` +
    `<rect x="${left}" width="${right}" height="${HEIGHT}" fill="${colour}"/></g>` +
    `<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" ` +
    `font-size="11">${written(0, left!, LABEL)}${written(left!, right!, text)}</g></svg>`
  );
}
