import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** What a proxy may hand on: enough for a UUID or a trace, and nothing that would break a log line. */
const ACCEPTED = /^[\w.:=+/-]{1,128}$/;

/** The name of a request in answers and logs: what came in `X-Request-Id`, or a new one; the same each time it is asked. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const sent = headers["x-request-id"];
  const id = typeof sent === "string" && ACCEPTED.test(sent) ? sent : randomUUID();
  return (headers["x-request-id"] = id);
}
