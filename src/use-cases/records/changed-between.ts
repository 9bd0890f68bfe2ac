import type { Deps } from "../deps.js";
import { changedPointers } from "./changed.js";
import { parseDocument } from "./view.js";

/** Bytes of two documents that the serving thread compares itself. */
const SMALL = 64 * 2 ** 10;

/** {@link changedPointers} of two stored documents; large ones are compared in another thread. */
export async function changedBetween({ documents }: Pick<Deps, "documents">, before: Uint8Array, after: Uint8Array): Promise<string[]> {
  if (before.length + after.length <= SMALL) return changedPointers(parseDocument(before), parseDocument(after));
  const copies = { before: new Uint8Array(before), after: new Uint8Array(after) };
  return documents.ask("changed", copies, [copies.before, copies.after]);
}
