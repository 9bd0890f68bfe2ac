import { type RequestHandler, Router } from "express";
import type { GraphqlAddress, GraphqlInterface } from "../../graphql/server.js";

/** By path; like all paths, also under `/api`. */
const ADDRESSES: Readonly<Record<string, { address: GraphqlAddress; operation: string }>> = {
  "/graphql": { address: "answer", operation: "graphql" },
  "/graphql/stream": { address: "stream", operation: "graphql_stream" },
  "/graphql/schema.graphql": { address: "schema", operation: "graphql_schema" },
};

/** GraphQL over HTTP and server-sent events. */
export function graphqlApi(graphql: GraphqlInterface): Router {
  const router = Router({ caseSensitive: true });
  for (const [path, { address, operation }] of Object.entries(ADDRESSES)) {
    const answer: RequestHandler = (req, res, next) => {
      const search = req.url.split("?").slice(1).join("?");
      if (address === "answer" && wantsPage(req.method, req.headers.accept, search)) return next();
      Object.assign(res.locals, { operation, route: path });
      return graphql.handle(req, res, address, search);
    };
    router.all([path, `/api${path}`], answer);
  }
  return router;
}

/** A browser that opens the page, not a query. */
const wantsPage = (method: string, accept: string | undefined, search: string): boolean =>
  (method === "GET" || method === "HEAD") &&
  accept?.includes("text/html") === true &&
  !new URLSearchParams(search).has("query");
