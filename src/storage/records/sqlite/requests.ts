/**
 * What the writer's thread is sent: commits that are prepared before, other writes, and its
 * answers.
 */
import { arkKey } from "../../../identifiers/ark.js";
import type { KindName, Link } from "../../../model/kind.js";
import { respell } from "../../../rdf/terms.js";
import { packQuads, unpackLinks, unpackQuads } from "../codecs.js";
import type {
  Commit,
  Committed,
  RecordState,
  RecordStore,
  RecordWrite,
  SearchText,
} from "../port.js";
import { type SentError, takesTooLong } from "../refusals.js";
import type { TableWrites } from "../tables/tables.js";
import { fold, indexable, keywordsOf, searchedTextOf } from "../text.js";
import type { Connection } from "./statement.js";

/** A record's state as the tables take it. */
export interface PreparedState extends Omit<RecordState, "quads" | "links"> {
  links: readonly Link[];
  /** The name without case. */
  folded: string;
  ownerKey: string | null;
  /** Packed. */
  quads: Uint8Array;
  /** As the search index takes it. */
  text: SearchText;
  /** Distinct, as they are compared. */
  keywords: string[];
}
type Prepared<Write> = Write extends RecordState
  ? Omit<Write, keyof RecordState> & PreparedState
  : Write;

/** A write with all worked out that needs no table. */
export type PreparedWrite = Prepared<RecordWrite>;
export interface PreparedCommit extends Omit<Commit, "records"> {
  records: PreparedWrite[];
  /** Why one of its records could not be prepared: the commit is refused for it. */
  fault?: unknown;
}

export function prepareWrite(write: RecordWrite): PreparedWrite {
  if (!("document" in write)) return write;
  const { name, owner } = write;
  return {
    ...write,
    folded: indexable(fold(name ?? "")),
    ownerKey: owner === null ? null : arkKey(owner),
    quads: packQuads(write.quads),
    links: unpackLinks(write.links),
    text: searchedTextOf(write),
    keywords: keywordsOf(write),
  };
}

/** The same write, as it is sent to the other thread. */
export const withOwnBytes = (write: RecordWrite): RecordWrite =>
  "document" in write ? { ...write, document: ownBytes(write.document) } : write;

/**
 * A message between threads carries the whole buffer behind an array of bytes, which for a small
 * Buffer is Node's shared pool: 8 KiB for 300 bytes. So bytes that are part of a larger buffer are
 * copied out.
 */
const ownBytes = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);

/** The state of one running commit, shared by the tables' writers. */
export interface Step {
  /** The commit's number, if it changes a record. */
  readonly sequence: number;
  readonly at: number;
  readonly by: string | null;
  /** On the clock of `performance.now()`: past this the commit is abandoned. */
  readonly deadline: number;
  /** Rows of records whose graph or administration changed: the change log of this commit. */
  readonly changed: Set<number>;
  /** Records whose links are brought up to date once every record of the commit is stored. */
  readonly links: LinkChange[];
  /** Keys that get a link by this commit, or lose one. */
  readonly touched: Set<string>;
  /** Keys of which private records alone may notice that: a private record stated the link. */
  readonly touchedPrivately: Set<string>;
  /** Live open records that the commit adds, by kind. */
  readonly live: Map<string, number>;
  /** Records that become open. */
  readonly opened: number[];
  /** Records that are new: links may have waited for them. */
  readonly arrived: Arrival[];
  /**
   * Keys whose only records are new and were stored with this commit as that of their newest link.
   */
  readonly linked: Set<string>;
}
/** @throws ServiceError `TOO_LARGE` once the commit has blocked others for as long as it may */
export function checkDeadline({ deadline }: Step): void {
  if (performance.now() > deadline) throw takesTooLong();
}
/** The links a record states from now on; none for a deleted one. */
export interface LinkChange {
  source: number;
  ark: string;
  key: string;
  kind: KindName;
  links: readonly Link[];
  isNew: boolean;
  /** Others are to notice nothing of its links. */
  isPrivate: boolean;
  /** Packed. */ quads: Uint8Array | null;
  state: number;
}
interface Arrival {
  id: number;
  ark: string;
  key: string;
  sharesKey: boolean;
  isPrivate: boolean;
  /** Commit that the newest of the links that waited for it is of. */
  newest?: number;
}

/** Keys whose owners are cached between commits; some MiB. */
const MAX_KNOWN = 20_000;

/**
 * The graph as seen by the index: link targets spelled as the records that own their keys spell
 * them. It is always made from the quads as written, so that it is the same whichever record came
 * first.
 */
export class Projection {
  readonly #owners;
  readonly #put;
  readonly #current;
  readonly #links;
  /** Spellings that own a key. They change only with a new record, which {@link owns} reports. */
  readonly #known = new Map<string, string[]>();

  constructor(connection: Connection) {
    this.#owners = connection.prepare<[string]>("SELECT ark FROM record WHERE key = ?");
    this.#put = connection.prepare("UPDATE state SET projected = ? WHERE id = ?");
    this.#current = connection.prepare<[number, Uint8Array, Uint8Array | null]>(
      `SELECT s.id, s.quads, s.projected FROM record AS r JOIN state AS s ON s.id = r.state
        WHERE r.id = ? AND r.deleted_at IS NULL`,
    );
    this.#links = connection.prepare<[string, string]>(
      "SELECT DISTINCT target, target_key FROM link WHERE source = ?",
    );
  }

  /** Call when a commit begins. */
  begin(): void {
    if (this.#known.size > MAX_KNOWN) this.forget();
  }

  /** Call after a rollback: owners of keys are looked up again. */
  forget(): void {
    this.#known.clear();
  }

  /** Reports the owner of a key that this commit itself brought, which saves looking it up. */
  owns(key: string, ark: string, shared: boolean): void {
    if (shared) this.#known.delete(key);
    else this.#known.set(key, [ark]);
  }

  /** Projects packed quads just written. */
  project(state: number, packed: Uint8Array, links: readonly Link[]): void {
    const spelling = this.#spelling(links);
    if (spelling.size === 0) return;
    const quads = unpackQuads(packed);
    const projected = respell(quads, spelling);
    if (projected !== quads) this.#put.put([packQuads(projected), state]);
  }

  /** Projects the current quads of a record again; true when they changed. */
  projectAgain(record: number): boolean {
    const row = this.#current.get([record]);
    if (!row) return false;
    const [state, written, before] = row;
    const quads = unpackQuads(written);
    const now = respell(
      quads,
      this.#spelling(
        this.#links.all([record]).map(([target, targetKey]) => ({ target, targetKey })),
      ),
    );
    if (now === (before ? unpackQuads(before) : quads)) return false;
    this.#put.put([now === quads ? null : packQuads(now), state]);
    return true;
  }

  /** As written → as owned. A key with several owners (members of one crate) is left as written. */
  #spelling(links: readonly Pick<Link, "target" | "targetKey">[]): Map<string, string> {
    const spelling = new Map<string, string>();
    for (const { target, targetKey } of links) {
      let owners = this.#known.get(targetKey);
      if (!owners)
        this.#known.set(targetKey, (owners = this.#owners.all([targetKey]).map(([ark]) => ark)));
      if (owners.length === 1 && owners[0] !== target) spelling.set(target, owners[0]!);
    }
    return spelling;
  }
}

/** All operations of the writer, by name. Arguments and results cross the thread boundary. */
export type WriterCalls = TableWrites &
  Pick<
    RecordStore,
    | "lease"
    | "releaseLease"
    | "rewriteQuads"
    | "intend"
    | "release"
    | "claimUnreferenced"
    | "removed"
  > & { commit(commit: PreparedCommit): Promise<Committed> };
export type WriterCall = keyof WriterCalls;

/**
 * Messages to the writer. `part`: records of a large commit that follows under the same id;
 * preparing and copying all of them at once would block the serving thread, and other writers.
 */
export type WriterRequest =
  { task: WriterTask } | { id: number; part: readonly RecordWrite[] } | { close: true };
export interface WriterTask {
  id: number;
  call: WriterCall;
  /** Those of {@link WriterCalls}; of a commit the thread prepares the records. */
  args: unknown[];
}
/** The thread's answers: one when ready, then one message for each group, after its COMMIT. */
export type WriterMessage =
  | { ready: true; sequence: number }
  | { failed: SentError }
  | { answers: WriterAnswer[]; sequence: number }
  | { closed: true };
export type WriterAnswer = { id: number; result: unknown } | { id: number; error: SentError };
