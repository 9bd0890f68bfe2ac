import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { BullMqJobQueue, type BullMqQueueOptions } from "../../src/jobs/bullmq/job-queue.js";
import type { Job } from "../../src/jobs/port.js";
import { packageRoot } from "../../src/package-root.js";
import { RedisLink } from "../../src/storage/redis.js";
import type { Submission } from "../../src/storage/records/port/submissions.js";
import { MemorySubmissions } from "./memory-submissions.js";
import type { RedisServer } from "./servers/redis.js";

export const STALLED_INTERVAL = 200;

/** Work that has no end. */
export const never = (): Promise<void> => new Promise(() => {});
/** Work that ends when it is aborted. */
export const untilAborted = ({ signal }: Job): Promise<never> =>
  new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason as Error)),
  );

/**
 * Nodes of one installation: queues in this process and workers in others, over one record store in
 * this process.
 */
export class JobNodes {
  readonly store = new MemorySubmissions();
  readonly warnings: string[] = [];
  /** Every end that the record store accepted, and how often. */
  readonly ends = new Map<string, number>();
  readonly #prefix = randomUUID();
  readonly #queues: BullMqJobQueue[] = [];
  readonly #workers: ChildProcess[] = [];

  readonly #redis: RedisServer;

  constructor(redis: RedisServer) {
    this.#redis = redis;

    const close = this.store.closeSubmission.bind(this.store);
    this.store.closeSubmission = async (input, at) => {
      const taken = await close(input, at);
      if (taken) this.ends.set(input.id, (this.ends.get(input.id) ?? 0) + 1);
      return taken;
    };
  }

  /** A node in this process; it runs jobs once it is started. */
  node(options: Partial<BullMqQueueOptions> = {}): BullMqJobQueue {
    const log = {
      info() {},
      warn: (fields: object, message: string) =>
        void this.warnings.push(`${message} ${String((fields as { reason?: unknown }).reason)}`),
    };
    const link = this.link();
    const queue = new BullMqJobQueue({
      store: this.store,
      link,
      maxAttempts: 3,
      concurrency: 1,
      backOff: () => 20,
      stalledInterval: STALLED_INTERVAL,
      reconcileInterval: 500,
      log,
      ...options,
    });
    this.#queues.push(queue);
    return queue;
  }

  /** A way to Redis that logs as the nodes do. */
  link(): RedisLink {
    return new RedisLink({
      url: this.#redis.url,
      prefix: this.#prefix,
      timeout: 1000,
      log: { info() {}, warn: (_fields, message) => void this.warnings.push(message) },
    });
  }

  /**
   * A worker in a process of its own, with `work` as its handler. Resolves once it accepts jobs.
   */
  async worker(
    work: (id: string, attempt: number) => Promise<void>,
    stalledInterval = STALLED_INTERVAL,
  ): Promise<ChildProcess> {
    const child = spawn(
      "setpriv",
      [
        "--pdeathsig",
        "KILL",
        process.execPath,
        join(packageRoot, "test/support/job-worker.mjs"),
        "--url",
        this.#redis.url,
        "--prefix",
        this.#prefix,
        "--stalled",
        String(stalledInterval),
      ],
      { stdio: ["ignore", "inherit", "inherit", "ipc"] },
    );
    this.#workers.push(child);
    await new Promise<void>((started, failed) => {
      child.once("exit", (code) => failed(new Error(`the worker ended with ${code}`)));
      child.on(
        "message",
        ({ id, method, input }: { id: number; method: string; input: never[] }) => {
          if (method === "started") started();
          const done =
            method === "started"
              ? undefined
              : method === "work"
                ? work(input[0]!, input[1]!)
                : (this.store as unknown as Record<string, (...all: never[]) => Promise<unknown>>)[
                    method
                  ]!(...input);
          Promise.resolve(done)
            .then(
              (answer) => ({ id, answer }),
              (error: unknown) => ({ id, error: String(error) }),
            )
            .then(
              (answer) => {
                if (child.connected) child.send(answer, () => {});
              },
              () => {},
            );
        },
      );
    });
    return child;
  }

  /** Work that is done at once. */
  readonly finish = async ({ submission: { id, attempt } }: Job): Promise<void> =>
    void (await this.store.closeSubmission({ id, attempt, status: "finished" }, 2));

  async submit(id: string, user = "ark:99999/u"): Promise<string> {
    return (
      await this.store.submit({ id, type: "crate", user, sha256: null, input: {}, at: Date.now() })
    ).submission.id;
  }

  /** Waits until a submission is as it is wanted. */
  async until(id: string, holds: (submission: Submission) => boolean): Promise<Submission> {
    for (;;) {
      const submission = (await this.store.submission(id))!;
      if (holds(submission)) return submission;
      await pause(5);
    }
  }

  ended(id: string): Promise<Submission> {
    return this.until(id, ({ status }) => status === "finished" || status === "failed");
  }

  async close(): Promise<void> {
    for (const child of this.#workers) {
      child.kill("SIGKILL");
      child.kill("SIGCONT");
    }
    await Promise.all(this.#queues.map((queue) => queue.close(0)));
  }
}
