import { ValidationError, type ValidationItem } from "../../errors.js";
import { type Ark, lookupArk } from "../../identifiers/ark.js";
import { dateProblem } from "../../model/dates.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { PUBLICATION_STATUSES, type PublicationStatus } from "../../model/kind.js";
import type { RecordWrite, StoredRecord } from "../../storage/records/port.js";
import { assertMayChange, type Caller, mayChange } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { expectedOf } from "../query-parameters.js";
import { findLive } from "../records/find.js";
import { mismatch, unlessChanged } from "../records/replace.js";

const EXPECTED = expectedOf(PUBLICATION_STATUSES);

/** A record and its new status. */
interface PublicationRequest {
  ark: Ark;
  status: PublicationStatus;
  embargoedUntil: string | null;
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
  ];
  if ("loc" in ark || problems.length > 0)
    throw new ValidationError(
      problems.map(({ loc, ...rest }) => ({ loc: [...at, ...loc], ...rest })),
    );
  return {
    ark,
    status: input["publicationStatus"] as PublicationStatus,
    embargoedUntil: (input["embargoedUntil"] as string | null | undefined) ?? null,
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
  if (own(body, "publicationStatus") === "EMBARGOED") return [];
  return [
    {
      loc: ["embargoedUntil"],
      msg: "Value error, only a record with the status EMBARGOED has an end of its embargo",
      type: "value_error",
    },
  ];
}

const own = (body: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(body, name) ? body[name] : undefined;

/** Whether a record's content is public, as clients see it. */
export interface Publication {
  "@id": string;
  publicationStatus: PublicationStatus;
  embargoedUntil: string | null;
}

export const publicationOf = ({
  ark,
  publicationStatus,
  embargoedUntil,
}: StoredRecord): Publication => ({ "@id": ark, publicationStatus, embargoedUntil });

/** @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE` */
export async function readPublication(deps: Deps, ark: Ark): Promise<StoredRecord> {
  return findLive(deps, ark);
}

/** Members in one read while a crate is published. */
const PAGE = 500;

/**
 * Sets the publication status of a record; any status may follow any. Publishing a crate publishes
 * its members that are DRAFT, in the same commit; a member with any other status stays unchanged,
 * and so do members that the caller may not change.
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
  const { ark, status, embargoedUntil } = checkedPublication(input, at);
  // A member that was embargoed or deleted meanwhile must not be published because of an earlier
  // read.
  return unlessChanged(ark, expectedRevision, async () => {
    const record = await findLive(deps, ark);
    await assertMayChange(deps.records, who, record);
    if (expectedRevision !== undefined && expectedRevision !== record.revision)
      throw mismatch(record, expectedRevision);
    const records: RecordWrite[] = [
      { op: "publish", ark: record.ark, ifRevision: record.revision, status, embargoedUntil },
    ];
    if (record.kind === "rocrate" && status === "PUBLISHED")
      for await (const draft of draftsOf(deps, record, who))
        records.push({
          op: "publish",
          ark: draft.ark,
          ifRevision: draft.revision,
          status,
          embargoedUntil: null,
        });
    await deps.records.commit({ by: who.user, at: Date.now(), records });
    const [after] = await deps.records.findMany([record.ark]);
    return after!;
  });
}

async function* draftsOf(
  deps: Deps,
  crate: StoredRecord,
  who: Caller,
): AsyncGenerator<StoredRecord> {
  const may = new Map<string | null, Promise<boolean>>();
  let after: string | undefined;
  do {
    const page = await deps.records.list({
      crate: crate.ark,
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    for (const member of page.items) {
      if (member.ark === crate.ark || member.publicationStatus !== "DRAFT") continue;
      // Members share a few owners: the rule is evaluated once for each.
      if (!may.has(member.owner)) may.set(member.owner, mayChange(deps.records, who, member));
      if (await may.get(member.owner)) yield member;
    }
    after = page.next;
  } while (after !== undefined);
}
