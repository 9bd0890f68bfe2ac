import type { MessagePort } from "node:worker_threads";

/** The type of a column; any may also be null. */
export type TransferType = "integer" | "text" | "boolean" | "bytes";

/**
 * All data of the record store as tables that belong to no adapter, in the order in which they are
 * sent, each by its `key`. Times are ms since 1970 UTC; numbers of rows stay the same, since lists
 * and positions depend on them.
 *
 * Data that a store derives itself are not here: the search index and its lookup tables, names
 * without case, tallies, marks of a sweep that is under way, stored scores, and vectors. Of leases
 * only how far their fences have come.
 */
export const TRANSFER = {
  setting: { key: ["name"], columns: { name: "text", value: "text" } },
  account: {
    key: ["user"],
    columns: {
      user: "text",
      email: "text",
      password_hash: "text",
      admin: "boolean",
      tokens_valid_from: "integer",
      deleted: "boolean",
      disabled: "boolean",
      signed_in_at: "integer",
    },
  },
  credential: {
    key: ["hash"],
    columns: {
      hash: "text",
      id: "text",
      user: "text",
      purpose: "text",
      name: "text",
      created_at: "integer",
      used_at: "integer",
      expires_at: "integer",
    },
  },
  submission: {
    key: ["number"],
    columns: {
      number: "integer",
      id: "text",
      type: "text",
      user: "text",
      status: "text",
      stage: "text",
      attempt: "integer",
      interrupted: "integer",
      time_created: "integer",
      time_started: "integer",
      time_finished: "integer",
      error: "text",
      warnings: "text",
      minted: "integer",
      rocrate: "text",
      sha256: "text",
      input: "text",
      cancelled: "boolean",
      updates: "boolean",
    },
  },
  record: {
    key: ["id"],
    columns: {
      id: "integer",
      ark: "text",
      key: "text",
      kind: "text",
      name: "text",
      owner: "text",
      created_at: "integer",
      modified_at: "integer",
      revision: "integer",
      status: "text",
      embargoed_until: "text",
      crate: "text",
      newest_backlink: "integer",
      state: "integer",
      deleted_at: "integer",
      deleted_by: "text",
      delete_reason: "text",
      successor: "text",
    },
  },
  /** `quads` and `projected` as {@link import("./codecs.js").packQuads} packs them. */
  state: {
    key: ["id"],
    columns: { id: "integer", document: "bytes", quads: "bytes", projected: "bytes" },
  },
  revision: {
    key: ["record", "revision"],
    columns: {
      record: "integer",
      revision: "integer",
      at: "integer",
      by: "text",
      action: "text",
      changed: "text",
      state: "integer",
    },
  },
  via: { key: ["id"], columns: { id: "integer", predicate: "text", kind: "text" } },
  link: {
    key: ["source", "position"],
    columns: {
      source: "integer",
      position: "integer",
      via: "integer",
      target: "text",
      target_key: "text",
      sequence: "integer",
    },
  },
  /**
   * The searchable text of live records; `words`: their keywords in the form that is compared, one
   * a line.
   */
  text: {
    key: ["record"],
    columns: {
      record: "integer",
      name: "text",
      description: "text",
      keywords: "text",
      other: "text",
      words: "text",
    },
  },
  change_log: { key: ["sequence", "record"], columns: { sequence: "integer", record: "integer" } },
  object_ref: {
    key: ["id"],
    columns: {
      id: "integer",
      record: "integer",
      sha256: "text",
      size: "integer",
      media_type: "text",
      name: "text",
      role: "text",
      since: "integer",
      until: "integer",
      dropped: "boolean",
    },
  },
  intent: {
    key: ["sha256", "holder_kind", "holder"],
    columns: {
      sha256: "text",
      holder_kind: "text",
      holder: "text",
      attempt: "integer",
      at: "integer",
    },
  },
  crate_use: { key: ["crate", "record"], columns: { crate: "text", record: "integer" } },
  lease: { key: ["name"], columns: { name: "text", fence: "integer" } },
} as const satisfies Record<
  string,
  { key: readonly string[]; columns: Readonly<Record<string, TransferType>> }
>;

export type TransferTable = keyof typeof TRANSFER;
export const TRANSFER_TABLES = Object.keys(TRANSFER) as TransferTable[];

export type TransferValue = null | number | string | boolean | Uint8Array;
/** Values in the order of the table's columns. */
export type TransferRow = readonly TransferValue[];

/**
 * One chunk of an export: its beginning, rows of one table, or its end. The same records make the
 * same chunks in every store. `sequence` is the number of the last commit; `rows` counts the sent
 * rows, so that a cut is seen.
 */
export type TransferChunk =
  | { begin: { format: 1; sequence: number } }
  | { table: TransferTable; rows: readonly TransferRow[] }
  | { end: { rows: number } };

/** An object that the record store needs; `size` is null where it does not say. */
export interface NeededObject {
  sha256: string;
  size: number | null;
}

/**
 * A stored value that differs from the one written; `where` names the record where it can be known.
 */
export interface FoundDamage {
  where: string;
  what: string;
}

/** A record store as one unit, to be moved into another store. */
export interface RecordsTransfer {
  /** True where no other process can write to it while it is open. */
  readonly exclusive: boolean;
  /** Number of the last commit that changed records. */
  sequence(): Promise<number>;
  /** True when the store has no record, account or submission. */
  isEmpty(): Promise<boolean>;
  /** Reads everything as of one snapshot, in bounded memory. Changes nothing. */
  export(): AsyncIterable<TransferChunk>;
  /**
   * Imports a whole export, all or nothing: after a failure, or the loss of the process, the store
   * is as empty as before.
   * @throws TransferRefused when the store is not empty, or the chunks are no whole export
   */
  import(chunks: AsyncIterable<TransferChunk>): Promise<void>;
  /**
   * Reads and decodes everything, in bounded memory, and names the damaged rows. Changes nothing.
   */
  damage(): AsyncIterable<FoundDamage>;
  /** Objects that records or unfinished submissions need, in pages by hash. */
  neededObjects(options: {
    after?: string;
    limit: number;
  }): Promise<{ items: NeededObject[]; next?: string }>;
  /** The records and unfinished submissions that need an object; at most `limit`. */
  needing(sha256: string, limit: number): Promise<string[]>;
  /** As {@link import("./port.js").RecordStore.openFeed}. */
  openFeed(): MessagePort;
  close(): Promise<void>;
}

/** A transfer that cannot be done; nothing was changed. */
export class TransferRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TransferRefused";
  }
}
