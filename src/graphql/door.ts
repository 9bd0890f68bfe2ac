import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import graphqlUploadExpress from "graphql-upload/graphqlUploadExpress.mjs";
import type { Config } from "../config.js";
import { ServiceError } from "../errors.js";
import { checkBodyHeaders, mediaType } from "../rest/body.js";
import type { Caller } from "../use-cases/access/caller.js";
import type { Authenticator } from "../use-cases/accounts/tokens.js";

/** One address, and the methods of GraphQL over HTTP. */
export const onlyItsMethods: RequestHandler = (req, _res, next) => {
  if (req.path !== "/") return next("router");
  if (["GET", "HEAD", "POST"].includes(req.method)) return next();
  next(new ServiceError("METHOD_NOT_ALLOWED", `${req.method.slice(0, 20)} is not a method of /graphql; it has GET, HEAD, POST.`, {}, { Allow: "GET, HEAD, POST" }));
};

const callers = new WeakMap<IncomingMessage, Caller | null | ServiceError>();
/** Who asks. @throws ServiceError `INVALID_TOKEN` */
export function callerOf(req: IncomingMessage): Caller | null {
  const found = callers.get(req) ?? null;
  if (found instanceof ServiceError) throw found;
  return found;
}

/** Finds out who asks; {@link callerOf} tells. */
export const identify = (authenticator: Authenticator): RequestHandler => (req, _res, next) => {
  authenticator.caller(req.headers.authorization).catch((error: unknown) => {
    if (error instanceof ServiceError && error.status === 401) return error;
    throw error;
  }).then((found) => {
    callers.set(req, found);
    next();
  }).catch(next);
};

/** A token that is none is answered as GraphQL answers errors, with status 401, once the body is read. */
export const refuseBadToken: RequestHandler = (req, res, next) => {
  try {
    callerOf(req);
    next();
  } catch (error) {
    const { code, message, headers } = error as ServiceError;
    res.status(401).set({ "WWW-Authenticate": "Bearer", ...headers }).json({ errors: [{ message, extensions: { code } }] });
  }
};

/** Headers of which a form on a page of another origin sends none (Apollo's protection against forged requests). */
const PREFLIGHT = ["apollo-require-preflight", "x-apollo-operation-name"];

/** Parses multipart requests; what is sent without a token, or from a page of another origin, is not even begun with. */
export function readUpload(config: Pick<Config, "MAX_UPLOAD_BYTES" | "MAX_BODY_BYTES" | "MAX_JSON_DEPTH">): RequestHandler {
  const parse = graphqlUploadExpress({ maxFileSize: config.MAX_UPLOAD_BYTES, maxFiles: 1, maxFieldSize: 1 << 20 });
  return (req, res, next) => {
    if (req.method !== "POST" || mediaType(req) !== "multipart/form-data") return next();
    checkBodyHeaders(req, "multipart", config);
    if (!PREFLIGHT.some((name) => req.headers[name])) throw new ServiceError("BAD_REQUEST", "A multipart request to /graphql carries the header apollo-require-preflight, so that no page of another origin can send it.");
    if (!callerOf(req)) throw new ServiceError("NOT_AUTHENTICATED", "A multipart request needs a token: send Authorization: Bearer <token>, obtained from POST /token.");
    void parse(req, res, (error?: unknown) => {
      const foreign = error instanceof Error && (error as { status?: number }).status === undefined;
      next(foreign ? new ServiceError("BAD_REQUEST", `The multipart form cannot be read: ${error.message.slice(0, 200)}.`) : error);
    });
  };
}
