import { setImmediate as settled, setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ServiceError } from "../../../src/errors.js";
import { FairLine } from "../../../src/storage/graph/waiting.js";
import type { Asker } from "../../../src/storage/graph/port.js";

const LIMITS = { queue: 8, queueWait: 40_000, slice: 5_000 };

/** A query that runs. */
interface Round {
  caller: string;
  end(): Promise<void>;
}

/** A line whose queries begin and end by hand. */
function rig(slots: number, limits: Partial<typeof LIMITS> = {}) {
  const started: Round[] = [];
  const ended: string[] = [];
  const refused: string[] = [];
  let open = 0;
  const line = new FairLine({
    ...LIMITS,
    ...limits,
    slots,
    ready: () => open,
    what: "thread",
    late: () => new ServiceError("SPARQL_BUSY", "late"),
  });
  const run = (caller: string, ending: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      started.push({
        caller,
        end: async () => {
          open--;
          resolve();
          await settled();
        },
      });
      ending.addEventListener("abort", () => {
        open--;
        ended.push(`${caller} ${(ending.reason as ServiceError).message}`);
        reject(ending.reason as ServiceError);
      });
    });
  return {
    line,
    ended,
    refused,
    ask: (caller: string, more: Asker = {}) =>
      line
        .run({ caller, ...more }, (ending) => run(caller, ending))
        .catch((error: ServiceError) => void refused.push(`${caller} ${error.code}`)),
    async begin(): Promise<Round | undefined> {
      const before = started.length;
      open++;
      line.serve();
      await settled();
      if (started.length === before) open--;
      return started[before];
    },
  };
}

describe("the fair queue of queries", () => {
  beforeEach(
    () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }),
  );
  afterEach(() => void vi.useRealTimers());

  it("runs a first query of one caller before a second one of another", async () => {
    const { ask, begin } = rig(1);
    for (const caller of ["mallory", "mallory", "mallory", "ada", "grace"]) void ask(caller);
    const order: string[] = [];
    for (let round = await begin(); round; round = await begin()) {
      order.push(round.caller);
      await round.end();
    }
    expect(order).toEqual(["mallory", "ada", "grace", "mallory", "mallory"]);
  });
  it("runs the queries of those who wait before the next one of the caller who was served", async () => {
    const { ask, begin } = rig(1);
    void ask("mallory");
    const first = await begin();
    for (const caller of ["mallory", "ada"]) void ask(caller);
    await first!.end();
    expect((await begin())?.caller).toBe("ada");
  });
  it(
    "leaves one slot free for others when one caller has all other slots, unless several " +
      "callers share the name",
    async () => {
      const { ask, begin, line } = rig(3);
      for (let i = 0; i < 3; i++) void ask("mallory");
      const rounds = [await begin(), await begin(), await begin()];
      expect(rounds.map((round) => round?.caller)).toEqual(["mallory", "mallory", undefined]);
      expect(line.length).toBe(1);
      void ask("ada");
      expect((await begin())?.caller).toBe("ada");
      const all = rig(2);
      for (let i = 0; i < 2; i++) void all.ask("address 10.0.0.1", { shared: true });
      expect([(await all.begin())?.caller, (await all.begin())?.caller]).toEqual([
        "address 10.0.0.1",
        "address 10.0.0.1",
      ]);
    },
  );
  it("holds a limited number of queries", async () => {
    const { ask, refused, line } = rig(1);
    for (let i = 0; i < 10; i++) void ask("mallory");
    await settled();
    expect([line.length, refused]).toEqual([8, ["mallory SPARQL_BUSY", "mallory SPARQL_BUSY"]]);
  });
  it("refuses a query that waited too long, and drops one whose caller has left", async () => {
    const { ask, refused, line } = rig(1, { queueWait: 1_000 });
    const leaving = new AbortController();
    void ask("mallory");
    void ask("ada", { signal: leaving.signal });
    leaving.abort(new ServiceError("BAD_REQUEST", "gone"));
    await settled();
    expect([line.length, refused]).toEqual([1, ["ada BAD_REQUEST"]]);
    vi.advanceTimersByTime(1_001);
    await settled();
    expect([line.length, refused.at(-1)]).toEqual([0, "mallory SPARQL_BUSY"]);
  });
  it("drops the newest query of the caller with the most queued ones for a caller with fewer", async () => {
    const { ask, refused, line } = rig(1, { queue: 4 });
    for (let i = 0; i < 4; i++) void ask("mallory");
    for (const caller of ["ada", "grace", "kay", "lin"]) void ask(caller);
    await settled();
    expect(line.length).toBe(4);
    expect(refused.toSorted()).toEqual([
      "lin SPARQL_BUSY",
      ...Array.from({ length: 3 }, () => "mallory SPARQL_BUSY"),
    ]);
  });
  it("ends a query that ran for a time slice while another caller waits, and no other", async () => {
    const { ask, begin, ended } = rig(1);
    void ask("mallory");
    await begin();
    void ask("mallory");
    vi.advanceTimersByTime(20_000);
    expect(ended).toEqual([]);
    void ask("ada");
    expect(ended).toEqual([expect.stringMatching(/^mallory .*SPARQL_SLICE/)]);
    await settled();
    expect((await begin())?.caller).toBe("ada");
    vi.advanceTimersByTime(4_900);
    expect(ended).toHaveLength(1);
    vi.advanceTimersByTime(200);
    expect(ended).toHaveLength(2);
  });
  it("ends one query at a time: the one that ran longest", async () => {
    const { ask, begin, ended } = rig(2);
    void ask("mallory");
    await begin();
    vi.advanceTimersByTime(1_000);
    void ask("eve");
    await begin();
    vi.advanceTimersByTime(10_000);
    void ask("ada");
    void ask("kay");
    expect(ended).toEqual([expect.stringMatching(/^mallory /)]);
    await settled();
    await begin();
    void ask("grace");
    expect(ended).toHaveLength(2);
  });
  it("ends no query while a slot is free", async () => {
    const { ask, begin, ended } = rig(2);
    void ask("mallory");
    await begin();
    vi.advanceTimersByTime(10_000);
    void ask("ada");
    expect(ended).toEqual([]);
  });
  it("counts callers who share an address separately", async () => {
    const { ask, begin, ended } = rig(1);
    void ask("address 10.0.0.1", { shared: true });
    await begin();
    vi.advanceTimersByTime(10_000);
    void ask("address 10.0.0.1", { shared: true });
    expect(ended).toHaveLength(1);
  });
});

it("the timer of the queue does not keep the process alive", async () => {
  const { ask, begin } = rig(1, { slice: 10 });
  void ask("ada");
  await (await begin())!.end();
  await pause(30);
});
