import { arkKey } from "../../identifiers/ark.js";
import { ServiceError } from "../../errors.js";
import type { Deps } from "../deps.js";
import { assertKind, findRecord } from "../records/find.js";

/** How an upload is to be ingested. */
export interface UploadOptions {
  /** What the caller has of the crate is brought up to date. */
  update?: boolean;
  /** Identifier of the crate that is brought up to date, in any spelling; for a crate whose root does not name it. */
  crate?: string | undefined;
}

/**
 * The ARK of the crate that an upload names, live or deleted.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `FORBIDDEN` for a crate of somebody else's
 */
export async function namedCrate(deps: Deps, user: string, id: string): Promise<string> {
  const record = await findRecord(deps, id);
  assertKind(record, "rocrate");
  if (record.owner === null || arkKey(record.owner) !== arkKey(user)) throw new ServiceError("FORBIDDEN", `Only its owner may update ${record.ark} with an upload.`);
  return record.ark;
}
