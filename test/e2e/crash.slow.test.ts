import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { largeCrate } from "../support/large-crate.js";
import { startKillable, type Killable } from "../support/killable.js";
import type { RegistryClient, User } from "../support/registry-client.js";

const ROUNDS = 4;
const ENTITIES = 800;
/**
 * ms: in a cluster another worker notices within five STALLED_INTERVAL; the rest is for a busy
 * machine.
 */
const PATIENCE = 60_000;
let registry: Killable;
beforeAll(async () => {
  registry = await startKillable({ MAX_ATTEMPTS: "20" });
}, 600_000);
afterAll(() => registry?.remove(), 60_000);

/**
 * Creates records until the death is over; answers what the registry said it had stored. Those that
 * a node took with it have no answer.
 */
async function createUntil(
  over: () => boolean,
  at: RegistryClient,
  ada: User,
  into: string[],
): Promise<void> {
  for (let count = 0; !over(); count++) {
    try {
      const { status, body, text } = await at.ask("/dataset", {
        token: ada.token,
        body: {
          "@type": "evi:Dataset",
          name: `Dataset ${count}`,
          description: "Written while the power goes.",
          owner: ada.ark,
        },
      });
      if (status !== 200) throw new Error(`refused: ${text}`);
      into.push(body["@id"] as string);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("refused")) throw error;
      await sleep(10);
    }
  }
}

/** What the index holds and what the records say, as an operator compares them. */
function check() {
  return spawnSync(process.execPath, [join(packageRoot, "bin/arkgraph.js"), "check"], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], ...registry.stores },
  });
}

describe("a process killed at any moment", () => {
  test(
    "preserves every answered write over the next start, and brings every submission to " +
      "an end",
    async () => {
      const answered: string[] = [];
      const submissions: string[] = [];
      /** When the power went after a crate had been taken in hand, by its submission. */
      const deaths = new Map<string, number>();
      let ada: User | undefined;
      for (let round = 0; round < ROUNDS; round++) {
        const running = await registry.whole();
        ada ??= await running.user("Ada");
        const user = ada;
        let dead = false;
        const writers = [1, 2, 3, 4].map(() => createUntil(() => dead, running, user, answered));
        const upload = largeCrate(`round ${round}`, ENTITIES)
          .then((archive) => running.upload(archive, user.token))
          .then(
            ({ body }) => submissions.push(body["submissionUUID"] as string),
            () => undefined,
          );
        // Half of the deaths come at any moment, half in the middle of the intake.
        if (round % 2 === 1) await upload;
        await sleep(Math.random() * (round % 2 === 1 ? 300 : 1000));
        if (round % 2 === 1) deaths.set(submissions.at(-1)!, Date.now());
        await registry.kill();
        dead = true;
        await Promise.all([...writers, upload]);
      }
      const running = await registry.whole();
      // Also what was accepted when a death took the answer.
      const { body: listed } = await running.graphql(
        "{ submissions(first: 100) { nodes { id } } }",
        {},
        ada!.token,
      );
      const ids = (listed["data"].submissions.nodes as { id: string }[]).map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining(submissions));
      const states = await Promise.all(ids.map((id) => running.settled(id, ada!.token, PATIENCE)));
      for (const { status, error } of states)
        expect(status, JSON.stringify(error)).toBe("finished");
      // Some were in the middle of it, or this says nothing of that.
      expect(
        states.filter(
          ({ submissionUUID, timeFinished }) =>
            Date.parse(timeFinished as string) > (deaths.get(submissionUUID as string) ?? Infinity),
        ).length,
      ).toBeGreaterThan(0);
      for (const { rocrateIdentifier } of states)
        expect((await running.ask(`/${rocrateIdentifier}`)).status).toBe(200);

      const stored = new Set(
        ((await running.ask("/dataset?limit=1000")).body as unknown as { "@id": string }[]).map(
          (record) => record["@id"],
        ),
      );
      const missing: string[] = [];
      for (const ark of answered)
        if (!stored.has(ark) && (await running.ask(`/${ark}`)).status !== 200) missing.push(ark);
      expect(answered.length).toBeGreaterThan(ROUNDS);
      expect(submissions.length).toBeGreaterThanOrEqual(ROUNDS / 2);
      expect(missing).toEqual([]);

      // All or nothing: a crate is there with every entity, or its submission has not finished.
      const { body } = await running.graphql(
        "{ roCrates { totalCount } dataDownloads { totalCount } }",
      );
      expect(body["data"].roCrates.totalCount).toBe(states.length);
      expect(body["data"].dataDownloads.totalCount).toBe((states.length * ENTITIES) / 20);

      // The records of one process belong to it alone.
      if (!registry.survivors)
        expect(check()).toMatchObject({
          status: 1,
          stderr: expect.stringMatching(/in use.*Stop it first/s),
        });
      expect(new Set(await registry.terminate())).toEqual(new Set([0]));
      expect(check()).toMatchObject({
        status: 0,
        stdout: expect.stringContaining("the index agrees with the records"),
        stderr: "",
      });
    },
    600_000,
  );
});
