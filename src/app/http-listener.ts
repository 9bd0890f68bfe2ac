import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { RequestObserver } from "./metrics.js";
import { ServiceError } from "../errors.js";
import { openGraphql } from "../graphql/server.js";
import { refuse } from "../graphql/web-sockets.js";
import { EventStreams } from "../http/reply.js";
import { Authenticator } from "../services/accounts/tokens.js";
import type { Deps } from "../services/deps.js";
import { sendError } from "../web/frame.js";
import { createApp } from "./app.js";
import { limitConnections } from "./connections.js";
import { ContainedRequest, ContainedResponse, reportFault } from "./faults.js";

/** An HTTP server that does not listen yet. */
export interface HttpInterface {
  server: Server;
  /** Ends connections that would otherwise stay open forever. */
  endStreams(): Promise<void>;
  stop(): Promise<void>;
}

/** An Express application, with what it calls when no middleware has answered. */
type Application = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void;

const noAddress = (): ServiceError =>
  new ServiceError("BAD_REQUEST", "The request target is no address: send a path, such as /docs.");

/**
 * The HTTP server of a node that answers clients: the application, and GraphQL over WebSocket.
 * @param observer is called for every request
 */
export async function openHttpInterface(
  deps: Deps,
  observer?: RequestObserver,
): Promise<HttpInterface> {
  const authenticator = new Authenticator(deps);
  const streams = new EventStreams();
  const graphql = await openGraphql(deps, authenticator);
  const answer: Application = await createApp(deps, { authenticator, graphql, streams, observer });
  const server = createServer(
    {
      // Node checks timeouts at this interval, so that none is exceeded by much.
      connectionsCheckingInterval: Math.min(5_000, deps.config.HEADERS_TIMEOUT),
      IncomingMessage: ContainedRequest,
      ServerResponse: ContainedResponse,
    },
    (req, res) => {
      req.onFault = (error) => {
        if (res.headersSent) reportFault(deps.log, error);
        sendError(req, res, error, deps.log);
      };
      // Express passes on what no middleware can be asked about: a target that is no address.
      answer(req, res, (error) => sendError(req, res, error ?? noAddress(), deps.log));
    },
  );
  server.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (/^(?:\/api)?\/graphql\/?(?:\?|$)/.test(req.url ?? "")) graphql.upgrade(req, socket, head);
    else refuse(socket, "404 Not Found");
  });
  limitConnections(server, deps.config);
  const endStreams = async () => {
    streams.close();
    await graphql.endStreams();
  };
  return { server, endStreams, stop: graphql.stop };
}
