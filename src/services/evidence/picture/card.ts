/** The picture that a link to a record shows elsewhere: its name, its evidence and its licence. */
import { createRequire } from "node:module";
import { licenceName } from "../../../model/licences.js";
import { xmlText } from "../../../model/markup.js";
import { plainLine } from "../../../model/texts.js";
import type { Deps } from "../../deps.js";
import { findLive } from "../../records/find.js";
import { landmarksOf } from "../../records/list.js";
import { drawEvidence } from "./drawing.js";

/** What pages that show links expect. */
const [WIDTH, HEIGHT] = [1200, 630];
const MARGIN = 40;
/** Room of the evidence, between the name and the last line. */
const [TOP, BOTTOM] = [170, 560];
/** Characters in a line of the name. */
const LINE = 46;
/** A picture of few nodes is not blown up further. */
const LARGEST_SCALE = 1.6;

const require = createRequire(import.meta.url);
const FONTS = [
  require.resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf"),
  require.resolve("dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf"),
];

/**
 * A PNG of 1200 × 630 pixels.
 * @throws ServiceError as `drawEvidence`
 */
export async function evidenceCard(
  deps: Deps,
  request: Parameters<typeof drawEvidence>[1],
): Promise<Uint8Array> {
  const record = await findLive(deps, request.ark);
  const { name, license } = landmarksOf(record);
  const { drawn } = await drawEvidence(deps, request, { form: "file", base: "" });
  const facts = [...(license === null ? [] : [licenceName(license)]), deps.config.REGISTRY_NAME];
  const lines = linesOf(plainLine(name ?? record.ark));
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">` +
    '<rect width="100%" height="100%" fill="#fbfaf7"/>' +
    '<rect width="100%" height="12" fill="#12355b"/>' +
    lines
      .map((line, index) => text(line, 76 + index * 50, 'font-size="40" font-weight="bold"'))
      .join("") +
    fitted(drawn.svg) +
    text(facts.join("  ·  ").slice(0, 90), HEIGHT - 28, 'font-size="22"') +
    "</svg>";
  // Loaded with the first picture: most registries start without it.
  const { renderAsync } = await import("@resvg/resvg-js");
  const image = await renderAsync(svg, {
    font: {
      fontFiles: FONTS,
      // Scripts that DejaVu does not have.
      loadSystemFonts: true,
      defaultFontFamily: "DejaVu Sans",
      sansSerifFamily: "DejaVu Sans",
    },
  });
  return image.asPng();
}

const text = (line: string, y: number, style: string): string =>
  `<text x="${MARGIN}" y="${y}" fill="#12355b" font-family="DejaVu Sans, sans-serif" ${style}>` +
  `${xmlText(line)}</text>`;

/** The drawing in the middle of its room. */
function fitted(svg: string): string {
  const [, width, height] = /width="([\d.]+)" height="([\d.]+)"/.exec(svg)!.map(Number) as [
    number,
    number,
    number,
  ];
  const room = { width: WIDTH - 2 * MARGIN, height: BOTTOM - TOP };
  const scale = Math.min(room.width / width, room.height / height, LARGEST_SCALE);
  const x = (WIDTH - width * scale) / 2;
  const y = TOP + (room.height - height * scale) / 2;
  return `<g transform="translate(${x} ${y}) scale(${scale})">${svg}</g>`;
}

/** At most two lines of a name. */
function linesOf(name: string): string[] {
  if (name.length <= LINE) return [name];
  const end = name.lastIndexOf(" ", LINE);
  const first = name.slice(0, end > 0 ? end : LINE);
  const rest = name.slice(first.length).trim();
  return [first, rest.length > LINE ? `${rest.slice(0, LINE - 1)}…` : rest];
}
