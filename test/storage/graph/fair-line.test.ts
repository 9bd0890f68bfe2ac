import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ServiceError } from "../../../src/errors.js";
import { FairLine, type Slot } from "../../../src/storage/graph/waiting.js";
import type { Asker, OpenAnswer, OpenQuestion } from "../../../src/storage/graph/port.js";

const LIMITS = { queue: 8, callerQueue: 3, queueWait: 40_000, slice: 5_000 };
const question = { query: "ASK {}" } as OpenQuestion;
const answer = {} as OpenAnswer;

/** A line whose turns are taken and ended by hand. */
function rig(slots: number, limits: Partial<typeof LIMITS> = {}) {
  const line = new FairLine(
    { ...LIMITS, ...limits, slots },
    "thread",
    () => new ServiceError("SPARQL_BUSY", "late"),
    () => line.relieve(),
  );
  const ended: string[] = [];
  const refused: string[] = [];
  return {
    line,
    ended,
    refused,
    ask: (caller: string, more: Asker = {}) =>
      line
        .join(question, { caller, ...more }, () => {})
        .then(
          () => {},
          (error: ServiceError) => void refused.push(`${caller} ${error.code}`),
        ),
    begin(): Slot | undefined {
      const round = line.next();
      round?.runs((error) => {
        ended.push(`${round.asker.caller} ${(error as ServiceError).message}`);
        round.reject(error);
        round.finish();
        return true;
      });
      return round;
    },
  };
}
const callerOf = (round: Slot | undefined) => round?.asker.caller;
const end = (round: Slot | undefined) => {
  round!.resolve(answer);
  round!.finish();
};

describe("the fair queue of queries", () => {
  beforeEach(
    () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }),
  );
  afterEach(() => void vi.useRealTimers());

  it("runs a first query of one caller before a second one of another", () => {
    const { ask, begin } = rig(1);
    for (const caller of ["mallory", "mallory", "mallory", "ada", "grace"]) void ask(caller);
    const order: (string | undefined)[] = [];
    for (let round = begin(); round; round = begin()) {
      order.push(callerOf(round));
      end(round);
    }
    expect(order).toEqual(["mallory", "ada", "grace", "mallory", "mallory"]);
  });
  it(
    "leaves one slot free for others when one caller has all other slots, unless several " +
      "callers share the name",
    () => {
      const { ask, begin, line } = rig(3);
      for (let i = 0; i < 3; i++) void ask("mallory");
      expect([callerOf(begin()), callerOf(begin()), callerOf(begin())]).toEqual([
        "mallory",
        "mallory",
        undefined,
      ]);
      expect([line.length, line.ready]).toEqual([1, 0]);
      void ask("ada");
      expect([line.ready, callerOf(begin())]).toEqual([1, "ada"]);
      const all = rig(2);
      for (let i = 0; i < 2; i++) void all.ask("address 10.0.0.1", { shared: true });
      expect([callerOf(all.begin()), callerOf(all.begin())]).toEqual([
        "address 10.0.0.1",
        "address 10.0.0.1",
      ]);
    },
  );
  it("holds a limited number of queries for one caller and in all", async () => {
    const { ask, refused, line } = rig(1);
    for (let i = 0; i < 5; i++) void ask("mallory");
    await Promise.resolve();
    expect([line.length, refused]).toEqual([3, ["mallory SPARQL_BUSY", "mallory SPARQL_BUSY"]]);
    for (let i = 0; i < 6; i++) void ask("address 10.0.0.1", { shared: true });
    await Promise.resolve();
    expect([line.length, refused.at(-1)]).toEqual([8, "address 10.0.0.1 SPARQL_BUSY"]);
  });
  it("drops the newest query of the caller with the most queued ones for a caller with fewer", async () => {
    const { ask, refused, line } = rig(1, { queue: 4, callerQueue: 4 });
    for (let i = 0; i < 4; i++) void ask("mallory");
    for (const caller of ["ada", "grace", "kay", "lin"]) void ask(caller);
    await Promise.resolve();
    expect([line.length, refused]).toEqual([
      4,
      [...Array.from({ length: 3 }, () => "mallory SPARQL_BUSY"), "lin SPARQL_BUSY"],
    ]);
  });
  it("ends a query that ran for a time slice while another caller waits, and no other", () => {
    const { ask, begin, ended } = rig(1);
    void ask("mallory");
    begin();
    void ask("mallory");
    vi.advanceTimersByTime(20_000);
    expect(ended).toEqual([]);
    void ask("ada");
    expect(ended).toEqual([expect.stringMatching(/^mallory .*SPARQL_SLICE/)]);
    expect(callerOf(begin())).toBe("ada");
    vi.advanceTimersByTime(4_900);
    expect(ended).toHaveLength(1);
    vi.advanceTimersByTime(200);
    expect(ended).toHaveLength(2);
  });
  it("ends one query at a time: the one that ran longest", () => {
    const { ask, begin, ended } = rig(2);
    void ask("mallory");
    begin();
    vi.advanceTimersByTime(1_000);
    void ask("eve");
    begin();
    vi.advanceTimersByTime(10_000);
    void ask("ada");
    expect(ended).toEqual([expect.stringMatching(/^mallory /)]);
    begin();
    void ask("grace");
    expect(ended).toHaveLength(2);
  });
  it("ends no query while a slot is free", () => {
    const { ask, begin, ended } = rig(2);
    void ask("mallory");
    begin();
    vi.advanceTimersByTime(10_000);
    void ask("ada");
    expect(ended).toEqual([]);
  });
  it("counts callers who share an address separately", () => {
    const { ask, begin, ended } = rig(1);
    void ask("address 10.0.0.1", { shared: true });
    begin();
    vi.advanceTimersByTime(10_000);
    void ask("address 10.0.0.1", { shared: true });
    expect(ended).toHaveLength(1);
  });
});

it("the timer of the queue does not keep the process alive", async () => {
  const { ask, begin } = rig(1, { slice: 10 });
  void ask("ada");
  end(begin());
  await pause(30);
});
