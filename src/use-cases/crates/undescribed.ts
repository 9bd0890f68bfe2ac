import { lookupArk } from "../../identifiers/ark.js";
import type { ObjectReference } from "../../stores/records/objects-port.js";
import type { StoredRecord } from "../../stores/records/port.js";
import type { Deps } from "../deps.js";

/** Folders of a path that may be a crate; deeper ones are not looked at. */
const DEEPEST = 100;

/**
 * A file that no entity of its crate describes: it has no record, and is found by the crate's identifier followed by
 * its path.
 * @param id decoded, as the path of a request is
 */
export async function findUndescribed(deps: Pick<Deps, "records">, id: string): Promise<{ crate: StoredRecord; object: ObjectReference } | undefined> {
  const ark = lookupArk(id);
  if (ark === undefined) return undefined;
  const slashes = [...ark.matchAll(/\//g)].map(({ index }) => index).slice(1, DEEPEST + 1).toReversed();
  const candidates = await deps.records.findMany(slashes.map((slash) => ark.slice(0, slash)));
  for (const [index, crate] of candidates.entries()) {
    if (crate?.kind !== "rocrate" || crate.tombstone) continue;
    for (const name of spellings(ark.slice(slashes[index]! + 1))) {
      const [object] = await deps.records.objectsOf(crate.ark, { role: "member", name });
      if (object) return { crate, object };
    }
  }
  return undefined;
}

/** As asked for, percent-decoded once more (a link that was copied encoded), and as a Mac or another system composes letters. */
function spellings(path: string): Set<string> {
  const found = new Set<string>();
  for (const text of [path, decoded(path)]) for (const form of [text, text.normalize("NFC"), text.normalize("NFD")]) found.add(form);
  return found;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
