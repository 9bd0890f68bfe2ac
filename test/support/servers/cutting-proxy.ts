import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * What to do with a connection whose client sends a certain text: cut it before the server gets
 * that, or before the client gets the answer; let nothing more through from then on, as if the
 * client stood still; or let the server vanish for all.
 */
export interface Cut {
  at: string;
  when: "before" | "after" | "still" | "gone";
}

/** Stands between a client and a server on loopback, and cuts a connection at a certain word. */
export class CuttingProxy {
  #cut: Cut | undefined;
  #last: { after: Buffer; words: Buffer } | undefined;
  readonly #sockets = new Set<Socket>();

  readonly #server: Server;
  readonly #target: number;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
  }

  static async start(target: number): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server, target);
    server.on("connection", (client) => proxy.#serve(client));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The next connection on which the text is sent is cut, and no other. */
  cut(cut: Cut): void {
    this.#cut = cut;
  }

  /**
   * Adds these bytes to the next message that ends with certain other bytes, as a server does that
   * ends at that point.
   */
  say(words: Buffer, after: Buffer): void {
    this.#last = { after, words };
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#vanish();
    await closed;
  }

  #withLastWords(bytes: Buffer): Buffer {
    if (!this.#last || !bytes.subarray(-this.#last.after.length).equals(this.#last.after))
      return bytes;
    const { words } = this.#last;
    this.#last = undefined;
    return Buffer.concat([bytes, words]);
  }

  #vanish(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(client: Socket): void {
    const server = connect(this.#target, "127.0.0.1");
    let state: Cut["when"] | undefined;
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (bytes: Buffer) => {
      const cut = this.#cut && bytes.includes(this.#cut.at) ? this.#cut : undefined;
      if (cut) this.#cut = undefined;
      if (cut?.when === "before") return void client.destroy();
      if (cut?.when === "gone") return this.#vanish();
      if (state === "still") return;
      server.write(bytes);
      if (cut) state = cut.when;
    });
    server.on("data", (bytes: Buffer) => {
      if (state === "after") client.destroy();
      else if (state !== "still") client.write(this.#withLastWords(bytes));
    });
  }
}
