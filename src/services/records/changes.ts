import { eventLoop } from "../../event-loop-budget.js";
import { invalid, ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import { arkKey, referencedArk } from "../../identifiers/ark.js";
import type { KindName } from "../../model/kind.js";
import type {
  ChangedRecord,
  ChangeLogPage,
  LogPosition,
  RecordStore,
  Tombstone,
} from "../../storage/records/port.js";
import { type Caller, mayChange, rightOf } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { getOrInsert } from "../../get-or-insert.js";

/** Which changes a caller asks for; conditions are combined with "and". */
export interface ChangeFilter {
  kinds?: readonly KindName[];
  /** Any spelling of the owner's ARK. */
  owner?: string;
  /** ARK of the crate that the records were minted for. */
  crate?: string;
  /** Any spelling of the records' ARKs. */
  ids?: readonly string[];
}

/** A change of one record, as one caller sees it. */
export interface RecordChange {
  change: "CREATED" | "UPDATED" | "DELETED";
  ark: string;
  kind: KindName;
  revision: number;
  /** Sequence of the commit. */
  sequence: number;
  modifiedAt: number;
  /** Of a deleted record; null for one that was withdrawn from the caller. */
  tombstone: Tombstone | null;
}

/** Changes that are sent together. */
export interface RecordChanges {
  /** A feed that begins behind this sequence misses nothing. */
  sequence: number;
  changes: RecordChange[];
}

interface FollowOptions {
  filter: ChangeFilter;
  /** The feed begins behind this commit; absent: behind the newest one. */
  after?: number | undefined;
  /** Most changes of one event. */
  most: number;
  /** Client that the feed counts for. */
  client: string;
  /**
   * The caller, asked for anew before each read: tokens end.
   * @throws ServiceError `INVALID_TOKEN`
   */
  caller(): Promise<Caller | null>;
}

/** Most identifiers of a filter. */
const MAX_IDS = 1000;
/** Entries of the change log in one read. */
const PAGE = 200;
/** ms between two reads of the newest changes. */
const INTERVAL = 100;
/** One client may hold this part of all feeds. */
const SHARE = 1 / 4;
/** Behind every record of a commit. */
const WHOLE = Number.MAX_SAFE_INTEGER;

/**
 * Follows the change log of the record store, on behalf of all subscribers of a service. It stores
 * nothing for a subscriber: each has its position in the log, and reads on when it has sent what it
 * read. So a slow subscriber costs no memory.
 */
class ChangeFeed {
  readonly #records: RecordStore;
  readonly #most: number;
  readonly #clients = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  readonly #asked = new Map<string, Promise<ChangeLogPage>>();
  #reads: Promise<unknown> = Promise.resolve();
  #open = 0;
  #newest = 0;
  #woken = Number.NEGATIVE_INFINITY;
  #clock: NodeJS.Timeout | undefined;

  constructor({ records, config }: Deps) {
    this.#records = records;
    this.#most = config.MAX_CHANGE_FEEDS;
    records.onCommit((sequence) => {
      this.#newest = Math.max(this.#newest, sequence);
      this.#wake();
    });
  }

  /** @throws ServiceError `TOO_MANY_REQUESTS` */
  enter(client: string): void {
    const held = this.#clients.get(client) ?? 0;
    const share = Math.max(1, Math.floor(this.#most * SHARE));
    if (this.#open >= this.#most || held >= share)
      throw new ServiceError(
        "TOO_MANY_REQUESTS",
        `Too many subscriptions to changes are open: at most ${this.#most} in all ` +
          `(MAX_CHANGE_FEEDS), ${share} for one client. Close one, or retry later.`,
      );
    this.#open++;
    this.#clients.set(client, held + 1);
  }

  leave(client: string): void {
    this.#open--;
    const held = (this.#clients.get(client) ?? 0) - 1;
    if (held <= 0) this.#clients.delete(client);
    else this.#clients.set(client, held);
  }

  /** Number of open feeds. */
  get size(): number {
    return this.#open;
  }

  /**
   * Reads one page at a time, so that many feeds that catch up leave time for other requests.
   * Subscribers that are up to date ask the same question at the same time, and share the answer.
   */
  read(after: LogPosition): Promise<ChangeLogPage> {
    const name = `${after.sequence}.${after.record}`;
    const asked = this.#asked.get(name);
    if (asked) return asked;
    const answer = this.#reads
      .then(() => eventLoop.nextTurn())
      .then(() => this.#records.changes(after, PAGE));
    this.#reads = answer.catch(() => undefined).then(() => this.#asked.delete(name));
    this.#asked.set(name, answer);
    return answer;
  }

  /** Resolves when there is a commit behind this sequence, or when `signal` is aborted. */
  newer(sequence: number, signal: AbortSignal): Promise<void> {
    if (this.#newest > sequence || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done);
    });
  }

  #wake(): void {
    if (this.#waiting.size === 0 || this.#clock) return;
    this.#clock = setTimeout(
      () => {
        this.#clock = undefined;
        this.#woken = performance.now();
        for (const wake of this.#waiting) wake();
      },
      Math.max(0, this.#woken + INTERVAL - performance.now()),
    );
  }
}

/** One feed for a service. */
const feeds = new WeakMap<object, ChangeFeed>();
const feedOf = (deps: Deps): ChangeFeed =>
  getOrInsert(feeds, deps.shared, () => new ChangeFeed(deps));

/** Number of open feeds of a service. */
export const openFeeds = (deps: Deps): number => feeds.get(deps.shared)?.size ?? 0;

/**
 * Changes of records, as the change log has them: first an event without changes that says where
 * the feed begins, then changes in the order of their commits, at most ten events a second while
 * the subscriber is up to date. Several changes of a record that are read together come as the last
 * of them.
 *
 * Everyone sees changes of records that are not drafts; drafts, private or not, are for those who
 * may change them. A record that becomes a draft is DELETED for all others. Users are for callers with a token, as
 * their list is.
 *
 * @throws ValidationError for an impossible filter or sequence; ServiceError `TOO_MANY_REQUESTS`
 */
export async function followChanges(
  deps: Deps,
  options: FollowOptions,
): Promise<AsyncIterable<RecordChanges>> {
  const matches = matcherOf(options.filter);
  const newest = await deps.records.sequence();
  const begin = beginningOf(options.after, newest);
  const feed = feedOf(deps);
  feed.enter(options.client);
  const end = new AbortController();
  end.signal.addEventListener("abort", () => feed.leave(options.client), { once: true });
  const events = read(deps, feed, matches, begin, options, end.signal);
  // Not the generator itself: its `return` would wait for the next change.
  const iterator: AsyncIterator<RecordChanges> = {
    async next() {
      try {
        const event = await events.next();
        if (event.done) end.abort();
        return event;
      } catch (error) {
        end.abort();
        throw error;
      }
    },
    async return() {
      end.abort();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

async function* read(
  deps: Deps,
  feed: ChangeFeed,
  matches: (change: ChangedRecord) => boolean,
  begin: number,
  { caller, most }: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<RecordChanges, undefined> {
  let position: LogPosition = { sequence: begin, record: WHOLE };
  let sequence = begin;
  yield { sequence, changes: [] };
  while (!signal.aborted) {
    const page = await feed.read(position);
    if (signal.aborted) break;
    position = page.position;
    const found = lastOfEach(page.changes.filter(matches));
    const seen = found.length === 0 ? [] : await visibleTo(deps, await caller(), found);
    for (let start = 0; start < seen.length; start += most) {
      const following = seen[start + most];
      sequence = Math.max(sequence, following ? following.sequence - 1 : page.complete);
      yield { sequence, changes: seen.slice(start, start + most) };
      if (signal.aborted) return;
    }
    sequence = Math.max(sequence, page.complete);
    if (!page.more) await feed.newer(position.sequence, signal);
  }
}

/** @throws ValidationError */
function beginningOf(after: number | undefined, newest: number): number {
  if (after === undefined) return newest;
  const at = ["query", "afterSequence"];
  if (!Number.isSafeInteger(after) || after < 0)
    throw invalid(at, "Input should be a whole number greater than or equal to 0", "value_error");
  if (after > newest)
    throw invalid(
      at,
      `Value error, behind the newest change, which has sequence ${newest}: the sequence is of ` +
        "another registry, or of one before a backup was restored. Read the records anew",
      "value_error",
    );
  return after;
}

/** @throws ValidationError with all that is wrong */
function matcherOf({ kinds, owner, crate, ids }: ChangeFilter): (change: ChangedRecord) => boolean {
  const problems: ValidationItem[] = [];
  const keyOf = (text: string, ...at: (string | number)[]): string => {
    const ark = referencedArk(text);
    if (!ark)
      problems.push({
        loc: ["query", "filter", ...at],
        msg: "Value error, not an ARK; for example ark:99999/dataset-images",
        type: "value_error",
      });
    return ark?.key ?? "";
  };
  if (ids && ids.length > MAX_IDS)
    throw invalid(
      ["query", "filter", "ids"],
      `List should have at most ${MAX_IDS} items`,
      "too_long",
      { max_length: MAX_IDS },
    );
  const ofKinds = kinds && new Set(kinds);
  const ownerKey = owner === undefined ? undefined : keyOf(owner, "owner");
  const crateKey = crate === undefined ? undefined : keyOf(crate, "crate");
  const keys = ids && new Set(ids.map((id, index) => keyOf(id, "ids", index)));
  if (problems.length > 0) throw new ValidationError(problems);
  return (change) =>
    (!ofKinds || ofKinds.has(change.kind)) &&
    (ownerKey === undefined || (change.owner !== null && arkKey(change.owner) === ownerKey)) &&
    (crateKey === undefined || (change.crate !== null && arkKey(change.crate) === crateKey)) &&
    (!keys || keys.has(change.key));
}

function lastOfEach(changes: readonly ChangedRecord[]): ChangedRecord[] {
  const last = new Map(changes.map((change) => [change.ark, change]));
  return changes.filter((change) => last.get(change.ark) === change);
}

/** The changes that the caller may see, as it sees them. */
async function visibleTo(
  { records }: Deps,
  caller: Caller | null,
  changes: readonly ChangedRecord[],
): Promise<RecordChange[]> {
  // Records share a few owners: the rule is evaluated once for each.
  const rights = new Map<string, Promise<boolean>>();
  const mayChangeIt = (change: ChangedRecord): Promise<boolean> => {
    return getOrInsert(rights, rightOf(caller, change), () => mayChange(records, caller, change));
  };
  const seen: RecordChange[] = [];
  for (const change of changes) {
    if (change.kind === "user" && !caller) continue;
    const { ark, kind, revision, sequence, modifiedAt, tombstone, withdrawn } = change;
    const isDraft = change.private || change.publicationStatus === "DRAFT";
    const isHidden = isDraft && !(await mayChangeIt(change));
    if (isHidden && (!withdrawn || change.private)) continue;
    seen.push({
      change: tombstone || isHidden ? "DELETED" : revision === 1 ? "CREATED" : "UPDATED",
      ark,
      kind,
      revision,
      sequence,
      modifiedAt,
      // Of a withdrawn record others learn no more than that it is gone.
      tombstone: isHidden ? null : tombstone,
    });
  }
  return seen;
}
