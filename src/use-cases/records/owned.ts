import { arkKey } from "../../identifiers/ark.js";
import type { KindName } from "../../model/kind.js";
import type { Link } from "../../model/link.js";

const OWNER = "schema:owner";

/**
 * Links of a record with that to its owner. The document of an uploaded crate does not name the uploader: without the
 * link the crate would be missing from the `rocrates` of the user.
 */
export function withOwner(kind: KindName, links: readonly Link[], owner: string | null | undefined): Link[] {
  if (kind !== "rocrate" || !owner) return [...links];
  const targetKey = arkKey(owner);
  const isStated = links.some((link) => link.predicate === OWNER && link.targetKey === targetKey);
  return isStated ? [...links] : [...links, { predicate: OWNER, target: owner, targetKey }];
}
