import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SparqlHttp } from "../../../../src/storage/graph/endpoint/client.js";

describe("requests to a SPARQL endpoint", () => {
  const received: string[] = [];
  /**
   * Reads what it is sent as the headers say, and as Latin-1 where they say nothing: so do servers
   * on Java servlets, RDF4J among them.
   */
  const server = createServer((request, response) => {
    const bytes: Buffer[] = [];
    request.on("data", (chunk: Buffer) => bytes.push(chunk));
    request.on("end", () => {
      const [type, charset = "iso-8859-1"] = request.headers["content-type"]!.split(/; ?charset=/);
      received.push(`${type} ${new TextDecoder(charset).decode(Buffer.concat(bytes))}`);
      response.end("{}");
    });
  });
  let client: SparqlHttp;
  beforeAll(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = new SparqlHttp({ queryUrl: `${url}/query`, updateUrl: `${url}/update` }, 2);
  });
  afterAll(async () => {
    client.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it("declare the encoding of their text", async () => {
    await client.text('ASK { ?s ?p "é\u{1f9ec}" }', { accept: "*/*", timeout: 5_000 });
    await client.update('INSERT DATA { <a:é> <a:b> "ß" }', { timeout: 5_000 });
    expect(received).toEqual([
      'application/sparql-query ASK { ?s ?p "é\u{1f9ec}" }',
      'application/sparql-update INSERT DATA { <a:é> <a:b> "ß" }',
    ]);
  });
});
