import { OpenAPIBackend, type Document } from "openapi-backend";
import { ValidationError } from "../errors.js";
import type { JsonObject } from "../model/field.js";
import { expectedBody, type BodyLimit, type ExpectedBody } from "./body.js";
import { PathMatcher, type Matched } from "./paths.js";
import type { Operations, RestRequest } from "./request.js";

/** Routes of the OpenAPI document and the handlers behind them. */
export interface ContractRouter {
  match(method: string, path: string): Matched;
  /** Whether the contract declares a token for the operation; where it does not, a bad one counts as none. */
  declaresToken(operationId: string): boolean;
  /** The body an operation reads; `undefined` for none. */
  reads(operationId: string): ExpectedBody | undefined;
  /**
   * Lists and searches name every query parameter they know: a filter that is ignored would answer everything.
   * @throws ValidationError for one that they do not know
   */
  checkParameters(operationId: string, query: RestRequest["query"]): void;
  run(request: RestRequest): Promise<void>;
}

/**
 * Binds every operation of the document to its handler through openapi-backend. Its router is given
 * precompiled paths, because its own builds sixty expressions anew for each request; and it is given requests
 * that are parsed already. Bodies are validated by the model, the one place that GraphQL uses as well.
 * @throws Error when an operation has no handler, or a handler no operation: the contract and the code differ
 */
export async function contractRouter(contract: JsonObject, operations: Operations): Promise<ContractRouter> {
  const paths = contract["paths"] as Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  const matcher = new PathMatcher(paths);
  const api = new OpenAPIBackend({ definition: namesOnly(contract, paths), quick: true, validate: false, strict: false });
  await api.init();
  const declared = new Map(api.getOperations().map((operation) => [operation.operationId!, operation]));
  const unbound = [...declared.keys()].filter((id) => !(id in operations));
  const undeclared = Object.keys(operations).filter((id) => !declared.has(id));
  if (unbound.length + undeclared.length > 0) throw new Error(`The contract and the code differ: no handler for ${unbound.join(", ") || "-"}; no operation for ${undeclared.join(", ") || "-"}`);

  const rows = Object.values(paths).flatMap((item) => Object.values(item) as unknown as Row[]);
  const bodies = new Map(rows.map(({ operationId, requestBody }) => [operationId, expectedBody(Object.keys(requestBody?.content ?? {}), requestBody?.["x-limit"])]));
  const known = new Map(rows.filter(({ operationId }) => /^(?:list|search)_/.test(operationId)).map(({ operationId, parameters = [] }) => [operationId, queryNames(contract, parameters)]));
  const secured = new Set(rows.filter(({ security }) => (security?.length ?? 0) > 0).map(({ operationId }) => operationId));

  // It would gather all operations anew for each one that is looked up, here and for every request.
  api.router.getOperation = (id) => declared.get(id);
  for (const [id, operation] of Object.entries(operations)) api.register(id, (_context, request: RestRequest) => operation(request));
  api.register("notFound", () => {
    throw new Error("matched before");
  });
  api.router.matchOperation = ((request: { operationId: string }) => declared.get(request.operationId)) as never;
  api.router.parseRequest = ((request: unknown) => request) as never;
  return {
    match: (method, path) => matcher.match(method, path),
    declaresToken: (operationId) => secured.has(operationId),
    reads: (operationId) => bodies.get(operationId),
    checkParameters(operationId, query) {
      const names = known.get(operationId);
      const unknown = names === undefined ? [] : Object.keys(query).filter((name) => !names.has(name));
      if (unknown.length > 0) throw new ValidationError(unknown.slice(0, 20).map((name) => ({ loc: ["query", name.slice(0, 100)], msg: `Extra inputs are not permitted; known are ${[...names!].join(", ")}`, type: "extra_forbidden" })));
    },
    run: (request) => api.handleRequest(request as never, request) as Promise<void>,
  };
}

/** What is read here of an operation of the document. */
interface Row { operationId: string; parameters?: readonly JsonObject[]; security?: readonly object[]; requestBody?: { content?: object; "x-limit"?: BodyLimit } }

/** Names of an operation's query parameters, shared ones included. */
function queryNames(contract: JsonObject, parameters: readonly JsonObject[]): ReadonlySet<string> {
  const shared = (contract["components"] as { parameters: Record<string, JsonObject> }).parameters;
  const declared = parameters.map((parameter) => (typeof parameter["$ref"] === "string" ? shared[parameter["$ref"].split("/").at(-1)!]! : parameter));
  return new Set(declared.filter((parameter) => parameter["in"] === "query").map((parameter) => String(parameter["name"])));
}

/**
 * The document as openapi-backend gets it. Not with schemas and examples: nothing reads them there, and following
 * their references takes 40 ms of the start. Nor with who may call: the use cases decide that, for every door alike.
 */
function namesOnly({ openapi, info }: JsonObject, paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>): Document {
  const named = Object.entries(paths).map(([path, item]) =>
    [path, Object.fromEntries(Object.entries(item).map(([method, { operationId }]) => [method, { operationId, responses: {} }]))]);
  return { openapi, info, paths: Object.fromEntries(named) } as unknown as Document;
}
