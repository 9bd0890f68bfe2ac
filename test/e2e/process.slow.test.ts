import { Agent, get } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { type Killable, startKillable } from "../support/killable.js";
import { largeCrate } from "../support/large-crate.js";
import type { RegistryClient } from "../support/registry-client.js";
import { RegistryProcess, runToEnd } from "../support/registry-process.js";
import { ROLES } from "../support/roles.js";

let registry: Killable;
beforeAll(async () => {
  registry = await startKillable({ SHUTDOWN_GRACE: "200ms", INDEX_WAIT: "20s" });
  await registry.whole();
}, 600_000);
afterAll(() => registry?.remove(), 60_000);

test("a first start announces one token for the administrator to its operator", () => {
  expect(registry.announced.match(/adminToken/g)).toHaveLength(1);
  expect(registry.announced).toMatch(/Open http:\S+\/signup\?admin=\S+ to become administrator/);
});

describe.each(ROLES)("a start in the role %s", (role) => {
  test.each([
    ["PORT", "banana"],
    ["TOKEN_LIFETIME", "soon"],
    ["MAX_UPLOAD_BYTES", "much"],
    ["BASE_URL", "nowhere"],
  ])("with a wrong setting stops with one line naming it: %s=%s", async (name, value) => {
    const { status, stdout, stderr } = await runToEnd({ ...registry.besides(role), [name]: value });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^arkgraph: ${name} "${value}" is not valid: .+\\n$`));
  });

  test("with a weak secret stops and does not show it", async () => {
    const { status, stderr } = await runToEnd({ ...registry.besides(role), JWT_SECRET: "hunter2" });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^arkgraph: JWT_SECRET is not valid: .+\n$/);
    expect(stderr).not.toContain("hunter2");
  });

  // Nodes of a cluster share their stores, as the four here do; the data of one process are its
  // own.
  test(
    "with PORT=0 prints a free port; a second one on its port or data folder stops with " +
      "one line",
    async () => {
      const first = registry.running(role);
      const { port } = new URL(first.url);
      expect(Number(port)).toBeGreaterThan(0);
      expect(first.announced).toMatch(/^Arkgraph listens at http:\/\/127\.0\.0\.1:\d+$/m);
      const [samePort, sameData] = await Promise.all([
        runToEnd({ ...registry.besides(role), PORT: port }),
        role === "all" ? runToEnd({ DATA_DIR: first.dataDir }) : undefined,
      ]);
      expect(samePort).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/^arkgraph: .*in use.*PORT.*\n$/),
      });
      if (sameData)
        expect(sameData).toMatchObject({
          status: 1,
          stderr: expect.stringMatching(/^arkgraph: .*in use by process \d+.*\n$/),
        });
      expect((await first.ask("/readyz")).status).toBe(200);
    },
  );
});

describe.each(ROLES)("a stop in the role %s", (role) => {
  test("by SIGTERM ends with status 0, quickly, also with idle connections", async () => {
    const process = await RegistryProcess.start({
      env: { ...registry.besides(role), SHUTDOWN_GRACE: "8s" },
    });
    const agent = new Agent({ keepAlive: true });
    await new Promise<void>((resolve) =>
      get(`${process.url}/healthz`, { agent }, (answer) => answer.resume().on("end", resolve)),
    );
    const { status, ms } = await process.terminate();
    agent.destroy();
    await process.remove();
    expect(status).toBe(0);
    // The time that requests in progress have.
    expect(ms).toBeLessThan(8_000);
  });

  test("does not wait for a client that never ends its upload", async () => {
    const process = await RegistryProcess.start({
      env: { ...registry.besides(role), SHUTDOWN_GRACE: "2s" },
    });
    const staging = () => process.staging();
    // A worker takes no uploads: it is left with the request.
    const { token } = role === "worker" ? { token: "none" } : await process.user();
    const { hostname, port } = new URL(process.url);
    const socket = connect(Number(port), hostname).on("error", () => undefined);
    socket.write(
      `POST /rocrate/upload-async HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 99999999\r\n\r\n` +
        `--b\r\nContent-Disposition: form-data; name="file"; filename="c.zip"\r\n\r\nsome`,
    );
    socket.write(Buffer.alloc(100_000));
    if (role === "worker") await new Promise((resolve) => socket.once("data", resolve));
    else await expect.poll(staging, { timeout: 10_000 }).not.toEqual([]);
    const { status } = await process.terminate();
    socket.destroy();
    expect(status).toBe(0);
    expect(await staging()).toEqual([]);
    await process.remove();
  });
});

describe("a stop of all processes", () => {
  test("during the ingest of a crate loses nothing: the next start completes it", async () => {
    const first = await registry.whole();
    const { email, password, token } = await first.user();
    const { body } = await first.upload(await largeCrate("stopped", 2000), token);
    const stateNow = async () =>
      (await first.ask(`/rocrate/upload/status/${body["submissionUUID"]}`, { token })).body;
    // In a cluster it is another node that takes it up.
    await expect
      .poll(async () => (await stateNow())["status"], { interval: 10 })
      .not.toBe("queued");
    expect(await stateNow()).toMatchObject({ completed: false });
    const began = Date.now();
    expect(new Set(await registry.terminate())).toEqual(new Set([0]));
    const stopped = Date.now();
    expect(stopped - began).toBeLessThan(8_000);
    const second = await registry.whole();
    // The token of before is still good: its key is kept.
    const settled = await second.settled(body["submissionUUID"] as string, token);
    expect(settled).toMatchObject({ status: "finished" });
    expect(Date.parse(settled["timeFinished"] as string)).toBeGreaterThan(stopped);
    await second.login(email, password);
    expect(registry.announced).not.toContain("adminToken");
  });

  test("preserves stored data for the next start, files and graph alike", async () => {
    const first = await registry.whole();
    const { token } = await first.user();
    const { rocrateIdentifier: crate } = await first.take(await buildDemoCrate(), token);
    const ask = (at: RegistryClient) =>
      Promise.all([
        at.ask(`/${crate}/samples.csv`),
        at.ask(`/evidencegraph/query/${crate}/results/clusters.csv`),
        at.ask(`/datadownload/${crate}/results/clusters.csv/download`, { token }),
      ]);
    const before = await ask(first);
    expect(new Set(await registry.terminate())).toEqual(new Set([0]));
    const after = await ask(await registry.whole(first.url));
    expect(after.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(after.map(({ text }) => text)).toEqual(before.map(({ text }) => text));
  });
});
