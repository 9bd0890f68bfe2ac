import { OpenAPIBackend, type Document } from "openapi-backend";
import { bodyForm, type BodyForm } from "./body.js";
import { PathMatcher, type Matched } from "./paths.js";
import type { Operations, RestRequest } from "./request.js";

/** Routes of the OpenAPI document and the handlers behind them. */
export interface ContractRouter {
  match(method: string, path: string): Matched;
  /** Whether the contract declares a token for the operation; where it does not, a bad one counts as none. */
  declaresToken(operationId: string): boolean;
  /** The body an operation reads; `undefined` for none. */
  reads(operationId: string): BodyForm | undefined;
  run(request: RestRequest): Promise<void>;
}

/**
 * Binds every operation of the document to its handler through openapi-backend. Its router is given
 * precompiled paths, because its own builds sixty expressions anew for each request; and it is given requests
 * that are parsed already. Bodies are validated by the model, the one place that GraphQL uses as well.
 * @throws Error when an operation has no handler, or a handler no operation: the contract and the code differ
 */
export async function contractRouter(definition: Document, operations: Operations): Promise<ContractRouter> {
  const paths = definition.paths as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const matcher = new PathMatcher(paths);
  const api = new OpenAPIBackend({ definition, quick: true, validate: false, strict: false });
  for (const [id, operation] of Object.entries(operations)) api.register(id, (_context, request: RestRequest) => operation(request));
  api.register("notFound", () => {
    throw new Error("matched before");
  });
  await api.init();
  const declared = new Map(api.getOperations().map((operation) => [operation.operationId!, operation]));
  const unbound = [...declared.keys()].filter((id) => !(id in operations));
  const undeclared = Object.keys(operations).filter((id) => !declared.has(id));
  if (unbound.length + undeclared.length > 0) throw new Error(`The contract and the code differ: no handler for ${unbound.join(", ") || "-"}; no operation for ${undeclared.join(", ") || "-"}`);

  const forms = new Map([...declared].map(([id, { requestBody }]) => [id, bodyForm(Object.keys((requestBody as { content?: object } | undefined)?.content ?? {}))]));

  // Who may call is decided by the use cases, so that every door has the same answer.
  const secured = new Set([...declared.values()].filter((operation) => (operation.security?.length ?? 0) > 0).map((operation) => operation.operationId!));
  for (const operation of declared.values()) delete operation.security;
  api.router.matchOperation = ((request: { operationId: string }) => declared.get(request.operationId)) as never;
  api.router.parseRequest = ((request: unknown) => request) as never;
  return {
    match: (method, path) => matcher.match(method, path),
    declaresToken: (operationId) => secured.has(operationId),
    reads: (operationId) => forms.get(operationId),
    run: (request) => api.handleRequest(request as never, request) as Promise<void>,
  };
}
