/**
 * The interface of moving all content between record stores, and the chunks in which it travels.
 */
import type { MessagePort } from "node:worker_threads";
import { arkKey } from "../../identifiers/ark.js";
import { unpackQuads } from "./codecs.js";
import { storedJson } from "./refusals.js";

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
      scopes: "text",
      bound_to: "text",
    },
  },
  identity: {
    key: ["issuer", "subject"],
    columns: { issuer: "text", subject: "text", user: "text", linked_at: "integer" },
  },
  access_request: {
    key: ["id"],
    columns: {
      id: "text",
      record: "text",
      requester: "text",
      reason: "text",
      state: "text",
      asked_at: "integer",
      expires_at: "integer",
      message: "text",
      decided_at: "integer",
      decided_by: "text",
    },
  },
  audit: {
    key: ["number"],
    columns: {
      number: "integer",
      at: "integer",
      action: "text",
      actor: "text",
      name: "text",
      address: "text",
      subject: "text",
      detail: "text",
    },
  },
  review_link: {
    key: ["hash"],
    columns: {
      hash: "text",
      id: "text",
      ark: "text",
      key: "text",
      created_by: "text",
      created_at: "integer",
      expires_at: "integer",
      anonymous: "boolean",
      uses: "integer",
      used_at: "integer",
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
      private: "integer",
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
   * The searchable text of live open records; `words`: their keywords in the form that is compared, one
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
  /** The same of live private records. */
  private_text: {
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

type TransferValue = null | number | string | boolean | Uint8Array;
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

/** Where a chunk of rows ends, independent of how many rows the store reads at a time. */
const MAX_ROWS = 1000;
const MAX_BYTES = 2 ** 20;

const sizeOf = (value: TransferValue): number =>
  value instanceof Uint8Array ? value.byteLength : typeof value === "string" ? value.length : 8;

/** Makes an export of the rows of all tables, which a store reads by their keys. */
export async function* chunksOf(
  sequence: number,
  rowsOf: (table: TransferTable) => AsyncIterable<TransferRow> | Iterable<TransferRow>,
): AsyncGenerator<TransferChunk, void, undefined> {
  yield { begin: { format: 1, sequence } };
  let sent = 0;
  for (const table of TRANSFER_TABLES) {
    let rows: TransferRow[] = [];
    let bytes = 0;
    for await (const row of rowsOf(table)) {
      rows.push(row);
      sent++;
      for (const value of row) bytes += sizeOf(value);
      if (rows.length < MAX_ROWS && bytes < MAX_BYTES) continue;
      yield { table, rows };
      rows = [];
      bytes = 0;
    }
    if (rows.length > 0) yield { table, rows };
  }
  yield { end: { rows: sent } };
}

const isOf = { integer: "number", text: "string", boolean: "boolean" } as const;

function check(table: TransferTable, rows: readonly TransferRow[]): void {
  const types = Object.values(TRANSFER[table].columns);
  for (const row of rows) {
    const fits =
      row.length === types.length &&
      row.every((value, column) => {
        const type = types[column]!;
        return (
          value === null ||
          (type === "bytes" ? value instanceof Uint8Array : typeof value === isOf[type])
        );
      });
    if (!fits) throw new TransferRefused(`The export contains an invalid row of ${table}`);
  }
}

/**
 * Reads an export, and checks it as a whole.
 * @throws TransferRefused when its format is not known, or it has no end
 */
export async function receive(
  chunks: AsyncIterable<TransferChunk>,
  put: (table: TransferTable, rows: readonly TransferRow[]) => Promise<void> | void,
): Promise<void> {
  let state: "none" | "begun" | "ended" = "none";
  let taken = 0;
  let at = 0;
  for await (const chunk of chunks) {
    if ("begin" in chunk) {
      if (state !== "none" || chunk.begin.format !== 1)
        throw new TransferRefused(
          "The export does not begin with a header that this version reads",
        );
      state = "begun";
    } else if (state !== "begun")
      throw new TransferRefused("The export has no header, or continues after its end");
    else if ("end" in chunk) {
      if (chunk.end.rows !== taken)
        throw new TransferRefused(
          `The export is incomplete: ${taken} of ${chunk.end.rows} rows came`,
        );
      state = "ended";
    } else {
      const place = TRANSFER_TABLES.indexOf(chunk.table);
      if (place < at) throw new TransferRefused("The export's tables are not in their order");
      at = place;
      check(chunk.table, chunk.rows);
      taken += chunk.rows.length;
      await put(chunk.table, chunk.rows);
    }
  }
  if (state !== "ended") throw new TransferRefused("The export is incomplete: its end is missing");
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Why the values of one row cannot be those written; `undefined` for a row that can be decoded. */
export function rowDamage(table: TransferTable, row: TransferRow): string | undefined {
  const value = (column: string): unknown =>
    row[Object.keys(TRANSFER[table].columns).indexOf(column)];
  try {
    switch (table) {
      case "state":
        storedJson(decoder.decode(value("document") as Uint8Array), "the document");
        for (const column of ["quads", "projected"])
          if (value(column) !== null) unpackQuads(value(column) as Uint8Array);
        return undefined;
      case "record":
        return arkKey(value("ark") as string) === value("key")
          ? undefined
          : "the identifier and the key by which it is found differ";
      case "submission":
        for (const column of ["error", "warnings", "input"])
          if (value(column) !== null) storedJson(value(column) as string, column);
        return undefined;
      case "audit":
        storedJson(value("detail") as string, "the detail");
        return undefined;
      case "revision":
        if (value("changed") !== null)
          storedJson(value("changed") as string, "the list of changes");
        return undefined;
      default:
        return undefined;
    }
  } catch (error) {
    return (error as Error).message;
  }
}
