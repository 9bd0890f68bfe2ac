/** Requests of readers for content that is not public. */
import { ValidationError, type ValidationItem } from "../errors.js";
import { AccessResolver } from "../graphql/resolvers/access-resolver.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { readJson } from "../http/body.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import { textIn } from "../services/administration/accounts.js";
import {
  ACCESS_STATES,
  type AccessState,
  listAccessRequests,
} from "../services/publication/access-requests.js";
import { checkOneOf, limitOf } from "../services/query-parameters.js";
import { askedArk } from "../services/records/find.js";
import { type Handlers, linkToNext, readFlag } from "./request.js";

const requests = new AccessResolver();

export const accessRequestOperations: Handlers = {
  request_access: async ({ req, res, context }) => {
    const signed = signedIn(context);
    const body = await readJson(req, context.deps);
    const record = askedArk(textIn(body, "record"));
    const { reason } = body as JsonObject;
    sendJson(req, res, await requests.request({ record, reason }, signed), { headers: NOT_STORED });
  },
  list_access_requests: async (request) => {
    const { req, res, query, context } = request;
    const { deps, caller } = signedIn(context);
    const { record, made, state, cursor } = query;
    const problems: ValidationItem[] = [];
    const limit = limitOf(problems, query);
    if (state !== undefined) checkOneOf(problems, "state", state, ACCESS_STATES);
    if (problems.length > 0) throw new ValidationError(problems);
    const filter = {
      record: record === undefined ? undefined : askedArk(record),
      made: readFlag(query, "made"),
      state: state as AccessState | undefined,
    };
    const page = { limit, ...(cursor === undefined ? {} : { after: cursor }) };
    const { items, next } = await listAccessRequests(deps, filter, page, caller);
    const link =
      next === undefined
        ? {}
        : {
            Link: linkToNext(request, {
              ...(record === undefined ? {} : { record }),
              ...(made === undefined ? {} : { made }),
              ...(state === undefined ? {} : { state }),
              limit: String(limit),
              cursor: next,
            }),
          };
    sendJson(req, res, items, { headers: { ...NOT_STORED, ...link } });
  },
  decide_access_request: async ({ req, res, params, context }) => {
    const signed = signedIn(context);
    const decision = ((await readJson(req, context.deps)) ?? {}) as JsonObject;
    sendJson(req, res, await requests.decide(params.request_id, decision, signed), {
      headers: NOT_STORED,
    });
  },
};
