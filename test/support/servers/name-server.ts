import { createSocket } from "node:dgram";
import { once } from "node:events";

/**
 * A name server on loopback that gives every name the same IPv4 addresses, as Docker's does for a
 * service of several containers (RFC 1035, section 4).
 */
export class NameServer {
  addresses: readonly string[] = [];
  readonly #socket = createSocket("udp4");

  static async start(addresses: readonly string[]): Promise<NameServer> {
    const server = new NameServer();
    server.addresses = addresses;
    server.#socket.on("message", (query, from) =>
      server.#socket.send(server.#answer(query), from.port, from.address),
    );
    server.#socket.bind(0, "127.0.0.1");
    await once(server.#socket, "listening");
    return server;
  }

  get port(): number {
    return this.#socket.address().port;
  }

  #answer(query: Buffer): Buffer {
    // The question: labels until an empty one, then type and class.
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const header = Buffer.concat([
      query.subarray(0, 2),
      Buffer.from([0x81, 0x80, 0, 1, 0, this.addresses.length, 0, 0, 0, 0]),
    ]);
    // Each: a pointer to the name in the question, type A, class IN, one second to live, four
    // bytes.
    const answers = this.addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split(".").map(Number)]),
    );
    return Buffer.concat([header, question, ...answers]);
  }

  stop(): void {
    this.#socket.close();
  }
}
