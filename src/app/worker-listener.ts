import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { limitConnections } from "./connections.js";
import { ServiceError } from "../errors.js";
import type { HttpInterface } from "./http-listener.js";
import { sendJson } from "../http/reply.js";
import type { Deps } from "../services/deps.js";
import { health, readiness } from "../services/health.js";
import { sendError } from "../web/frame.js";

/**
 * The HTTP server of a worker: it reports only the health of the node. The server does not listen
 * yet.
 */
export function openWorkerInterface(deps: Deps): HttpInterface {
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const path = /^(?:\/api)?(\/[a-z]+)\/?(?:\?|$)/.exec(req.url ?? "")?.[1];
    const headers = { "Cache-Control": "no-store" };
    if (path !== "/healthz" && path !== "/readyz")
      throw new ServiceError(
        "NOT_FOUND",
        "This node runs background jobs and answers only /healthz and /readyz; send " +
          "requests to a node with ROLE=api.",
      );
    if (req.method !== "GET" && req.method !== "HEAD")
      throw new ServiceError(
        "METHOD_NOT_ALLOWED",
        `${path} supports only GET and HEAD.`,
        {},
        { Allow: "GET, HEAD" },
      );
    const state = await (path === "/healthz" ? health : readiness)(deps);
    sendJson(req, res, state, {
      status: state.status === "healthy" || state.status === "ready" ? 200 : 503,
      headers,
    });
  };
  const server = createServer(
    (req, res) =>
      void answer(req, res).catch((error: unknown) => sendError(req, res, error, deps.log)),
  );
  limitConnections(server, deps.config);
  return { server, endStreams: async () => {}, stop: async () => {} };
}
