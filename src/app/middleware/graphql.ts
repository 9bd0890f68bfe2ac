import { Router } from "express";
import type { GraphqlInterface } from "../../graphql/server.js";

/** The operations of metrics and traces, by the path below `/graphql`. */
const OPERATIONS: ReadonlyMap<string, string> = new Map([
  ["/", "graphql"],
  ["/stream", "graphql_stream"],
  ["/schema.graphql", "graphql_schema"],
]);

/** GraphQL over HTTP and server-sent events; like all paths, also under `/api`. */
export function graphqlApi(graphql: GraphqlInterface): Router {
  const router = Router({ caseSensitive: true });
  router.use(["/graphql", "/api/graphql"], (req, res, next) => {
    const operation = OPERATIONS.get(req.path);
    if (operation === undefined) return next();
    const search = req.url.split("?").slice(1).join("?");
    if (req.path === "/" && wantsPage(req.method, req.headers.accept, search)) return next();
    const route = req.path === "/" ? "/graphql" : `/graphql${req.path}`;
    Object.assign(res.locals, { operation, route });
    graphql.router(req, res, next);
  });
  return router;
}

/** A browser that opens the page, not a query. */
const wantsPage = (method: string, accept: string | undefined, search: string): boolean =>
  (method === "GET" || method === "HEAD") &&
  accept?.includes("text/html") === true &&
  !new URLSearchParams(search).has("query");
