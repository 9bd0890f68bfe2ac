import { ValidationError, type ValidationItem } from "../errors.js";
import { BulkResolver } from "../graphql/resolvers/bulk-resolver.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { readJson } from "../http/body.js";
import { expectedRevision } from "../http/negotiation.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import { textIn } from "../services/administration/accounts.js";
import { wholeNumber } from "../services/query-parameters.js";
import type { BulkResult } from "../services/records/find.js";
import { sendWritten } from "./record-forms.js";
import { arkOf, type Handlers, type RestRequest } from "./request.js";

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
