import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Document,
  OpenAPIBackend,
  OpenAPIRouter,
  type Operation,
  type ParsedRequest,
  type Request,
} from "openapi-backend";
import { ServiceError, ValidationError } from "../errors.js";
import { contextOf } from "../graphql/resolvers/context.js";
import {
  ACCEPT_PATCH,
  type BodyLimit,
  checkBodyHeaders,
  type ExpectedBody,
  expectedBody,
} from "../http/body.js";
import { credentialsOf } from "../http/browsers.js";
import { clientAddress, ownsAddress, requestIdOf } from "../http/client.js";
import type { EventStreams } from "../http/reply.js";
import { lookupArk } from "../identifiers/ark.js";
import type { JsonObject } from "../model/field.js";
import type { Authenticator } from "../services/accounts/tokens.js";
import type { Deps } from "../services/deps.js";
import { isUndescribed } from "../services/files/content.js";
import { storedUnder } from "../services/records/find.js";
import { asksForPage } from "../web/frame.js";
import { type OperationText, operationPage } from "../web/pages/help.js";
import type { Site } from "../web/site.js";
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
  arkIn,
  checkPath,
  type Handlers,
  type RestRequest,
  readQuery,
  splitTarget,
  type Target,
} from "./request.js";
import { computationOperations, lineageOperations } from "./runs.js";
import { scoreOperations } from "./scores.js";
import { searchOperations, selectionOperations } from "./search.js";
import { serviceOperations } from "./service.js";
import { sparqlOperations } from "./sparql.js";
import { schemaOperations, validationOperations } from "./validation.js";

/** A template of the OpenAPI document, ready to match. */
interface Route {
  template: string;
  pattern: RegExp;
  names: string[];
  methods: Map<string, string>;
  /** Number of literal characters: a template with more of them is more specific. */
  literal: number;
  /** Literal words follow the identifier: `/ark:{NAAN}/{postfix}/download`. */
  suffix: boolean;
}

/**
 * A template that matches a path, with the operation of the request's method; `undefined` where it
 * does not support that method.
 */
interface Match {
  operationId: string | undefined;
  params: Record<string, string>;
  suffix: boolean;
  methods: readonly string[];
}
/** The most specific first. */
type Matched = readonly Match[];

/** Methods of some templates, as the Allow header lists them. */
function allowed(matched: Matched): string[] {
  const methods = new Set(matched.flatMap((match) => match.methods));
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods].sort();
}

/** Parameters that match the rest of the path, slashes included: the postfix of an ARK. */
const GREEDY = new Set(["postfix", "download_id"]);

/**
 * `ark:`, the old `ark:/`, and the contract's pattern of identifiers: `ark` before the digits of a
 * NAAN.
 */
const LABEL = "[Aa][Rr][Kk](?::/?|(?=[0-9]{5,}/))";

function compile(template: string, methods: Map<string, string>): Route {
  const names: string[] = [];
  const trimmed = template.length > 1 ? template.replace(/\/$/, "") : template;
  const source = trimmed.split(/(\{\w+\})/).map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined)
      return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ark:$/, LABEL);
    names.push(name);
    return GREEDY.has(name) ? "(.+)" : "([^/]+)";
  });
  return {
    template,
    names,
    methods,
    pattern: new RegExp(`^${source.join("")}$`, "su"),
    literal: trimmed.replace(/\{\w+\}/g, "").length,
    suffix: /\{(?:postfix|download_id)\}\/./.test(trimmed),
  };
}

/** A request of which the operation is known: `restHandler` chooses between its meanings. */
interface RoutedRequest extends Request {
  operationId: string;
}

/**
 * Matches paths against the templates of the OpenAPI document. The router of openapi-backend takes
 * no slash in a parameter, returns one template only, and builds its expressions again for every
 * request; here they are built once and indexed by the first segment of the path (decision 62).
 */
class PathRouter extends OpenAPIRouter {
  readonly #byFirst = new Map<string, Route[]>();
  readonly #operations: ReadonlyMap<string, Operation>;

  constructor(definition: Document) {
    super({ definition });
    const operations = super.getOperations();
    this.#operations = new Map(operations.map((operation) => [operation.operationId!, operation]));
    const templates = new Map<string, Map<string, string>>();
    for (const { path, method, operationId } of operations) {
      const methods = templates.get(path) ?? new Map<string, string>();
      templates.set(path, methods.set(method.toUpperCase(), operationId!));
    }
    for (const [template, methods] of templates) {
      const first = firstSegment(template);
      const routes = [...(this.#byFirst.get(first) ?? []), compile(template, methods)];
      this.#byFirst.set(
        first,
        routes.sort((a, b) => b.literal - a.literal),
      );
    }
  }

  /** Every matching template. */
  match(method: string, path: string): Matched {
    const asked = method === "HEAD" ? "GET" : method;
    return (this.#byFirst.get(firstSegment(path)) ?? []).flatMap(
      ({ pattern, names, methods, suffix }): Match[] => {
        const found = pattern.exec(path);
        if (!found) return [];
        const params = Object.fromEntries(names.map((name, index) => [name, found[index + 1]!]));
        return [{ operationId: methods.get(asked), params, suffix, methods: [...methods.keys()] }];
      },
    );
  }

  override getOperations(): Operation[] {
    return [...this.#operations.values()];
  }

  override getOperation(operationId: string): Operation | undefined {
    return this.#operations.get(operationId);
  }

  override matchOperation({ operationId }: RoutedRequest): Operation {
    return this.#operations.get(operationId)!;
  }

  /** Handlers read the `RestRequest` that they get as well. */
  override parseRequest({ method, path }: RoutedRequest): ParsedRequest {
    return {
      method,
      path,
      requestBody: undefined,
      params: {},
      query: {},
      headers: {},
      cookies: {},
    };
  }
}

/** `/ark:…` of any authority counts as one first segment. */
function firstSegment(path: string): string {
  const segment = path.split("/", 2)[1] ?? "";
  return /^ark(?::|[0-9]{5,}$)/i.test(segment) ? "ark:" : segment;
}

/** Routes of the OpenAPI document and the handlers behind them. */
interface ContractRouter {
  match(method: string, path: string): Matched;
  /** The body an operation reads; `undefined` for none. */
  reads(operationId: string): ExpectedBody | undefined;
  /** What a reading operation does, when it answers with JSON only; `undefined` for others. */
  jsonOnly(operationId: string): OperationText | undefined;
  /** @throws ValidationError for an unknown query parameter of a list or search */
  run(request: RestRequest): Promise<void>;
}

/**
 * Binds every operation of the document to its handler through openapi-backend. The model, which
 * GraphQL uses as well, is the one place that validates bodies.
 * @throws Error when an operation has no handler, or a handler no operation: the contract and the
 * code differ
 */
export async function contractRouter(
  contract: JsonObject,
  operations: Handlers,
): Promise<ContractRouter> {
  const paths = contract["paths"] as Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  const api = new OpenAPIBackend({
    definition: routed(contract, paths),
    quick: true,
    validate: false,
  });
  await api.init();
  const router = new PathRouter(api.definition);
  api.router = router;
  const declared = router.getOperations().map(({ operationId }) => operationId!);
  const unbound = declared.filter((id) => !(id in operations));
  const undeclared = Object.keys(operations).filter((id) => !router.getOperation(id));
  if (unbound.length + undeclared.length > 0)
    throw new Error(
      `The contract and the code differ: no handler for ${unbound.join(", ") || "-"}; no ` +
        `operation for ${undeclared.join(", ") || "-"}`,
    );

  const rows = Object.values(paths).flatMap((item) => Object.values(item) as unknown as Row[]);
  const bodies = new Map(
    rows.map(({ operationId, requestBody }) => [
      operationId,
      expectedBody(Object.keys(requestBody?.content ?? {}), requestBody?.["x-limit"]),
    ]),
  );
  const texts = new Map(
    rows
      .filter(({ responses }) => {
        const types = Object.keys(responses?.["200"]?.content ?? {});
        return types.length > 0 && types.every((type) => /^application\/(?:ld\+)?json$/.test(type));
      })
      .map(({ operationId, summary, description }) => [operationId, { summary, description }]),
  );
  const known = new Map(
    router
      .getOperations()
      .filter(({ operationId }) => /^(?:list|search)_/.test(operationId!))
      .map(({ operationId, parameters }) => [operationId!, queryNames(parameters)]),
  );

  for (const [id, operation] of Object.entries(operations))
    api.register(id, (_context, request: RestRequest) => operation(request));
  api.register("postRoutingHandler", (_context, { operationId, query }: RestRequest) =>
    assertKnown(known.get(operationId), query),
  );
  return {
    match: (method, path) => router.match(method, path),
    reads: (operationId) => bodies.get(operationId),
    jsonOnly: (operationId) => texts.get(operationId),
    async run(request) {
      const { path, operationId } = request;
      const method = request.req.method ?? "GET";
      const found: RoutedRequest = { method, path, headers: {}, operationId };
      await api.handleRequest(found, request);
    },
  };
}

/**
 * Lists and searches declare every query parameter they support: ignoring an unknown filter would
 * return everything.
 * @throws ValidationError for an unknown parameter
 */
function assertKnown(names: ReadonlySet<string> | undefined, query: RestRequest["query"]): void {
  const unknown = names === undefined ? [] : Object.keys(query).filter((name) => !names.has(name));
  if (unknown.length > 0)
    throw new ValidationError(
      unknown.slice(0, 20).map((name) => ({
        loc: ["query", name.slice(0, 100)],
        msg: `Extra inputs are not permitted; known are ${[...names!].join(", ")}`,
        type: "extra_forbidden",
      })),
    );
}

/** The part of an operation of the document that this module reads. */
interface Row {
  operationId: string;
  summary: string;
  description?: string;
  requestBody?: { content?: object; "x-limit"?: BodyLimit };
  responses?: Record<string, { content?: object }>;
}

const queryNames = (parameters: Operation["parameters"] = []): ReadonlySet<string> =>
  new Set(parameters.flatMap((one) => ("name" in one && one.in === "query" ? [one.name] : [])));

/**
 * The document as openapi-backend gets it. Without bodies, answers and examples: nothing reads them
 * there, and resolving their references takes 40 ms of the start. Without security requirements:
 * the use cases decide them, for every API alike.
 */
function routed(
  { openapi, info, components }: JsonObject,
  paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>,
): Document {
  const shared = (components as JsonObject)["parameters"];
  const operations = Object.entries(paths).map(([path, item]) => [
    path,
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

/**
 * Answers one request; returns false, without doing anything, when no path of the contract matches.
 */
type RestHandler = (req: IncomingMessage, res: ServerResponse) => Promise<boolean>;

/**
 * Operations that give a token ignore the one that was sent: it may have ended, or be the
 * credentials of an OAuth client (RFC 6749, section 2.3.1).
 */
const GIVES_TOKEN: ReadonlySet<string> = new Set([
  ...Object.keys(accountOperations),
  "start_session",
  "reset_password",
]);

/**
 * The REST API: target → operation of the OpenAPI document → the handler that calls a resolver. It
 * refuses in this order: path (404), method (405), type and size of the body (415, 413), wrong
 * token (401), text of path and query (422, 413). The handler goes on: missing token (401), body
 * (422), target (404).
 */
export function restHandler(
  deps: Deps,
  router: ContractRouter,
  authenticator: Authenticator,
  site: Site,
  onMatch?: (req: IncomingMessage, operationId: string) => void,
): RestHandler {
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
        const sentence =
          `${target.path.slice(0, 200)} does not support the method ${req.method}; use ` +
          `${allow}.`;
        const patched = meanings.some(({ methods }) => methods.includes("PATCH"));
        throw new ServiceError(
          "METHOD_NOT_ALLOWED",
          sentence,
          {},
          {
            Allow: allow,
            ...(patched ? { "Accept-Patch": ACCEPT_PATCH } : {}),
          },
        );
      }
      const operationId = match.operationId!;
      onMatch?.(req, operationId);
      const reads = router.reads(operationId);
      if (reads) checkBodyHeaders(req, reads, deps.config);
      const caller = GIVES_TOKEN.has(operationId)
        ? null
        : await authenticator.caller(credentialsOf(req, deps));
      checkPath(match.params);
      // No address answers a browser with JSON: it learns what programs get here.
      const text = asksForPage(req) ? router.jsonOnly(operationId) : undefined;
      if (text) {
        await site.page(req, res, async (request) => operationPage(request, text));
        return true;
      }
      const query = READS_QUERY.has(operationId) ? {} : readQuery(target.query, deps.config);
      const address = addressOf(req);
      const context = contextOf(deps, caller, address, requestIdOf(req), isOwn(req, address));
      await router.run({
        req,
        res,
        path: target.path,
        operationId,
        params: match.params,
        query,
        context,
        inflection: target.inflection,
        site,
      });
    } catch (error) {
      await site.refuse(req, res, error);
    }
    return true;
  };
}

/**
 * Paths are decoded once, but an identifier as it is written wins where a record or a file of a crate
 * has it: the escapes in it are part of it, and decoded they may spell the identifier of another
 * file.
 */
async function meant(
  deps: Deps,
  router: ContractRouter,
  method: string,
  target: Target,
): Promise<Target> {
  const { written } = target;
  return written !== undefined && (await names(deps, router.match(method, written)))
    ? { ...target, path: written }
    : target;
}

/** Whether one reading of the path holds exactly the identifier of a stored record or file. */
async function names(deps: Deps, matched: Matched): Promise<boolean> {
  for (const { params } of matched) {
    const asked = lookupArk(arkIn(params));
    const stored = asked === undefined ? [] : await storedUnder(deps, asked);
    if (stored.length === 1 && stored[0] === asked!.stored) return true;
    // Decoded once it still has an escape: that of a file's name, or one too many.
    if (asked?.stored.includes("%25") && (await isUndescribed(deps, asked))) return true;
  }
  return false;
}

/**
 * A stored identifier that equals the whole path wins; else a last word such as `download` is the
 * operation.
 */
async function meaningsOf(deps: Deps, matched: Matched, target: Target): Promise<Matched> {
  const operations = matched.filter(({ suffix }) => suffix);
  const records = matched.filter(({ suffix }) => !suffix);
  if (operations.length === 0) return records;
  if (records.length === 0) return operations;
  const whole = lookupArk(target.path.slice(target.path.search(/ark(?::|[0-9])/i)));
  const stored = whole === undefined ? [] : await storedUnder(deps, whole);
  return stored.length === 1 && stored[0] === whole?.stored ? records : operations;
}

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
    ...doiOperations,
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
