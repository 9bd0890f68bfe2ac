/** What every resolver is given: the caller, the service, and loaders that read together. */
import DataLoader from "dataloader";
import type { Connection } from "../../model/connections.js";
import type { KindName } from "../../model/kind.js";
import { authenticated, type Caller } from "../../services/access/rules.js";
import { seenBy } from "../../services/access/seen.js";
import { rateLimit } from "../../services/accounts/tokens.js";
import type { Deps } from "../../services/deps.js";
import { type ContentState, contentStates } from "../../services/files/content.js";
import { countLinks, linksFrom, linksTo, liveRecords } from "../../services/records/links.js";
import { plainView, type RecordView, viewsOf } from "../../services/records/view.js";
import type { FoundLink, Page, StoredRecord } from "../../storage/records/port.js";
import { AnswerBudget, shareOf } from "./answer-budget.js";
import { eventLoop } from "../../event-loop-budget.js";
import { nodeOf, type RecordNode, unresolved } from "./types/records.js";
import { getOrInsert } from "../../get-or-insert.js";

interface LinksFrom {
  predicates: readonly string[];
  after?: string;
  before?: string;
  backward?: boolean;
  limit: number;
}

/** Part of the name of a batch: reads of the same page are one. */
const pageName = ({ limit, after = "", before = "", backward = false }: LinksFrom): string =>
  `${limit} ${after} ${before} ${backward}`;

interface LinksTo extends LinksFrom {
  kinds?: readonly KindName[];
  /** Sources that the record itself links to by these are left out. */
  unlessBack: readonly string[];
}

/** Records in one read, and records whose links are read at once. */
const [BATCH, LINKED] = [200, 100];
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

  readonly #deps: Deps;
  readonly #caller: Caller | null;
  readonly #budget: AnswerBudget;

  constructor(deps: Deps, caller: Caller | null, budget: AnswerBudget) {
    this.#deps = deps;
    this.#caller = caller;
    this.#budget = budget;
  }

  /** The live record of an ARK as a node; dangling references become {@link unresolved} ones. */
  node(ark: string): Promise<RecordNode> {
    // Nodes, not records: a target of many links is parsed once.
    this.#nodes ??= new DataLoader(
      (arks) =>
        this.#budget.queued(async () => {
          const records = await liveRecords(this.#deps, arks);
          const nodes = arks.map((asked, index) => {
            const record = records[index];
            return record ? nodeOf(record) : unresolved(asked);
          });
          await this.#budget.hold(nodes);
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
      (records) => this.#budget.queued(() => viewsOf(this.#deps, records, this.#caller)),
      { cache: false, maxBatchSize: BATCH },
    );
    return this.#views.load(record);
  }

  /** Whether bytes of the record are stored, and which. */
  content(record: StoredRecord): Promise<ContentState> {
    this.#contents ??= new DataLoader(
      (records) => this.#budget.queued(() => contentStates(this.#deps, records)),
      { cache: false, maxBatchSize: BATCH },
    );
    return this.#contents.load(record);
  }

  /** A page of the statements of the record, each target once. */
  linksFrom(ark: string, options: LinksFrom): Promise<Page<FoundLink>> {
    return this.#batched(options.predicates, `from ${pageName(options)}`, (arks) =>
      linksFrom(this.#deps, arks, options),
    ).load(ark);
  }

  /** A page of the statements of others about the record, each source once. */
  linksTo(key: string, options: LinksTo): Promise<Page<FoundLink>> {
    return this.#batched(
      options.predicates,
      `to ${pageName(options)} ${options.kinds?.join() ?? ""}`,
      (keys) => linksTo(this.#deps, keys, options),
    ).load(key);
  }

  /** How many records the connection leads to. */
  linkCount(ark: string, connection: Connection): Promise<number> {
    return this.#batched(connection.out, `count ${connection.in.join()}`, (arks) =>
      countLinks(this.#deps, arks, connection),
    ).load(ark);
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
    this.#budget.begin();
  }

  /**
   * Reads of the same predicates (the same list object of a connection) and page share one batch.
   */
  #batched<R>(
    predicates: readonly string[],
    page: string,
    read: (ids: readonly string[]) => Promise<R[]>,
  ): DataLoader<string, R> {
    const pages = getOrInsert(this.#links, predicates, () => new Map());
    let loader = pages.get(page) as DataLoader<string, R> | undefined;
    if (!loader)
      pages.set(
        page,
        (loader = new DataLoader(
          (ids: readonly string[]) => this.#budget.queued(() => read(ids as string[])),
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
  /** Limits the answer while it is put together. */
  readonly budget: AnswerBudget;
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
 * A context for one request: what it reads is what its caller may see.
 * @param isAbandoned whether nobody waits for the answer any more
 * @param callerNow {@link Context.callerNow}; absent for requests with one answer
 */
export function contextOf(
  registry: Deps,
  caller: Caller | null,
  address: string,
  request?: string,
  ownAddress = false,
  isAbandoned = (): boolean => false,
  callerNow = async (): Promise<Caller | null> => caller,
): Context {
  const deps: Deps = {
    ...seenBy(registry, caller),
    ...(address === "" ? {} : { client: address }),
  };
  const trace = deps.tracing?.traceparent();
  const budget = new AnswerBudget(deps.config, caller, isAbandoned);
  return {
    deps,
    caller,
    address,
    ownAddress,
    ...(request === undefined ? {} : { request }),
    ...(trace === undefined ? {} : { trace }),
    budget,
    loaders: new Loaders(deps, caller, budget),
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
  await eventLoop.turnOfWrite();
}
