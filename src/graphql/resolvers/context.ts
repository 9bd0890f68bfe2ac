/**
 * What every resolver is given: the caller, the service, loaders that read together, and turns of
 * the serving thread.
 */
import { setImmediate as turn } from "node:timers/promises";
import DataLoader from "dataloader";
import { ServiceError } from "../../errors.js";
import type { Connection } from "../../model/connections.js";
import type { KindName } from "../../model/kind.js";
import { authenticated, type Caller } from "../../services/access/rules.js";
import { rateLimit } from "../../services/accounts/tokens.js";
import type { Deps } from "../../services/deps.js";
import { type ContentState, contentStates } from "../../services/files/content.js";
import { countLinks, linksFrom, linksTo, liveRecords } from "../../services/records/links.js";
import { plainView, type RecordView, viewsOf } from "../../services/records/view.js";
import type { FoundLink, Page, StoredRecord } from "../../storage/records/port.js";
import { nodeOf, type RecordNode, unresolved } from "./types/records.js";

/**
 * The serving thread serves everybody: long work is done in slices, with turns of the event loop
 * between them in which other requests are served.
 */

/** ms of work after which a slice is over. */
const SLICE = 10;
/**
 * Entries of lists that begin in one slice. What begins is completed in the same turn, so the clock
 * alone would notice too late.
 */
const ENTRIES = 1_000;

let begun = 0;
let entries = 0;
/** The turn that was promised last: those that wait go on one after the other, each in its own. */
let promised: Promise<void> = Promise.resolve();
/** Callers that wait for a turn that they may share: what they read next is read together. */
const waiting: { resolve: () => void; size: number }[] = [];

/** To be called where a turn of the event loop begins anyway. */
export function beginSlice(): void {
  begun = performance.now();
  entries = 0;
}

/** A new turn of the event loop, and with it a new slice. */
function nextTurn(): Promise<void> {
  return (promised = promised.then(() => turn()).then(beginSlice));
}

/** The same, shared by as many callers as there is space for in a slice. */
export function sharedTurn(size: number): Promise<void> {
  return new Promise((resolve) => {
    waiting.push({ resolve, size });
    if (waiting.length === 1) void wake();
  });
}

async function wake(): Promise<void> {
  while (waiting.length > 0) {
    await nextTurn();
    do {
      const { resolve, size } = waiting.shift()!;
      entries += size;
      resolve();
    } while (waiting.length > 0 && entries < ENTRIES);
  }
}

/** Whether this slice has space for so many more entries, which then count. */
export function fits(size: number): boolean {
  if (entries >= ENTRIES || performance.now() - begun > SLICE) return false;
  entries += size;
  return true;
}

/** Lets other requests be served if the slice is over. */
export async function pause(): Promise<void> {
  if (!fits(1)) await nextTurn();
}

/**
 * ms of writes that begin in one turn of the event loop. A write takes this thread about 0.4 ms until
 * it is in the store's queue, and all that waited for one sync of the disk are answered together: the
 * next ones of as many clients arrive together too.
 */
const WRITES = 4;

/** When the writes of this turn began; undefined while there are none. */
let writing: number | undefined;
/** Writes that wait, in the order in which they came. */
const writes: (() => void)[] = [];

/**
 * Lets reads be served between the writes of many clients: once the writes of a turn have used up
 * their time, the others wait, each for a turn of its own.
 * @returns undefined where the write may begin at once
 */
export function turnOfWrite(): Promise<void> | undefined {
  if (writes.length === 0) {
    const now = performance.now();
    if (writing === undefined) {
      writing = now;
      setImmediate(nextWrite);
      return undefined;
    }
    if (now - writing < WRITES) return undefined;
  }
  return new Promise((resolve) => void writes.push(resolve));
}

function nextWrite(): void {
  const resolve = writes.shift();
  writing = resolve && performance.now();
  if (!resolve) return;
  setImmediate(nextWrite);
  resolve();
}

interface LinksFrom {
  predicates: readonly string[];
  after?: string;
  limit: number;
}
interface LinksTo extends LinksFrom {
  kinds?: readonly KindName[];
  /** Sources that the record itself links to by these are left out. */
  unlessBack: readonly string[];
}

/**
 * Bytes of a document that take about a millisecond to parse, and bytes that are parsed in one turn
 * of the event loop.
 */
const [LARGE, AT_ONCE] = [32 * 2 ** 10, 256 * 2 ** 10];
/**
 * Bytes of a document of which a list shows parts: what is longer counts for a small share, so that
 * the longest record there is does not end every list that it is in. Who asks for the document
 * itself has it counted whole.
 */
const [SHOWN, SHARE] = [64 * 2 ** 10, 64];
const shareOf = (bytes: number): number =>
  bytes <= SHOWN ? bytes : SHOWN + Math.ceil((bytes - SHOWN) / SHARE);
/** Share of an answer from which one value by itself is too long; the rest is answered. */
const MOST_OF_ANSWER = 4;

/** A value does not fit in the answer. What else was asked for is answered. */
export class ValueTooLong extends ServiceError {}

/** Bytes of an answer after which they are compared with the limit again. */
const STEP = 2 ** 10;
/** Records in one read, and records whose links are read at once. */
const [BATCH, LINKED] = [200, 100];
/** Nodes that are answered without a pause. */
const FEW = 50;
/** Records of unknown length that are read together: all of them may be very long. */
const TOGETHER = 5;

/**
 * Reads of one request, batched so that a page of records costs a bounded number of store reads.
 */
class Loaders {
  readonly #links = new Map<readonly string[], Map<string, DataLoader<string, unknown>>>();
  #nodes: DataLoader<string, RecordNode> | undefined;
  #views: DataLoader<StoredRecord, RecordView> | undefined;
  #contents: DataLoader<StoredRecord, ContentState> | undefined;
  #spent = 0;
  #held = 0;
  #weight = 0;
  /** How long the answer was when that was last compared with the limit. */
  #compared = 0;
  #pages: Promise<unknown> = Promise.resolve();
  #begun = 0;
  #since = 0;

  readonly #deps: Deps;
  readonly #caller: Caller | null;
  readonly #isAbandoned: () => boolean;

  /** @param isAbandoned whether nobody waits for the answer any more */
  constructor(deps: Deps, caller: Caller | null, isAbandoned: () => boolean) {
    this.#deps = deps;
    this.#caller = caller;
    this.#isAbandoned = isAbandoned;
  }

  /** The live record of an ARK as a node; dangling references become {@link unresolved} ones. */
  node(ark: string): Promise<RecordNode> {
    // Nodes, not records: a target of many links is parsed once.
    this.#nodes ??= new DataLoader(
      (arks) =>
        this.queued(async () => {
          const records = await liveRecords(this.#deps, arks);
          const nodes = arks.map((asked, index) => {
            const record = records[index];
            return record ? nodeOf(record) : unresolved(asked);
          });
          await this.hold(nodes);
          return nodes;
        }),
      { maxBatchSize: BATCH },
    );
    return this.#nodes.load(ark);
  }

  /**
   * How many of these, from the first on, a page shows so that its answer leaves space for other
   * fields: at least one.
   */
  async fitting(arks: readonly string[]): Promise<number> {
    const most = this.#deps.config.GRAPHQL_MAX_BYTES / 2;
    let bytes = 0;
    for (let start = 0; start < arks.length; start += TOGETHER) {
      const nodes = await Promise.all(
        arks.slice(start, start + TOGETHER).map((ark) => this.node(ark)),
      );
      for (const [index, { stored }] of nodes.entries()) {
        bytes += shareOf(stored?.document.length ?? 0);
        if (bytes > most && start + index > 0) return start + index;
      }
    }
    return arks.length;
  }

  /** The record as the caller sees it, derived entries included. */
  async view(record: StoredRecord): Promise<RecordView> {
    const plain = plainView(record);
    if (plain) return plain;
    this.#views ??= new DataLoader(
      (records) => this.queued(() => viewsOf(this.#deps, records, this.#caller)),
      { cache: false, maxBatchSize: BATCH },
    );
    return this.#views.load(record);
  }

  /** Whether bytes of the record are stored, and which. */
  content(record: StoredRecord): Promise<ContentState> {
    this.#contents ??= new DataLoader(
      (records) => this.queued(() => contentStates(this.#deps, records)),
      { cache: false, maxBatchSize: BATCH },
    );
    return this.#contents.load(record);
  }

  /** A page of the statements of the record, each target once. */
  linksFrom(ark: string, options: LinksFrom): Promise<Page<FoundLink>> {
    return this.#batched(
      options.predicates,
      `from ${options.limit} ${options.after ?? ""}`,
      (arks) => linksFrom(this.#deps, arks, options),
    ).load(ark);
  }

  /** A page of the statements of others about the record, each source once. */
  linksTo(key: string, options: LinksTo): Promise<Page<FoundLink>> {
    return this.#batched(
      options.predicates,
      `to ${options.limit} ${options.after ?? ""} ${options.kinds?.join() ?? ""}`,
      (keys) => linksTo(this.#deps, keys, options),
    ).load(key);
  }

  /** How many records the connection leads to. */
  linkCount(ark: string, connection: Connection): Promise<number> {
    return this.#batched(connection.out, `count ${connection.in.join()}`, (arks) =>
      countLinks(this.#deps, arks, connection),
    ).load(ark);
  }

  /**
   * Queues reads so that each runs in its own turn of the event loop: a document of a few kilobytes
   * may ask for a hundred pages, and reading them blocks the thread that serves other requests as
   * well. Pages that will not be answered are not read.
   * @throws ServiceError `QUERY_TOO_COSTLY` when the answer has reached its limit; `QUERY_TIMEOUT`
   * when it took too long for a caller without token; `BAD_REQUEST` when nobody waits for it
   */
  queued<R>(read: () => Promise<R>): Promise<R> {
    const isFirst = this.#begun++ === 0;
    if (isFirst) this.#since = performance.now();
    const result = this.#pages
      .then(() => (isFirst ? undefined : nextTurn()))
      .then(() => {
        if (this.#held > this.#deps.config.GRAPHQL_MAX_BYTES) throw this.#tooMuch();
        this.assertMayGoOn();
        return read();
      });
    this.#pages = result.catch(() => undefined);
    return result;
  }

  /**
   * To be called after each pause.
   * @throws ServiceError as {@link queued}
   */
  assertMayGoOn(): void {
    if (this.#isAbandoned())
      throw new ServiceError("BAD_REQUEST", "The request was abandoned before it was answered.");
    if (this.#weight > this.#deps.config.GRAPHQL_MAX_BYTES) throw this.#tooLong();
    this.#assertInTime();
  }

  #assertInTime(): void {
    const { GRAPHQL_ANONYMOUS_TIME: most } = this.#deps.config;
    if (this.#caller || this.#begun === 0 || performance.now() - this.#since <= most) return;
    throw new ServiceError(
      "QUERY_TIMEOUT",
      `The operation took longer than ${most / 1000} s, which is the limit without a token ` +
        "(GRAPHQL_ANONYMOUS_TIME). Ask for smaller pages with first, or send a token.",
    );
  }

  #tooMuch(): ServiceError {
    return new ServiceError(
      "QUERY_TOO_COSTLY",
      `The answer would be made of more than ${this.#deps.config.GRAPHQL_MAX_BYTES} bytes of ` +
        "documents (GRAPHQL_MAX_BYTES). Ask for smaller pages with first.",
    );
  }

  #tooLong(): ServiceError {
    return new ServiceError(
      "QUERY_TOO_COSTLY",
      `The answer would be longer than ${this.#deps.config.GRAPHQL_MAX_BYTES} bytes ` +
        "(GRAPHQL_MAX_BYTES). Ask for fewer fields, or for smaller pages with first.",
    );
  }

  /** Adds to the length of the answer. */
  weigh(bytes: number): void {
    this.#weight += bytes;
  }
  /** @throws ValueTooLong for a value that alone fills the rest of the answer; it is not added */
  assertFits(bytes: number): void {
    const most = this.#deps.config.GRAPHQL_MAX_BYTES;
    const there = Math.max(this.#weight, this.#held);
    if (bytes * MOST_OF_ANSWER > most && there <= most && there + bytes > most)
      throw new ValueTooLong(
        "QUERY_TOO_COSTLY",
        `The value has ${bytes} bytes, more than an answer of ${most} bytes has space for ` +
          "(GRAPHQL_MAX_BYTES). Read the record by itself, over REST.",
      );
  }
  /**
   * Compares the length of the answer with its limit, once for each {@link STEP}.
   * @throws ServiceError as {@link assertMayGoOn}
   */
  compare(): void {
    if (this.#weight - this.#compared < STEP) return;
    this.#compared = this.#weight;
    this.assertMayGoOn();
  }
  /** About how long the answer is: its values, and the documents that it is made of. */
  get weight(): number {
    return this.#weight + this.#held;
  }

  /** Counts bytes of the answer that are not of a record's document. @throws as {@link hold} */
  count(bytes: number): void {
    this.assertFits(bytes);
    if ((this.#held += bytes) > this.#deps.config.GRAPHQL_MAX_BYTES) throw this.#tooMuch();
  }

  /**
   * The same of values that become JSON, with pauses.
   * @throws as {@link hold}
   */
  async countJson(values: readonly object[]): Promise<void> {
    for (const value of values) {
      this.count(JSON.stringify(value).length);
      await pause();
    }
  }

  /** After a write the cached reads are discarded. */
  forget(): void {
    this.#nodes = undefined;
  }

  /** The next event of a subscription is an answer of its own: nothing is cached or counted yet. */
  begin(): void {
    this.forget();
    this.#views = undefined;
    this.#links.clear();
    this.#spent = 0;
    this.#held = 0;
    this.#weight = 0;
    this.#compared = 0;
    this.#begun = 0;
  }

  /**
   * Counts records that links led to: their number is not known in advance.
   * @throws ServiceError `QUERY_TOO_COSTLY`
   */
  spend(records: number): void {
    const most = this.#deps.config.GRAPHQL_MAX_COST;
    if ((this.#spent += records) > most) {
      throw new ServiceError(
        "QUERY_TOO_COSTLY",
        `The links lead to more than ${most} records (GRAPHQL_MAX_COST): ask for smaller ` +
          "pages with first, or follow fewer links at a time.",
      );
    }
  }

  /**
   * Counts the bytes of documents of which the answer shows parts. Large documents are parsed here,
   * with pauses in which other requests are served; the execution would parse them all at once.
   * @throws ServiceError `QUERY_TOO_COSTLY`
   */
  async hold(nodes: readonly RecordNode[]): Promise<void> {
    const most = this.#deps.config.GRAPHQL_MAX_BYTES;
    let parsed = 0;
    for (const node of nodes) {
      const size = node.stored?.document.length ?? 0;
      if ((this.#held += shareOf(size)) > most) {
        throw this.#tooMuch();
      }
      if (size <= LARGE) continue;
      void node.shown;
      if ((parsed += size) < AT_ONCE) continue;
      parsed = 0;
      await nextTurn();
    }
    // Each page is continued in its own turn of the event loop: a document may ask for a hundred
    // pages.
    if (nodes.length > FEW) await nextTurn();
  }

  /**
   * Reads of the same predicates (the same list object of a connection) and page share one batch.
   */
  #batched<R>(
    predicates: readonly string[],
    page: string,
    read: (ids: readonly string[]) => Promise<R[]>,
  ): DataLoader<string, R> {
    let pages = this.#links.get(predicates);
    if (!pages) this.#links.set(predicates, (pages = new Map()));
    let loader = pages.get(page) as DataLoader<string, R> | undefined;
    if (!loader)
      pages.set(
        page,
        (loader = new DataLoader(
          (ids: readonly string[]) => this.queued(() => read(ids as string[])),
          { cache: false, maxBatchSize: LINKED },
        )),
      );
    return loader;
  }
}

/** The data that a resolver has about one request, in every API. */
export interface Context {
  readonly deps: Deps;
  readonly caller: Caller | null;
  /** Address the request came from, for login limits. */
  readonly address: string;
  /** That address belongs to one client, not to a proxy that other clients share. */
  readonly ownAddress: boolean;
  /** Name of the request in logs, also in the logs of jobs that it queues. */
  readonly request?: string;
  /** The request's span, for the spans of jobs that it queues; absent without tracing. */
  readonly trace?: string;
  readonly loaders: Loaders;
  /**
   * The caller by the same token as it is now, for operations that outlive a request.
   * @throws ServiceError `INVALID_TOKEN`
   */
  callerNow(): Promise<Caller | null>;
}

/** The same of a caller with a token. Operations that need one take it, and do not ask again. */
export type SignedIn = Context & { readonly caller: Caller };

/**
 * Decides once for a request whether it has the token that its operation needs. REST handlers and
 * mutations call it before they read any input.
 * @throws ServiceError `NOT_AUTHENTICATED`
 */
export function signedIn(context: Context): SignedIn {
  authenticated(context.caller);
  return context as SignedIn;
}

/** Names a request in the logs and traces of jobs that it queues. */
type RequestNames = Pick<Context, "request" | "trace">;

/**
 * A context for one request.
 * @param isAbandoned whether nobody waits for the answer any more
 * @param callerNow {@link Context.callerNow}; absent for requests with one answer
 */
export function contextOf(
  deps: Deps,
  caller: Caller | null,
  address: string,
  request?: string,
  ownAddress = false,
  isAbandoned = (): boolean => false,
  callerNow = async (): Promise<Caller | null> => caller,
): Context {
  const trace = deps.tracing?.traceparent();
  return {
    deps,
    caller,
    address,
    ownAddress,
    ...(request === undefined ? {} : { request }),
    ...(trace === undefined ? {} : { trace }),
    loaders: new Loaders(deps, caller, isAbandoned),
    callerNow,
  };
}

/** The data that a background job gets about the request. */
export const requestOf = ({ request, trace }: Context): RequestNames => ({
  ...(request === undefined ? {} : { request }),
  ...(trace === undefined ? {} : { trace }),
});

/** Counts attempts to guess a secret from the address of a request, by account. */
export const attemptsFrom =
  ({ deps, address }: Context) =>
  (guessed: string): Promise<void> =>
    rateLimit(deps, "LOGIN_RATE").take(`${address} ${guessed}`);

/**
 * Counts one write of an account before the write begins, and has it wait where others of the same
 * turn of the event loop would make reads wait. A write without a token is refused, and
 * counts only where no token is needed: the creation of an account, by the address of the client.
 * @throws ServiceError `TOO_MANY_REQUESTS` past WRITE_RATE or SIGNUP_RATE
 */
export async function countWrite(
  { deps, caller, address }: Context,
  { open = false } = {},
): Promise<void> {
  if (!caller && !open) return;
  if (!caller) await rateLimit(deps, "SIGNUP_RATE").take(address);
  await rateLimit(deps, "WRITE_RATE").take(caller?.user ?? `address ${address}`);
  await turnOfWrite();
}
