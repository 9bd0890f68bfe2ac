import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NameServer } from "../support/servers/name-server.js";
import { Nginx, nginxInstalled } from "../support/servers/nginx.js";

/**
 * Nodes on one port of several addresses, as containers of one service; each says which it is, and
 * what came.
 */
class Nodes {
  readonly #servers = new Map<string, Server>();
  readonly received: string[] = [];
  port = 0;

  async open(address: string): Promise<void> {
    const server = createServer((req, res) => {
      let body = "";
      req
        .on("data", (chunk: Buffer) => (body += chunk.toString()))
        .on("end", () => {
          if (req.method === "POST") this.received.push(body);
          if (body === "die") return void res.destroy();
          res.end(address);
        });
    }).listen(this.port, address);
    await once(server, "listening");
    this.port = (server.address() as AddressInfo).port;
    this.#servers.set(address, server);
  }

  async close(address: string): Promise<void> {
    const server = this.#servers.get(address)!;
    this.#servers.delete(address);
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }

  async closeAll(): Promise<void> {
    for (const address of this.#servers.keys()) await this.close(address);
  }
}

describe.skipIf(!nginxInstalled)("several nodes behind the nginx of deploy/", () => {
  const nodes = new Nodes();
  let names: NameServer;
  let nginx: Nginx;
  beforeAll(async () => {
    await nodes.open("127.0.0.11");
    await nodes.open("127.0.0.12");
    names = await NameServer.start(["127.0.0.11", "127.0.0.12"]);
    nginx = await Nginx.start(`http://api:${nodes.port}`, names.port);
  });
  afterAll(async () => {
    await nginx?.stop();
    names?.stop();
    await nodes.closeAll();
  });
  const ask = async (): Promise<Set<string>> =>
    new Set(
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const response = await fetch(nginx.url);
          return response.ok ? response.text() : `status ${response.status}`;
        }),
      ),
    );

  test("share the requests", async () => {
    // Those that wait for one answer of the name server go to one node together.
    await fetch(nginx.url);
    expect(await ask()).toEqual(new Set(["127.0.0.11", "127.0.0.12"]));
  });

  test("replace a node that is gone although its name still resolves", async () => {
    await nodes.close("127.0.0.12");
    for (let round = 0; round < 3; round++) expect(await ask()).toEqual(new Set(["127.0.0.11"]));
  });

  test("are found when they are new, without a reload of nginx", async () => {
    await nodes.open("127.0.0.13");
    names.addresses = ["127.0.0.13"];
    let seen = new Set<string>();
    for (let tries = 0; !(seen.size === 1 && seen.has("127.0.0.13")) && tries < 50; tries++) {
      seen = await ask();
      await sleep(100);
    }
    expect(seen).toEqual(new Set(["127.0.0.13"]));
  });

  test("do not get a write a second time when one dies during it", async () => {
    names.addresses = ["127.0.0.11", "127.0.0.13"];
    await sleep(1500);
    nodes.received.length = 0;
    expect((await fetch(nginx.url, { method: "POST", body: "die" })).status).toBe(502);
    expect(nodes.received).toEqual(["die"]);
  });
});
