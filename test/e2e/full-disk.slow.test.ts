import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { crate } from "../support/crates.js";
import type { Answer, User } from "../support/registry-client.js";
import { NEEDED, startCramped, type CrampedRegistry } from "../support/small-disks.js";

/** ms until what was refused goes through again by itself. */
const PATIENCE = 30_000;
const UNAVAILABLE = [503, "STORE_UNAVAILABLE"];
/**
 * A database that does not come back is waited for no longer, and work that failed is tried again
 * soon, as often as it takes.
 */
const ENV = {
  DATABASE_TIMEOUT: "5s",
  S3_RETRIES: "1",
  JOB_BACKOFF: "50ms",
  JOB_BACKOFF_MAX: "500ms",
  RECONCILE_INTERVAL: "500ms",
};

const LEFT_OUT = "no small file systems here: standard error says why";

describe("a disk that is full", () => {
  let cramped: CrampedRegistry | undefined;
  let ada: User;
  beforeAll(async () => {
    cramped = await startCramped(ENV);
    ada = (await cramped?.registry.user("Ada"))!;
  }, 600_000);
  afterEach(() => cramped?.clear());
  afterAll(() => cramped?.stop(), 60_000);

  const stored: string[] = [];
  /** Answered with neither: the database was lost amid the commit. */
  let unknown = 0;
  async function create(): Promise<Answer> {
    const body = {
      "@type": "evi:Dataset",
      name: "Takes space",
      description: randomBytes(3000).toString("base64"),
      owner: ada.ark,
    };
    const answer = await cramped!.registry.ask("/dataset", { token: ada.token, body });
    if (answer.status === 200) stored.push(answer.body["@id"] as string);
    else if (!answer.text.includes("Nothing was changed")) unknown++;
    return answer;
  }
  const seen = ({ status, body }: Answer) => [status, body["code"]];
  const checks = async () =>
    (await cramped!.registry.ask("/healthz")).body["checks"] as Record<string, string>;
  /** What was answered as stored is there, and what was refused is not. */
  async function keepsItsWord(): Promise<void> {
    for (const ark of stored)
      expect((await cramped!.registry.ask(`/${ark}`)).status, ark).toBe(200);
    const { body } = await cramped!.registry.graphql("{ datasets { totalCount } }");
    expect(body["data"].datasets.totalCount - stored.length).toBeGreaterThanOrEqual(0);
    expect(body["data"].datasets.totalCount - stored.length).toBeLessThanOrEqual(unknown);
  }

  test.for(NEEDED.records)(
    "refuses writes and preserves answered ones; with free space it recovers: %s",
    { timeout: 120_000 },
    async (name, { skip }) => {
      if (!cramped) return skip(LEFT_OUT);
      await cramped.disk(name).fill(1);
      const before = stored.length;
      const refused: Answer[] = [];
      while (refused.length === 0) {
        refused.push(
          ...(await Promise.all(Array.from({ length: 8 }, create))).filter(
            ({ status }) => status !== 200,
          ),
        );
        expect(stored.length - before).toBeLessThan(5000);
      }
      for (const answer of refused) expect(seen(answer), answer.text).toEqual(UNAVAILABLE);
      // PostgreSQL ends itself when its log cannot be written.
      if (name === "log") expect((await checks())["records"]).toBe("failed");
      else await keepsItsWord();

      await cramped.disk(name).clear();
      await cramped.repair();
      await expect.poll(async () => (await create()).status, { timeout: PATIENCE }).toBe(200);
      await keepsItsWord();
    },
  );

  test.for(NEEDED.objects)(
    "refuses uploads, stores nothing of them and continues with accepted ones: %s",
    { timeout: 120_000 },
    async (name, { skip }) => {
      if (!cramped) return skip(LEFT_OUT);
      const { registry } = cramped;
      const kept = await registry.take(await crate([], { "kept.txt": "from before" }), ada.token);
      const large = await crate([], { "large.bin": randomBytes(4_000_000) }, { compress: false });
      await cramped.disk(name).fill();
      for (const archive of [large, await crate([], { "small.txt": "small" })])
        expect(seen(await registry.upload(archive, ada.token))).toEqual(UNAVAILABLE);
      expect(await registry.staging()).toEqual([]);
      expect(
        (await registry.ask(`/${kept["rocrateIdentifier"]}/kept.txt`, { token: ada.token })).text,
      ).toBe("from before");
      expect((await checks())["objects"]).toBe("failed");

      await cramped.disk(name).clear();
      await cramped.disk(name).fill(2);
      // Another one for each disk: the same archive again is the same submission.
      const inflates = await crate([], { "much.bin": Buffer.alloc(4_000_000, name) });
      const failedAttempts = () => registry.log.split("an attempt at a submission failed").length;
      const failedBefore = failedAttempts();
      let accepted: Answer;
      // MinIO looks at its disk once a second.
      await expect
        .poll(async () => (accepted = await registry.upload(inflates, ada.token)).status, {
          timeout: PATIENCE,
          interval: 200,
        })
        .toBe(200);
      const submission = accepted!.body["submissionUUID"] as string;
      await expect
        .poll(() => failedAttempts() - failedBefore, { timeout: PATIENCE })
        .toBeGreaterThan(1);
      expect(
        (await registry.ask(`/rocrate/upload/status/${submission}`, { token: ada.token })).body,
      ).toMatchObject({ completed: false });
      await cramped.disk(name).clear();
      expect(await registry.settled(submission, ada.token, PATIENCE)).toMatchObject({
        status: "finished",
      });
      expect(await registry.take(large, ada.token)).toMatchObject({ status: "finished" });
      expect(await registry.staging()).toEqual([]);
    },
  );

  test.for(NEEDED.queue)(
    "accepts uploads, and runs them when there is space: %s",
    { timeout: 120_000 },
    async (name, { skip }) => {
      if (!cramped) return skip(LEFT_OUT);
      const { registry } = cramped;
      await cramped.disk(name).fill();
      const accepted: string[] = [];
      // What does not fill another page is still written.
      for (let advised = false; !advised && accepted.length < 100;) {
        const { status, body, text } = await registry.upload(
          await crate([], { "a.txt": `number ${accepted.length}` }),
          ada.token,
        );
        expect(status, text).toBe(200);
        accepted.push(body["submissionUUID"] as string);
        advised = (body["warnings"] as { code: string }[]).some(
          ({ code }) => code === "QUEUE_AWAY",
        );
      }
      expect(await checks()).toMatchObject({ records: "ok", jobs: "failed" });
      expect((await create()).status).toBe(200);
      await sleep(1000);
      // Told by each node once a minute, however often it is refused.
      const lines = registry.log
        .split("\n")
        .filter((line) => line.includes("MISCONF"))
        .map((line) => JSON.parse(line) as { pid: number; msg: string });
      const refusals = lines
        .filter(({ msg }) => msg === "Redis refused a command")
        .map(({ pid }) => pid);
      expect(refusals.length).toBeGreaterThan(0);
      expect(new Set(refusals).size).toBe(refusals.length);
      expect(lines.length - refusals.length, registry.log).toBeLessThanOrEqual(4);

      await cramped.disk(name).clear();
      for (const submission of accepted)
        expect(await registry.settled(submission, ada.token, PATIENCE)).toMatchObject({
          status: "finished",
        });
      expect(await checks()).toMatchObject({ jobs: "ok" });
    },
  );
});
