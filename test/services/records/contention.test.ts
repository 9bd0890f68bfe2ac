import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.js";
import { queuedWrite } from "../../../src/services/records/write-queue.js";
import { arkFrom } from "../../support/arks.js";

const changed = () => new ServiceError("REVISION_MISMATCH", "changed");

describe("writes to one record", () => {
  it("run one after the other, in any spelling, and writes to another record do not wait", async () => {
    const logged: string[] = [];
    const write = (id: string, name: string, ms: number) =>
      queuedWrite(arkFrom(id), undefined, async () => {
        logged.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, ms));
        logged.push(`${name} ends`);
      });
    await Promise.all([
      write("ark:99999/a-b", "first", 40),
      write("https://n2t.net/ark:/99999/ab", "second", 1),
      write("ark:99999/c", "other", 1),
    ]);
    expect(logged).toEqual([
      "first begins",
      "other begins",
      "other ends",
      "first ends",
      "second begins",
      "second ends",
    ]);
  });
  it("go on after one that failed, and are retried when another write came between", async () => {
    let tries = 0;
    const results = await Promise.allSettled([
      queuedWrite(arkFrom("ark:99999/x"), undefined, () => Promise.reject(new Error("broken"))),
      queuedWrite(arkFrom("ark:99999/x"), undefined, async () => {
        if (++tries < 4) throw changed();
        return tries;
      }),
    ]);
    expect(results).toMatchObject([{ status: "rejected" }, { status: "fulfilled", value: 4 }]);
  });
  it("are tried once for a client that names the expected revision", async () => {
    let tries = 0;
    await expect(
      queuedWrite(arkFrom("ark:99999/x"), 3, () => {
        tries++;
        return Promise.reject(changed());
      }),
    ).rejects.toThrow("changed");
    expect(tries).toBe(1);
  });
  it("fail when they lose repeatedly", async () => {
    await expect(
      queuedWrite(arkFrom("ark:99999/x"), undefined, () => Promise.reject(changed())),
    ).rejects.toMatchObject({ code: "REVISION_MISMATCH" });
  });
  it("do not wait for long for one that does not end", async () => {
    let end!: () => void;
    const stuck = queuedWrite(
      arkFrom("ark:99999/y"),
      undefined,
      () => new Promise<void>((resolve) => (end = resolve)),
    );
    // It would wait for ever.
    expect(
      await queuedWrite(arkFrom("ark:99999/y"), undefined, () => Promise.resolve("done")),
    ).toBe("done");
    end();
    await stuck;
  });
});
