/** Requests of readers for content that is not public, and the grants of those who may change it. */
import { randomUUID } from "node:crypto";
import { invalid, ServiceError } from "../../errors.js";
import { type Ark, arkKey, sameArk } from "../../identifiers/ark.js";
import { instantOf } from "../../model/dates.js";
import { COLLECTIVES } from "../../model/kinds.js";
import type {
  AccessRequest as Stored,
  AccessRequestQuery,
  Page,
  StoredRecord,
} from "../../storage/records/port.js";
import { record as recordAct } from "../access/audit.js";
import { assertMayChange, type Caller, mayChange, mayReadContent } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { findLive, NothingStored } from "../records/find.js";

export const ACCESS_STATES = ["asked", "granted", "declined", "revoked", "expired"] as const;
export type AccessState = (typeof ACCESS_STATES)[number];

/** A request as the requester sees it, and those who may change the record. */
export interface AccessRequest {
  id: string;
  /** ARK of the record. */
  record: string;
  /** ARK of the user. */
  requester: string;
  reason: string;
  state: AccessState;
  askedAt: Date;
  /** End of the grant; null: it has none. */
  until: Date | null;
  /** To the requester. */
  message: string | null;
  decidedAt: Date | null;
  /** ARK of the user. */
  decidedBy: string | null;
}

/** Most characters of a reason and of a message. */
const MAX_CHARACTERS = 2000;

/**
 * Asks those who may change a record for the right to read its content.
 * @throws ValidationError; ServiceError as `findLive`, `ACCESS_NOT_NEEDED`, `ACCESS_ASKED`,
 * `NOT_FOUND` without content, `TOO_MANY_REQUESTS`
 */
export async function requestAccess(
  deps: Deps,
  asked: { record: Ark; reason?: unknown },
  caller: Caller,
  now = Date.now(),
): Promise<AccessRequest> {
  const reason = textOf(asked.reason, "reason");
  if (reason === null)
    throw invalid(["body", "reason"], "Value error, say what you need the content for");
  const record = await findLive(deps, asked.record);
  await assertHasContent(deps, record);
  if (await mayReadContent(deps.records, caller, record, now))
    throw new ServiceError(
      "ACCESS_NOT_NEEDED",
      `You may read the content of ${record.ark} already: download it.`,
    );
  const { MAX_ACCESS_REQUESTS: most, ACCESS_ASK_AGAIN: pause } = deps.config;
  const request = {
    id: randomUUID(),
    record: record.ark,
    requester: caller.user,
    reason,
    askedAt: now,
  };
  const limit = { most, decidedBefore: now - pause };
  if (!(await deps.records.askForAccess(request, limit))) throw await refusal(deps, request, limit);
  return {
    ...request,
    state: "asked",
    askedAt: new Date(now),
    until: null,
    message: null,
    decidedAt: null,
    decidedBy: null,
  };
}

/** @throws ServiceError `NOT_FOUND`; ValidationError for a kind that never has content */
async function assertHasContent({ records }: Deps, { ark, kind }: StoredRecord): Promise<void> {
  if (kind === "user" || COLLECTIVES.has(kind))
    throw invalid(["body", "record"], "Value error, a record of this kind has no content");
  // The files of a crate are there also without its archive.
  if (kind === "rocrate" || (await records.objectsOf(ark)).length > 0) return;
  throw new ServiceError(
    "NOT_FOUND",
    `No content is stored for ${ark}: ask for the record that has the file, or for its crate.`,
  );
}

/** Why the store refused a request. */
async function refusal(
  { records }: Deps,
  { record, requester, askedAt }: Pick<Stored, "record" | "requester" | "askedAt">,
  { most, decidedBefore }: { most: number; decidedBefore: number },
): Promise<ServiceError> {
  const former = await records.accessRequest({ record, requester });
  if (former?.state === "asked")
    return new ServiceError(
      "ACCESS_ASKED",
      `You have asked for access to ${record}, and nobody has decided yet.`,
    );
  const wait = (former?.decidedAt ?? 0) - decidedBefore;
  if (former && former.state !== "granted" && wait > 0)
    return new ServiceError(
      "TOO_MANY_REQUESTS",
      `Your request for ${record} was ${former.state}: you may ask again after ` +
        `${new Date(askedAt + wait).toISOString()}.`,
      {},
      { "Retry-After": String(Math.ceil(wait / 1000)) },
    );
  return new ServiceError(
    "TOO_MANY_REQUESTS",
    `${most} of your requests for access are not decided, which is the most ` +
      "(MAX_ACCESS_REQUESTS). Wait until some of them are.",
  );
}

/**
 * Grants access, or ends it: a request that is not decided is declined, a grant is revoked. Who has
 * granted may grant again, until another time.
 * @param decision may be of any types
 * @throws ValidationError; ServiceError `NOT_FOUND`, also for those whom the request does not
 * concern; `FORBIDDEN` to the requester
 */
export async function decideAccess(
  deps: Deps,
  id: string,
  decision: { grant?: unknown; until?: unknown; message?: unknown },
  caller: Caller,
  now = Date.now(),
): Promise<AccessRequest> {
  const { grant } = decision;
  if (typeof grant !== "boolean")
    throw invalid(["body", "grant"], "Input should be a valid boolean", "bool_type");
  const until = endOf(decision.until, now);
  const message = textOf(decision.message, "message");
  const { request, record } = await find(deps, id, caller);
  await assertMayChange(deps.records, caller, record);
  const { state } = request;
  if (!grant && state !== "asked" && state !== "granted") return shown(request, now);
  const next: Stored = {
    ...request,
    state: grant ? "granted" : state === "asked" ? "declined" : "revoked",
    until: grant ? until : null,
    message,
    decidedAt: now,
    decidedBy: caller.user,
  };
  if (!(await deps.records.decideAccess(next))) throw unknown(id);
  await recordAct(deps, grant ? "ACCESS_GRANTED" : "ACCESS_ENDED", {
    actor: caller.user,
    subject: record.ark,
    detail: {
      requester: request.requester,
      ...(next.until === null ? {} : { until: new Date(next.until).toISOString() }),
    },
  });
  return shown(next, now);
}

/** @throws ServiceError `NOT_FOUND`, also for those whom it does not concern */
export async function readAccessRequest(
  deps: Deps,
  id: string,
  caller: Caller,
  now = Date.now(),
): Promise<AccessRequest> {
  return shown((await find(deps, id, caller)).request, now);
}

async function find(
  { records }: Deps,
  id: string,
  caller: Caller,
): Promise<{ request: Stored; record: StoredRecord }> {
  const request = await records.accessRequest({ id });
  const [record] = request ? await records.findMany([request.record]) : [];
  const concerns =
    request && record && caller.boundTo === undefined && sameArk(request.requester, caller.user);
  if (!request || !record || !(concerns || (await mayChange(records, caller, record))))
    throw unknown(id);
  return { request, record };
}

const unknown = (id: string): NothingStored =>
  new NothingStored(
    `There is no request for access with the id ${id.slice(0, 100)} that concerns you.`,
  );

/** Which requests; without `record` and `made` those for records that one acts for. */
export interface AccessRequestFilter {
  /** Those for this record. */
  record?: Ark | undefined;
  /** Those that the caller made. */
  made?: boolean | undefined;
  state?: AccessState | undefined;
}

/** @throws ServiceError as `findLive`; `FORBIDDEN` for the requests of others for a record */
async function queryOf(
  deps: Deps,
  { record: ark, made = false, state }: AccessRequestFilter,
  caller: Caller,
  now: number,
): Promise<AccessRequestQuery> {
  const record = ark && (await findLive(deps, ark));
  if (record && !made) await assertMayChange(deps.records, caller, record);
  return {
    record: record?.ark,
    requester: made ? caller.user : undefined,
    actingFor: record || made ? undefined : { user: arkKey(caller.user) },
    state,
    now,
  };
}

/** A page of requests, the newest first. @throws as {@link queryOf}, and as lists */
export async function listAccessRequests(
  deps: Deps,
  filter: AccessRequestFilter,
  page: { limit: number; after?: string },
  caller: Caller,
  now = Date.now(),
): Promise<Page<AccessRequest> & { positions: string[] }> {
  const query = await queryOf(deps, filter, caller, now);
  const found = await deps.records.accessRequests({ ...query, ...page });
  return { ...found, items: found.items.map((request) => shown(request, now)) };
}

/** @throws as {@link queryOf} */
export async function countAccessRequests(
  deps: Deps,
  filter: AccessRequestFilter,
  caller: Caller,
  now = Date.now(),
): Promise<number> {
  return deps.records.countAccessRequests(await queryOf(deps, filter, caller, now));
}

function shown({ askedAt, until, decidedAt, state, ...rest }: Stored, now: number): AccessRequest {
  const isExpired = state === "granted" && until !== null && until <= now;
  return {
    ...rest,
    state: isExpired ? "expired" : state,
    askedAt: new Date(askedAt),
    until: until === null ? null : new Date(until),
    decidedAt: decidedAt === null ? null : new Date(decidedAt),
  };
}

/** What no plain text has, but line breaks and tabs. */
// eslint-disable-next-line no-control-regex
const NO_TEXT = /[\0-\x08\x0b-\x1f\x7f]/;

/** A text without blanks at its ends; null for an empty one. @throws ValidationError */
function textOf(given: unknown, field: string): string | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== "string")
    throw invalid(["body", field], "Input should be a valid string", "string_type");
  const text = given.replaceAll("\r\n", "\n").trim();
  if (text.length > MAX_CHARACTERS)
    throw invalid(
      ["body", field],
      `String should have at most ${MAX_CHARACTERS} characters`,
      "string_too_long",
      { max_length: MAX_CHARACTERS },
    );
  if (!text.isWellFormed() || NO_TEXT.test(text))
    throw invalid(["body", field], "Value error, plain text has no control characters");
  return text === "" ? null : text;
}

/** @throws ValidationError */
function endOf(given: unknown, now: number): number | null {
  if (given === undefined || given === null) return null;
  const at = typeof given === "string" ? instantOf(given) : undefined;
  if (at === undefined)
    throw invalid(["body", "until"], "Input should be a valid datetime or date", "datetime_type");
  if (at <= now)
    throw invalid(["body", "until"], "Value error, the time has passed: name a later one");
  return Math.floor(at);
}
