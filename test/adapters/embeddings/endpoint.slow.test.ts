import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { EmbeddingsRefused, type Embedder } from "../../../src/adapters/embeddings/port.js";
import { isOutage } from "../../../src/errors.js";
import { EmbeddingsServer, embeddingsMissing } from "../../support/servers/embeddings.js";
import { embedderWith, faultOf, lengthOf, nearness } from "./embedder.js";

const MICROSCOPY =
  "Microscopy of cancer cells. Confocal images of stained tissue from patients with carcinoma.";
const RAINFALL = "Rainfall statistics. Daily precipitation at weather stations in the Alps.";
const DEUTSCH = "Bilder von Krebszellen unter dem Mikroskop";

describe.skipIf(embeddingsMissing())(
  "Vectors of a real embeddings server",
  { timeout: 120_000 },
  () => {
    let server: EmbeddingsServer;
    let embedder: Embedder;
    const open: Embedder[] = [];
    beforeAll(async () => {
      server = await EmbeddingsServer.start();
      embedder = await embedderWith(server.settings);
    }, 90_000);
    afterEach(() => Promise.all(open.splice(0).map((one) => one.close())));
    afterAll(async () => {
      await embedder?.close();
      await server?.stop();
    });
    const withMore = async (settings: Record<string, string>): Promise<Embedder> => {
      const one = await embedderWith({ ...server.settings, ...settings });
      open.push(one);
      return one;
    };

    it("are of length 1 and in the order of the texts, however these are sent", async () => {
      const texts = [MICROSCOPY, RAINFALL, "Plate 7", "Songs of whales"];
      const together = await embedder.passages(texts);
      expect(together).toHaveLength(4);
      for (const vector of together) {
        expect(vector).toBeInstanceOf(Float32Array);
        expect(vector).toHaveLength(384);
        expect(lengthOf(vector)).toBeCloseTo(1, 5);
      }
      const backwards = await embedder.passages([...texts].reverse());
      expect(together).toHaveLength(texts.length);
      for (const [at, vector] of together.entries()) {
        expect(nearness(vector, backwards[3 - at]!)).toBeGreaterThan(0.9999);
        for (const other of together.slice(at + 1))
          expect(nearness(vector, other)).toBeLessThan(0.99);
      }
    });

    it("are nearest for texts of the same meaning, without a common word and in another language", async () => {
      const [microscopy, rainfall] = await embedder.passages([MICROSCOPY, RAINFALL]);
      for (const [query, right, wrong] of [
        ["tumour imaging", microscopy!, rainfall!],
        [DEUTSCH, microscopy!, rainfall!],
        ["how wet are mountains", rainfall!, microscopy!],
      ] as const) {
        const vector = await embedder.query(query);
        expect([query, nearness(vector, right) > nearness(vector, wrong) + 0.01]).toEqual([
          query,
          true,
        ]);
      }
    });

    it("of queries differ from those of records with the same text", async () => {
      const [passage] = await embedder.passages([MICROSCOPY]);
      expect(nearness(passage!, await embedder.query(MICROSCOPY))).toBeLessThan(0.999);
      // Told apart by the name alone: without one for queries they are asked for as records are.
      const alike = await withMore({ EMBEDDINGS_QUERY_MODEL: "" });
      expect(nearness(passage!, await alike.query(MICROSCOPY))).toBeGreaterThan(0.9999);
    });

    it("depend on the prefixes, including the spaces at their end", async () => {
      const prefixed = await withMore({
        EMBEDDINGS_PASSAGE_PREFIX: "heading: ",
        EMBEDDINGS_QUERY_PREFIX: "search for ",
      });
      const [by, hand] = [
        await prefixed.passages(["Plate 7"]),
        await embedder.passages(["heading: Plate 7", "Plate 7"]),
      ];
      expect(nearness(by[0]!, hand[0]!)).toBeGreaterThan(0.9999);
      expect(nearness(by[0]!, hand[1]!)).toBeLessThan(0.999);
      expect(
        nearness(await prefixed.query("whales"), await embedder.query("search for whales")),
      ).toBeGreaterThan(0.9999);
      expect(prefixed.model).not.toBe(embedder.model);
      expect(embedder.model).toMatch(/^e5-passage#[0-9a-f]{8}$/);
    });

    it("of a long text are those of its beginning, cut between characters", async () => {
      const short = await withMore({ EMBEDDINGS_MAX_TEXT: "40" });
      // Of two code units each, so that a cut by code units at an odd place would leave half of
      // one.
      const whales = "a".concat("🐋 whale ".repeat(2_000));
      const [long, beginning, other] = await short.passages([
        whales,
        [...whales].slice(0, 40).join(""),
        "🐋",
      ]);
      expect(nearness(long!, beginning!)).toBeGreaterThan(0.9999);
      expect(nearness(long!, other!)).toBeLessThan(0.9999);
      expect(short.model).not.toBe(embedder.model);
    });

    it("of a hundred texts are requested in several calls, each in its place", async () => {
      const texts = Array.from({ length: 100 }, (_, number) => `Plate ${number}`);
      const few = await withMore({ EMBEDDINGS_BATCH: "7" });
      const vectors = await few.passages(texts);
      expect(vectors).toHaveLength(100);
      for (const number of [0, 6, 7, 50, 99])
        expect(
          nearness(vectors[number]!, (await few.passages([texts[number]!]))[0]!),
        ).toBeGreaterThan(0.9999);
      expect(await few.passages([])).toEqual([]);
    });

    it("are returned for any text", async () => {
      const [emoji, nul, half, plain] = await embedder.passages([
        "🧬🔬",
        "cells\0of mice",
        "cells \ud83e of mice",
        "cells of mice",
      ]);
      for (const vector of [emoji, nul, half]) expect(lengthOf(vector!)).toBeCloseTo(1, 5);
      // What is behind the NUL counts.
      expect(nearness(nul!, plain!)).toBeGreaterThan(0.9999);
      expect(nearness(emoji!, plain!)).toBeLessThan(0.99);
      for (const blank of ["", " \n\t", "\0"])
        expect(await faultOf(embedder.passages(["cells", blank]))).toBeInstanceOf(
          EmbeddingsRefused,
        );
    });

    it("are correct for many concurrent callers", async () => {
      const texts = Array.from({ length: 24 }, (_, number) => `Sample ${number} of the lake`);
      const alone = await embedder.passages(texts);
      const together = await Promise.all(
        texts.map(async (text) => (await embedder.passages([text]))[0]!),
      );
      for (const [at, vector] of together.entries())
        expect(nearness(vector, alone[at]!)).toBeGreaterThan(0.9999);
    });

    it("are cancelled with their caller", async () => {
      const [gone, stays] = [new AbortController(), embedder.query("whales")];
      const asked = embedder.passages(
        Array.from({ length: 64 }, () => MICROSCOPY),
        gone.signal,
      );
      gone.abort(new Error("nobody waits any more"));
      expect((await faultOf(asked)).message).toBe("nobody waits any more");
      expect(await faultOf(embedder.query("whales", gone.signal))).toBe(gone.signal.reason);
      expect(lengthOf(await stays)).toBeCloseTo(1, 5);
    });

    it("wait for a server that is unavailable or silent, until it is back", async () => {
      const retrying = await withMore({ EMBEDDINGS_TIMEOUT: "1s", HEALTH_TIMEOUT: "500ms" });
      await retrying.health();
      server.pause();
      const late = await faultOf(retrying.query("whales"));
      expect([isOutage(late), late.message]).toEqual([
        true,
        "the embeddings server did not answer within EMBEDDINGS_TIMEOUT=1000 ms",
      ]);
      await server.kill();
      const [gone, unwell] = [await faultOf(embedder.passages(["whales"])), await withMore({})];
      expect([isOutage(gone), gone.message]).toEqual([
        true,
        "the embeddings server cannot be reached (ECONNREFUSED)",
      ]);
      expect(isOutage(await faultOf(unwell.health()))).toBe(true);
      await server.restart();
      // The connections that the old server had are of no use, and nobody hears of them.
      expect(lengthOf(await embedder.query("whales"))).toBeCloseTo(1, 5);
      // What was found is told for some seconds, then it is looked again.
      expect(isOutage(await faultOf(unwell.health()))).toBe(true);
      await pause(5_100);
      await unwell.health();
    });

    it("are not requested after the store is closed", async () => {
      const ended = await embedderWith(server.settings);
      const asked = faultOf(ended.passages(Array.from({ length: 32 }, () => MICROSCOPY)));
      await pause(20);
      await ended.close();
      for (const error of [
        await asked,
        await faultOf(ended.query("whales")),
        await faultOf(ended.health()),
      ])
        expect([isOutage(error), error.message]).toEqual([true, expect.stringMatching(/stopping/)]);
    });

    it(
      "fails with the wrong path at every call: unread bytes of one answer are not read as " +
        "the next",
      async () => {
        const lost = await embedderWith({ EMBEDDINGS_URL: server.url.replace(/v1$/, "v9") });
        try {
          for (const _ of [1, 2, 3])
            expect((await faultOf(lost.passages(["whales"]))).message).toMatch(
              /answers 404, check EMBEDDINGS_URL/,
            );
        } finally {
          await lost.close();
        }
      },
    );
  },
);
