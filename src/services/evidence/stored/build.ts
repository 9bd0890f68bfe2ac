import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type ErrorCode, ServiceError } from "../../../errors.js";
import { type Ark, arkKey } from "../../../identifiers/ark.js";
import type { Job, JobHandler } from "../../../jobs/port.js";
import type { JsonObject } from "../../../model/field.js";
import { withDefaults } from "../../../model/json-schema.js";
import type { KindName } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds.js";
import type { AssertedBy, Direction } from "../../../model/provenance.js";
import type { RecordWrite, StoredRecord } from "../../../storage/records/port.js";
import type { Submission } from "../../../storage/records/port/submissions.js";
import type { Caller } from "../../access/rules.js";
import { failSubmission, queued } from "../../crates/submissions.js";
import { seenWith, wholeStoreOf } from "../../access/seen.js";
import type { Deps } from "../../deps.js";
import { stateOf } from "../../records/state.js";
import { findLive } from "../../records/find.js";
import {
  identifierOf,
  type Question,
  questionOf,
  recordWithoutForgotten,
} from "../../records/forgotten.js";
import { changedPointers } from "../../records/state.js";
import { parseDocument } from "../../records/view.js";
import { checkRange } from "../types.js";
import { builtMembers, documentAround } from "./document.js";
import { getOrInsert } from "../../../get-or-insert.js";

type BuildDeps = Pick<Deps, "config" | "records" | "queries" | "documents">;

/**
 * Queues the building of a stored evidence graph, which the caller will own.
 * @throws ServiceError `VALIDATION`, `NOT_FOUND`, `AMBIGUOUS`, `GONE`
 */
export async function requestBuild(
  deps: Deps,
  { user }: Caller,
  {
    ark: asked,
    direction,
    depth,
    assertedBy,
    request,
    trace,
  }: {
    ark: Ark;
    direction: Direction;
    depth?: number;
    assertedBy?: AssertedBy;
    request?: string;
    trace?: string;
  },
): Promise<Submission> {
  if (depth !== undefined) checkRange("depth", depth);
  const { ark } = await findLive(deps, asked);
  const { submission } = await deps.records.submit({
    id: randomUUID(),
    type: "evidence",
    user,
    sha256: null,
    input: {
      ark,
      direction,
      depth: depth ?? null,
      ...(assertedBy === "owner" && { assertedBy }),
      ...(request === undefined ? {} : { request }),
      ...(trace === undefined ? {} : { trace }),
    } satisfies Question & { request?: string; trace?: string },
    at: Date.now(),
  });
  return queued(deps, submission);
}

/** Faults of the request, not of the service: a retry would have the same result. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  "NOT_FOUND",
  "AMBIGUOUS",
  "GONE",
  "VALIDATION",
  "DUPLICATE",
  "QUERY_TIMEOUT",
]);

/** The handler of submissions of type `evidence`. */
export function buildHandler(deps: BuildDeps): JobHandler {
  return async (job) => {
    try {
      await build(deps, job);
    } catch (error) {
      if ((error as Error).name === "FenceLost") return;
      if (!(error instanceof ServiceError) || !FINAL.has(error.code)) throw error;
      await failSubmission(deps, job.submission, error);
    }
  };
}

async function build(deps: BuildDeps, { submission, signal, report }: Job): Promise<void> {
  const question = submission.input as unknown as Question;
  report({ stage: "building", done: 0, total: null, unit: "nodes" });
  const ark = identifierOf(deps.config.ARK_NAAN, question, submission.user);
  const [before, about] = await deps.records.findMany([ark, question.ark]);
  // The graph of a private record is private too, and holds what its owner sees.
  const isPrivate = (before ?? about)?.private ?? false;
  const seen = seenWith(deps, { private: isPrivate, owner: submission.user });
  // A job can wait for an index that loads after a start: no client holds a request open.
  const members = await unlessAborted(
    builtMembers(seen, question, deps.config.INTAKE_TIMEOUT),
    signal,
  );
  report({ stage: "committing", done: 0, total: 1, unit: "records" });
  const document = withDefaults(
    KINDS.evidencegraph,
    documentAround(ark, members, { question, owner: submission.user }),
    ark,
  );
  const kept =
    before && before.tombstone === null
      ? { ...parseDocument(before.document), ...members }
      : document;
  await deps.records.commit({
    by: submission.user,
    at: Date.now(),
    records: [await writeOf(deps, { ark, isPrivate }, before, submission.user, kept)],
    submission: {
      id: submission.id,
      attempt: submission.attempt,
      status: "finished",
      identifiersMinted: before ? 0 : 1,
      rocrateIdentifier: ark,
    },
  });
}

async function writeOf(
  deps: BuildDeps,
  { ark, isPrivate }: { ark: string; isPrivate: boolean },
  before: StoredRecord | undefined,
  owner: string,
  document: JsonObject,
): Promise<RecordWrite> {
  const state = await stateOf(deps, KINDS.evidencegraph, ark, document);
  if (!before) return { op: "create", ark, key: arkKey(ark), private: isPrivate, ...state };
  if (before.kind !== "evidencegraph" || before.owner !== owner)
    throw new ServiceError(
      "DUPLICATE",
      `${ark} belongs to a record of another user: this graph cannot be stored under it.`,
    );
  const changed = changedPointers(timeless(parseDocument(before.document)), timeless(document));
  return {
    op: "replace",
    ark,
    ifRevision: before.revision,
    changed,
    ...state,
    ...(before.tombstone ? { revive: true } : {}),
  };
}

/** A graph without the commit that it is as of, which says nothing about its content. */
function timeless({ asOf: _, ...document }: JsonObject): JsonObject {
  return document;
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/**
 * Graphs found unchanged, and as of which commit: they are not checked again before the next
 * commit.
 */
const verified = new WeakMap<object, LRUCache<string, number>>();
/**
 * When the cache is full, the oldest entry is dropped, and its graph is checked again when it is
 * read.
 */
const REMEMBERED = 10_000;

/**
 * The current state of a record: REST answers with its bytes (`viewOf`), GraphQL with a node.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`
 */
export async function readRecord(deps: Deps, ark: Ark, kind?: KindName): Promise<StoredRecord> {
  const stored = await renewed(deps, await findLive(deps, ark, kind));
  return recordWithoutForgotten(deps, stored);
}

/**
 * The record itself; for a stored evidence graph whose inputs have changed since, its next
 * revision, created now. The graph of a record that was deleted remains in its last state.
 * @throws ServiceError `INDEX_LOADING`, `INDEX_BEHIND`, `QUERY_TIMEOUT`
 */
async function renewed(deps: Deps, record: StoredRecord): Promise<StoredRecord> {
  if (record.kind !== "evidencegraph" || record.tombstone) return record;
  // A reader without names would store a graph without names.
  if (deps.review?.anonymous) return record;
  const before = parseDocument(record.document);
  const question = questionOf(record, before);
  if (!question) return record;
  const known = getOrInsert(
    verified,
    wholeStoreOf(deps.records),
    () => new LRUCache<string, number>({ max: REMEMBERED }),
  );
  const sequence = await deps.records.sequence();
  if (known.get(record.ark) === sequence) return record;

  try {
    const members = await builtMembers(seenWith(deps, record), question, deps.config.INDEX_WAIT);
    const document = { ...before, ...members };
    const changed = changedPointers(timeless(before), timeless(document));
    if (changed.length > 0) {
      const state = await stateOf(deps, KINDS.evidencegraph, record.ark, document);
      await deps.records.commit({
        by: null,
        at: Date.now(),
        records: [
          { op: "replace", ark: record.ark, ifRevision: record.revision, changed, ...state },
        ],
      });
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === "NOT_FOUND" || error.code === "GONE" || error.code === "AMBIGUOUS")
      return record;
    // Another request was faster: its revision is as recent.
    if (error.code !== "REVISION_MISMATCH") throw error;
  }
  known.set(record.ark, sequence);
  const [after = record] = await deps.records.findMany([record.ark]);
  return after;
}
