import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { Deps } from "../deps.js";

/** How many live records of each kind there are; the store has these counts ready. */
export async function totalsByKind({
  records,
}: Pick<Deps, "records">): Promise<ReadonlyMap<KindName, number>> {
  const kinds = Object.keys(KINDS) as KindName[];
  const counts = await Promise.all(kinds.map((kind) => records.count({ kind })));
  return new Map(kinds.map((kind, index) => [kind, counts[index]!]));
}
