import type { Ark } from "../../identifiers/ark.js";
import type { KindName } from "../../model/kind.js";
import type { RecordWrite } from "../../storage/records/port.js";
import type { Caller } from "../access/rules.js";
import { wholeStoreOf } from "../access/seen.js";
import type { Deps } from "../deps.js";
import { findLive } from "./find.js";
import { amendRecord, changeRecord } from "./write.js";
import { type RecordView, viewOf } from "./view.js";
import { checkedWithdrawal, type GivenWithdrawal } from "./withdrawal.js";
import { pagesOf } from "./pages.js";

export interface RemoveOptions extends GivenWithdrawal {
  kind?: KindName;
  expectedRevision?: number;
  /** Where the request has them. */
  at?: readonly string[];
}

/** Members in one read while a crate is deleted. */
const PAGE = 500;

/**
 * Deletes a record: a tombstone remains, and the identifier is not used again. Deleting a crate
 * deletes the records minted for its members; deleting a user ends the account.
 * @returns the record as it was
 * @throws ValidationError for a successor that is no ARK; ServiceError `NOT_FOUND`, `GONE`,
 * `FORBIDDEN`, `REVISION_MISMATCH`
 */
export async function removeRecord(
  deps: Deps,
  ark: Ark,
  who: Caller,
  options: RemoveOptions = {},
): Promise<RecordView> {
  const tombstone = checkedWithdrawal(options, options.at ?? ["query"]);
  // For a file its stored content is deleted, and the record remains.
  const found = await findLive(deps, ark, options.kind);
  if (found.kind === "datadownload") return removeContent(deps, ark, who, options.expectedRevision);
  const { kind, expectedRevision } = options;
  return changeRecord(deps, ark, who, { kind, expectedRevision }, async (record) => {
    const view = await viewOf(deps, record, who);
    const records: RecordWrite[] = [
      {
        op: "delete",
        ark: record.ark,
        ifRevision: record.revision,
        dropObjects: true,
        ...tombstone,
      },
    ];
    if (record.kind === "rocrate")
      for await (const member of membersOf(deps, record.ark))
        records.push({ op: "delete", ...member, dropObjects: true, ...tombstone });
    await deps.records.commit({
      by: who.user,
      at: Date.now(),
      from: deps.client,
      records,
      ...(record.kind === "user" ? { account: { op: "delete" as const, user: record.ark } } : {}),
    });
    return view;
  });
}

/**
 * Removes the stored content of a file record, from its earlier revisions too, and preserves the
 * metadata. Without stored content nothing changes.
 * @throws ServiceError `NOT_FOUND`, `GONE`, `FORBIDDEN`, `REVISION_MISMATCH`
 */
export async function removeContent(
  deps: Deps,
  ark: Ark,
  who: Caller,
  expectedRevision?: number,
): Promise<RecordView> {
  return amendRecord(
    deps,
    ark,
    who,
    { kind: "datadownload", expectedRevision },
    async (record, document) => {
      const objects = await deps.records.objectsOf(record.ark);
      if (!objects.some(({ role }) => role === "content")) return undefined;
      return {
        document: { ...document, contentUrl: null },
        objects: objects.filter(({ role }) => role !== "content"),
        dropObjects: true,
      };
    },
  );
}

/**
 * Records minted for a crate; a record that another crate has too remains, and belongs to that
 * crate from then on.
 */
async function* membersOf(
  deps: Deps,
  crate: string,
): AsyncGenerator<{ ark: string; ifRevision: number }> {
  // Also those that only their owners see.
  const whole = wholeStoreOf(deps.records);
  for await (const page of pagesOf(whole, { filter: { crates: [crate] } }, { limit: PAGE })) {
    const kept = new Set(
      await deps.records.usedElsewhere(
        page.map(({ ark }) => ark),
        crate,
      ),
    );
    for (const { ark, revision } of page)
      if (ark !== crate && !kept.has(ark)) yield { ark, ifRevision: revision };
  }
}
