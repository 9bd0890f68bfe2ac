import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Writer } from "../../../../src/storage/records/sqlite/writer.js";
import { commitOf, create } from "../../../conformance/records/fixtures.js";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "arkgraph-writer-"))));
afterEach(() => rmSync(folder, { recursive: true }));
const threadThat = (onMessage: string): URL => {
  const file = join(folder, "thread.mjs");
  writeFileSync(
    file,
    `import { parentPort } from "node:worker_threads";\nparentPort.on("message", (message) ` +
      `=> { ${onMessage} });\nparentPort.postMessage({ ready: true, sequence: 7 });\n`,
  );
  return pathToFileURL(file);
};

test("the answers of a large group leave turns of the event loop to others", async () => {
  const writer = await Writer.open(
    join(folder, "records.db"),
    threadThat(
      `
    if (message.close) process.exit(0);
    globalThis.tasks = [...(globalThis.tasks ?? []), message.task];
    if (globalThis.tasks.length === 100) parentPort.postMessage({ sequence: 7, answers: ` +
        `globalThis.tasks.map(({ id, args }) => ({ id, result: args[0] })) });`,
    ),
  );
  let answered = 0;
  const all = Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      writer.call("setSetting", String(index), "1").then((name) => {
        answered++;
        return name;
      }),
    ),
  );
  let most = 0;
  for (let before = 0; answered < 100; before = answered) {
    await turn();
    most = Math.max(most, answered - before);
  }
  expect(most).toBeLessThan(40);
  expect(await all).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
  await writer.close();
});

test.each([1, 20, 600])(
  "a commit of %i records, one of which cannot be stored, is refused whole, and the " +
    "writer goes on",
  async (size) => {
    const writer = await Writer.open(join(folder, "records.db"));
    try {
      const records = Array.from({ length: size }, (_, index) =>
        create(`ark:99999/r${String(index).padStart(3, "0")}`),
      );
      const spoilt = records.with(size >> 1, { ...records[size >> 1], quads: undefined } as never);
      const others = [
        writer.commit(commitOf([create("ark:99999/before")])),
        writer.commit(commitOf(spoilt)),
        writer.commit(commitOf([create("ark:99999/after")])),
      ];
      expect((await Promise.allSettled(others)).map(({ status }) => status)).toEqual([
        "fulfilled",
        "rejected",
        "fulfilled",
      ]);
      expect((await writer.commit(commitOf(records))).records).toHaveLength(size);
      writer.health();
    } finally {
      await writer.close();
    }
  },
);

describe("a writer whose thread dies", () => {
  for (const [how, code] of [
    ["by an exception", "throw new Error('lost');"],
    ["by itself", "process.exit(3);"],
  ] as const) {
    test(`${how} rejects queued and new requests, and reports that it is not healthy`, async () => {
      const writer = await Writer.open(join(folder, "records.db"), threadThat(code));
      expect(writer.sequence).toBe(7);
      writer.health();
      const waiting = await Promise.allSettled([
        writer.call("setSetting", "a", "1"),
        writer.commit({ by: null, at: 1, records: [] }),
      ]);
      for (const result of waiting)
        expect(result).toMatchObject({ status: "rejected", reason: { code: "STORE_UNAVAILABLE" } });
      await expect(writer.call("setSetting", "a", "1")).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
      });
      expect(() => writer.health()).toThrowError(
        expect.objectContaining({ code: "STORE_UNAVAILABLE" }),
      );
      await writer.close();
    });
  }

  test("before it is ready fails to open", async () => {
    const file = join(folder, "thread.mjs");
    writeFileSync(file, "throw new Error('broken');");
    await expect(
      Writer.open(join(folder, "records.db"), pathToFileURL(file)),
    ).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
