import { once } from "node:events";
import {
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy between a client and a server that may misbehave. */
export class Proxy {
  readonly #server: Server;
  /** Asked of each request before it is passed on; a promise holds it back. */
  before: (url: string) => void | Promise<void> = () => {};
  /** True: the server has answered, but the client does not get the answer. */
  dropsAnswer: (url: string) => boolean = () => false;
  /** Requests whose client left before the answer. */
  left = 0;
  passed = 0;

  readonly #target: () => string;

  private constructor(target: () => string) {
    this.#target = target;

    this.#server = createServer(
      (incoming, outgoing) => void this.#pass(incoming, outgoing).catch(() => outgoing.destroy()),
    );
  }

  static async to(target: () => string): Promise<Proxy> {
    const proxy = new Proxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    outgoing.on("close", () => {
      if (!outgoing.writableFinished) this.left++;
    });
    const { url = "/", method, headers } = incoming;
    await this.before(url);
    const { host: _, connection: __, ...rest } = headers;
    const onward = request(this.#target() + url, { method, headers: rest });
    onward.on("error", () => outgoing.destroy());
    onward.on("response", (answer) => {
      this.passed++;
      if (this.dropsAnswer(url)) {
        answer.resume().on("end", () => outgoing.destroy());
        return;
      }
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
      answer.on("error", () => outgoing.destroy());
    });
    outgoing.on("close", () => onward.destroy());
    onward.end(Buffer.concat(parts));
  }
}
