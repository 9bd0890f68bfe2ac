import type { MessagePort } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import type { FeedAnswer, FeedRequest } from "../../../src/storage/records/port.js";
import { create, linkTo, remove, replace, type Setting, write } from "./fixtures.js";

const ask = (port: MessagePort, request: FeedRequest): Promise<FeedAnswer> =>
  new Promise((resolve) => {
    port.once("message", resolve);
    port.postMessage(request);
  });

export function feedConforms({ store }: Setting): void {
  describe("the feed", () => {
    test("pages through every live graph", async () => {
      await write(store(), ...Array.from({ length: 7 }, (_, i) => create(`ark:99999/d${i}`)));
      await write(store(), remove("ark:99999/d3", 1));
      const port = store().openFeed();
      const seen: string[] = [];
      for (let after = 0; ;) {
        const answer = await ask(port, { id: 5, all: { after, limit: 2 } });
        expect(answer).toMatchObject({ id: 5, sequence: 2, total: 6 });
        for (const { ark, nquads } of answer.graphs) {
          expect(nquads).toBe(await store().quads(ark));
          seen.push(ark);
        }
        if (answer.next === undefined) break;
        after = answer.next;
      }
      port.close();
      expect(seen).toEqual([0, 1, 2, 4, 5, 6].map((i) => `ark:99999/d${i}`));
    });

    test("returns the changes after a sequence, deletions as null, and never part of a commit", async () => {
      await write(store(), create("ark:99999/a"), create("ark:99999/b"), create("ark:99999/c"));
      await write(
        store(),
        replace("ark:99999/a", 1, { name: "two", links: [linkTo("ark:99999/b")] }),
      );
      await write(store(), remove("ark:99999/b", 1));
      const port = store().openFeed();
      const first = await ask(port, { id: 1, since: { sequence: 0, limit: 1 } });
      expect(first).toMatchObject({ id: 1, sequence: 1, more: true });
      expect(first.graphs.map(({ ark }) => ark)).toEqual([
        "ark:99999/a",
        "ark:99999/b",
        "ark:99999/c",
      ]);
      const rest = await ask(port, { id: 2, since: { sequence: 1, limit: 100 } });
      expect(rest).toEqual({
        id: 2,
        sequence: 3,
        more: false,
        graphs: [
          { ark: "ark:99999/a", nquads: await store().quads("ark:99999/a") },
          { ark: "ark:99999/b", nquads: null },
        ],
      });
      expect(await ask(port, { id: 3, since: { sequence: 3, limit: 100 } })).toEqual({
        id: 3,
        sequence: 3,
        more: false,
        graphs: [],
      });
      port.close();
    });

    test("answers a request that it cannot serve with an error", async () => {
      const port = store().openFeed();
      expect(await ask(port, { id: 9 } as unknown as FeedRequest)).toMatchObject({
        id: 9,
        error: expect.any(String),
        graphs: [],
      });
      expect(await ask(port, { id: 10, all: { after: 0, limit: 5 } })).toMatchObject({
        id: 10,
        graphs: [],
      });
      port.close();
    });
  });
}
