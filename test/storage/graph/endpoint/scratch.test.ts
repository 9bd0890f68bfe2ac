import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { SparqlHttp } from "../../../../src/storage/graph/endpoint/client.js";
import { digestEndpoint, Scratch } from "../../../../src/storage/graph/endpoint/digest.js";

let scratch: Scratch;
afterEach(() => scratch?.close());

const LINE = '<ark:99999/a> <https://schema.org/name> "A" <ark:99999/a> .\n';

it("ends a job when it is closed", async () => {
  scratch = new Scratch(60_000);
  const asked = expect(scratch.run("digest", LINE)).rejects.toThrow(Error);
  await scratch.close();
  await asked;
});

it("goes on after its thread was idle and ended", async () => {
  scratch = new Scratch(1);
  for (let round = 0; round < 12; round++) {
    expect(await scratch.run("digest", LINE)).toMatchObject({ quads: 1 });
    await pause(1 + (round % 3));
  }
});

it("reports a fault of one job, and does the next", async () => {
  scratch = new Scratch(60_000);
  await expect(scratch.run("spell", { ntriples: "no triples", format: "ttl" })).rejects.toThrow(
    'Unexpected "no"',
  );
  expect(await scratch.run("digest", LINE)).toMatchObject({ quads: 1 });
});

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
