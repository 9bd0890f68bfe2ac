import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { SparqlHttp } from "../../../../src/storage/graph/endpoint/client.js";
import { digestEndpoint } from "../../../../src/storage/graph/endpoint/digest.js";

it("reads the whole graph from a slow endpoint", async () => {
  const rows = (graph: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      JSON.stringify({
        g: { type: "uri", value: graph },
        s: { type: "uri", value: `${graph}/${index}` },
        p: { type: "uri", value: "https://schema.org/name" },
        o: { type: "literal", value: "A" },
      }),
    ).join(",");
  const server = createServer((_, response) => {
    void (async () => {
      response.writeHead(200, { "Content-Type": "application/sparql-results+json" });
      response.write(
        `{"head":{"vars":["g","s","p","o"]},"results":{"bindings":[${rows("ark:99999/a", 20_000)},` +
          `${rows("ark:99999/b", 1)},`,
      );
      await pause(2_500);
      response.end(`${rows("ark:99999/c", 1)}]}}`);
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const http = new SparqlHttp({ queryUrl: address, updateUrl: address }, 1);
  try {
    expect(
      await digestEndpoint(http, async (ask) => ({ value: await ask(), sequence: 7 })),
    ).toMatchObject({ quads: 20_002, sequence: 7 });
  } finally {
    http.close();
    server.close();
    server.closeAllConnections();
  }
});
