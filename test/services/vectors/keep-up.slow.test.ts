import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EmbeddingsRefused, type Embedder } from "../../../src/adapters/embeddings/port.js";
import { isOutage } from "../../../src/errors.js";
import type { RecordStore, RecordWrite } from "../../../src/storage/records/port.js";
import { openSqliteRecordStore } from "../../../src/storage/records/sqlite/index.js";
import { embedChanges } from "../../../src/services/vectors/handler.js";
import { create, remove, replace, write } from "../../conformance/records/fixtures.js";
import { embedderWith } from "../../adapters/embeddings/embedder.js";
import { EmbeddingsServer, embeddingsMissing } from "../../support/servers/embeddings.js";

const ark = (name: string): string => `ark:99999/${name}`;
const POISON = "text that a server refuses";
const quiet = (): void => {};

describe.skipIf(embeddingsMissing())("vectors of records", { timeout: 60_000 }, () => {
  let server: EmbeddingsServer;
  let folder: string;
  let records: RecordStore;
  let embedder: Embedder;
  /** What the server was asked for, and whether it is to refuse all of it. */
  let sent: string[] = [];
  let refusesAll = false;
  /** Before the real server: counts, and refuses as servers do that read no such text. */
  const embeddingsApi = createServer((request, response) => {
    void (async () => {
      const body = await new Response(request as never).text();
      const { input } = JSON.parse(body) as { input: string[] };
      if (refusesAll || input.includes(POISON))
        return response.writeHead(400).end('{"error":{"message":"cannot be read"}}');
      sent.push(...input);
      const answer = await fetch(`${server.url}/embeddings`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
      });
      return response.writeHead(answer.status).end(await answer.text());
    })().catch(() => response.destroy());
  });

  beforeAll(async () => {
    server = await EmbeddingsServer.start();
    await once(embeddingsApi.listen(0, "127.0.0.1"), "listening");
    embedder = await embedderWith({
      EMBEDDINGS_URL: `http://127.0.0.1:${(embeddingsApi.address() as AddressInfo).port}/v1`,
    });
  }, 90_000);
  afterAll(async () => {
    await embedder?.close();
    embeddingsApi.close();
    await server?.stop();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "vectors-"));
    records = await openSqliteRecordStore({ file: join(folder, "records.db") });
    [sent, refusesAll] = [[], false];
  });
  afterEach(async () => {
    await records.close();
    await rm(folder, { recursive: true });
  });

  const keep = (
    signal = new AbortController().signal,
    report: (kept: { changes: number }) => void = quiet,
  ) => embedChanges(records, embedder, signal, report);
  const named = (name: string, text: string): RecordWrite => create(ark(name), { name: text });
  const nearest = async (query: string): Promise<string[]> => {
    const page = await records.search({
      text: "xyzzy",
      match: "related",
      offset: 0,
      limit: 10,
      near: { model: embedder.model, vector: (await embedder.passages([query]))[0]! },
    });
    return page.hits.map((hit) => hit.ark.slice(10));
  };

  test("are those of the current text, and a text with a vector is not sent again", async () => {
    await write(
      records,
      named("cats", "Photographs of cats"),
      named("rain", "Rainfall by month"),
      named("empty", " "),
    );
    expect(await keep()).toMatchObject({ changes: 3, embedded: 2, refused: [] });
    expect(sent.toSorted()).toEqual(["Photographs of cats", "Rainfall by month"]);
    expect((await nearest("Photographs of cats"))[0]).toBe("cats");
    sent = [];
    expect(await keep()).toMatchObject({ changes: 0, embedded: 0 });
    await records.commit({
      by: null,
      at: 1,
      records: [{ op: "publish", ark: ark("cats"), status: "PUBLISHED", embargoedUntil: null }],
    });
    await write(records, replace(ark("rain"), 1, { name: "Rainfall by month", keywords: [] }));
    expect(await keep()).toMatchObject({ embedded: 0 });
    expect(sent).toEqual([]);
    // Twice in one step is embedded once, as it is now.
    await write(records, replace(ark("cats"), 2, { name: "Songs of birds" }));
    await write(records, replace(ark("cats"), 3, { name: "Railway timetables" }));
    await write(records, remove(ark("rain"), 2));
    expect(await keep()).toMatchObject({ changes: 3, embedded: 1 });
    expect(sent).toEqual(["Railway timetables"]);
    expect(await nearest("Railway timetables")).toEqual(["cats"]);
  });

  test("skip one whose text the server refuses, and name it", async () => {
    await write(records, named("a", "Apples"), named("poison", POISON), named("b", "Bridges"));
    const { embedded, refused } = await keep();
    expect(embedded).toBe(3);
    expect(refused).toEqual([
      { ark: ark("poison"), message: expect.stringContaining("cannot be read") },
    ]);
    expect((await nearest("Bridges"))[0]).toBe("b");
    expect(await keep()).toMatchObject({ changes: 0 });
    await write(records, replace(ark("poison"), 1, { name: "Parliaments" }));
    expect(await keep()).toMatchObject({ embedded: 1, refused: [] });
  });

  test("are not computed where the server refuses everything, and no progress is recorded", async () => {
    await write(records, named("a", "Apples"));
    refusesAll = true;
    await expect(keep()).rejects.toBeInstanceOf(EmbeddingsRefused);
    expect(await records.vectorsReach(embedder.model)).toBe("");
    refusesAll = false;
    expect(await keep()).toMatchObject({ embedded: 1 });
  });

  test("resume after an interruption: by a signal, and by a server outage", async () => {
    await write(
      records,
      ...Array.from({ length: 300 }, (_, n) => named(`n${n}`, `Table number ${n}`)),
    );
    const stop = new AbortController();
    const reason = new Error("stopped");
    await expect(keep(stop.signal, () => stop.abort(reason))).rejects.toBe(reason);
    const first = new Set(sent);
    expect(first.size).toBeLessThan(300);
    sent = [];
    let steps = 0;
    const fault: unknown = await keep(undefined, () => void (++steps === 1 && server.kill())).catch(
      (error: unknown) => error,
    );
    expect(isOutage(fault), String(fault)).toBe(true);
    await server.restart();
    await keep();
    // A step that was not kept is done again; those before are not.
    expect(sent.filter((text) => first.has(text))).toEqual([]);
    expect(new Set([...first, ...sent]).size).toBe(300);
    expect(
      (await records.changedTexts(embedder.model, "", 1000)).texts.filter(
        ({ digest }) => digest === null,
      ),
    ).toEqual([]);
  });

  test("are computed once by two concurrent runs", async () => {
    await write(records, ...Array.from({ length: 200 }, (_, n) => named(`n${n}`, `Sample ${n}`)));
    await Promise.all([keep(), keep()]);
    expect(
      (await records.changedTexts(embedder.model, "", 1000)).texts.filter(
        ({ digest }) => digest === null,
      ),
    ).toEqual([]);
    expect(await keep()).toMatchObject({ changes: 0 });
  });

  test("of another model replace earlier ones", async () => {
    await write(records, named("a", "Apples"), named("b", "Bridges"));
    await keep();
    const other = await embedderWith({
      EMBEDDINGS_URL: server.url,
      EMBEDDINGS_PASSAGE_PREFIX: "About: ",
    });
    expect(await embedChanges(records, other, new AbortController().signal, quiet)).toMatchObject({
      embedded: 2,
    });
    await other.close();
    expect(await records.vectorsReach(embedder.model)).toBe("");
    expect(await nearest("Apples")).toEqual([]);
  });
});
