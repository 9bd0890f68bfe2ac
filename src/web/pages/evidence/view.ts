/** What of the evidence a reader has chosen to see: the query of the page's address. */
import type { KindName } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds.js";
import { expandCurie } from "../../../model/field.js";
import { glyphOf } from "../../../services/evidence/picture/glyphs.js";
import { PICTURE_KINDS, type PictureKind } from "../../../services/evidence/picture/picture.js";
import { compactType, MAX_EXPANDED } from "../../../services/evidence/types.js";
import { recordPath } from "../../paths.js";

/** Like siblings that become one group, unless the reader asks for single ones. */
export const COLLAPSE = 4;

export type Direction = "upstream" | "downstream" | "both";
export const DIRECTIONS: readonly (readonly [Direction, string])[] = [
  ["both", "where it came from and what it supports"],
  ["upstream", "where it came from"],
  ["downstream", "what it supports"],
];

export interface View {
  direction: Direction;
  depth: string;
  siblings: "grouped" | "single";
  /** Without what third parties state. */
  owner: boolean;
  /** All arrows of hubs. */
  hubs: boolean;
  /** Kinds that are left out. */
  hidden: readonly PictureKind[];
  /** Groups that are open, and records with one step more, in the order in which they were chosen. */
  expand: readonly string[];
}

/** How records of each kind are drawn. */
const GLYPH_OF_KIND = Object.entries(KINDS).map(
  ([kind, { rdfClass }]) =>
    [kind as KindName, glyphOf([compactType(expandCurie(rdfClass))])] as const,
);

export function viewOf(query: URLSearchParams): View {
  const direction = query.get("direction")?.toLowerCase();
  const depth = query.get("depth") ?? "";
  return {
    direction: DIRECTIONS.find(([name]) => name === direction)?.[0] ?? "both",
    depth: /^\d{1,3}$/.test(depth) && depth !== "0" ? depth : "",
    siblings: query.get("siblings") === "single" ? "single" : "grouped",
    owner: query.get("by") === "owner",
    hubs: query.get("hubs") === "all",
    hidden: hiddenOf(query),
    expand: [...new Set(query.getAll("expand"))].slice(0, MAX_EXPANDED),
  };
}

/** `hide` names what is left out; `kind`, of older addresses, the kinds of records that are shown. */
function hiddenOf(query: URLSearchParams): PictureKind[] {
  const hide = query.getAll("hide");
  const shown = GLYPH_OF_KIND.flatMap(([kind, glyph]) =>
    query.getAll("kind").includes(kind) ? [glyph] : [],
  );
  return PICTURE_KINDS.filter(
    (kind) =>
      hide.includes(kind) || (shown.length > 0 && kind !== "absent" && !shown.includes(kind)),
  );
}

/** Kinds of records that are shown; undefined for all. */
export const kindsShown = ({ hidden }: View): KindName[] | undefined =>
  hidden.length === 0
    ? undefined
    : GLYPH_OF_KIND.flatMap(([kind, glyph]) => (hidden.includes(glyph) ? [] : [kind]));

/** Address of the same picture with something changed. */
export function addressOf(id: string, view: View, change: Partial<View> = {}): string {
  const { direction, depth, siblings, owner, hubs, hidden, expand } = { ...view, ...change };
  const query = new URLSearchParams();
  if (direction !== "both") query.set("direction", direction);
  if (depth !== "") query.set("depth", depth);
  if (siblings !== "grouped") query.set("siblings", siblings);
  if (owner) query.set("by", "owner");
  if (hubs) query.set("hubs", "all");
  for (const kind of hidden) query.append("hide", kind);
  for (const each of expand) query.append("expand", each);
  const text = query.toString();
  return recordPath(id, "evidence") + (text === "" ? "" : `?${text}`);
}
