/** The REST API: openapi-backend binds the operations of the OpenAPI document to their handlers. */
import type { NextFunction, Request, RequestHandler, Response } from "express";
import {
  type Context as Matched,
  type Document,
  OpenAPIBackend,
  type Operation,
} from "openapi-backend";
import { ServiceError, ValidationError } from "../errors.js";
import { contextOf } from "../graphql/resolvers/context.js";
import { ACCEPT_PATCH, checkBodyHeaders, expectedBody } from "../http/body.js";
import { credentialsOf } from "../http/browsers.js";
import { clientAddress, ownsAddress, requestIdOf } from "../config/client.js";
import type { EventStreams } from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import { readBy } from "../services/access/seen.js";
import { assertScope, neededScope } from "../services/access/scopes.js";
import type { Authenticator, Identity } from "../services/accounts/tokens.js";
import type { Deps } from "../services/deps.js";
import { namingParameters } from "../services/records/select.js";
import { asksForPage } from "../web/frame.js";
import { operationPage } from "../web/pages/help.js";
import type { Site } from "../web/site.js";
import { accessRequestOperations } from "./access-requests.js";
import {
  accountOperations,
  credentialOperations,
  groupOperations,
  ownOperations,
  sessionOperations,
} from "./accounts.js";
import { administrationOperations } from "./administration.js";
import { bulkOperations } from "./bulk.js";
import { cratePlanOperations } from "./crate-plans.js";
import { crateOperations, crateReadOperations, submissionOperations } from "./crates.js";
import { type DescribedOperation, operationsIn } from "./document.js";
import { doiOperations } from "./dois.js";
import { downloadOperations } from "./downloads.js";
import { evidenceOperations } from "./evidence.js";
import { fileOperations } from "./files.js";
import { harvestOperations, READS_QUERY } from "./harvest.js";
import { ontologyOperations } from "./identifiers.js";
import {
  allRecordOperations,
  historyOperations,
  projectOperations,
  publicationOperations,
  resolverOperations,
} from "./records.js";
import {
  checkPath,
  type Handler,
  type Handlers,
  readQuery,
  splitTarget,
  type Target,
  type PathParameters,
} from "./request.js";
import { ArkRouter, rewritten } from "./router.js";
import { computationOperations, LINEAGE_PATHS, lineageOperations } from "./runs.js";
import { reviewOperations } from "./review-links.js";
import { scoreOperations } from "./scores.js";
import { searchOperations, selectionOperations } from "./search.js";
import { serviceOperations } from "./service.js";
import { sparqlOperations } from "./sparql.js";
import { schemaOperations, validationOperations } from "./validation.js";

/**
 * The handler of every operation of the contract, by operationId.
 * @param contract the OpenAPI document
 * @param streams the open event streams, which end with the server
 */
export function operations(contract: object, streams: EventStreams): Handlers {
  return {
    ...serviceOperations(contract),
    ...accountOperations,
    ...sessionOperations,
    ...credentialOperations,
    ...administrationOperations,
    ...bulkOperations,
    ...ownOperations,
    ...allRecordOperations,
    ...projectOperations,
    ...groupOperations,
    ...computationOperations,
    ...resolverOperations,
    ...selectionOperations,
    ...historyOperations,
    ...crateOperations,
    ...cratePlanOperations,
    ...crateReadOperations,
    ...submissionOperations(streams),
    ...fileOperations,
    ...downloadOperations,
    ...publicationOperations,
    ...accessRequestOperations,
    ...doiOperations,
    ...reviewOperations,
    ...evidenceOperations,
    ...lineageOperations,
    ...sparqlOperations,
    ...validationOperations,
    ...ontologyOperations,
    ...scoreOperations,
    ...searchOperations,
    ...harvestOperations,
    ...schemaOperations,
  };
}

/**
 * Operations that give a token ignore the one that was sent: it may have ended, or be the
 * credentials of an OAuth client (RFC 6749, section 2.3.1).
 */
const GIVES_TOKEN: ReadonlySet<string> = new Set([
  ...Object.keys(accountOperations),
  "start_session",
  "reset_password",
]);

/** What a handler of openapi-backend gets beside the operation. */
interface Call {
  req: Request;
  res: Response;
  next: NextFunction;
  target: Target;
  /** The path as the router reads it. */
  routed: string;
}

/**
 * Answers requests to operations of the contract, and leaves others to the next middleware. It
 * refuses in this order: path (404), method (405), type and size of the body (415, 413), wrong
 * token (401), text of path and query (422, 413). The handler goes on: missing token (401), body
 * (422), target (404). Bodies and parameters are validated by the resolvers, which GraphQL calls too.
 * @param published the OpenAPI document
 * @throws Error when an operation has no handler, or a handler no operation
 */
export async function restApi(
  deps: Deps,
  published: JsonObject,
  handlers: Handlers,
  authenticator: Authenticator,
  site: Site,
): Promise<RequestHandler> {
  const paths = { ...(published["paths"] as JsonObject), ...LINEAGE_PATHS };
  const contract = { ...published, paths };
  const api = new OpenAPIBackend({
    definition: routed(contract),
    quick: true,
    strict: true,
    validate: false,
  });
  await api.init();
  const router = new ArkRouter(api.definition);
  api.router = router;
  const rows = new Map(operationsIn(contract).map((row) => [row.operationId, row]));
  const addressOf = clientAddress(deps.config.TRUSTED_PROXIES);
  const isOwn = ownsAddress(deps.config.TRUSTED_PROXIES);

  const bound = (operationId: string, handler: Handler) => {
    const { route, bodies, page, parameters } = described(
      rows.get(operationId)!,
      router.getOperation(operationId)!,
    );
    return async ({ request }: Matched, { req, res, target }: Call): Promise<void> => {
      Object.assign(res.locals, { operation: operationId, route });
      if (bodies) checkBodyHeaders(req, bodies, deps.config);
      const address = addressOf(req);
      const { caller, review }: Identity = GIVES_TOKEN.has(operationId)
        ? { caller: null }
        : await authenticator.identify(credentialsOf(req, deps, { address }));
      assertScope(caller, operationId);
      const params = request.params as PathParameters;
      checkPath(params);
      // No address answers a browser with JSON: it learns what programs get here.
      if (page && asksForPage(req))
        return site.page(req, res, async (shown) => operationPage(shown, page));
      const query = READS_QUERY.has(operationId) ? {} : readQuery(target.query, deps.config);
      if (parameters) assertKnown(parameters, query);
      const read = readBy(deps, review);
      const context = contextOf(read, caller, address, requestIdOf(req), isOwn(req, address));
      const { path, inflection } = target;
      await namingParameters(query, () =>
        handler({ req, res, path, operationId, params, query, context, inflection, site }),
      );
    };
  };
  assertBound(router, handlers);
  for (const id of Object.keys(handlers)) neededScope(id);
  for (const [id, handler] of Object.entries(handlers)) api.register(id, bound(id, handler));
  api.register({
    notFound: (_matched: Matched, { next }: Call) => next(),
    methodNotAllowed: (_matched: Matched, { req, target, routed }: Call) => {
      throw methodNotAllowed(req.method, target.path, router.operationsOf(routed));
    },
  });

  return async (req, res, next) => {
    const method = req.method === "HEAD" ? "GET" : req.method;
    const call = await rewritten(deps, router, method, splitTarget(req.url));
    await api.handleRequest(
      { method, path: call.routed, headers: {} },
      { req, res, next, ...call },
    );
  };
}

/** @throws Error when the contract and the code differ */
function assertBound(router: ArkRouter, handlers: Handlers): void {
  const declared = router.getOperations().flatMap(({ operationId }) => operationId ?? []);
  const unbound = declared.filter((id) => !(id in handlers));
  const undeclared = Object.keys(handlers).filter((id) => !router.getOperation(id));
  if (unbound.length + undeclared.length > 0)
    throw new Error(
      `The contract and the code differ: no handler for ${unbound.join(", ") || "-"}; no ` +
        `operation for ${undeclared.join(", ") || "-"}`,
    );
}

function methodNotAllowed(
  method: string,
  path: string,
  others: readonly Operation[],
): ServiceError {
  const methods = new Set(others.map((operation) => operation.method.toUpperCase()));
  const patched = methods.has("PATCH") ? { "Accept-Patch": ACCEPT_PATCH } : {};
  if (methods.has("GET")) methods.add("HEAD");
  const allow = [...methods].sort().join(", ");
  return new ServiceError(
    "METHOD_NOT_ALLOWED",
    `${path.slice(0, 200)} does not support the method ${method}; use ${allow}.`,
    {},
    { Allow: allow, ...patched },
  );
}

/** What the document says of an operation: its bodies, its page for browsers, its parameters. */
function described(row: DescribedOperation, { parameters }: Operation) {
  const types = Object.keys(row.responses["200"]?.content ?? {});
  const isJson =
    types.length > 0 && types.every((type) => /^application\/(?:ld\+)?json$/.test(type));
  return {
    route: row.path,
    bodies: expectedBody(Object.keys(row.requestBody?.content ?? {}), row.requestBody?.["x-limit"]),
    /** Only where the operation answers with JSON alone. */
    page: isJson ? { summary: row.summary, description: row.description } : undefined,
    /** Only of lists, searches and the feed: they refuse others. */
    parameters: /^(?:list_|search_|feed$)/.test(row.operationId)
      ? queryNames(parameters)
      : undefined,
  };
}

/**
 * Lists, searches and the feed declare every query parameter they support: ignoring an unknown
 * filter would return everything.
 * @throws ValidationError for an unknown parameter
 */
function assertKnown(
  names: ReadonlySet<string>,
  query: Readonly<Record<string, string | undefined>>,
): void {
  const unknown = Object.keys(query).filter((name) => !names.has(name));
  const known = names.size === 0 ? "none is known" : `known are ${[...names].join(", ")}`;
  if (unknown.length > 0)
    throw new ValidationError(
      unknown.slice(0, 20).map((name) => ({
        loc: ["query", name.slice(0, 100)],
        msg: `Extra inputs are not permitted; ${known}`,
        type: "extra_forbidden",
      })),
    );
}

const queryNames = (parameters: Operation["parameters"] = []): ReadonlySet<string> =>
  new Set(parameters.flatMap((one) => ("name" in one && one.in === "query" ? [one.name] : [])));

/**
 * The document as openapi-backend gets it. Without bodies, answers and examples: nothing reads them
 * there, and resolving their references takes 40 ms of the start. Without security requirements:
 * the use cases decide them, for every API alike. Without slashes at the end, which the router takes
 * from paths, not from templates.
 */
function routed({ openapi, info, paths, components }: JsonObject): Document {
  type Paths = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  const shared = (components as JsonObject)["parameters"];
  const operations = Object.entries(paths as Paths).map(([path, item]) => [
    path.replace(/(?<=.)\/$/, ""),
    Object.fromEntries(
      Object.entries(item).map(([method, { operationId, parameters = [] }]) => {
        // The library resolves an object once only: a reference that operations share would stay one.
        const own = (parameters as JsonObject[]).map((parameter) => ({ ...parameter }));
        return [method, { operationId, parameters: own, responses: {} }];
      }),
    ),
  ]);
  return {
    openapi,
    info,
    paths: Object.fromEntries(operations),
    components: { parameters: shared },
  } as unknown as Document;
}
