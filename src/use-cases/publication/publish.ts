import type { JsonValue } from "../../model/field.js";
import type { PublicationStatus, RecordWrite, StoredRecord } from "../../stores/records/port.js";
import { authenticated, type Caller } from "../access/caller.js";
import { assertMayChange, mayChange } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { unlessChanged } from "../records/contention.js";
import { findLive } from "../records/find.js";
import { mismatch } from "../records/replace.js";
import { checkedPublication } from "./request.js";

/** Whether a record's content is open, as clients see it. */
export interface Publication { "@id": string; publicationStatus: PublicationStatus; embargoedUntil: string | null }

export const publicationOf = ({ ark, publicationStatus, embargoedUntil }: StoredRecord): Publication => ({ "@id": ark, publicationStatus, embargoedUntil });

/** @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE` */
export async function readPublication(deps: Deps, id: string): Promise<StoredRecord> {
  return findLive(deps, id);
}

/** Members read at a time while a crate is published. */
const PAGE = 500;

/**
 * Sets the publication status of a record; any status may follow any. Publishing a crate publishes its members
 * that are DRAFT, in the same commit; whatever else somebody decided for a member stays, and so do members that
 * the caller may not change.
 * @param at where the request is in what the client sent
 * @throws ValidationError; ServiceError `NOT_AUTHENTICATED`, `NOT_FOUND`, `GONE`, `FORBIDDEN`, `REVISION_MISMATCH`
 */
export async function publishRecord(deps: Deps, input: JsonValue | undefined, caller: Caller | null, expectedRevision?: number, at: readonly (string | number)[] = ["body"]): Promise<StoredRecord> {
  const who = authenticated(caller);
  const { id, status, embargoedUntil } = checkedPublication(input, at);
  // A member that was embargoed or deleted meanwhile must not be published by what was read before.
  return unlessChanged(id, expectedRevision, async () => {
    const record = await findLive(deps, id);
    await assertMayChange(deps.records, who, record);
    if (expectedRevision !== undefined && expectedRevision !== record.revision) throw mismatch(record, expectedRevision);
    const records: RecordWrite[] = [{ op: "publish", ark: record.ark, ifRevision: record.revision, status, embargoedUntil }];
    if (record.kind === "rocrate" && status === "PUBLISHED") for await (const draft of draftsOf(deps, record, who)) records.push({ op: "publish", ark: draft.ark, ifRevision: draft.revision, status, embargoedUntil: null });
    await deps.records.commit({ by: who.user, at: Date.now(), records });
    const [after] = await deps.records.findMany([record.ark]);
    return after!;
  });
}

async function* draftsOf(deps: Deps, crate: StoredRecord, who: Caller): AsyncGenerator<StoredRecord> {
  const may = new Map<string | null, Promise<boolean>>();
  let after: string | undefined;
  do {
    const page = await deps.records.list({ crate: crate.ark, limit: PAGE, ...(after === undefined ? {} : { after }) });
    for (const member of page.items) {
      if (member.ark === crate.ark || member.publicationStatus !== "DRAFT") continue;
      // Members share a few owners: the rule is asked once for each.
      if (!may.has(member.owner)) may.set(member.owner, mayChange(deps.records, who, member));
      if (await may.get(member.owner)) yield member;
    }
    after = page.next;
  } while (after !== undefined);
}
