/**
 * Sends hostile requests: at the lowest priority, as its clients would be on machines of their own.
 */
import { Agent, request as open } from "node:http";
import { constants, setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { hostileRequests, type HostileRequest, type Target } from "./hostile-requests.js";

/**
 * The requests to send: a number of them from a seed, so many at a time; `only` those whose name
 * contains it, and none whose name contains one of `without`.
 */
export interface HostileLoad extends Target {
  url: string;
  seed: number;
  count: number;
  atOnce: number;
  only?: string;
  without?: readonly string[];
}
/** How often each status was answered; 0 stands for a connection that was closed without one. */
export interface HostileResult {
  statuses: Record<number, number>;
  /** Answers of 500 and more, but for 503. */ faults: string[];
}

/** ms that a slow body is left unfinished. */
const HELD = 1_500;
/** ms after which an answer is not waited for any longer. */
const PATIENCE = 60_000;

setPriority(constants.priority.PRIORITY_LOW);
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

process.on("message", (load: HostileLoad) => {
  send(load).then(
    (result) => process.send!({ result }),
    (error: Error) => process.send!({ error: error.stack ?? error.message }),
  );
});
process.on("disconnect", () => process.exit());

async function send({
  url,
  seed,
  count,
  atOnce,
  only,
  without = [],
  ...target
}: HostileLoad): Promise<HostileResult> {
  const result: HostileResult = { statuses: {}, faults: [] };
  const requests = hostileRequests(seed, target);
  let sent = 0;
  const next = (): HostileRequest | undefined => {
    for (let tried = 0; sent < count && tried < 100_000; tried++) {
      const { value } = requests.next() as { value: HostileRequest };
      if (only !== undefined && !value.name.includes(only)) continue;
      if (without.some((name) => value.name.includes(name))) continue;
      sent++;
      return value;
    }
    return undefined;
  };
  const worker = async (): Promise<void> => {
    for (let request = next(); request; request = next()) {
      const { status, text } = await (request.messages
        ? overSocket(url, request, request.messages)
        : answerOf(url, request));
      result.statuses[status] = (result.statuses[status] ?? 0) + 1;
      if (status >= 500 && status !== 503)
        result.faults.push(`${request.name} → ${status} ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return result;
}

/** ms that a WebSocket is left open for its answers. */
const LISTENED = 2_000;

/** The status is that of the upgrade. */
function overSocket(
  url: string,
  { path, headers }: HostileRequest,
  messages: readonly string[],
): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url.replace("http", "ws") + path, "graphql-transport-ws", {
      headers,
    });
    let status = 0;
    socket
      .once("open", () => {
        status = 101;
        for (const message of messages) socket.send(message, () => undefined);
        void pause(LISTENED).then(() => socket.terminate());
      })
      .on("error", () => undefined)
      .once("close", (_code, reason) => resolve({ status, text: String(reason) }));
  });
}

function answerOf(
  url: string,
  { method, path, headers, body, slow }: HostileRequest,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const asked = open(
      url + path,
      {
        method,
        agent,
        headers: { ...headers, ...(body ? { "Content-Length": String(body.length) } : {}) },
        timeout: PATIENCE,
      },
      (answer) => {
        let text = "";
        answer.on("data", (chunk: Buffer) =>
          text.length < 300 ? (text += chunk.toString("latin1")) : undefined,
        );
        answer.once("close", () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    // A refusal may come, and the connection end, before the body is sent.
    asked
      .once("error", () => resolve({ status: 0, text: "" }))
      .once("timeout", () => asked.destroy());
    if (slow && body) {
      asked.write(body.subarray(0, body.length - 1));
      void pause(HELD).then(() => asked.destroy());
    } else asked.end(body);
  });
}
