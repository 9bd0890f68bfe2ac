import type { Answer, RequestOptions, TestServer } from "./server.js";

/** The rows of a SELECT, or the boolean of an ASK. */
export interface Results {
  head: { vars?: string[] };
  results?: { bindings: Record<string, { type: string; value: string }>[] };
  boolean?: boolean;
}

/** Sends a query as a body. */
export const ask = (
  server: TestServer,
  query: RequestOptions["body"],
  headers: Record<string, string> = {},
  target = "/sparql",
): Promise<Answer<Results & Record<string, unknown>>> =>
  server.request("POST", target, {
    headers: { "Content-Type": "application/sparql-query", ...headers },
    ...(query === undefined ? {} : { body: query }),
  });

/** More rows than any machine counts in a time that a test waits. */
export const ENDLESS =
  "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o . ?p ?q " +
  "?r . ?s ?t ?u }";
