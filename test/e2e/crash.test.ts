import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { largeCrate } from "../support/large-crate.js";
import type { User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";

const ROUNDS = 4;
const ENTITIES = 800;
let registry: RegistryProcess | undefined;
afterAll(async () => {
  if (registry?.alive) await registry.kill();
  await registry?.remove();
});

const restart = async (): Promise<RegistryProcess> => (registry = await RegistryProcess.start({ env: { MAX_ATTEMPTS: "20" }, ...(registry ? { dataDir: registry.dataDir } : {}) }));

/** Creates records until the registry is gone; answers what it said it had stored. */
async function createUntilDeath(at: RegistryProcess, ada: User, into: string[]): Promise<void> {
  for (let count = 0; ; count++) {
    try {
      const { status, body, text } = await at.ask("/dataset", { token: ada.token, body: { "@type": "evi:Dataset", name: `Dataset ${count}`, description: "Written while the power goes.", owner: ada.ark } });
      if (status !== 200) throw new Error(`refused: ${text}`);
      into.push(body["@id"] as string);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("refused")) throw error;
      return;
    }
  }
}

/** What the index holds and what the records say, as an operator compares them. */
function check(dataDir: string) {
  return spawnSync(process.execPath, [join(packageRoot, "bin/arkgraph.js"), "check", "--data", dataDir], { encoding: "utf8", env: { PATH: process.env["PATH"] } });
}

describe("a process killed at any moment", () => {
  test("has every answered write after the next start, and brings every submission to an end", async () => {
    const answered: string[] = [];
    const submissions: string[] = [];
    let ada: User | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      const running = await restart();
      ada ??= await running.user("Ada");
      const user = ada;
      const writers = [1, 2, 3, 4].map(() => createUntilDeath(running, user, answered));
      const upload = largeCrate(`round ${round}`, ENTITIES).then((archive) => running.upload(archive, user.token))
        .then(({ body }) => submissions.push(body["submissionUUID"] as string), () => undefined);
      // Half of the deaths come at any moment, half in the middle of the intake.
      if (round % 2 === 1) await upload;
      await sleep(Math.random() * (round % 2 === 1 ? 300 : 1000));
      await running.kill();
      await Promise.all([...writers, upload]);
    }
    const running = await restart();
    const states = await Promise.all(submissions.map((id) => running.settled(id, ada!.token)));
    for (const { status, error } of states) expect(status, JSON.stringify(error)).toBe("finished");
    for (const { rocrateIdentifier } of states) expect((await running.ask(`/${rocrateIdentifier}`)).status).toBe(200);

    const stored = new Set(((await running.ask("/dataset?limit=1000")).body as unknown as { "@id": string }[]).map((record) => record["@id"]));
    const missing: string[] = [];
    for (const ark of answered) if (!stored.has(ark) && (await running.ask(`/${ark}`)).status !== 200) missing.push(ark);
    expect(answered.length).toBeGreaterThan(ROUNDS);
    expect(submissions.length).toBeGreaterThanOrEqual(ROUNDS / 2);
    expect(missing).toEqual([]);

    // All or nothing: a crate is there with every entity, or its submission has not finished.
    const { body } = await running.graphql("{ roCrates { totalCount } dataDownloads { totalCount } }");
    expect(body["data"].roCrates.totalCount).toBe(states.length);
    expect(body["data"].dataDownloads.totalCount).toBe((states.length * ENTITIES) / 20);

    expect(check(running.dataDir)).toMatchObject({ status: 1, stderr: expect.stringMatching(/in use.*Stop it first/s) });
    expect((await running.terminate()).status).toBe(0);
    expect(check(running.dataDir)).toMatchObject({ status: 0, stdout: expect.stringContaining("the index agrees with the records"), stderr: "" });
  }, 60_000);
});
