/**
 * Writes a picture as SVG. Texts come from users: their widths are estimated, and no character
 * breaks the file.
 */
import { createHash } from "node:crypto";
import { getOrInsert } from "../../../get-or-insert.js";
import { xmlValue } from "../../../model/markup.js";
import { oneLine } from "../../../model/texts.js";
import type { EvidenceGraph } from "../types.js";
import { GLYPHS, type Glyph, LIGHT, PICTURE_STYLE } from "./glyphs.js";
import { Arrow, Box, CROWD, MARGIN, placeBoxes } from "./layout.js";
import {
  HUB_ARROWS,
  type Picture,
  type PictureEdge,
  type PictureLimits,
  type PictureNode,
  pictureOf,
} from "./picture.js";

/**
 * Characters that XML forbids or that nobody sees, and those that turn the direction of text around
 * them: a name must not change how its neighbours read.
 */
const UNSEEN =
  // eslint-disable-next-line no-control-regex -- they are what is taken out
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufdd0-\ufdef]|[\ufffe\uffff]/gu;
/** Marks that pile up on one character. */
const PILED = /(\p{M}{3})\p{M}+/gu;

/** Text that is safe to draw. */
const drawable = (text: string): string =>
  oneLine(text.toWellFormed().replace(UNSEEN, " ").replace(PILED, "$1")).trim();

/** Text for the content or a quoted attribute of the picture. */
const xmlOf = (text: string): string => xmlValue(text.replace(UNSEEN, " "));

/** Wide as a Chinese character; narrow as an i. In widths of a character. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\uff00-\uff60]/u;
const NARROW = /[\s.,:;'|!()[\]ijltfrI1-]/;
const BROAD = /[A-Zmw@%&—…]/;
const NOTHING = /^[\p{M}\u200b-\u200d]$/u;

const widthOf = (character: string): number =>
  NOTHING.test(character)
    ? 0
    : WIDE.test(character)
      ? 1.05
      : NARROW.test(character)
        ? 0.36
        : BROAD.test(character)
          ? 0.78
          : 0.57;

/** Most characters that are considered: many may have no width. */
const MAX_CHARS = 200;
const SEGMENTS = new Intl.Segmenter("en", { granularity: "grapheme" });

/** As much of a text as fits into a width; with an ellipsis where some is missing. */
function fitted(text: string, width: number, fontSize: number): string {
  const head = text.slice(0, MAX_CHARS);
  const room = width / fontSize;
  let used = 0;
  let fits = "";
  let withEllipsis = "";
  for (const { segment } of SEGMENTS.segment(head)) {
    const needed = [...segment].reduce((sum, character) => Math.max(sum, widthOf(character)), 0);
    used += needed;
    if (used > room) return `${withEllipsis.trimEnd()}…`;
    fits += segment;
    if (used <= room - widthOf("…")) withEllipsis = fits;
  }
  return head.length < text.length ? `${withEllipsis.trimEnd()}…` : fits;
}

/** The first characters of a text, with an ellipsis where some are missing. */
const shortened = (text: string, characters: number): string =>
  text.length <= characters ? text : `${text.slice(0, characters - 1).toWellFormed()}…`;

export interface PictureOptions extends PictureLimits {
  /**
   * `page`: part of an HTML page, whose style sheet includes {@link PICTURE_STYLE}; `file`: a
   * document of its own, with style and paper.
   */
  form: "page" | "file";
  /** Before the path of each link; empty within the service. */
  base: string;
  /**
   * Beginning of the address that shows the members of a group, or one step more from a record; the
   * name of the group or the identifier is appended.
   */
  groupLink?: string;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** An SVG document and what it shows. */
export interface DrawnPicture extends Picture {
  svg: string;
}

const WIDTH = 190;
const HEIGHT = 44;
const NAME_SIZE = 13;
const NOTE_SIZE = 11;
const LINE = 18;
/** Characters of a name that its tooltip has; more than anybody reads. */
const TOOLTIP = 500;
/** Room on each side of text in the middle of an ellipse. */
const ASIDE = 22;
/** The mark at a lower corner of a node that leads further, and the wider circle that takes clicks. */
const PLUS = { radius: 9, reach: 15, aside: 0, onEllipse: 14, above: 2 };
/** Distance of the line of many arrows from their hub, radius of its corners, most such lines. */
const [JOIN, ROUND, MAX_JOINS] = [24, 8, 4];
/** Arrows that one can follow side by side, and how light they become beyond that number. */
const [SIDE_BY_SIDE, LIGHTEST] = [12, 0.3];
/** Height of a grey count beside a node. */
const COUNT_HEIGHT = 20;

/**
 * Policy under which browsers show a picture as a document of its own: its style and nothing else.
 */
export const PICTURE_POLICY =
  "default-src 'none'; style-src 'sha256-" +
  `${createHash("sha256").update(PICTURE_STYLE).digest("base64")}'; ` +
  "sandbox allow-top-navigation-by-user-activation; frame-ancestors 'self'";

/**
 * Draws an evidence graph: inputs left, uses right, arrows from what supports to what is supported.
 * The same graph gives the same text.
 */
export function drawPicture(graph: EvidenceGraph, options: PictureOptions): DrawnPicture {
  const picture = pictureOf(graph, options);
  return { ...picture, svg: svgOf(picture, options) };
}

function svgOf(picture: Picture, options: PictureOptions): string {
  const { root, edges, left } = picture;
  const { size, nodes, arrows, rests } = placed(picture);
  const joins = joinsOf(
    nodes.map(({ box }) => box),
    arrows.length,
  );
  const prefix = `ev-${createHash("sha256").update(root.id).digest("hex").slice(0, 8)}`;
  const height = size.height + left.length * LINE;
  const title = `Evidence of ${shortened(drawable(root.name), TOOLTIP)}`;
  const shown = nodes.length - 1;
  const notShown = left.map(({ count, about }) => `${count} ${about}`).join(", ");
  const about =
    `From left to right: what supports ${shortened(drawable(root.name), 100)}, the record itself, ` +
    `what it supports. ${shown} other ${shown === 1 ? "node" : "nodes"}, ` +
    `${edges.length} ${edges.length === 1 ? "relation" : "relations"}.` +
    (notShown === "" ? "" : ` Not shown: ${notShown}.`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="ev" width="${size.width}" ` +
      `height="${height}" viewBox="0 0 ${size.width} ${height}" role="graphics-document" ` +
      `aria-labelledby="${prefix}-title" aria-describedby="${prefix}-about" ` +
      `font-family="system-ui, sans-serif" font-size="${NAME_SIZE}">`,
    `<title id="${prefix}-title">${xmlOf(title)}</title>`,
    `<desc id="${prefix}-about">${xmlOf(about)}</desc>`,
    ...(options.form === "file"
      ? [
          `<style>${PICTURE_STYLE}</style>`,
          `<rect class="ev-paper" width="100%" height="100%" fill="${LIGHT.paper}"/>`,
        ]
      : []),
    `<defs><marker id="${prefix}-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" ` +
      `markerHeight="7" orient="auto"><path class="ev-tip" d="M0 0L8 4L0 8Z" ` +
      `fill="${LIGHT.quiet}" stroke="none"/></marker></defs>`,
    `<g class="ev-edges" fill="none" stroke="${LIGHT.quiet}" ` +
      `${strokeOf(arrows, joins, height)} marker-end="url(#${prefix}-tip)">`,
    ...arrows.map(({ edge, arrow }) => edgeOf(edge, wayOf(edge, arrow, joins))),
    "</g>",
    `<g class="ev-nodes" stroke-width="1.5">`,
    ...nodes.map(({ node, box }) => nodeOf(node, box, node === root, options)),
    "</g>",
    `<g class="ev-rest" font-size="${NOTE_SIZE}">`,
    ...rests.map(({ rest: { node, side, count }, box }) => {
      const beside = side === "support" ? "end" : "start";
      const x = box.x + (side === "support" ? WIDTH / 2 - 4 : 4 - WIDTH / 2);
      return (
        `<text class="ev-left" data-beside="${xmlOf(node.id)}" data-side="${side}" ` +
        `data-count="${count}" x="${x}" y="${box.y + 4}" text-anchor="${beside}" ` +
        `fill="${LIGHT.quiet}">${count} more</text>`
      );
    }),
    ...left.map(
      ({ reason, count, about: what }, index) =>
        `<text class="ev-left" data-hidden="${reason}" data-count="${count}" x="${MARGIN}" ` +
        `y="${size.height + index * LINE + 4}" fill="${LIGHT.quiet}">Not shown: ` +
        `${count} ${what}</text>`,
    ),
    "</g>",
    "</svg>",
  ].join("\n");
}

/** Places nodes, and the grey counts beside them. */
function placed({ root, nodes, edges, rests }: Picture) {
  const boxes = new Map<PictureNode, Box>();
  const boxOf = (node: PictureNode): Box => getOrInsert(boxes, node, () => new Box(HEIGHT));
  const drawn = {
    nodes: nodes.map((node) => ({ node, box: boxOf(node) })),
    rests: rests.map((rest) => ({ rest, box: new Box(COUNT_HEIGHT) })),
    // Loops have no place in layers; they are drawn above their node.
    arrows: edges.map((edge) => ({
      edge,
      arrow: new Arrow(boxOf(edge.from), boxOf(edge.to), `${edge.thirdParty}`),
    })),
  };
  const toRests = drawn.rests.map(({ rest: { node, side }, box }) =>
    side === "support"
      ? new Arrow(box, boxOf(node), "false")
      : new Arrow(boxOf(node), box, "false"),
  );
  const size = placeBoxes({
    boxes: [...drawn.nodes, ...drawn.rests].map(({ box }) => box),
    arrows: [...drawn.arrows.map(({ arrow }) => arrow), ...toRests],
    root: boxOf(root),
    width: WIDTH,
  });
  return { size, ...drawn };
}

/** The x at which the arrows that leave or enter a box become one line, by the list of them. */
type Joins = ReadonlyMap<readonly Arrow[], number>;

/** In a crowd the arrows of a hub join beside it; of many hubs nobody would know the lines. */
function joinsOf(boxes: readonly Box[], arrows: number): Joins {
  if (arrows <= CROWD) return new Map();
  const beside = new Map<number, { list: readonly Arrow[]; away: number }[]>();
  for (const { x, leaving, entering } of boxes)
    for (const [list, away] of [
      [leaving, 1],
      [entering, -1],
    ] as const)
      if (list.length >= HUB_ARROWS)
        getOrInsert(beside, x + away * (WIDTH / 2 + JOIN), () => []).push({ list, away });
  return new Map(
    [...beside].flatMap(([x, hubs]) =>
      hubs.length > MAX_JOINS
        ? []
        : hubs.map(({ list, away }, index) => [list, x + away * index * ROUND] as const),
    ),
  );
}

const joinOf = ({ from, to, way, backward }: Arrow, joins: Joins): number | undefined =>
  way.length > 0 || backward ? undefined : (joins.get(to.entering) ?? joins.get(from.leaving));

/** Arrows are thinner and lighter the more of them run side by side from top to bottom. */
function strokeOf(arrows: readonly { arrow: Arrow }[], joins: Joins, height: number): string {
  if (arrows.length <= CROWD) return 'stroke-width="1.5"';
  const climb = arrows.reduce(
    (sum, { arrow }) =>
      joinOf(arrow, joins) === undefined ? sum + Math.abs(arrow.from.y - arrow.to.y) : sum,
    0,
  );
  const opacity = Math.min(
    1,
    Math.max(LIGHTEST, Math.sqrt(SIDE_BY_SIDE / Math.max(1, climb / height))),
  );
  return `stroke-width="1"${opacity < 1 ? ` stroke-opacity="${opacity.toFixed(2)}"` : ""}`;
}

/** From one height to another by way of a line that others share. */
function joinedWay(before: Point, { x, y }: Point, at: number): string {
  const turn = Math.sign(y - before.y) * ROUND;
  return (
    `H${at - ROUND}Q${at} ${before.y} ${at} ${before.y + turn}` +
    `V${y - turn}Q${at} ${y} ${at + ROUND} ${y}H${x}`
  );
}

/** Path data of an edge: curves between layers, straight where it passes one. */
function wayOf({ from, to }: PictureEdge, arrow: Arrow, joins: Joins): string {
  const [start, end] = [arrow.from, arrow.to];
  if (from === to) {
    const top = start.y - HEIGHT / 2;
    return `M${start.x - 12} ${top}c-8 -18 32 -18 24 0`;
  }
  const half = WIDTH / 2;
  // A group is drawn with a second outline behind it.
  const behind = (node: PictureNode): number => (node.count === undefined ? 0 : 4);
  const lanes = arrow.way.flatMap(({ x, y }) => [
    { x: x - half, y },
    { x: x + half, y },
  ]);
  const points = arrow.backward
    ? [
        { x: start.x - half, y: start.y },
        ...lanes.toReversed(),
        { x: end.x + half + behind(to), y: end.y },
      ]
    : [{ x: start.x + half + behind(from), y: start.y }, ...lanes, { x: end.x - half, y: end.y }];
  const join = joinOf(arrow, joins);
  let path = "";
  let before: Point | undefined;
  for (const [place, { x, y }] of points.entries()) {
    if (!before) path += `M${x} ${y}`;
    else if (place % 2 === 0) path += `H${x}`;
    else if (join !== undefined && Math.abs(y - before.y) > 2 * ROUND)
      path += joinedWay(before, { x, y }, join);
    else {
      const middle = Math.round((before.x + x) / 2);
      path += `C${middle} ${before.y} ${middle} ${y} ${x} ${y}`;
    }
    before = { x, y };
  }
  return path;
}

function edgeOf({ from, to, names, thirdParty, folded }: PictureEdge, way: string): string {
  return (
    `<path class="ev-edge"${folded ? ' visibility="hidden"' : ""} data-from="${xmlOf(from.id)}" ` +
    `data-to="${xmlOf(to.id)}" data-names="${names.join(" ")}"` +
    `${thirdParty ? ' data-third-party="true" stroke-dasharray="5 4"' : ""} d="${way}">` +
    `<title>${names.join(", ")}${thirdParty ? ", stated by a third party" : ""}</title></path>`
  );
}

/** A name that fits; of an identifier in place of one, its end: there it differs from others. */
function fittedName(name: string, room: number): string {
  const whole = fitted(name, room, NAME_SIZE);
  const last = name.startsWith("ark:") ? name.slice(name.lastIndexOf("/") + 1) : "";
  return whole === name || last === "" ? whole : fitted(`…/${last}`, room, NAME_SIZE);
}

/** Attributes by which styles and scripts know a node. */
function attributesOf({ id, glyph, count, group, absent }: PictureNode, isRoot: boolean): string {
  const classes = [
    "ev-node",
    absent === undefined ? `ev-${glyph}` : "ev-absent",
    ...(absent === "deleted" ? ["ev-deleted"] : []),
    ...(isRoot ? ["ev-root"] : []),
  ];
  return [
    `class="${classes.join(" ")}"`,
    `data-id="${xmlOf(id)}"`,
    `data-kind="${glyph}"`,
    ...(count === undefined ? [] : [`data-count="${count}"`]),
    ...(group === undefined ? [] : [`data-group="${xmlOf(group)}"`]),
    ...(absent === undefined ? [] : [`data-absent="${absent}"`]),
    ...(isRoot ? ['data-root="true"'] : []),
  ].join(" ");
}

function nodeOf(
  node: PictureNode,
  { x, y }: Box,
  isRoot: boolean,
  options: PictureOptions,
): string {
  const { id, glyph, count, absent, folded } = node;
  const { light, outline, indent }: Glyph = GLYPHS[glyph];
  const name = drawable(node.name) || drawable(id);
  const note = drawable(node.note) + (folded === undefined ? "" : `, ${folded} arrows folded`);
  const kind = count === undefined ? note : `${GLYPHS[glyph].many}, ${note}`;
  const room = WIDTH - (indent === undefined ? 2 * ASIDE : indent + 12);
  const start = indent === undefined ? `x="${WIDTH / 2}" text-anchor="middle"` : `x="${indent}"`;
  const label = `${shortened(name, TOOLTIP)}, ${shortened(kind, TOOLTIP)}`;
  const shape = outline(WIDTH, HEIGHT);
  const deleted = absent === "deleted";
  const paint =
    absent === undefined
      ? `fill="${light.fill}" stroke="${light.stroke}"`
      : `fill="none" stroke="${LIGHT.quiet}" stroke-dasharray="4 3"`;
  const drawn = [
    `<title>${xmlOf(label)}</title>`,
    ...(count === undefined ? [] : [`<path transform="translate(4 4)" d="${shape}"/>`]),
    `<path class="ev-shape"${isRoot ? ` stroke="${LIGHT.accent}" stroke-width="3"` : ""} d="${shape}"/>`,
    `<text class="ev-name" ${start} y="19" fill="${LIGHT.ink}" stroke="none"` +
      `${isRoot ? ' font-weight="700"' : ""}${deleted ? ' text-decoration="line-through"' : ""}>` +
      `${xmlOf(fittedName(name, isRoot ? room * 0.86 : room))}</text>`,
    `<text class="ev-note" ${start} y="35" fill="${LIGHT.quiet}" stroke="none" ` +
      `font-size="${NOTE_SIZE}">${xmlOf(fitted(note, room, NOTE_SIZE))}</text>`,
  ].join("");
  const href = linkOf(node, options);
  const linked =
    href === undefined
      ? drawn
      : `<a href="${xmlOf(href.address)}"` +
        (href.outside ? ' rel="nofollow noopener"' : "") +
        `${options.form === "file" ? ' target="_top"' : ""}>${drawn}</a>`;
  return (
    `<g ${attributesOf(node, isRoot)} transform="translate(${x - WIDTH / 2} ` +
    `${y - HEIGHT / 2})" ${paint}>${linked}${plusOf(node, name, options)}</g>`
  );
}

/** The link that adds the next neighbours of a node at the edge of the picture. */
function plusOf(
  { id, glyph, further }: PictureNode,
  name: string,
  { base, groupLink, form }: PictureOptions,
): string {
  if (further === undefined || groupLink === undefined) return "";
  const { indent }: Glyph = GLYPHS[glyph];
  const aside = indent === undefined ? PLUS.onEllipse : PLUS.aside;
  const x = further.side === "support" ? aside : WIDTH - aside;
  const href = xmlOf(base + groupLink + encodeURIComponent(id.toWellFormed()));
  return (
    `<a class="ev-plus" href="${href}" data-further="${further.count}"` +
    `${form === "file" ? ' target="_top"' : ""} transform="translate(${x} ${HEIGHT - PLUS.above})">` +
    `<title>Show one step more from ${xmlOf(shortened(name, TOOLTIP))}</title>` +
    `<path d="${circle(PLUS.reach)}" fill="transparent" stroke="none"/>` +
    `<path class="ev-mark" d="${circle(PLUS.radius)}M-4 0H4M0 -4V4" fill="${LIGHT.paper}" ` +
    `stroke="${LIGHT.accent}"/></a>`
  );
}

const circle = (radius: number): string =>
  `M-${radius} 0a${radius} ${radius} 0 1 1 ${2 * radius} 0a${radius} ${radius} 0 1 1 -${2 * radius} 0`;

/** Where a click on a node leads: its page, the members of a group, or a web page elsewhere. */
function linkOf(
  { id, group }: PictureNode,
  { base, groupLink }: PictureOptions,
): { address: string; outside?: true } | undefined {
  if (group !== undefined)
    return groupLink === undefined
      ? undefined
      : { address: base + groupLink + encodeURIComponent(group) };
  // Browsers resolve dots, so that the path would be another.
  if (/^ark:(?!.*\/\.{1,2}(?:\/|$))/.test(id))
    return { address: `${base}/${encodeURI(id.toWellFormed())}` };
  return /^https?:\/\//i.test(id) && URL.canParse(id) ? { address: id, outside: true } : undefined;
}
