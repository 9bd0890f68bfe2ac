import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Outage, ServiceError } from "../../src/errors.js";
import type { Job, JobQueue } from "../../src/jobs/port.js";
import type { SubmissionStore } from "../../src/storage/records/port/submissions.js";
import { MemorySubmissions } from "../support/memory-submissions.js";

export interface QueueOptions {
  maxAttempts: number;
  maxRestarts?: number;
  slow?: { after: number; concurrency: number };
  outagePatience: number;
  concurrency: number;
  backOff: () => number;
  now?: () => number;
}
type Open = (store: SubmissionStore, options: QueueOptions) => JobQueue | Promise<JobQueue>;

/** What every job queue must do; run by each adapter. */
export function jobQueueConformance(name: string, open: Open): void {
  describe(`job queue: ${name}`, () => {
    let store: MemorySubmissions;
    let queues: JobQueue[];
    beforeEach(() => {
      store = new MemorySubmissions();
      queues = [];
    });
    afterEach(() => Promise.all(queues.map((queue) => queue.close(0))));

    const openQueue = async (options: Partial<QueueOptions> = {}) => {
      const queue = await open(store, {
        maxAttempts: 3,
        outagePatience: 1000,
        concurrency: 1,
        backOff: () => 5,
        ...options,
      });
      queues.push(queue);
      return queue;
    };
    const submit = async (id: string, user = "ark:99999/u") =>
      (await store.submit({ id, type: "crate", user, sha256: null, input: {}, at: 1 })).submission
        .id;
    const finish = ({ submission }: Job) =>
      store
        .closeSubmission({ id: submission.id, attempt: submission.attempt, status: "finished" }, 2)
        .then(() => {});
    const until = async (queue: JobQueue, id: string) => {
      for await (const _ of queue.watch(id)) void _;
      return (await store.submission(id))!;
    };

    it("runs a submission once and leaves it finished", async () => {
      const queue = await openQueue();
      let runs = 0;
      await queue.start(async (job) => {
        runs++;
        expect(job.submission).toMatchObject({ id: "a", status: "running", attempt: 1 });
        await finish(job);
      });
      await queue.enqueue(await submit("a"));
      await queue.enqueue("a");
      expect(await until(queue, "a")).toMatchObject({ status: "finished", attempt: 1 });
      expect(runs).toBe(1);
    });

    it("begins with the unfinished submissions of an earlier process, oldest first", async () => {
      await submit("left running");
      await store.beginAttempt("left running", 1);
      await submit("left queued");
      const queue = await openQueue();
      const order: string[] = [];
      await queue.start(async (job) => {
        order.push(`${job.submission.id} ${job.submission.attempt}`);
        await finish(job);
      });
      await until(queue, "left queued");
      expect(order).toEqual(["left running 2", "left queued 1"]);
    });

    it("runs one submission of each user in rotation, however many one of them sent", async () => {
      const queue = await openQueue();
      const order: string[] = [];
      let go = () => {};
      const gone = new Promise<void>((resolve) => (go = resolve));
      await queue.start(async (job) => {
        await gone;
        order.push(job.submission.id);
        await finish(job);
      });
      const many = ["a1", "a2", "a3", "a4", "a5"];
      for (const id of many) await queue.enqueue(await submit(id));
      await queue.enqueue(await submit("b1", "ark:99999/v"));
      go();
      for (const id of [...many, "b1"]) expect((await until(queue, id)).status).toBe("finished");
      expect(order.indexOf("b1")).toBeLessThan(3);
    });

    it("lets jobs of another user pass long ones, with one slot", async () => {
      const queue = await openQueue({ slow: { after: 60, concurrency: 1 } });
      let go = () => {};
      const gone = new Promise<void>((resolve) => (go = resolve));
      const order: string[] = [];
      await queue.start(async (job) => {
        if (job.submission.id === "slow") await gone;
        order.push(`${job.submission.id} ${job.submission.attempt}`);
        await finish(job);
      });
      await queue.enqueue(await submit("slow"));
      for (const id of ["b", "c"]) await queue.enqueue(await submit(id, "ark:99999/v"));
      for (const id of ["b", "c"]) expect((await until(queue, id)).status).toBe("finished");
      expect((await store.submission("slow"))!.status).toBe("running");
      go();
      expect(await until(queue, "slow")).toMatchObject({
        status: "finished",
        attempt: 1,
        interrupted: 0,
      });
      expect(order).toEqual(["b 1", "c 1", "slow 1"]);
    });

    it(
      "returns long jobs to the queue when the slow slots are taken, and starts them again " +
        "later",
      async () => {
        const queue = await openQueue({ slow: { after: 60, concurrency: 1 } });
        let go = () => {};
        const gone = new Promise<void>((resolve) => (go = resolve));
        let [now, most] = [0, 0];
        await queue.start(async (job) => {
          if (job.submission.id === "quick") return finish(job);
          most = Math.max(most, ++now);
          try {
            await Promise.race([
              gone,
              new Promise((_, reject) =>
                job.signal.addEventListener("abort", () => reject(job.signal.reason as Error)),
              ),
            ]);
          } finally {
            now--;
          }
          await finish(job);
        });
        for (const [id, user] of [
          ["slow", "u"],
          ["slow too", "v"],
        ] as const)
          await queue.enqueue(await submit(id, user));
        await queue.enqueue(await submit("quick", "w"));
        expect((await until(queue, "quick")).status).toBe("finished");
        go();
        expect(await until(queue, "slow")).toMatchObject({ status: "finished", attempt: 1 });
        const { attempt, interrupted, ...ended } = await until(queue, "slow too");
        expect(ended.status).toBe("finished");
        // Not an attempt that counts.
        expect(attempt - interrupted).toBe(1);
        expect(interrupted).toBeGreaterThan(0);
        expect(most).toBe(2);
      },
    );

    it("runs no more submissions at a time than its concurrency limit", async () => {
      const queue = await openQueue({ concurrency: 2 });
      let now = 0;
      let most = 0;
      const ids = ["a", "b", "c", "d", "e"];
      for (const id of ids) await queue.enqueue(await submit(id));
      await queue.start(async (job) => {
        most = Math.max(most, ++now);
        await pause(10);
        now--;
        await finish(job);
      });
      for (const id of ids) expect((await until(queue, id)).status).toBe("finished");
      expect(most).toBe(2);
    });

    it("retries after a fault, and continues with the others meanwhile", async () => {
      const queue = await openQueue({ backOff: () => 30 });
      const order: string[] = [];
      await queue.start(async (job) => {
        order.push(`${job.submission.id} ${job.submission.attempt}`);
        if (job.submission.id === "a" && job.submission.attempt < 3)
          throw new Error("the store was away");
        await finish(job);
      });
      await queue.enqueue(await submit("a"));
      await queue.enqueue(await submit("b"));
      expect((await until(queue, "a")).status).toBe("finished");
      expect(order).toEqual(["a 1", "b 1", "a 2", "a 3"]);
    });

    it("fails a submission that was started too often, without showing the fault's text", async () => {
      const queue = await openQueue();
      let runs = 0;
      await queue.start(async () => {
        runs++;
        throw new Error("password=hunter2");
      });
      await queue.enqueue(await submit("a"));
      const ended = await until(queue, "a");
      expect(ended).toMatchObject({ status: "failed", error: [{ code: "CRASHED_REPEATEDLY" }] });
      expect(ended.error![0]!.message).toContain("MAX_ATTEMPTS");
      expect(JSON.stringify(ended.error)).not.toContain("hunter2");
      expect(runs).toBe(3);
    });

    it("waits for an unavailable store without counting attempts, within the retry window", async () => {
      let time = 1;
      const queue = await openQueue({ now: () => time });
      let runs = 0;
      const last: boolean[] = [];
      await queue.start(async (job) => {
        if (job.submission.id === "b") time = 5000;
        else if (++runs > 7) return finish(job);
        const fault =
          runs % 2 === 0
            ? new ServiceError("STORE_UNAVAILABLE", "no space left")
            : new Outage("the engine is away");
        last.push(job.isLastWith(fault));
        throw fault;
      });
      await queue.enqueue(await submit("a"));
      expect(await until(queue, "a")).toMatchObject({
        status: "finished",
        attempt: 8,
        interrupted: 7,
      });
      await queue.enqueue(await submit("b"));
      expect(await until(queue, "b")).toMatchObject({
        status: "failed",
        attempt: 3,
        interrupted: 0,
        error: [{ code: "CRASHED_REPEATEDLY" }],
      });
      // Known to the handler, which may have more to say.
      expect(last).toEqual([...Array<boolean>(9).fill(false), true]);
    });

    it("cancels a submission that waits for an unavailable store", async () => {
      const queue = await openQueue({ backOff: () => 60_000, now: () => 2 });
      let begun = () => {};
      const failed = new Promise<void>((resolve) => (begun = resolve));
      await queue.start(async () => {
        begun();
        throw new ServiceError("STORE_UNAVAILABLE", "away");
      });
      await queue.enqueue(await submit("a"));
      await failed;
      while ((await store.submission("a"))!.status === "running") await pause(2);
      await queue.cancel("a");
      expect(await until(queue, "a")).toMatchObject({
        status: "failed",
        error: [{ code: "CANCELLED" }],
      });
    });

    it(
      "ends a submission that is cancelled while a store becomes unavailable or the " +
        "service stops",
      async () => {
        const queue = await openQueue();
        let begun = () => {};
        const waits = new Promise<void>((resolve) => (begun = resolve));
        await queue.start(async ({ submission: { id }, signal }) => {
          // As another node does it; word of that does not arrive.
          await store.cancelSubmission(id, 2);
          if (id === "a") throw new Outage("away");
          begun();
          await new Promise((_, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason)),
          );
        });
        await queue.enqueue(await submit("a"));
        expect(await until(queue, "a")).toMatchObject({
          status: "failed",
          error: [{ code: "CANCELLED" }],
        });
        await queue.enqueue(await submit("b"));
        await waits;
        await queue.close(0);
        const next = await openQueue();
        await next.start(async () => expect.unreachable());
        expect(await until(next, "b")).toMatchObject({
          status: "failed",
          error: [{ code: "CANCELLED" }],
        });
      },
    );

    it(
      "runs a crate in its own process once a process ended during it, and counts only the " +
        "first such end",
      async () => {
        await submit("a");
        for (let end = 1; end <= 5; end++) {
          // As a process does that is killed in the middle of it.
          const left = (await store.submission("a"))!;
          if (left.status === "running" && left.attempt - left.interrupted > 1)
            await store.yieldAttempt("a", left.attempt);
          await store.beginAttempt("a", 1);
        }
        const queue = await openQueue({ maxRestarts: 20 });
        let apart: boolean | undefined;
        await queue.start(async (job) => {
          apart = job.apart;
          await finish(job);
        });
        expect(await until(queue, "a")).toMatchObject({
          status: "finished",
          attempt: 6,
          interrupted: 4,
        });
        expect(apart).toBe(true);
      },
    );

    it("fails a crate after MAX_ATTEMPTS when its own process ends each time", async () => {
      await submit("a");
      await store.beginAttempt("a", 1);
      const queue = await openQueue({ maxRestarts: 20 });
      const apart: boolean[] = [];
      await queue.start(async (job) => {
        apart.push(job.apart);
        throw new Error("the intake process ended with signal SIGKILL");
      });
      expect(await until(queue, "a")).toMatchObject({
        status: "failed",
        attempt: 3,
        interrupted: 0,
        error: [{ code: "CRASHED_REPEATEDLY" }],
      });
      expect(apart).toEqual([true, true]);
    });

    it("fails a crate at the start that was begun MAX_RESTARTS times more than MAX_ATTEMPTS", async () => {
      await submit("a");
      for (let n = 0; n < 8; n++) await store.beginAttempt("a", 1);
      const queue = await openQueue({ maxRestarts: 5 });
      await queue.start(async () => expect.unreachable());
      expect(await until(queue, "a")).toMatchObject({
        status: "failed",
        error: [{ code: "CRASHED_REPEATEDLY" }],
      });
    });

    it("fails another job at the start that ended earlier processes", async () => {
      await store.submit({
        id: "a",
        type: "evidence",
        user: "ark:99999/u",
        sha256: null,
        input: {},
        at: 1,
      });
      for (let n = 0; n < 3; n++) await store.beginAttempt("a", 1);
      const queue = await openQueue();
      await queue.start(async () => expect.unreachable());
      expect(await until(queue, "a")).toMatchObject({
        status: "failed",
        error: [{ code: "CRASHED_REPEATEDLY" }],
      });
    });

    it("ends a submission whose handler returns without ending it", async () => {
      const queue = await openQueue();
      await queue.start(async () => {});
      await queue.enqueue(await submit("a"));
      expect((await until(queue, "a")).status).toBe("failed");
    });

    it("holds progress in memory and stores only a change of stage", async () => {
      const queue = await openQueue();
      let go = () => {};
      const gone = new Promise<void>((resolve) => (go = resolve));
      await queue.start(async (job) => {
        for (let done = 0; done <= 100; done++)
          job.report({ stage: "one", done, total: 100, unit: "bytes" });
        job.report({ stage: "two", done: 0, total: null, unit: "records" });
        await gone;
        await pause(10);
        await finish(job);
      });
      await queue.enqueue(await submit("a"));
      const seen: unknown[] = [];
      for await (const _ of queue.watch("a")) {
        seen.push(await queue.progress("a"));
        go();
      }
      expect(seen).toContainEqual({ stage: "two", done: 0, total: null, unit: "records" });
      expect(store.stages).toEqual(["one", "two"]);
      expect(await queue.progress("a")).toBeNull();
    });

    it("ends the watch of a submission that has ended or does not exist", async () => {
      const queue = await openQueue();
      await queue.start(finish);
      await queue.enqueue(await submit("a"));
      await until(queue, "a");
      await until(queue, "a");
      for await (const _ of queue.watch("unknown")) void _;
    });

    it("cancels a queued submission at once, and a running one through its signal", async () => {
      const queue = await openQueue();
      let started = () => {};
      const running = new Promise<void>((resolve) => (started = resolve));
      await queue.start(async ({ signal }) => {
        started();
        await new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason as Error)),
        );
      });
      await queue.enqueue(await submit("runs"));
      await queue.enqueue(await submit("waits"));
      await running;
      await queue.cancel("waits");
      expect((await store.submission("waits"))!.status).toBe("failed");
      await queue.cancel("runs");
      expect(await until(queue, "runs")).toMatchObject({
        status: "failed",
        error: [{ code: "CANCELLED" }],
      });
    });

    it("cancels between two attempts", async () => {
      const queue = await openQueue({ backOff: () => 60_000, now: () => 2 });
      await queue.start(async () => {
        throw new Error("not now");
      });
      await queue.enqueue(await submit("a"));
      while ((await store.submission("a"))!.attempt === 0) await pause(1);
      await pause(10);
      await queue.cancel("a");
      expect(await until(queue, "a")).toMatchObject({
        status: "failed",
        error: [{ code: "CANCELLED" }],
      });
    });

    it("ends a submission that was cancelled while its process died", async () => {
      await submit("a");
      await store.beginAttempt("a", 1);
      await store.cancelSubmission("a", 1);
      const queue = await openQueue();
      await queue.start(async () => expect.unreachable());
      expect(await until(queue, "a")).toMatchObject({
        status: "failed",
        error: [{ code: "CANCELLED" }],
      });
    });

    it("waits for running jobs when it closes, and leaves the rest for the next start", async () => {
      const queue = await openQueue();
      let go = () => {};
      const gone = new Promise<void>((resolve) => (go = resolve));
      await queue.start(async (job) => {
        await gone;
        await finish(job);
      });
      await queue.enqueue(await submit("runs"));
      await queue.enqueue(await submit("waits"));
      while ((await store.submission("runs"))!.status !== "running") await pause(1);
      await queue.health();
      const closed = queue.close(60_000);
      go();
      await closed;
      expect((await store.submission("runs"))!.status).toBe("finished");
      expect((await store.submission("waits"))!.status).toBe("queued");
      await expect(queue.health()).rejects.toThrow();
    });

    it("queues jobs again that do not end within the grace period, without counting the attempt", async () => {
      await submit("a");
      for (let stop = 1; stop <= 5; stop++) {
        const queue = await openQueue();
        await queue.start(
          ({ signal }) =>
            new Promise((_, reject) =>
              signal.addEventListener("abort", () => reject(signal.reason as Error)),
            ),
        );
        while ((await store.submission("a"))!.status !== "running") await pause(1);
        await queue.close(10);
        expect(await store.submission("a")).toMatchObject({
          status: "queued",
          attempt: stop,
          interrupted: stop,
        });
      }
      const next = await openQueue();
      await next.start(finish);
      expect(await until(next, "a")).toMatchObject({ status: "finished", attempt: 6 });
    });

    it("stops a handler whose attempt is outdated", async () => {
      const queue = await openQueue();
      let reason: unknown;
      await queue.start(async (job) => {
        await store.beginAttempt(job.submission.id, 1);
        job.report({ stage: "late", done: 0, total: null, unit: "" });
        await new Promise<void>((resolve) => job.signal.addEventListener("abort", () => resolve()));
        reason = job.signal.reason;
        throw reason;
      });
      await queue.enqueue(await submit("a"));
      while (reason === undefined) await pause(1);
      expect(String(reason)).toContain("superseded");
      expect((await store.submission("a"))!).toMatchObject({ status: "running", attempt: 2 });
    });

    it("survives a short outage of a store", async () => {
      const begin = store.beginAttempt.bind(store);
      let unavailable = 2;
      store.beginAttempt = async (...input) => {
        if (unavailable-- > 0) throw new Error("store is away");
        return begin(...input);
      };
      const queue = await openQueue();
      await queue.start(finish);
      await queue.enqueue(await submit("a"));
      expect(await until(queue, "a")).toMatchObject({ status: "finished", attempt: 1 });
    });
  });
}
