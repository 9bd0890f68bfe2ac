import { invalid, ValidationError, type ValidationItem } from "../errors.js";
import { AdministrationResolver } from "../graphql/resolvers/account-resolver.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { readJson } from "../http/body.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import type { JsonValue } from "../model/field.js";
import { limitOf } from "../services/query-parameters.js";
import { arkOf, type Handlers, linkToNext } from "./request.js";

const administration = new AdministrationResolver();

/** @throws ValidationError */
function settingsIn(body: JsonValue | undefined): { admin?: boolean; disabled?: boolean } {
  if (body === undefined || body === null || typeof body !== "object" || Array.isArray(body))
    throw invalid(["body"], "Input should be a valid dictionary", "model_attributes_type");
  const items = Object.entries(body).flatMap(([name, value]) => {
    if (name !== "admin" && name !== "disabled")
      return [
        {
          loc: ["body", name.slice(0, 100)],
          msg: "Extra inputs are not permitted; known are admin, disabled",
          type: "extra_forbidden",
        },
      ];
    return typeof value === "boolean"
      ? []
      : [{ loc: ["body", name], msg: "Input should be a valid boolean", type: "bool_type" }];
  });
  if (items.length > 0) throw new ValidationError(items);
  return body;
}

export const administrationOperations: Handlers = {
  admin_accounts: async (request) => {
    const { req, res, query, context } = request;
    const signed = signedIn(context);
    const problems: ValidationItem[] = [];
    const limit = limitOf(problems, query);
    if (problems.length > 0) throw new ValidationError(problems);
    const { cursor } = query;
    const page = { limit, ...(cursor === undefined ? {} : { after: cursor }) };
    const { items, next } = await administration.list(page, signed);
    const accounts = items.map(({ createdAt, signedInAt, ...rest }) => ({
      ...rest,
      createdAt: new Date(createdAt),
      signedInAt: signedInAt === null ? null : new Date(signedInAt),
    }));
    const link =
      next === undefined
        ? {}
        : { Link: linkToNext(request, { limit: String(limit), cursor: next }) };
    sendJson(req, res, accounts, { headers: { ...NOT_STORED, ...link } });
  },
  admin_set_account: async (request) => {
    const { req, res, context } = request;
    const signed = signedIn(context);
    const settings = settingsIn(await readJson(req, context.deps));
    await administration.set(arkOf(request).stored, settings, signed);
    sendJson(req, res, settings, { headers: NOT_STORED });
  },
  admin_password_reset: async (request) => {
    const { req, res, context } = request;
    sendJson(req, res, await administration.reset(arkOf(request).stored, signedIn(context)), {
      headers: NOT_STORED,
    });
  },
  admin_figures: async ({ req, res, context }) =>
    sendJson(req, res, await administration.figures(signedIn(context)), { headers: NOT_STORED }),
};
