import * as http from "node:http";
import * as https from "node:https";
import { Client } from "minio";
import { Silence } from "./faults.js";
import type { S3Location } from "./location.js";

/** Pauses (ms) between tries of the client: the first, and the longest. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;

export function clientOf(location: S3Location): Client {
  const { hostname, port, protocol } = new URL(location.endpoint);
  const secure = protocol === "https:";
  return new Client({
    endPoint: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (secure ? 443 : 80) : Number(port),
    useSSL: secure,
    region: location.region,
    accessKey: location.accessKey,
    secretKey: location.secretKey,
    partSize: location.partSize,
    transport: withTimeLimit(secure ? https : http, location.timeout),
    transportAgent: new (secure ? https : http).Agent({ keepAlive: true }),
    retryOptions: {
      maximumRetryCount: location.retries,
      baseDelayMs: FIRST_PAUSE_MS,
      maximumDelayMs: MAX_PAUSE_MS,
    },
  });
}

/** Statuses after which the client tries again, without reading the answer. */
const RETRIED = new Set([408, 429, 499, 500, 502, 503, 504, 520]);

type Transport = Pick<typeof http, "request">;

/** The client has no time limit: a server that is silent for longer than `limit` ms ends a call. */
function withTimeLimit({ request: send }: Transport, limit: number): Transport {
  const request = (
    options: https.RequestOptions,
    answered: (response: http.IncomingMessage) => void,
  ): http.ClientRequest => {
    const sent = send({ ...options, timeout: limit }, (response) => {
      // So that the connection can be used again.
      if (RETRIED.has(response.statusCode ?? 0)) response.resume();
      sent.removeAllListeners("timeout").on("timeout", () => {
        // Bytes that wait for a slow reader are no silence of the server.
        if (response.readableLength > 0) response.socket.setTimeout(limit);
        else response.destroy(new Silence(limit));
      });
      answered(response);
    });
    return sent.on("timeout", () => sent.destroy(new Silence(limit)));
  };
  return { request: request as Transport["request"] };
}
