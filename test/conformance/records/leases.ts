import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Setting } from "./fixtures.js";

const LONG = 60_000;

export function leasesConform({ store }: Setting): void {
  describe("a lease", () => {
    test("is one holder's, who keeps it under the same fence by asking again", async () => {
      const mine = (await store().lease("work", "a", LONG))!;
      expect(mine.fence).toBeGreaterThan(0);
      expect(await store().lease("work", "b", LONG)).toBeUndefined();
      expect(await store().lease("work", "a", LONG)).toEqual(mine);
      expect(await store().lease("other work", "b", LONG)).toBeDefined();
    });

    test("goes to another when it has run out, under the next fence, and the first is told", async () => {
      const { fence } = (await store().lease("work", "a", 30))!;
      await pause(60);
      expect(await store().lease("work", "b", LONG)).toEqual({ fence: fence + 1 });
      expect(await store().lease("work", "a", LONG)).toBeUndefined();
    });

    test("is given back by its holder only, and the fence goes on rising", async () => {
      const { fence } = (await store().lease("work", "a", LONG))!;
      await store().releaseLease("work", "b");
      await store().releaseLease("no such work", "b");
      expect(await store().lease("work", "b", LONG)).toBeUndefined();
      await store().releaseLease("work", "a");
      expect(await store().lease("work", "b", LONG)).toEqual({ fence: fence + 1 });
    });

    test("of many who ask at once goes to one", async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store().lease("work", `node-${i}`, LONG)),
      );
      expect(answers.filter((answer) => answer !== undefined)).toHaveLength(1);
    });
  });
}
