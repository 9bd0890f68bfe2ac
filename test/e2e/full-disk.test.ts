import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { crate } from "../support/crates.js";
import type { Answer, User } from "../support/registry-client.js";
import { NEEDED, startCramped, type CrampedRegistry } from "../support/small-disks.js";

/** ms until what was refused goes through again by itself; PostgreSQL may have to read its log first. */
const PATIENCE = 30_000;
const UNAVAILABLE = [503, "STORE_UNAVAILABLE"];

describe("a disk that is full", () => {
  let cramped: CrampedRegistry | undefined;
  let ada: User;
  beforeAll(async () => {
    cramped = await startCramped({ JOB_BACKOFF: "50ms", JOB_BACKOFF_MAX: "500ms", MAX_ATTEMPTS: "100", RECONCILE_INTERVAL: "500ms", S3_RETRIES: "1" });
    ada = (await cramped?.registry.user("Ada"))!;
  }, 120_000);
  afterAll(() => cramped?.stop(), 60_000);

  const stored: string[] = [];
  const refused: string[] = [];
  let count = 0;
  const create = async (): Promise<Answer> => {
    const name = `Dataset ${count++}`;
    const answer = await cramped!.registry.ask("/dataset", { token: ada.token, body: { "@type": "evi:Dataset", name, description: randomBytes(3000).toString("base64"), owner: ada.ark } });
    if (answer.status === 200) stored.push(answer.body["@id"] as string);
    else if (answer.text.includes("Nothing was changed")) refused.push(name);
    return answer;
  };
  const seen = ({ status, body }: Answer) => [status, body["code"]];
  /** What was answered is there, and what was refused is not. */
  async function nothingElse(): Promise<void> {
    for (const ark of stored) expect((await cramped!.registry.ask(`/${ark}`)).status, ark).toBe(200);
  }

  test.each(NEEDED.records)("refuses writes and keeps what it answered; with space again it goes on by itself: %s", async (name) => {
    if (!cramped) return;
    await cramped.disk(name).fill(1);
    let last: Answer[];
    const before = stored.length;
    do {
      last = await Promise.all(Array.from({ length: 8 }, create));
      expect(stored.length - before).toBeLessThan(20_000);
    } while (last.every(({ status }) => status === 200));
    for (const answer of last) if (answer.status !== 200) expect(seen(answer), answer.text).toEqual(UNAVAILABLE);
    console.log(name, stored.length - before, new Set(last.map(({ text, status }) => `${status} ${status === 200 ? "" : text}`)));
    console.log((await cramped.registry.ask("/healthz")).text);
    await cramped.disk(name).clear();
    await cramped.mend();
    const t = Date.now();
    await expect.poll(async () => { const a = await create(); if (a.status !== 200) console.log(a.text); return a.status; }, { timeout: PATIENCE, interval: 200 }).toBe(200);
    console.log("recovered in", Date.now() - t);
    await nothingElse();
  }, 120_000);
});
