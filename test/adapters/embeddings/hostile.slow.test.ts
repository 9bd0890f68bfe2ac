import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { EmbeddingsRefused, type Embedder } from "../../../src/adapters/embeddings/port.js";
import { isOutage } from "../../../src/errors.js";
import { Certificate, opensslInstalled } from "../../support/certificate.js";
import { embedderWith, faultOf, nearness } from "./embedder.js";

const KEY = "sk-quiet/7+7==";

/**
 * A server that does as a test says. It stands for no model: what it answers is what a broken one
 * would.
 */
describe("Vectors of a broken embeddings server", () => {
  let answer: (
    response: ServerResponse,
    body: { model: string; input: string[]; encoding_format: string },
    request: IncomingMessage,
  ) => void;
  const received: { path: string; key: string | undefined; texts: number; port: number }[] = [];
  const server = createServer((request, response) => {
    const bytes: Buffer[] = [];
    request.on("data", (chunk: Buffer) => bytes.push(chunk));
    request.on("end", () => {
      const body =
        bytes.length === 0
          ? { model: "", input: [], encoding_format: "" }
          : (JSON.parse(Buffer.concat(bytes).toString()) as Parameters<typeof answer>[1]);
      received.push({
        path: `${request.method} ${request.url}`,
        key: request.headers.authorization,
        texts: body.input.length,
        port: request.socket.remotePort!,
      });
      answer(response, body, request);
    });
  });
  let url: string;
  let embedder: Embedder;
  const open: Embedder[] = [];
  const withMore = async (settings: Record<string, string>): Promise<Embedder> => {
    const one = await embedderWith({ EMBEDDINGS_URL: url, ...settings });
    open.push(one);
    return one;
  };
  beforeAll(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/deep/v1`;
    embedder = await embedderWith({
      EMBEDDINGS_URL: url,
      EMBEDDINGS_KEY: KEY,
      EMBEDDINGS_TIMEOUT: "400ms",
    });
  });
  afterEach(async () => {
    received.length = 0;
    await Promise.all(open.splice(0).map((one) => one.close()));
  });
  afterAll(async () => {
    await embedder?.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const says = (status: number, body: string, headers: Record<string, string> = {}): void =>
    void (answer = (response) => response.writeHead(status, headers).end(body));
  const gives = (...vectors: unknown[]): void =>
    says(200, JSON.stringify({ data: vectors.map((embedding, index) => ({ index, embedding })) }));

  it("that works is called as OpenAI's API requires, over one connection, with the key", async () => {
    answer = (response, { model, input, encoding_format }) =>
      response.end(
        JSON.stringify({
          data: input
            .map((text, index) => ({
              index,
              embedding: [text.length, model.length, encoding_format.length],
            }))
            .reverse(),
        }),
      );
    const [one, two, three] = await embedder.passages(["a", "bb", "a"]);
    expect(nearness(one!, three!)).toBeCloseTo(1, 6);
    expect(
      nearness(
        one!,
        Float32Array.of(1, 10, 5).map((number) => number / Math.hypot(1, 10, 5)),
      ),
    ).toBeCloseTo(1, 6);
    expect(nearness(one!, two!)).toBeLessThan(0.999);
    // One text at first, twice as many while it is quick.
    expect(received.map(({ texts }) => texts)).toEqual([1, 2]);
    for (const { path, key, port } of received)
      expect([path, key, port]).toEqual([
        "POST /deep/v1/embeddings",
        `Bearer ${KEY}`,
        received[0]!.port,
      ]);
  });

  it.each([
    [500, "it is broken", true],
    [503, "", true],
    [501, "unsupported method", false],
    [505, "", false],
    [429, "slow down", true],
    [408, "", true],
    [425, "", true],
    [400, '{"error":{"message":"too\\nlong"}}', false],
    [404, "no such\u0000model", false],
    [413, "", false],
    [422, '{"detail":[{"loc":["body"]}]}', false],
  ])("that answers %i is retried, or not", async (status, body, passing) => {
    says(status, body);
    const error = await faultOf(embedder.query("whales"));
    expect([isOutage(error), error instanceof EmbeddingsRefused]).toEqual([passing, !passing]);
    expect(error.message).toMatch(
      new RegExp(`^the embeddings server answers ${status}\\b[^\\n\\0]*$`),
    );
    if (status === 400) expect(error.message).toMatch(/: too long$/);
    if (status === 404) expect(error.message).toMatch(/EMBEDDINGS_MODEL: no such model$/);
  });

  it.each([
    [401, `Incorrect API key provided: ${KEY}. Bearer ${KEY}`],
    [403, KEY],
    [400, JSON.stringify({ error: { message: `bad header Bearer ${KEY}` } })],
    [400, `<p>${KEY}</p>`],
    [500, `not JSON "sk-quiet\\/7+7=="`],
    [400, `${" ".repeat(8_192 - 8)}${KEY}`],
    [400, `${"x".repeat(296)}${KEY}`],
  ])("that answers %i and repeats the key does not leak it into the log", async (status, body) => {
    says(status, body);
    const { message } = await faultOf(embedder.query("whales"));
    expect(message).not.toMatch(/sk-q|quiet|7\+7/);
    expect(message.length).toBeLessThan(400);
    if (status === 401)
      expect(message).toBe("the embeddings server answers 401, check EMBEDDINGS_KEY");
  });

  it("that redirects is not followed", async () => {
    says(307, "", { Location: `${url}/elsewhere/${KEY}` });
    const error = await faultOf(embedder.query("whales"));
    expect(error).toBeInstanceOf(EmbeddingsRefused);
    expect(error.message).toMatch(/307, a redirect, which is not followed; set EMBEDDINGS_URL/);
    expect(received).toHaveLength(1);
  });

  it.each([
    ["before it begins", (_: ServerResponse) => {}],
    [
      "in the middle",
      (response: ServerResponse) => void response.writeHead(200).write('{"data":['),
    ],
    ["of an error", (response: ServerResponse) => void response.writeHead(500).write("because ")],
    [
      "byte by byte",
      (response: ServerResponse) =>
        void setInterval(() => response.destroyed || response.write(" "), 20).unref(),
    ],
  ])("that is slow %s is waited for as long as EMBEDDINGS_TIMEOUT says", async (_, slow) => {
    answer = slow;
    const error = await faultOf(embedder.query("whales"));
    expect([isOutage(error), error.message]).toEqual([
      true,
      "the embeddings server did not answer within EMBEDDINGS_TIMEOUT=400 ms",
    ]);
  });

  it("that is slow gets smaller batches, and progresses", async () => {
    let limit = 0;
    answer = (response, { input }) =>
      void setTimeout(
        () =>
          response.end(
            JSON.stringify({ data: input.map((_, index) => ({ index, embedding: [1, 2] })) }),
          ),
        limit,
      );
    const slow = await withMore({ EMBEDDINGS_BATCH: "8", EMBEDDINGS_TIMEOUT: "2500ms" });
    const texts = Array.from({ length: 15 }, (_, number) => `text ${number}`);
    await slow.passages(texts);
    expect(received.map(({ texts: count }) => count)).toEqual([1, 2, 4, 8]);
    limit = 3_000;
    expect(isOutage(await faultOf(slow.passages(texts)))).toBe(true);
    limit = 0;
    received.length = 0;
    await slow.passages(texts);
    expect(received.map(({ texts: count }) => count)).toEqual([4, 8, 3]);
  });

  it(
    "that accepts few and short texts gets such batches, and a text that it refuses " +
      "alone is refused",
    async () => {
      const sent: number[][] = [];
      answer = (response, { input }) => {
        sent.push(input.map((text) => text.length));
        if (input.length > 2) response.writeHead(422).end('{"detail":"too many"}');
        else if (input.some((text) => text.length > 600 || text.includes("bad")))
          response.writeHead(400).end('{"error":"too long"}');
        else
          response.end(
            JSON.stringify({
              data: input.map((text, index) => ({ index, embedding: [text.length, 1000] })),
            }),
          );
      };
      const taken = await withMore({
        EMBEDDINGS_PASSAGE_PREFIX: "p: ",
        EMBEDDINGS_MAX_TEXT: "4000",
      });
      const vectors = await taken.passages([
        "a",
        "bb",
        "c".repeat(9_000),
        "dd",
        "e",
        "ff",
        "g",
        "h",
        "i",
      ]);
      expect(vectors.map((vector) => Math.round((vector[0]! / vector[1]!) * 1000))).toEqual([
        4, 5, 503, 5, 4, 5, 4, 4, 4,
      ]);
      // What is refused costs a few calls, not one for each text.
      expect(sent).toEqual([
        [4],
        [5, 4_003],
        [5],
        [4_003],
        [2_003],
        [1_003],
        [503],
        [5, 4],
        [5, 4, 4, 4],
        [5, 4],
        [4, 4],
      ]);
      expect(await taken.query("q".repeat(3_000))).toEqual(
        Float32Array.of(0.375, 1).map((number) => number / Math.hypot(0.375, 1)),
      );
      sent.length = 0;
      const error = await faultOf(taken.passages(["bad".repeat(300), "a"]));
      expect([error instanceof EmbeddingsRefused, error.message]).toEqual([
        true,
        "the embeddings server answers 400: too long",
      ]);
      expect(sent.at(-1)).toEqual([228]);
    },
  );

  it("that is slow to refuse a long query leaves no time for its halves", async () => {
    answer = (response) => void setTimeout(() => response.writeHead(400).end("too long"), 300);
    const error = await faultOf(
      (await withMore({ EMBEDDINGS_QUERY_TIMEOUT: "700ms" })).query("q".repeat(4_000)),
    );
    expect([isOutage(error), error.message]).toEqual([
      true,
      "the embeddings server did not answer within EMBEDDINGS_QUERY_TIMEOUT=700 ms",
    ]);
    expect(received).toHaveLength(3);
  });

  it("that hangs up is an outage; a cached connection that it closed is not", async () => {
    answer = (response) =>
      void response
        .writeHead(200, { "Content-Length": "1000" })
        .write('{"data":[', () => response.destroy());
    const cut = await faultOf(embedder.query("whales"));
    expect([isOutage(cut), cut.message]).toEqual([
      true,
      expect.stringMatching(/ECONNRESET|ended its answer early/),
    ]);
    answer = (response) => void response.destroy();
    expect(isOutage(await faultOf(embedder.query("whales")))).toBe(true);
    gives([3, 4]);
    await embedder.query("whales");
    let first = true;
    answer = (response) => {
      if (first) response.destroy();
      else response.end('{"data":[{"index":0,"embedding":[3,4]}]}');
      first = false;
    };
    expect(await embedder.query("whales")).toEqual(Float32Array.of(0.6, 0.8));
  });

  it("that answers without end is cut off", async () => {
    const part = "0.123456,".repeat(10_000);
    let sent = 0;
    let closed: Promise<unknown> | undefined;
    answer = (response) => {
      closed = once(response, "close");
      response.writeHead(200).write('{"data":[{"index":0,"embedding":[');
      const more = (): void => {
        if (!response.destroyed)
          response.write(part, () => {
            sent += part.length;
            setImmediate(more);
          });
      };
      more();
    };
    const retrying = await withMore({ EMBEDDINGS_TIMEOUT: "20s" });
    const error = await faultOf(retrying.query("whales"));
    expect(error).toBeInstanceOf(EmbeddingsRefused);
    expect(error.message).toMatch(/longer than 327680 bytes$/);
    await closed;
    expect(sent).toBeLessThan(50_000_000);
  });

  it("that answers nonsense is reported with the reason", async () => {
    const two = ["one text", "and another"];
    gives([1, 2]);
    await (await withMore({})).passages(["lets two be sent at a time"]);
    const ready = await withMore({});
    await ready.passages(["lets two be sent at a time"]);
    for (const [body, message] of [
      ["<html>", /is not JSON$/],
      ["", /is not JSON$/],
      ["null", /no list `data`$/],
      ['{"data":{}}', /no list `data`$/],
      ['{"data":[]}', /0 vectors for 2 texts$/],
      [
        '{"data":[{"index":0,"embedding":[NaN,1]},{"index":1,"embedding":[1,1]}]}',
        /NaN or Infinity/,
      ],
      [
        '{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2,3]}]}',
        /3 dimensions in data\[1\]\.embedding, and 2 in data\[0\]/,
      ],
    ] as const) {
      says(200, body, { "Content-Type": "text/html" });
      const error = await faultOf(ready.passages(two));
      expect(error).toBeInstanceOf(EmbeddingsRefused);
      expect(error.message).toMatch(message);
    }
    // Each call by itself is right.
    answer = (response, { input }) =>
      response.end(
        JSON.stringify({
          data: input.map((text, index) => ({ index, embedding: text === "third" ? [1, 2] : [1] })),
        }),
      );
    expect((await faultOf(ready.passages(["first", "second", "third"]))).message).toMatch(
      /vectors of 1 and of 2 dimensions for e5-passage$/,
    );
  });

  it.skipIf(!opensslInstalled)(
    "behind TLS with an untrusted certificate is unavailable, and does not get the key",
    async () => {
      const certificate = new Certificate();
      const secure = createSecureServer(
        { key: readFileSync(certificate.key), cert: readFileSync(certificate.file) },
        (request, response) => {
          received.push({
            path: request.url!,
            key: request.headers.authorization,
            texts: 0,
            port: 0,
          });
          response.end();
        },
      );
      try {
        await once(secure.listen(0, "127.0.0.1"), "listening");
        const error = await faultOf(
          (
            await withMore({
              EMBEDDINGS_URL: `https://127.0.0.1:${(secure.address() as AddressInfo).port}/v1`,
              EMBEDDINGS_KEY: KEY,
            })
          ).query("whales"),
        );
        expect([isOutage(error), error.message, received]).toEqual([
          true,
          "the embeddings server cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT)",
          [],
        ]);
      } finally {
        secure.closeAllConnections();
        secure.close();
        certificate.remove();
      }
    },
  );

  it(
    "is healthy when it lists models or returns a vector, and concurrent health checks " +
      "share one call",
    async () => {
      says(200, '{"data":[]}');
      const listing = await withMore({});
      await Promise.all([listing.health(), listing.health(), listing.health()]);
      await listing.health();
      expect(received.map(({ path }) => path)).toEqual(["GET /deep/v1/models"]);
      received.length = 0;
      answer = (response, { input }) =>
        void (input.length === 0
          ? response.writeHead(404).end()
          : response.end('{"data":[{"index":0,"embedding":[1]}]}'));
      await (await withMore({})).health();
      expect(received.map(({ path }) => path)).toEqual([
        "GET /deep/v1/models",
        "POST /deep/v1/embeddings",
      ]);
      says(401, KEY);
      expect(await faultOf((await withMore({})).health())).toBeInstanceOf(EmbeddingsRefused);
      says(502, "");
      expect(isOutage(await faultOf((await withMore({})).health()))).toBe(true);
      answer = () => {};
      expect(
        (await faultOf((await withMore({ HEALTH_TIMEOUT: "300ms" })).health())).message,
      ).toMatch(/HEALTH_TIMEOUT=300 ms$/);
    },
  );

  it("delays a search by at most EMBEDDINGS_QUERY_TIMEOUT, over EMBEDDINGS_POOL connections", async () => {
    answer = () => {};
    const searching = await withMore({ EMBEDDINGS_QUERY_TIMEOUT: "1s", EMBEDDINGS_POOL: "2" });
    const asked = Promise.all(Array.from({ length: 5 }, () => faultOf(searching.query("whales"))));
    await pause(500);
    expect(received).toHaveLength(2);
    for (const error of await asked)
      expect([isOutage(error), error.message]).toEqual([
        true,
        "the embeddings server did not answer within EMBEDDINGS_QUERY_TIMEOUT=1000 ms",
      ]);
  });
});
