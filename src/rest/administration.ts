import { invalid, ValidationError, type ValidationItem } from "../errors.js";
import { AdministrationResolver } from "../graphql/resolvers/account-resolver.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { readJson } from "../http/body.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import { limitOf } from "../services/query-parameters.js";
import {
  arkPath,
  BODY_REFUSALS,
  type ContractRow,
  json,
  query,
  schemaRef,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import { arkOf, type Handlers, linkToNext } from "./request.js";

const USER = EXAMPLES.user["@id"] as string;
const ACCOUNT: JsonObject = {
  user: USER,
  name: EXAMPLES.user["name"]!,
  email: "ada@example.org",
  admin: false,
  disabled: false,
  createdAt: "2026-11-24T09:00:00.000Z",
  signedInAt: null,
};
const NOT_ALLOWED = ["NOT_AUTHENTICATED", "FORBIDDEN"] as const;

export const ADMINISTRATION: readonly ContractRow[] = [
  {
    method: "get",
    path: "/admin/accounts",
    operationId: "admin_accounts",
    tag: "accounts",
    summary: "All accounts",
    description: "The newest first. For administrators, as all operations below `/admin`.",
    parameters: [
      query("limit", "Accounts in one page.", {
        type: "integer",
        minimum: 1,
        maximum: 1000,
        default: 100,
      }),
      query("cursor", "Cursor of the page: take it from the `Link` header of the page before.", {
        type: "string",
      }),
    ],
    answer: {
      description: "A page of accounts.",
      content: json({ type: "array", items: schemaRef("Account") }, [ACCOUNT]),
      headers: ["Link"],
    },
    token: "required",
    refusals: NOT_ALLOWED,
  },
  {
    method: "patch",
    path: "/admin/accounts/ark:{NAAN}/{postfix}",
    operationId: "admin_set_account",
    tag: "accounts",
    summary: "Change role and state of an account",
    description:
      "What is left out stays. Disabling an account ends its tokens and sessions. Nobody can " +
      "disable or demote themselves.",
    parameters: arkPath(USER),
    body: json(schemaRef("AccountSettings"), { disabled: false }),
    answer: {
      description: "What was set.",
      content: json(schemaRef("AccountSettings"), { disabled: false }),
    },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...BODY_REFUSALS, "NOT_FOUND"],
  },
  {
    method: "post",
    path: "/admin/password-reset/ark:{NAAN}/{postfix}",
    operationId: "admin_password_reset",
    tag: "accounts",
    summary: "Make a token to set a new password",
    description:
      "With it the user sets a new password once (`POST /password-reset`, `RESET_LIFETIME`). Hand " +
      "it over yourself: the registry sends no mail. It replaces the one before.",
    parameters: arkPath(USER),
    answer: {
      description: "The token, which is shown once.",
      content: json(schemaRef("PasswordReset"), {
        user: USER,
        token: "cn0zGm3hkFPqYkBFXC3CvnN0GhTW5ZJrfdZQg9mO7Zg",
        expiresAt: "2026-11-25T09:00:00.000Z",
      }),
    },
    token: "required",
    refusals: [...WRITE_REFUSALS, "NOT_FOUND"],
  },
  {
    method: "get",
    path: "/admin/figures",
    operationId: "admin_figures",
    tag: "accounts",
    summary: "Accounts, records and background jobs",
    answer: {
      description: "The figures.",
      content: json(schemaRef("RegistryFigures"), {
        accounts: 12,
        records: 4800,
        queued: 0,
        running: 1,
        waitingSince: null,
      }),
    },
    token: "required",
    refusals: NOT_ALLOWED,
  },
];

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
