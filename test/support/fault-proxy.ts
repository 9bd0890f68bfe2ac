import { once } from "node:events";
import {
  Agent,
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/**
 * The fault of one exchange, one of these; the real server sees the request unless it is answered
 * here.
 */
export interface Fault {
  /** Answered here, in place of the server. */
  readonly status?: number;
  /** The code of the fault in such an answer; by default one that passes. */
  readonly code?: string;
  /** No answer is sent. */
  readonly silent?: true;
  /** The server's answer breaks off behind so many bytes of its body. */
  readonly cutAfter?: number;
  /** The same, but the connection stays open and silent. */
  readonly stallAfter?: number;
  /** The connection breaks when so many bytes of the request's body have come. */
  readonly breakAfter?: number;
  /** The server carries out the request, and its answer is lost. */
  readonly loseAnswer?: true;
}

export interface Seen {
  method: string;
  path: string;
  range: string | undefined;
}

/**
 * Stands before a real HTTP server on loopback and hands everything on, except for the faults that
 * it is set to make.
 */
export class FaultProxy {
  /** Every request, in order. */
  readonly seen: Seen[] = [];
  /** Called for each request; returns its fault. */
  fault: (request: Seen) => Fault | undefined = () => undefined;
  #server: Server | undefined;
  #port = 0;
  readonly #agent = new Agent({ keepAlive: true });

  readonly #target: URL;

  private constructor(target: URL) {
    this.#target = target;
  }

  static async start(target: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(new URL(target));
    await proxy.comeBack();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Closes the port, and every connection. */
  async goAway(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  }

  /** Listens again where it did before. */
  async comeBack(): Promise<void> {
    this.#server = createServer((request, response) => this.#handle(request, response)).listen(
      this.#port,
      "127.0.0.1",
    );
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Makes a fault so many times, for requests that fit. */
  failing(times: number, fits: (request: Seen) => boolean, fault: Fault): void {
    let left = times;
    this.fault = (request) => (fits(request) && left-- > 0 ? fault : undefined);
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const seen: Seen = {
      method: request.method!,
      path: request.url!,
      range: request.headers.range,
    };
    this.seen.push(seen);
    const {
      status,
      code = "InternalError",
      silent,
      cutAfter,
      stallAfter,
      breakAfter,
      loseAnswer,
    } = this.fault(seen) ?? {};
    request.on("error", () => {});
    response.on("error", () => {});
    if (silent) return void request.resume();
    if (status !== undefined) {
      request
        .resume()
        .on("end", () =>
          response
            .writeHead(status, { "Content-Type": "application/xml" })
            .end(`<Error><Code>${code}</Code><Message>made up</Message></Error>`),
        );
      return;
    }
    // With the headers as they came: they are signed.
    const onward = send(
      {
        host: this.#target.hostname,
        port: this.#target.port,
        method: request.method,
        path: request.url,
        headers: request.headers,
        agent: this.#agent,
      },
      (answer) => {
        answer.on("error", () => response.destroy());
        if (loseAnswer) return void answer.resume().on("end", () => response.destroy());
        response.writeHead(answer.statusCode!, answer.headers);
        // Swift sends a body with the 404 of a HEAD, which no parser takes: what counts has come.
        if (request.method === "HEAD") return void response.end();
        if (cutAfter !== undefined)
          return cut(answer, response, cutAfter, () => response.destroy());
        if (stallAfter !== undefined) return cut(answer, response, stallAfter, () => {});
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.writableEnded || response.destroy());
    response.on("close", () => response.writableFinished || onward.destroy());
    if (breakAfter !== undefined) {
      let come = 0;
      request.on(
        "data",
        (chunk: Buffer) => (come += chunk.byteLength) >= breakAfter && request.destroy(),
      );
      onward.destroy();
      return;
    }
    request.pipe(onward);
  }
}

function cut(
  answer: IncomingMessage,
  response: ServerResponse,
  after: number,
  end: () => void,
): void {
  let left = after;
  response.flushHeaders();
  answer.on("data", (chunk: Buffer) => {
    const part = chunk.subarray(0, left);
    left -= part.byteLength;
    if (part.byteLength > 0) response.write(part);
    if (left > 0) return;
    answer.pause();
    // The bytes written before must arrive first.
    setTimeout(end, 20);
  });
}
