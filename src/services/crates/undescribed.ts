import { sameArk } from "../../identifiers/ark.js";
import type { ObjectReference, StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";

/** Most folders of a path that are tried as a crate; deeper ones are ignored. */
const DEEPEST = 100;

/** A file of a crate that has no record. */
export interface UndescribedFile {
  crate: StoredRecord;
  object: ObjectReference;
}

/** Revisions of a crate in one read. */
const PAGE = 1000;

/**
 * A file that no entity of its crate describes: it has no record, and its identifier is the crate's
 * identifier followed by its path.
 * @param ark decoded, like the path of a request
 */
export async function findUndescribed(
  deps: Pick<Deps, "records">,
  ark: string,
): Promise<UndescribedFile | undefined> {
  const slashes = [...ark.matchAll(/\//g)]
    .map(({ index }) => index)
    .slice(1, DEEPEST + 1)
    .toReversed();
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

/**
 * An undescribed file of a crate at the address of a record: the file is the crate's own, and takes
 * precedence over a record that was registered at its address. A record that the crate's owner had
 * registered before the file was uploaded keeps the address.
 */
export async function undescribedInstead(
  deps: Pick<Deps, "records">,
  record: StoredRecord,
): Promise<UndescribedFile | undefined> {
  const file = await findUndescribed(deps, record.ark);
  if (!file || file.crate.ark === record.crate) return undefined;
  const {
    crate,
    object: { name },
  } = file;
  if (crate.owner === null || record.owner === null || !sameArk(crate.owner, record.owner))
    return file;
  const then = await revisionAt(deps, crate, record.createdAt);
  return then !== undefined &&
    (await deps.records.objectsOf(crate.ark, { role: "member", name, revision: then })).length > 0
    ? file
    : undefined;
}

/** The revision of a record at some time; undefined before its creation. */
async function revisionAt(
  { records }: Pick<Deps, "records">,
  { ark }: StoredRecord,
  at: number,
): Promise<number | undefined> {
  let before: number | undefined;
  for (;;) {
    const page = await records.history(ark, {
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
    });
    const found = page.find((revision) => revision.at <= at);
    if (found || page.length < PAGE) return found?.revision;
    before = page.at(-1)!.revision;
  }
}

/**
 * The requested path, percent-decoded once more (a link that was copied encoded), and in the
 * Unicode normal forms of macOS and of other systems.
 */
function spellings(path: string): Set<string> {
  const found = new Set<string>();
  for (const text of [path, decoded(path)])
    for (const form of [text, text.normalize("NFC"), text.normalize("NFD")]) found.add(form);
  return found;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
