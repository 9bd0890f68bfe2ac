import type { IncomingMessage, ServerResponse } from "node:http";
import { clientAddress, ownsAddress } from "../client-address.js";
import { ServiceError } from "../errors.js";
import { lookupArk } from "../identifiers/ark.js";
import { requestIdOf } from "../request-id.js";
import { contextOf } from "../resolvers/context.js";
import type { Authenticator } from "../use-cases/accounts/tokens.js";
import type { Deps } from "../use-cases/deps.js";
import type { ContractRouter } from "./backend.js";
import { checkBodyHeaders } from "./body.js";
import { sendError } from "./errors.js";
import { allowed, type Matched } from "./paths.js";
import { checkPath, readQuery, splitTarget, type Target } from "./request.js";

/** Answers one request; false when no path of the contract fits, and nothing was done then. */
export type RestHandler = (req: IncomingMessage, res: ServerResponse) => Promise<boolean>;

/**
 * The REST door: target → operation of the OpenAPI document → the handler that calls a resolver.
 * Order of refusals: route, method, body size and type, token, body, target.
 */
export function restHandler(deps: Deps, router: ContractRouter, authenticator: Authenticator, onMatch?: (req: IncomingMessage, operationId: string) => void): RestHandler {
  const addressOf = clientAddress(deps.config.TRUSTED_PROXIES);
  const isOwn = ownsAddress(deps.config.TRUSTED_PROXIES);
  return async (req, res) => {
    try {
      const target = await meant(deps, router, req.method ?? "GET", splitTarget(req.url ?? "/"));
      const matched = router.match(req.method ?? "GET", target.path);
      if (matched.length === 0) return false;
      const meanings = await meaningsOf(deps, matched, target);
      const match = meanings.find((meaning) => meaning.operationId !== undefined);
      if (!match) {
        const allow = allowed(meanings).join(", ");
        const sentence = `${req.method} is not a method of ${target.path.slice(0, 200)}; it has ${allow}.`;
        throw new ServiceError("METHOD_NOT_ALLOWED", sentence, {}, { Allow: allow });
      }
      const operationId = match.operationId!;
      onMatch?.(req, operationId);
      const reads = router.reads(operationId);
      if (reads) checkBodyHeaders(req, reads, deps.config);
      const caller = await authenticator.caller(req.headers.authorization).catch((error: unknown) => {
        if (router.declaresToken(operationId)) throw error;
        return null;
      });
      checkPath(match.params);
      const query = readQuery(target.query, deps.config);
      router.checkParameters(operationId, query);
      const address = addressOf(req);
      const context = contextOf(deps, caller, address, requestIdOf(req), isOwn(req, address));
      await router.run({ req, res, path: target.path, operationId, params: match.params, query, context, inflection: target.inflection });
    } catch (error) {
      sendError(req, res, error, deps.log);
    }
    return true;
  };
}

/**
 * Paths are decoded once. An identifier that was put into one as it stands, its own escapes not escaped, is found
 * where it is stored and what the path decodes to is not.
 */
async function meant(deps: Deps, router: ContractRouter, method: string, target: Target): Promise<Target> {
  const { written } = target;
  if (written === undefined || (await names(deps, router.match(method, target.path), () => true))) return target;
  return (await names(deps, router.match(method, written), (stored, asked) => stored === asked)) ? { ...target, path: written } : target;
}

/** Whether one of the ways to read a path holds the identifier of a record, stored in a way that counts. */
async function names(deps: Deps, matched: Matched, counts: (stored: string, asked: string) => boolean): Promise<boolean> {
  for (const { params } of matched) {
    const asked = lookupArk(`ark:${params["NAAN"]}/${params["postfix"] ?? params["download_id"]}`);
    const found = asked === undefined ? undefined : await deps.records.find(asked);
    if (found && (!("record" in found) || counts(found.record.ark, asked!))) return true;
  }
  return false;
}

/** Where a stored identifier equals the whole path it wins; else a last word such as `download` is the operation. */
async function meaningsOf(deps: Deps, matched: Matched, target: Target): Promise<Matched> {
  const operations = matched.filter(({ suffix }) => suffix);
  const records = matched.filter(({ suffix }) => !suffix);
  if (operations.length === 0) return records;
  if (records.length === 0) return operations;
  const whole = lookupArk(target.path.slice(target.path.search(/ark(?::|[0-9])/i)));
  const found = whole === undefined ? undefined : await deps.records.find(whole);
  return found && "record" in found && found.record.ark === whole ? records : operations;
}
