import { ServiceError } from "../errors.js";
import { historyOf } from "../use-cases/records/history.js";
import type { Context } from "./context.js";
import { pageOf, type CheckedPage } from "./types/connection.js";
import type { RecordNode } from "./types/record-node.js";
import type { RevisionConnection } from "./types/revision.js";

/** A page of a record's revisions, newest first; the cursor is the revision. @throws ServiceError `BAD_REQUEST` for another cursor */
export async function revisionsOf(node: RecordNode, { limit, after }: CheckedPage, { deps, caller }: Context): Promise<RevisionConnection> {
  if (after !== undefined && !/^[1-9]\d{0,8}$/.test(after)) throw new ServiceError("BAD_REQUEST", "The cursor in after is none that a history gave: pass pageInfo.endCursor of the page before.");
  if (!node.stored) return { ...pageOf([], [], false, after), totalCount: 0 };
  const found = await historyOf(deps, node.stored, { limit, ...(after === undefined ? {} : { before: Number(after) }) }, caller);
  const revisions = found.map((revision) => ({ ...revision, at: new Date(revision.at) }));
  const last = found.at(-1)?.revision ?? 1;
  return { ...pageOf(revisions, found.map(({ revision }) => String(revision)), last > 1, after), totalCount: node.stored.revision };
}
