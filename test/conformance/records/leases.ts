import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Setting } from "./fixtures.js";

const LONG = 60_000;

export function leasesConform({ store }: Setting): void {
  describe("a lease", () => {
    test("belongs to one holder, who renews it under the same fence", async () => {
      const mine = (await store().lease("work", "a", LONG))!;
      expect(mine.fence).toBeGreaterThan(0);
      expect(await store().lease("work", "b", LONG)).toBeUndefined();
      expect(await store().lease("work", "a", LONG)).toEqual(mine);
      expect(await store().lease("other work", "b", LONG)).toBeDefined();
    });

    test(
      "passes to another holder when it has expired, under the next fence, and the first " +
        "one is refused",
      async () => {
        const { fence } = (await store().lease("work", "a", 30))!;
        await pause(60);
        expect(await store().lease("work", "b", LONG)).toEqual({ fence: fence + 1 });
        expect(await store().lease("work", "a", LONG)).toBeUndefined();
      },
    );

    test("is released by its holder only, and the fence continues to rise", async () => {
      const { fence } = (await store().lease("work", "a", LONG))!;
      await store().releaseLease("work", "b");
      await store().releaseLease("no such work", "b");
      expect(await store().lease("work", "b", LONG)).toBeUndefined();
      await store().releaseLease("work", "a");
      expect(await store().lease("work", "b", LONG)).toEqual({ fence: fence + 1 });
    });

    test("is granted to one of many concurrent callers", async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store().lease("work", `node-${i}`, LONG)),
      );
      expect(answers.filter((answer) => answer !== undefined)).toHaveLength(1);
    });
  });
}
