import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AskedThread } from "../../../src/storage/records/threads.js";

describe("a thread for requests", () => {
  let log: string[];
  let thread: AskedThread<string, string>;
  beforeEach(() => {
    log = [];
    thread = new AskedThread("echo", "../test/support/threads/echo-thread", {}, (message) =>
      log.push(message),
    );
  });
  afterEach(() => thread.close());
  const AWAY = { code: "STORE_UNAVAILABLE" };

  test("answers one after the other, and reports why it cannot", async () => {
    expect(await Promise.all([thread.ask("a"), thread.ask("b")])).toEqual(["a 1", "b 2"]);
    await expect(thread.ask("refuse")).rejects.toMatchObject({
      code: "QUERY_MEMORY",
      status: 503,
      message: "too much",
    });
    expect(await thread.ask("c")).toBe("c 3");
  });

  test("is replaced after it failed: the running request fails, and queued ones are answered", async () => {
    const answers = await Promise.allSettled(
      ["a", "throw", "b", "exit", "c"].map((question) => thread.ask(question)),
    );
    expect(answers).toMatchObject([
      { value: "a 1" },
      { reason: AWAY },
      { value: "b 1" },
      { reason: AWAY },
      { value: "c 1" },
    ]);
    expect(log).toEqual(["The echo thread failed: as it was told to"]);
  });

  test("fails a request that cannot be sent to it, and answers the next one", async () => {
    const unsendable = Symbol("no message") as unknown as string;
    const answers = await Promise.allSettled([thread.ask(unsendable), thread.ask("a")]);
    expect(answers).toMatchObject([{ reason: { name: "DataCloneError" } }, { value: "a 1" }]);
  });

  test("gets no request whose caller has left, and none once it is closed", async () => {
    const gone = new AbortController();
    const [first, second, third] = [thread.ask("a"), thread.ask("b", gone.signal), thread.ask("c")];
    gone.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    expect([await first, await third]).toEqual(["a 1", "c 2"]);
    await thread.close();
    await expect(thread.ask("d")).rejects.toMatchObject(AWAY);
  });
});
