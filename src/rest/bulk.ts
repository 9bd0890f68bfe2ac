import { ValidationError, type ValidationItem } from "../errors.js";
import { BulkResolver } from "../graphql/resolvers/bulk-resolver.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { readJson } from "../http/body.js";
import { expectedRevision } from "../http/negotiation.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import { KINDS } from "../model/kinds.js";
import { textIn } from "../services/accounts/administration.js";
import { wholeNumber } from "../services/query-parameters.js";
import type { BulkResult } from "../services/records/find.js";
import {
  arkPath,
  BODY_REFUSALS,
  type ContractRow,
  FIND_REFUSALS,
  IF_MATCH,
  json,
  query,
  schemaRef,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import { answerOf, recordExample } from "./contract/schemas.js";
import { sendWritten } from "./record-forms.js";
import { arkOf, type Handlers, type RestRequest } from "./request.js";

const ARK = EXAMPLES.dataset["@id"] as string;
const DONE = [{ "@id": ARK, done: true, code: null, message: null }];

const several = (
  operationId: string,
  verb: string,
  summary: string,
  schema: string,
  example: JsonObject,
): ContractRow => ({
  method: "post",
  path: `/records/${verb}`,
  operationId,
  tag: "records",
  summary,
  description:
    "One record after the other, at most `MAX_BULK_RECORDS`. Each has its own result; one that is " +
    "refused is left unchanged, and leaves the others.",
  body: json(schemaRef(schema), example),
  answer: {
    description: "A result for each record, in the order of the list.",
    content: json({ type: "array", items: schemaRef("BulkResult") }, DONE),
  },
  token: "required",
  refusals: [...WRITE_REFUSALS, ...BODY_REFUSALS],
});

export const BULK: readonly ContractRow[] = [
  several(
    "publish_records",
    "publish",
    "Set the publication status of many records",
    "BulkPublication",
    { ids: [ARK], publicationStatus: "PUBLISHED" },
  ),
  several("transfer_records", "transfer", "Hand many records over", "BulkTransfer", {
    ids: [ARK],
    owner: EXAMPLES.user["@id"]!,
  }),
  several("delete_records", "delete", "Delete many records", "BulkDeletion", {
    ids: ["ark:99999/dataset-withdrawn"],
    reason: "Replaced by a corrected version.",
  }),
  {
    method: "post",
    path: "/restore/ark:{NAAN}/{postfix}",
    operationId: "restore_revision",
    tag: "records",
    summary: "Make an earlier revision the next one",
    description: "The revisions in between stay in the history.",
    parameters: [
      ...arkPath(ARK),
      { ...query("revision", "The revision to restore.", { type: "integer", minimum: 1 }, 1) },
      IF_MATCH,
    ].map((parameter) =>
      parameter["name"] === "revision" ? { ...parameter, required: true } : parameter,
    ),
    answer: {
      description: "The record.",
      headers: ["ETag", "X-Publication-Status"],
      content: json(answerOf(KINDS.dataset), recordExample(KINDS.dataset)),
    },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
];

const bulk = new BulkResolver();

/** The identifiers of a request, and its other members. @throws ValidationError */
function idsIn(body: JsonValue | undefined): { ids: string[]; rest: JsonObject } {
  const given =
    body !== undefined && body !== null && typeof body === "object" && !Array.isArray(body)
      ? body
      : {};
  const { ids, ...rest } = given;
  if (!Array.isArray(ids))
    throw new ValidationError([
      ids === undefined
        ? { loc: ["body", "ids"], msg: "Field required", type: "missing" }
        : { loc: ["body", "ids"], msg: "Input should be a valid list", type: "list_type" },
    ]);
  const wrong = ids.flatMap((id, index) =>
    typeof id === "string"
      ? []
      : [
          {
            loc: ["body", "ids", index],
            msg: "Input should be a valid string",
            type: "string_type",
          },
        ],
  );
  if (wrong.length > 0) throw new ValidationError(wrong);
  return { ids: ids as string[], rest };
}

const send = ({ req, res }: RestRequest, results: readonly BulkResult[]): void =>
  sendJson(
    req,
    res,
    results.map(({ id, ...result }) => ({ "@id": id, ...result })),
    { headers: NOT_STORED },
  );

const optionalText = (body: JsonObject, name: string): string | null =>
  body[name] === undefined || body[name] === null ? null : textIn(body, name);

export const bulkOperations: Handlers = {
  publish_records: async (request) => {
    const context = signedIn(request.context);
    const { ids, rest } = idsIn(await readJson(request.req, context.deps));
    send(request, await bulk.publish(ids, rest, context));
  },
  transfer_records: async (request) => {
    const context = signedIn(request.context);
    const { ids, rest } = idsIn(await readJson(request.req, context.deps));
    send(request, await bulk.transfer(ids, textIn(rest, "owner"), context));
  },
  delete_records: async (request) => {
    const context = signedIn(request.context);
    const { ids, rest } = idsIn(await readJson(request.req, context.deps));
    const [reason, successor] = ["reason", "successor"].map((name) => optionalText(rest, name));
    send(request, await bulk.remove(ids, { reason, successor }, context));
  },
  restore_revision: async (request) => {
    const context = signedIn(request.context);
    const { query, req } = request;
    const problems: ValidationItem[] = [];
    const raw = query["revision"];
    if (raw === undefined)
      problems.push({ loc: ["query", "revision"], msg: "Field required", type: "missing" });
    const revision =
      raw === undefined ? undefined : wholeNumber(problems, "revision", raw, { least: 1 });
    if (revision === undefined) throw new ValidationError(problems);
    sendWritten(
      request,
      await bulk.restore(arkOf(request), revision, expectedRevision(req), context),
    );
  },
};
