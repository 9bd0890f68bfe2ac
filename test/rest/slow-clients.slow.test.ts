import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { networkOf } from "../../src/config/client.js";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

/** A client that writes by hand; `ended` holds what it was sent, once the connection is closed. */
class SlowClient {
  readonly socket: Socket;
  readonly ended: Promise<string>;
  #answer = "";

  constructor(url: string) {
    this.socket = connect(Number(new URL(url).port), "127.0.0.1");
    this.socket
      .on("data", (chunk) => (this.#answer += chunk.toString("latin1")))
      .on("error", () => undefined);
    this.ended = new Promise((resolve) => this.socket.once("close", () => resolve(this.#answer)));
  }

  get answer(): string {
    return this.#answer;
  }

  /** Writes the text, then a byte each 50 ms until the connection is closed. */
  drip(text: string): this {
    this.socket.write(text);
    const timer = setInterval(() => this.socket.write(" "), 50);
    this.socket.once("close", () => clearInterval(timer));
    return this;
  }

  static async connected(url: string): Promise<SlowClient> {
    const client = new SlowClient(url);
    await new Promise((resolve, reject) =>
      client.socket.once("connect", resolve).once("error", reject),
    );
    return client;
  }
}

const within = <T>(ms: number, promise: Promise<T>): Promise<T | "still open"> =>
  Promise.race([
    promise,
    new Promise<"still open">((resolve) => setTimeout(resolve, ms, "still open").unref()),
  ]);

describe("slow bodies", () => {
  let server: TestServer;
  let ada: Person;
  beforeAll(async () => {
    server = await startServer({
      BODY_TIMEOUT: "500ms",
      BODY_MIN_RATE: "64K",
      HEADERS_TIMEOUT: "500ms",
    });
    ada = await server.person("ada");
  });
  afterAll(() => server.stop());

  const head = (method: string, path: string, type: string, more = "") =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${more}`;
  const withToken = () => `Authorization: Bearer ${ada.token}\r\n`;
  it.each([
    [
      "a login form",
      () =>
        `${head("POST", "/token", "application/x-www-form-urlencoded")}Content-Length: ` +
        `1000\r\n\r\n`,
    ],
    [
      "a JSON body",
      () =>
        `${head("POST", "/dataset", "application/json", withToken())}Content-Length: 9000\r\n\r\n{`,
    ],
    [
      "a chunked JSON body",
      () =>
        `${head("POST", "/dataset", "application/json", withToken())}Transfer-Encoding: ` +
        `chunked\r\n\r\n2328\r\n{`,
    ],
    [
      "a GraphQL body",
      () => `${head("POST", "/graphql", "application/json")}Content-Length: 9000\r\n\r\n{`,
    ],
    [
      "an upload",
      () =>
        `${head("POST", "/rocrate/upload-async", "multipart/form-data; boundary=b", withToken())}Content-Length: ` +
        `900000\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; ` +
        `filename="a.zip"\r\n\r\nPK`,
    ],
  ])("ends %s that drips with 408, which names the settings", async (_name, request) => {
    const answer = await within(5_000, new SlowClient(server.url).drip(request()).ended);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain("BODY_TIMEOUT");
    expect(answer).toContain("BODY_MIN_RATE");
  });

  it("ends a refused body whose client continues to send slowly", async () => {
    const client = new SlowClient(server.url).drip(
      `${head("POST", "/dataset", "application/json")}Content-Length: 9000\r\n\r\n{`,
    );
    expect(await within(5_000, client.ended)).toMatch(/^HTTP\/1\.1 401 /);
  });

  it("ends a connection that sends no headers, or incomplete ones", async () => {
    expect(await within(5_000, new SlowClient(server.url).ended)).not.toBe("still open");
    expect(
      await within(
        5_000,
        new SlowClient(server.url).drip("GET / HTTP/1.1\r\nHost: x\r\nX-Pad: ").ended,
      ),
    ).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("accepts an upload that lasts many periods at the minimum rate", async () => {
    const form = Buffer.from(
      `--b\r\nContent-Disposition: form-data; name="download"\r\n\r\n` +
        `${JSON.stringify(bodyOf("datadownload", ada.id))}\r\n--b\r\nContent-Disposition: ` +
        `form-data; name="file"; filename="a.bin"\r\n\r\n`,
    );
    const end = Buffer.from("\r\n--b--\r\n");
    const chunk = Buffer.alloc(16 * 2 ** 10, 7);
    const chunks = 16;
    const client = await SlowClient.connected(server.url);
    client.socket.write(
      `${head("POST", "/register", "multipart/form-data; boundary=b", withToken())}Connection: ` +
        `close\r\nContent-Length: ${form.length + chunks * chunk.length + end.length}\r\n\r\n`,
    );
    client.socket.write(form);
    for (let sent = 0; sent < chunks; sent++) {
      client.socket.write(chunk);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    client.socket.write(end);
    expect(await within(10_000, client.ended)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("leaves nothing behind: no upload is staged, and no fault is logged", async () => {
    expect(server.faults).toEqual([]);
    expect((await server.request("GET", "/healthz")).status).toBe(200);
  });
});

describe("connections", () => {
  let server: TestServer | undefined;
  afterAll(() => server?.stop());

  it(
    "are limited by address and in all, with a 503 that names the setting, and are free " +
      "again once closed",
    async () => {
      server = await startServer({ MAX_CONNECTIONS: "12", MAX_CONNECTIONS_PER_ADDRESS: "10" });
      const clients = await Promise.all(
        Array.from({ length: 10 }, () => SlowClient.connected(server!.url)),
      );
      const refused = await new SlowClient(server.url).ended;
      expect(refused).toMatch(/^HTTP\/1\.1 503 /);
      expect(refused).toContain("MAX_CONNECTIONS_PER_ADDRESS");
      expect(refused).toContain("TOO_MANY_CONNECTIONS");
      for (const { socket } of clients) socket.destroy();
      await expect
        .poll(
          async () =>
            fetch(`${server!.url}/healthz`).then(
              ({ status }) => status,
              () => 0,
            ),
          { timeout: 5_000 },
        )
        .toBe(200);
      await server.stop();

      server = await startServer({ MAX_CONNECTIONS: "10", MAX_CONNECTIONS_PER_ADDRESS: "100" });
      const others = await Promise.all(
        Array.from({ length: 10 }, () => SlowClient.connected(server!.url)),
      );
      expect(await new SlowClient(server.url).ended).toContain("(MAX_CONNECTIONS)");
      for (const { socket } of others) socket.destroy();
    },
  );

  it("of a trusted proxy count for the service only", async () => {
    await server?.stop();
    server = await startServer({
      MAX_CONNECTIONS: "100",
      MAX_CONNECTIONS_PER_ADDRESS: "3",
      TRUSTED_PROXIES: "127.0.0.0/8",
    });
    const clients = await Promise.all(
      Array.from({ length: 10 }, () => SlowClient.connected(server!.url)),
    );
    expect((await server.request("GET", "/healthz")).status).toBe(200);
    expect(clients.map(({ answer }) => answer)).toEqual(clients.map(() => ""));
    for (const { socket } of clients) socket.destroy();
  });

  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:db8::ffff:ffff:ffff:ffff", "2001:db8:0:0"],
    ["2001:0DB8:0:1:2:3:4:5", "2001:db8:0:1"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["::1", "0:0:0:0"],
    ["", ""],
  ])("from %s belong to %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
