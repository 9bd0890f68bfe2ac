import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { crate, metadata } from "../support/crates.js";
import { plainZip } from "../support/plain-zip.js";
import { RegistryProcess } from "../support/registry-process.js";
import type { User } from "../support/registry-client.js";

const ENV = {
  MAX_ATTEMPTS: "3",
  JOB_BACKOFF: "20ms",
  JOB_BACKOFF_MAX: "20ms",
  SHUTDOWN_GRACE: "100ms",
  LOG_LEVEL: "info",
};
const WITHIN = 60_000;
/** Stores files for seconds, and makes one record. */
const manyFiles = (): Buffer =>
  plainZip([
    ["ro-crate-metadata.json", JSON.stringify(metadata())],
    ...Array.from({ length: 4000 }, (_, at) => [`files/${at}.txt`, `File ${at}`] as const),
  ]);

/** Processes that another one started (Linux). */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter((text) => text !== "")
    .map(Number);
}

async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  for (const end = Date.now() + WITHIN; Date.now() < end; await sleep(5)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`not within ${WITHIN} ms: ${what}`);
}

describe("a crate whose job runs when the service ends", () => {
  let folder: string;
  let registry: RegistryProcess;
  let ada: User;
  let bob: User;
  let submission: string;
  const start = async () => (registry = await RegistryProcess.start({ dataDir: folder, env: ENV }));
  const inTheMiddle = () =>
    eventually("the crate is in the middle of its work", async () => {
      const { body: state } = await registry.ask(`/rocrate/upload/status/${submission}`, {
        token: ada.token,
      });
      expect(state["error"]).toBeNull();
      return state["status"] === "running" && state["stage"] === "storing files" ? true : undefined;
    });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-restarts-"));
    await start();
    [ada, bob] = [await registry.user("Ada"), await registry.user("Bob")];
    const { body } = await registry.upload(manyFiles(), ada.token);
    submission = body["submissionUUID"] as string;
  });
  afterEach(async () => {
    if (registry.alive) await registry.kill();
    await rm(folder, { recursive: true, force: true });
  });

  test("is ingested after three orderly stops and three kills", async () => {
    for (const end of ["stop", "kill", "kill", "stop", "kill", "stop"]) {
      await inTheMiddle();
      await (end === "stop" ? registry.terminate() : registry.kill());
      await start();
    }
    expect(await registry.settled(submission, ada.token, WITHIN)).toMatchObject({
      status: "finished",
      error: null,
    });
  }, 240_000);

  test("fails after MAX_ATTEMPTS when it ends its process each time, and affects nothing else", async () => {
    await inTheMiddle();
    // The first time nobody knows what it was: the whole service ends.
    await registry.kill();
    await start();
    for (const _attempt of [2, 3]) {
      const pid = await eventually(
        "the crate has a process of its own",
        () => childrenOf(registry.pid)[0],
      );
      process.kill(pid, "SIGKILL");
      await eventually("the process is gone", () =>
        childrenOf(registry.pid).includes(pid) ? undefined : true,
      );
    }
    expect(await registry.settled(submission, ada.token, WITHIN)).toMatchObject({
      status: "failed",
      error: [{ code: "CRASHED_REPEATEDLY" }],
    });
    expect(registry.alive).toBe(true);
    expect(childrenOf(registry.pid)).toEqual([]);
    expect(
      (await registry.take(await crate([], {}, { name: "another" }), bob.token))["status"],
    ).toBe("finished");
  }, 240_000);
});

test("what a killed process was receiving is removed at the next start", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "arkgraph-left-"));
  const first = await RegistryProcess.start({ dataDir, env: ENV });
  const { token } = await first.user();
  const upload = fetch(new URL("/rocrate/upload-async", first.url), {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "multipart/form-data; boundary=b",
    },
    body: new ReadableStream({
      start(controller) {
        const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n`;
        controller.enqueue(Buffer.from(head + "x".repeat(100_000)));
      },
    }),
    duplex: "half",
  } as RequestInit).catch(() => undefined);
  await eventually("a file is staged", async () =>
    (await first.staging()).length > 0 ? true : undefined,
  );
  await first.kill();
  await upload;
  const second = await RegistryProcess.start({ dataDir, env: ENV });
  try {
    await eventually("nothing is staged", async () =>
      (await second.staging()).length === 0 ? true : undefined,
    );
  } finally {
    await second.stop();
  }
});
