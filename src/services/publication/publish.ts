import { eventLoop } from "../../event-loop-budget.js";
import { ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import { type Ark, lookupArk, sameArk } from "../../identifiers/ark.js";
import { dateProblem, instantOf } from "../../model/dates.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { COLLECTIVES } from "../../model/kinds.js";
import { PUBLICATION_STATUSES, type PublicationStatus } from "../../model/kind.js";
import type { RecordWrite, StoredRecord } from "../../storage/records/port.js";
import { ownsRecords } from "../../storage/records/refusals.js";
import type { Caller } from "../access/rules.js";
import { ownRecords } from "../records/of-crate.js";
import type { Deps } from "../deps.js";
import { expectedOf } from "../query-parameters.js";
import { findLive } from "../records/find.js";
import { changeRecord } from "../records/write.js";
import { statedWithdrawal, successorProblem } from "../records/withdrawal.js";
import { pairs } from "../../pairs.js";

const EXPECTED = expectedOf(PUBLICATION_STATUSES);

/** A record and its new status. */
interface PublicationRequest {
  ark: Ark;
  status: PublicationStatus;
  embargoedUntil: string | null;
  /** Of ARCHIVED only. */
  withdrawal: { reason?: string; successor?: string };
}

/** Every broken rule of a request to publish. @throws ValidationError */
function checkedPublication(
  input: JsonValue | undefined,
  at: readonly (string | number)[] = ["body"],
): PublicationRequest {
  if (input === undefined || input === null)
    throw new ValidationError([{ loc: [...at], msg: "Field required", type: "missing" }]);
  if (typeof input !== "object" || Array.isArray(input)) {
    throw new ValidationError([
      {
        loc: [...at],
        msg: "Input should be a valid dictionary or object to extract fields from",
        type: "model_attributes_type",
      },
    ]);
  }
  const ark = identifierIn(input);
  const problems = [
    ...("loc" in ark ? [ark] : []),
    ...statusProblems(input),
    ...embargoProblems(input),
    ...withdrawalProblems(input),
    ...unknownFields(input),
  ];
  if ("loc" in ark || problems.length > 0)
    throw new ValidationError(
      problems.map(({ loc, ...rest }) => ({ loc: [...at, ...loc], ...rest })),
    );
  return {
    ark,
    status: input["publicationStatus"] as PublicationStatus,
    embargoedUntil: (input["embargoedUntil"] as string | null | undefined) ?? null,
    withdrawal: statedWithdrawal(input),
  };
}

/** The record to publish, or what is wrong with its identifier. */
function identifierIn(body: JsonObject): Ark | ValidationItem {
  const id = own(body, "@id");
  if (id === undefined) return { loc: ["@id"], msg: "Field required", type: "missing" };
  if (typeof id !== "string")
    return { loc: ["@id"], msg: "Input should be a valid string", type: "string_type" };
  return (
    lookupArk(id) ?? {
      loc: ["@id"],
      msg: "Value error, not an ARK; for example ark:99999/dataset-images",
      type: "value_error",
    }
  );
}

function statusProblems(body: JsonObject): ValidationItem[] {
  const status = own(body, "publicationStatus");
  if (status === undefined)
    return [{ loc: ["publicationStatus"], msg: "Field required", type: "missing" }];
  return PUBLICATION_STATUSES.some((known) => known === status)
    ? []
    : [
        {
          loc: ["publicationStatus"],
          msg: `Input should be ${EXPECTED}`,
          type: "literal_error",
          ctx: { expected: EXPECTED },
        },
      ];
}

function embargoProblems(body: JsonObject): ValidationItem[] {
  const until = own(body, "embargoedUntil");
  if (until === undefined || until === null) return [];
  if (typeof until !== "string")
    return [
      { loc: ["embargoedUntil"], msg: "Input should be a valid datetime", type: "datetime_type" },
    ];
  const error = dateProblem(until);
  if (error !== undefined)
    return [
      {
        loc: ["embargoedUntil"],
        msg: `Input should be a valid datetime or date, ${error}`,
        type: "datetime_from_date_parsing",
        ctx: { error },
      },
    ];
  if (own(body, "publicationStatus") === "EMBARGOED")
    return instantOf(until)! > Date.now()
      ? []
      : [
          {
            loc: ["embargoedUntil"],
            msg:
              "Value error, the end of an embargo lies in the future; to end it now, set the " +
              "status PUBLISHED",
            type: "value_error",
          },
        ];
  return [
    {
      loc: ["embargoedUntil"],
      msg: "Value error, only a record with the status EMBARGOED has an end of its embargo",
      type: "value_error",
    },
  ];
}

function withdrawalProblems(body: JsonObject): ValidationItem[] {
  return ["reason", "successor"].flatMap((name): ValidationItem[] => {
    const value = own(body, name);
    if (value === undefined || value === null || value === "") return [];
    if (typeof value !== "string")
      return [{ loc: [name], msg: "Input should be a valid string", type: "string_type" }];
    if (own(body, "publicationStatus") !== "ARCHIVED")
      return [
        {
          loc: [name],
          msg: `Value error, only a record with the status ARCHIVED has a ${name}`,
          type: "value_error",
        },
      ];
    const problem = name === "successor" ? successorProblem(value) : undefined;
    return problem ? [problem] : [];
  });
}

const FIELDS = ["@id", "publicationStatus", "embargoedUntil", "reason", "successor"];

/** A misspelt field would be ignored: an embargo without its end never ends. */
const unknownFields = (body: JsonObject): ValidationItem[] =>
  Object.keys(body).flatMap((name) =>
    FIELDS.includes(name)
      ? []
      : [
          {
            loc: [name],
            msg: `Extra inputs are not permitted; the fields are ${FIELDS.join(", ")}`,
            type: "extra_forbidden",
          },
        ],
  );

const own = (body: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(body, name) ? body[name] : undefined;

/** Whether a record's content is public, as clients see it. */
export interface Publication {
  "@id": string;
  publicationStatus: PublicationStatus;
  embargoedUntil: string | null;
  /** Of ARCHIVED only. */
  reason?: string;
  successor?: string;
}

export const publicationOf = ({
  ark,
  publicationStatus,
  embargoedUntil,
  archived,
}: StoredRecord): Publication => ({
  "@id": ark,
  publicationStatus,
  embargoedUntil,
  ...statedWithdrawal(archived ?? {}),
});

/** @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE` */
export async function readPublication(deps: Deps, ark: Ark): Promise<StoredRecord> {
  return findLive(deps, ark);
}

/** Members in one read while a crate is published. */
const PAGE = 500;

/**
 * Sets the publication status of a record; any status may follow any. Publishing or embargoing a
 * crate does the same to its members that are DRAFT and have its owner, in the same commit; others
 * stay unchanged. Both open private records, for ever.
 * @param at where the request is in the client's document
 * @throws ValidationError; ServiceError `NOT_FOUND`, `GONE`, `FORBIDDEN`,
 * `REVISION_MISMATCH`
 */
export async function publishRecord(
  deps: Deps,
  input: JsonValue | undefined,
  who: Caller,
  expectedRevision?: number,
  at: readonly (string | number)[] = ["body"],
): Promise<StoredRecord> {
  const { ark, status, embargoedUntil, withdrawal } = checkedPublication(input, at);
  // A member that was embargoed or deleted meanwhile must not be published because of an earlier
  // read.
  return changeRecord(deps, ark, who, { expectedRevision }, async (record) => {
    if (status === "ARCHIVED") await assertOwnsNothing(deps, record);
    const records: RecordWrite[] = [
      {
        op: "publish",
        ark: record.ark,
        ifRevision: record.revision,
        status,
        embargoedUntil,
        ...withdrawal,
      },
    ];
    if (record.kind === "rocrate" && (status === "PUBLISHED" || status === "EMBARGOED"))
      for await (const member of membersOf(deps, record)) {
        const isDraft = member.publicationStatus === "DRAFT";
        // A member with an embargo of its own stays so, and is seen from now on.
        if (!isDraft && !member.private) continue;
        records.push({
          op: "publish",
          ark: member.ark,
          ifRevision: member.revision,
          status: isDraft ? status : member.publicationStatus,
          embargoedUntil: isDraft ? embargoedUntil : member.embargoedUntil,
        });
      }
    await deps.records.commit({ by: who.user, at: Date.now(), from: deps.client, records });
    const [after = record] = await deps.records.findMany([record.ark]);
    return after;
  });
}

/** As the record store refuses to delete a group that owns records. */
async function assertOwnsNothing(
  { records }: Pick<Deps, "records">,
  { ark, key, kind }: StoredRecord,
): Promise<void> {
  if (!COLLECTIVES.has(kind)) return;
  const owned = await records.countSelected({ filter: { owners: [key] } });
  if (owned > 0) throw ownsRecords(ark, owned);
}

/** The records of a crate that have its owner. */
async function* membersOf(
  deps: Pick<Deps, "records">,
  crate: StoredRecord,
): AsyncGenerator<StoredRecord> {
  const { owner } = crate;
  for await (const page of ownRecords(deps, crate))
    for (const member of page)
      if (
        member.ark !== crate.ark &&
        member.owner !== null &&
        owner !== null &&
        sameArk(member.owner, owner)
      )
        yield member;
}

/**
 * Publishes the records whose embargo has ended, so that lists, searches, feeds and DOIs follow; one
 * that came with a crate only when the crate is published. A crate that came within another opens
 * with its members, as one that came by itself.
 * @returns the time at which the next embargo ends; undefined where none has an end
 */
export async function endEmbargoes(
  { records }: Pick<Deps, "records">,
  signal: AbortSignal,
): Promise<number | undefined> {
  let next: number | undefined;
  let after: string | undefined;
  do {
    const page = await records.embargoes({
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    const now = Date.now();
    const ended = page.items.filter(({ until }) => {
      if (isOver(until, now)) return true;
      next = Math.min(instantOf(until) ?? Number.POSITIVE_INFINITY, next ?? Infinity);
      return false;
    });
    const crates = new Set(ended.flatMap(({ crate }) => crate ?? []));
    const closed = new Set(crates);
    for (const crate of await records.findMany([...crates]))
      if (crate?.publicationStatus === "PUBLISHED") closed.delete(crate.ark);
    const found = await records.findMany(ended.map(({ ark }) => ark));
    for (const [{ revision }, record] of pairs(ended, found))
      if (
        record?.revision === revision &&
        (record.crate === null || record.kind === "rocrate" || !closed.has(record.crate))
      )
        await endEmbargo({ records }, record, now);
    after = page.next;
    await eventLoop.nextTurn();
  } while (after !== undefined && !signal.aborted);
  return next;
}

const isOver = (until: string, now: number): boolean =>
  (instantOf(until) ?? Number.POSITIVE_INFINITY) <= now;

/** A record that has changed meanwhile is left to the next round. */
async function endEmbargo(
  deps: Pick<Deps, "records">,
  record: StoredRecord,
  now: number,
): Promise<void> {
  const ended = [record];
  if (record.kind === "rocrate" && record.crate !== null)
    for await (const member of membersOf(deps, record))
      if (
        member.publicationStatus === "EMBARGOED" &&
        member.embargoedUntil !== null &&
        isOver(member.embargoedUntil, now)
      )
        ended.push(member);
  try {
    await deps.records.commit({
      by: null,
      at: Date.now(),
      records: ended.map(({ ark, revision }) => ({
        op: "publish",
        ark,
        ifRevision: revision,
        status: "PUBLISHED",
        embargoedUntil: null,
      })),
    });
  } catch (error) {
    const refused = error instanceof ServiceError ? error.code : undefined;
    if (refused !== "REVISION_MISMATCH" && refused !== "GONE" && refused !== "NOT_FOUND")
      throw error;
  }
}
