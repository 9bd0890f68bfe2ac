import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import { DockerClient } from "../../../src/adapters/containers/docker-client.js";
import { DockerEngine } from "../../../src/adapters/containers/docker-engine.js";
import {
  EngineAway,
  type ContainerRun,
  type RunLimits,
  type RunState,
  type TarFile,
} from "../../../src/adapters/containers/port.js";
import { IMAGE, PodmanServer, podmanInstalled } from "../../support/servers/podman.js";

const LIMITS: RunLimits = {
  memory: 64 * 2 ** 20,
  cpus: 1,
  pids: 32,
  openFiles: 256,
  temporary: 2 ** 20,
  fileSize: 2 ** 20,
  log: 2 ** 16,
};

async function ended(run: ContainerRun): Promise<Extract<RunState, { running: false }>> {
  for (;;) {
    const state = await run.state();
    if (!state.running) return state;
    await sleep(50);
  }
}

async function* files(...all: [path: string, text: string][]): AsyncGenerator<TarFile> {
  for (const [path, text] of all)
    yield {
      path,
      size: Buffer.byteLength(text),
      open: async () =>
        (async function* () {
          yield Buffer.from(text);
        })(),
    };
}

async function left(run: ContainerRun): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const entry of run.outputs()) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of entry.content()) chunks.push(chunk);
    found[entry.path ?? "?"] =
      entry.type === "file" ? Buffer.concat(chunks).toString("latin1") : entry.type;
  }
  return found;
}

describe.skipIf(!podmanInstalled)("a Docker-compatible engine", () => {
  let podman: PodmanServer;
  let engine: DockerEngine;
  let image: string;
  beforeAll(async () => {
    podman = await PodmanServer.start();
    engine = new DockerEngine(
      new DockerClient({ socketPath: podman.socket }, 20_000),
      "registry-one",
    );
    image = (await engine.image(IMAGE))!.id;
  });
  afterAll(async () => podman?.stop());

  const make = (command: readonly string[], entrypoint: readonly string[] = ["/bin/sh", "-c"]) =>
    engine.create({
      owner: { submission: randomUUID(), attempt: 1 },
      image,
      entrypoint,
      command,
      user: "65534:65534",
      limits: LIMITS,
    });

  it("lists the installed images, and pulls none", async () => {
    expect(image).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(await engine.image("localhost/nobody-has-this:1")).toBeUndefined();
  });

  it("mounts a run's files read-only, collects its results, and leaves nothing behind", async () => {
    const long = `${"deep/".repeat(30)}größe.txt`;
    const run = await make([
      [
        "id -u",
        "id -g",
        "cat /inputs/d/x.csv > copy.csv",
        "cat '/inputs/" + long + "' > ./ü",
        "ls /inputs /outputs",
        "mkdir -p sub/sub; echo 2 > sub/sub/z",
        "ln -s /etc/passwd link",
        "ln copy.csv hard",
        "echo x > /inputs/no",
        "echo x > /software/no",
        "echo x > /no",
        "echo x > /tmp/yes && cat /tmp/yes",
        "/software/tool.sh",
        "ping -c1 127.0.0.1",
        "exit 3",
      ].join("; "),
    ]);
    try {
      await run.put("inputs", files(["d/x.csv", "1,2\n"], [long, "long"]));
      await run.put("software", files(["tool.sh", "#!/bin/sh\necho tool runs"]));
      await run.start();
      const state = await ended(run);
      expect(state).toMatchObject({ exitCode: 3, outOfMemory: false });
      const log = await run.log(10_000);
      expect(log).toMatch(/^65534\n65534\n/);
      expect(log).not.toContain("of-the-image");
      expect(log.match(/Read-only file system/g)).toHaveLength(3);
      expect(log).toContain("x\ntool runs");
      expect(Buffer.byteLength(await run.log(9))).toBeLessThanOrEqual(9);
      const found = await left(run);
      // Which of two names of one file is the link depends on the folder's order.
      expect([found["copy.csv"], found["hard"]].sort()).toEqual(["1,2\n", "link"]);
      expect(found).toMatchObject({ ü: "long", sub: "folder", "sub/sub/z": "2\n", link: "link" });
      expect(await run.outputSize()).toBeGreaterThan(5);
      expect((await engine.owners()).length).toBe(1);
      expect(
        await new DockerEngine(
          new DockerClient({ socketPath: podman.socket }, 20_000),
          "registry-two",
        ).owners(),
      ).toEqual([]);
    } finally {
      await run.remove();
      await run.remove();
    }
    expect(podman.left()).toEqual([]);
  });

  it("bounds memory, processes, file sizes and temporary files", async () => {
    const run = await make([
      "dd if=/dev/zero of=big bs=1000 count=5000; for n in 1 2; do dd if=/dev/zero " +
        "of=/tmp/$n bs=600000 count=1; done; i=0; while [ $i -lt 60 ]; do sleep 5 & " +
        "i=$((i+1)); done; echo after",
    ]);
    await run.start();
    await ended(run);
    const log = await run.log(10_000);
    expect(log).toMatch(/File size limit exceeded/);
    expect(log).toMatch(/No space left/);
    expect(log).toMatch(/can't fork|Resource temporarily unavailable/);
    await run.remove();
    const greedy = await make(["dd if=/dev/zero of=/dev/null bs=100000000 count=1"]);
    await greedy.start();
    expect((await ended(greedy)).exitCode).toBe(137);
    await greedy.remove();
  });

  it(
    "reports what the engine says about a command that the image lacks, and removes the " +
      "container",
    async () => {
      const run = await make(["x"], ["/bin/no-such-program"]);
      await expect(run.start()).rejects.toThrow(/no-such-program/);
      await run.remove();
      const endless = await make(["sleep 1000"]);
      await endless.start();
      expect(await endless.state()).toEqual({ running: true });
      for (const owner of await engine.owners()) await engine.remove(owner);
      await expect(endless.state()).rejects.toMatchObject({ name: "EngineRefusal", status: 404 });
      expect(podman.left()).toEqual([]);
    },
  );

  it("distinguishes an unavailable engine from one that refuses", async () => {
    const gone = new DockerEngine(
      new DockerClient({ socketPath: "/tmp/no-engine-here.sock" }, 1000),
      "r",
    );
    await expect(gone.health()).rejects.toBeInstanceOf(EngineAway);
    await expect(gone.image(IMAGE)).rejects.toBeInstanceOf(EngineAway);
  });
});
