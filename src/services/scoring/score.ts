/** The AI-readiness score of a crate: computed from the facts, kept, and read again. */
import { createHash, randomUUID } from "node:crypto";
import { type ErrorCode, ServiceError } from "../../errors.js";
import type { Ark } from "../../identifiers/ark.js";
import type { JobHandler, Progress } from "../../jobs/port.js";
import type { StoredRecord, StoredScore } from "../../storage/records/port.js";
import { percentOf } from "../../storage/records/port/selection.js";
import type { Submission } from "../../storage/records/port/submissions.js";
import { assertMayChange, type Caller } from "../access/rules.js";
import { stateOf } from "../records/of-crate.js";
import { failSubmission, queued } from "../crates/submissions.js";
import { seenWith, wholeStoreOf } from "../access/seen.js";
import type { Deps } from "../deps.js";
import { askedArk, findLive } from "../records/find.js";
import { checkTable } from "../schemas/check-table.js";
import { CATEGORIES, CATEGORY_NAMES, type CategoryName } from "./criteria.js";
import type { Criterion, Status } from "./criterion.js";
import { type CrateFacts, Share } from "./facts/fields.js";
import { type Grounds, gather, type NamedTable } from "./facts/gather.js";
import { Breather, statesOf } from "./facts/relations.js";
import { pairs } from "../../pairs.js";
import { getOrInsert } from "../../get-or-insert.js";

/** The result of one criterion. */
export interface CriterionScore {
  /** True when the status is met or partly. */
  has_content: boolean;
  details: string | null;
  status: Status;
  /**
   * JSON pointers into the records that decided, after their identifiers: `ark:…#/license`. At most
   * ten.
   */
  evidence: string[];
  /** The field to add, and where; null where nothing is missing. */
  fix: string | null;
  /** The result of the rule of older registries. */
  legacy: boolean;
}
type CategoryScore = Record<string, CriterionScore>;

/** How ready a crate is for AI, criterion by criterion. */
export type AiReadyScore = { name: string; rocrateIdentifier: string } & Record<
  CategoryName,
  CategoryScore
> & {
    /** `total`: the criteria that apply. */
    score: { met: number; partly: number; total: number };
    /** Revision of the crate when it was evaluated. */
    revision: number;
    /** RFC 3339, UTC. */
    computedAt: string;
  };

/** The totals of one score of a crate, for its history. */
export interface ScorePoint {
  /** Revision of the crate. */ revision: number;
  /** RFC 3339, UTC. */ computedAt: string;
  met: number;
  partly: number;
  /** Criteria that apply. */ total: number;
}

const pointOf = ({ revision, computedAt, score }: AiReadyScore): ScorePoint => ({
  revision,
  computedAt,
  ...score,
});

/** The score for the facts of a crate. */
export function scoreOf(
  { ark }: Pick<StoredRecord, "ark">,
  facts: CrateFacts,
  at: number,
): AiReadyScore {
  const score = { met: 0, partly: 0, total: 0 };
  const categories = Object.fromEntries(
    CATEGORY_NAMES.map((category) => [
      category,
      Object.fromEntries(
        Object.entries(CATEGORIES[category]).map(([name, criterion]) => {
          const verdict = evaluated(criterion, facts);
          if (verdict.status === "met" || verdict.status === "partly") score[verdict.status]++;
          if (verdict.status !== "not_applicable") score.total++;
          return [name, verdict];
        }),
      ),
    ]),
  ) as Record<CategoryName, CategoryScore>;
  return {
    name: `AI-Ready Score for ${facts.root.name ?? ark}`,
    rocrateIdentifier: ark,
    ...categories,
    score,
    revision: facts.root.revision,
    computedAt: new Date(at).toISOString(),
  };
}

function evaluated({ evaluate, fix, legacy }: Criterion, facts: CrateFacts): CriterionScore {
  const { status, details, evidence, fix: exact = fix } = evaluate(facts);
  return {
    has_content: status === "met" || status === "partly",
    details,
    status,
    evidence: [...evidence],
    fix: status === "met" || status === "not_applicable" ? null : exact,
    legacy: legacy(facts),
  };
}

/**
 * Increment it with every change of a criterion: scores that were stored before are computed again.
 */
const RULES = 2;
/**
 * A score that depends on more records beside its crates is not stored: checking its validity would
 * take as long as computing it.
 */
const MAX_OUTSIDE = 20_000;

/** The stored form of a score; one hash covers the states. */
interface StoredBody {
  crates: string[];
  outside: string[];
  answer: AiReadyScore;
  /** Totals of scores of earlier revisions, oldest first; absent in scores stored before. */
  earlier?: ScorePoint[];
}

/** Most totals of earlier revisions that are kept. */
const MAX_EARLIER = 100;

/** Text that differs after every change of the data that a score depends on. */
function stateText(
  naan: string,
  crates: readonly (readonly [string, string])[],
  outside: readonly (readonly [string, string])[],
): string {
  return createHash("sha256")
    .update(JSON.stringify([RULES, naan, crates, outside]))
    .digest("hex");
}

/** The stored form; `undefined` for a score that depends on too many records. */
export function storedScore(
  { config }: Pick<Deps, "config">,
  answer: AiReadyScore,
  { crates, outside }: Grounds,
  whole: boolean,
  before?: StoredScore,
): StoredScore | undefined {
  if (outside.size > MAX_OUTSIDE) return undefined;
  const earlier = before
    ? pointsOf(before).filter((point) => point.revision < answer.revision)
    : [];
  const body: StoredBody = {
    crates: [...crates.keys()],
    outside: [...outside.keys()],
    answer,
    earlier: earlier.slice(-MAX_EARLIER),
  };
  return {
    crate: answer.rocrateIdentifier,
    state: stateText(config.ARK_NAAN, [...crates], [...outside]),
    whole,
    percent: percentOf(answer.score),
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** Totals of a stored score and of those of earlier revisions, oldest first. */
function pointsOf({ body }: StoredScore): ScorePoint[] {
  const { answer, earlier = [] } = JSON.parse(Buffer.from(body).toString("utf8")) as StoredBody;
  return [...earlier, pointOf(answer)];
}

/** The stored score of a crate, if no data that it depends on has changed since. */
export async function currentScore(
  deps: Pick<Deps, "config" | "records">,
  root: StoredRecord,
  kept: StoredScore | undefined,
  signal: AbortSignal,
): Promise<AiReadyScore | undefined> {
  if (!kept) return undefined;
  const { crates, outside, answer } = JSON.parse(
    Buffer.from(kept.body).toString("utf8"),
  ) as StoredBody;
  const found = await deps.records.findMany(crates);
  if (crates[0] !== root.ark) return undefined;
  const crateStates: [string, string][] = [];
  for (const crate of found) {
    if (!crate || crate.tombstone !== null) return undefined;
    crateStates.push([crate.ark, await stateOf(deps, crate)]);
  }
  const states = await statesOf(deps.records, outside, new Breather(signal));
  return stateText(deps.config.ARK_NAAN, crateStates, pairs(outside, states)) === kept.state
    ? answer
    : undefined;
}

/** Faults of the table or its schema; any other is not the crate's. */
const DOES_NOT_CONFORM: ReadonlySet<string> = new Set(["VALIDATION", "SCHEMA_UNUSABLE"]);
const LEFT_OUT: ReadonlySet<string> = new Set([
  "TOO_LARGE",
  "QUERY_TIMEOUT",
  "NOT_FOUND",
  "GONE",
  "AMBIGUOUS",
  "CONTENT_DELETED",
  "CONTENT_DAMAGED",
]);
const COMPRESSED = /\.(?:gz|bz2|xz|zst|zip)$/i;

/**
 * Validates tables whose content is stored here against the schemas that they name, up to
 * SCORE_MAX_TABLES and SCORE_TABLE_BYTES. Reports of a table only whether it conforms.
 */
async function checkTables(
  deps: Deps,
  tables: readonly NamedTable[],
  signal: AbortSignal,
  report: (done: number, total: number) => void,
): Promise<Share> {
  const checked = new Share();
  let space = deps.config.SCORE_TABLE_BYTES;
  const most = Math.min(tables.length, deps.config.SCORE_MAX_TABLES);
  for (const [index, { ark, schema, place }] of tables.slice(0, most).entries()) {
    signal.throwIfAborted();
    report(index, most);
    const [content] = await deps.records.objectsOf(ark, { role: "content" });
    if (!content || content.size > space || COMPRESSED.test(content.name)) continue;
    space -= content.size;
    try {
      const stream = await deps.objects.open(content.sha256, undefined, { size: content.size });
      const abort = (): void => void stream.destroy(signal.reason as Error);
      signal.addEventListener("abort", abort, { once: true });
      try {
        checked.add(
          (
            await checkTable(deps, askedArk(schema), {
              stream,
              name: content.name,
              mediaType: content.mediaType,
            })
          ).conforms,
          place,
        );
      } finally {
        signal.removeEventListener("abort", abort);
        stream.destroy();
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (DOES_NOT_CONFORM.has(error.code)) checked.add(false, place);
      else if (!LEFT_OUT.has(error.code)) throw error;
    }
  }
  return checked;
}

/**
 * Reads a crate, evaluates it, and stores the score for all nodes.
 * @param options.whole validates tables against their schemas too
 * @throws ServiceError `TOO_LARGE`, `STORE_UNAVAILABLE`; the signal's reason
 */
async function workOut(
  registry: Deps,
  root: StoredRecord,
  signal: AbortSignal,
  {
    whole = false,
    report = () => {},
  }: { whole?: boolean; report?: (progress: Progress) => void } = {},
): Promise<AiReadyScore> {
  // Stored for all who see the crate.
  const deps = seenWith(registry, root);
  const { facts, grounds, tables } = await gather(deps, root, signal, (done) =>
    report({ stage: "reading", done, total: null, unit: "records" }),
  );
  if (whole)
    facts.checked = await checkTables(deps, tables, signal, (done, total) =>
      report({ stage: "checking", done, total, unit: "tables" }),
    );
  const answer = scoreOf(root, facts, Date.now());
  const before = await deps.records.storedScore(root.ark);
  const kept = storedScore(deps, answer, grounds, whole, before);
  // A caller that waits for the answer gets it even if it cannot be stored; a job that must store
  // it is retried.
  if (kept)
    await deps.records.storeScore(kept).catch((err: unknown) => {
      if (whole) throw err;
      deps.log.warn({ err, crate: root.ark }, "a score could not be stored");
    });
  return answer;
}

/** A score that is being computed, and the last commit before the computation began. */
interface Work {
  sequence: number;
  answer: Promise<AiReadyScore>;
}
/** By record store and crate. */
const runningScores = new WeakMap<Deps["records"], Map<string, Work>>();

/**
 * The AI-readiness score of the current version of a crate: the stored score, as long as no data
 * that it depends on has changed, else a new one.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `TOO_LARGE`, `BUSY`, `QUERY_TIMEOUT`
 */
export async function readScore(deps: Deps, ark: Ark): Promise<AiReadyScore> {
  const root = await findLive(deps, ark, "rocrate");
  const { SCORE_TIMEOUT: most } = deps.config;
  const ended = new AbortController();
  const timer = setTimeout(
    () =>
      ended.abort(
        new ServiceError(
          "QUERY_TIMEOUT",
          `The score took longer than ${most} ms: have it computed in ` +
            "the background, with POST …/rescore.",
        ),
      ),
    most,
  );
  try {
    const sequence = await deps.records.sequence();
    return (
      (await currentScore(
        seenWith(deps, root),
        root,
        await deps.records.storedScore(root.ark),
        ended.signal,
      )) ?? (await workedOut(deps, root, sequence, ended.signal))
    );
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Totals of the scores of a crate that were computed and stored, the last of each revision, oldest
 * first.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`
 */
export async function scoreHistory(deps: Pick<Deps, "records">, ark: Ark): Promise<ScorePoint[]> {
  const root = await findLive(deps, ark, "rocrate");
  const stored = await deps.records.storedScore(root.ark);
  return stored ? pointsOf(stored) : [];
}

/** The stored score, if it is still valid; computes nothing. */
export async function knownScore(
  deps: Pick<Deps, "config" | "records">,
  root: StoredRecord,
): Promise<AiReadyScore | undefined> {
  return currentScore(
    seenWith(deps, root),
    root,
    await deps.records.storedScore(root.ark),
    AbortSignal.timeout(deps.config.SCORE_TIMEOUT),
  );
}

/**
 * Computed once for all callers between two commits; callers after the next commit must not get the
 * result of earlier reads.
 */
function workedOut(
  deps: Deps,
  root: StoredRecord,
  sequence: number,
  signal: AbortSignal,
): Promise<AiReadyScore> {
  const works = getOrInsert(
    runningScores,
    wholeStoreOf(deps.records),
    () => new Map<string, Work>(),
  );
  const same = works.get(root.ark);
  if (same?.sequence === sequence) return same.answer;
  const answer = deps.scoreLimit.run(signal, (either) => workOut(deps, root, either));
  const work = { sequence, answer };
  works.set(root.ark, work);
  const forget = (): void => void (works.get(root.ark) === work && works.delete(root.ark));
  answer.then(forget, forget);
  return answer;
}

/** Input of a submission of type `score`. */
interface ScoreInput {
  crate: string;
  request?: string;
  trace?: string;
}

/**
 * Queues the computation of a new score, with the tables of the crate validated against their
 * schemas.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `FORBIDDEN`
 */
export async function requestScore(
  deps: Deps,
  who: Caller,
  ark: Ark,
  names: { request?: string; trace?: string } = {},
): Promise<Submission> {
  const root = await findLive(deps, ark, "rocrate");
  await assertMayChange(deps.records, who, root);
  const { submission } = await deps.records.submit({
    id: randomUUID(),
    type: "score",
    user: who.user,
    sha256: null,
    input: { crate: root.ark, ...names } satisfies ScoreInput,
    at: Date.now(),
  });
  return queued(deps, submission);
}

/** Faults of the crate, not of the service: a retry would have the same result. */
const FINAL: ReadonlySet<ErrorCode> = new Set(["NOT_FOUND", "AMBIGUOUS", "GONE", "TOO_LARGE"]);

/** The handler of submissions of type `score`. */
export function scoreHandler(deps: Deps): JobHandler {
  return async ({ submission: { id, attempt, input }, signal, report }) => {
    const { crate } = input as unknown as ScoreInput;
    try {
      await workOut(deps, await findLive(deps, askedArk(crate), "rocrate"), signal, {
        whole: true,
        report,
      });
      await deps.records.closeSubmission(
        { id, attempt, status: "finished", rocrateIdentifier: crate },
        Date.now(),
      );
    } catch (error) {
      if (!(error instanceof ServiceError) || !FINAL.has(error.code)) throw error;
      await failSubmission(deps, { id, attempt }, error);
    }
  };
}
