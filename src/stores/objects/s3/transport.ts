import { AsyncLocalStorage } from "node:async_hooks";
import * as http from "node:http";
import * as https from "node:https";
import { AnsweredFault, Silence } from "./faults.js";

/** What one call asks of its connection; the client has no place for it. */
export interface CallNeeds {
  /** How long (ms) the server may be silent. */
  patience: number;
  signal?: AbortSignal | undefined;
  /** The answer is read as a stream, whose reader waits in its own way: a slow reader is no silent server. */
  streams?: boolean;
}

type Transport = Pick<typeof http, "request">;
const needs = new AsyncLocalStorage<CallNeeds>();

/** Statuses of a fault that may pass. 501 and 507 are answers. */
const PASSING = new Set([408, 425, 429, 499, 500, 502, 503, 504, 520, 529]);

/** Makes a call whose requests are ended by what it needs. */
export function withNeeds<T>(of: CallNeeds, call: () => Promise<T>): Promise<T> {
  return needs.run(of, call);
}

/** Connections to one server, and what its clock says. */
export class Connections implements Transport {
  private readonly module: Transport;
  readonly agent: http.Agent;
  private ahead = 0;

  constructor(secure: boolean) {
    this.module = secure ? https : http;
    this.agent = secure ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  }

  /** The server's time, to the second. */
  now(): number {
    return Date.now() + this.ahead;
  }

  readonly request = ((options: https.RequestOptions, answered: (response: http.IncomingMessage) => void): http.ClientRequest => {
    const { patience, signal, streams } = needs.getStore() ?? { patience: 0 };
    const request = this.module.request({ ...options, timeout: patience, ...(signal ? { signal } : {}) });
    let response: http.IncomingMessage | undefined;
    request.on("timeout", () => (response ?? request).destroy(new Silence(patience)));
    request.once("response", (arrived) => {
      response = arrived;
      const date = Date.parse(arrived.headers.date ?? "");
      if (!Number.isNaN(date)) this.ahead = date - Date.now();
      if (PASSING.has(arrived.statusCode ?? 0)) {
        // Read to its end, so that the connection can be used again.
        arrived.on("error", () => {}).resume();
        request.emit("error", new AnsweredFault(arrived.statusCode!));
        return;
      }
      if (streams && (arrived.statusCode ?? 0) < 300) arrived.socket.setTimeout(0);
      answered(arrived);
    });
    return request;
  }) as Transport["request"];
}
