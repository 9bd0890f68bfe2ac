import { describe, expect, test } from "vitest";
import type { RecordWrite } from "../../../src/storage/records/port.js";
import { commitOf, create, linkTo, quadsOf, type Setting } from "./fixtures.js";

const A = "ark:99999/dataset-1";
const QUADS = quadsOf(A, "A table", [linkTo("ark:99999/software-1", "evi:usedSoftware")]);
/** The same as versions up to 0.2 stored them. */
const EARLIER = [
  "AcMiZIjXH44KJYlJOakoFsEMM8RhCbKJhNIlxHmwprwuSCumq8EWAQA=",
  "AmFyazo5OTk5OS9kYXRhc2V0LTEBAgUiIkEgdGFibGUiAQIFUwhzb2Z0d2FyZS0xAQ==",
];

export function quadsConform({ store, reopen }: Setting): void {
  describe("quads that an earlier version stored", () => {
    test.each(EARLIER)("are read, and rewritten step by step: %s", async (packed) => {
      const quads = Buffer.from(packed, "base64");
      await store().commit(commitOf([{ ...create(A), quads } as RecordWrite]));
      await store().commit(commitOf([create("ark:99999/b"), create("ark:99999/c")]));
      expect(await store().quads(A)).toBe(QUADS);
      const reached: number[] = [];
      for (let last = 0; reached.length < 10;) {
        const next = await store().rewriteQuads(last, 2);
        if (next === undefined) break;
        reached.push((last = next));
      }
      expect(reached).toHaveLength(2);
      expect(reached[1]).toBeGreaterThan(reached[0]!);
      await reopen();
      expect(await store().quads(A)).toBe(QUADS);
      expect(await store().rewriteQuads(reached[1]!, 2)).toBeUndefined();
    });
  });
}
