import { invalid, ValidationError, type ValidationItem } from "../errors.js";
import { AdministrationResolver } from "../graphql/resolvers/account-resolver.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { readJson } from "../http/body.js";
import { formatNamed, preferred } from "../http/negotiation.js";
import { NOT_STORED, sendJson, streamBytes } from "../http/reply.js";
import type { JsonValue } from "../model/field.js";
import { listAccounts, registryFigures } from "../services/administration/accounts.js";
import { auditView, exportAudit, listAudit } from "../services/administration/audit.js";
import { limitOf } from "../services/query-parameters.js";
import { arkOf, type Handlers, linkToNext, type RestRequest } from "./request.js";

const administration = new AdministrationResolver();

/** Forms of the audit log by their media types. */
const AUDIT_FORMS = {
  "application/json": "json",
  "application/x-ndjson": "ndjson",
  "text/csv": "csv",
} as const;
type AuditType = keyof typeof AUDIT_FORMS;
const AUDIT_TYPES = Object.keys(AUDIT_FORMS) as [AuditType, ...AuditType[]];
const AUDIT_TYPE_OF = Object.fromEntries(AUDIT_TYPES.map((type) => [AUDIT_FORMS[type], type]));

/** @throws ValidationError */
function pageIn({ query }: RestRequest): { limit: number; after?: string } {
  const problems: ValidationItem[] = [];
  const limit = limitOf(problems, query);
  if (problems.length > 0) throw new ValidationError(problems);
  const { cursor } = query;
  return { limit, ...(cursor === undefined ? {} : { after: cursor }) };
}

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
    const { req, res, context } = request;
    const signed = signedIn(context);
    const page = pageIn(request);
    const { items, next } = await listAccounts(signed.deps, page, signed.caller);
    const accounts = items.map(({ createdAt, signedInAt, ...rest }) => ({
      ...rest,
      createdAt: new Date(createdAt),
      signedInAt: signedInAt === null ? null : new Date(signedInAt),
    }));
    const link =
      next === undefined
        ? {}
        : { Link: linkToNext(request, { limit: String(page.limit), cursor: next }) };
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
  admin_audit: async (request) => {
    const { req, res, query, context } = request;
    const signed = signedIn(context);
    const { action, actor, subject, since, before, format } = query;
    const question = { action, actor, subject, since, before };
    const type =
      format === undefined
        ? preferred(req.headers.accept, AUDIT_TYPES)
        : formatNamed(format, AUDIT_TYPE_OF);
    const form = AUDIT_FORMS[type];
    const headers = { ...NOT_STORED, Vary: "Accept" };
    if (form !== "json") {
      const name = { "Content-Disposition": `attachment; filename="audit.${form}"` };
      await streamBytes(req, res, exportAudit(signed.deps, question, form, signed.caller), {
        headers: { ...headers, ...name },
        type: form === "csv" ? "text/csv; charset=utf-8" : type,
      });
      return;
    }
    const page = pageIn(request);
    const { items, next } = await listAudit(signed.deps, question, page, signed.caller);
    const sent = Object.entries({ ...question, limit: String(page.limit), cursor: next });
    const known = Object.fromEntries(sent.filter(([, value]) => value !== undefined));
    const link = next === undefined ? {} : { Link: linkToNext(request, known) };
    sendJson(req, res, items.map(auditView), { headers: { ...headers, ...link } });
  },
  admin_figures: async ({ req, res, context }) => {
    const { deps, caller } = signedIn(context);
    sendJson(req, res, await registryFigures(deps, caller), { headers: NOT_STORED });
  },
};
