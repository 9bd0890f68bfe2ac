import { mkdtemp, rm } from "node:fs/promises";
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/build-crate.js";
import { RegistryProcess, runToEnd } from "../support/registry-process.js";
import { largeCrate } from "../support/large-crate.js";

describe("a start", () => {
  test.each([
    ["PORT", "banana"], ["TOKEN_LIFETIME", "soon"], ["MAX_UPLOAD_BYTES", "much"], ["BASE_URL", "nowhere"],
  ])("with a wrong setting stops with one line naming it: %s=%s", async (name, value) => {
    const { status, stdout, stderr } = await runToEnd({ [name]: value });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^arkgraph: ${name} "${value}" is not valid: .+\\n$`));
  });

  test("with a weak secret stops and does not show it", async () => {
    const { status, stderr } = await runToEnd({ JWT_SECRET: "hunter2" });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^arkgraph: JWT_SECRET is not valid: .+\n$/);
    expect(stderr).not.toContain("hunter2");
  });

  test("with PORT=0 prints a free port; a second one on its port or its data stops with one line", async () => {
    const registry = await RegistryProcess.start();
    try {
      const { port } = new URL(registry.url);
      expect(Number(port)).toBeGreaterThan(0);
      expect(registry.announced).toMatch(/^Arkgraph listens at http:\/\/127\.0\.0\.1:\d+$/m);
      const [samePort, sameData] = await Promise.all([runToEnd({ PORT: port }), runToEnd({ DATA_DIR: registry.dataDir })]);
      expect(samePort).toMatchObject({ status: 1, stderr: expect.stringMatching(/^arkgraph: .*in use.*PORT.*\n$/) });
      expect(sameData).toMatchObject({ status: 1, stderr: expect.stringMatching(/^arkgraph: .*in use by process \d+.*\n$/) });
    } finally {
      await registry.stop();
    }
  });
});

describe("a stop", () => {
  test("by SIGTERM ends with status 0, quickly, also with idle connections", async () => {
    const registry = await RegistryProcess.start();
    const agent = new Agent({ keepAlive: true });
    await new Promise<void>((resolve) => get(`${registry.url}/healthz`, { agent }, (answer) => answer.resume().on("end", resolve)));
    const { status, ms } = await registry.terminate();
    agent.destroy();
    await registry.remove();
    expect(status).toBe(0);
    expect(ms).toBeLessThan(3_000);
  });

  test("does not wait for a client that never ends its upload", async () => {
    const registry = await RegistryProcess.start({ env: { SHUTDOWN_GRACE: "2s" } });
    const { token } = await registry.user();
    const { hostname, port } = new URL(registry.url);
    const socket = connect(Number(port), hostname).on("error", () => undefined);
    socket.write(`POST /rocrate/upload-async HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 99999\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="c.zip"\r\n\r\nsome`);
    while ((await registry.staging()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const { status, ms } = await registry.terminate();
    expect(status).toBe(0);
    expect(ms).toBeLessThan(6_000);
    expect(await registry.staging()).toEqual([]);
    await registry.remove();
  });

  test("while a crate is processed loses nothing: the next start brings it to its end", async () => {
    const first = await RegistryProcess.start({ env: { SHUTDOWN_GRACE: "200ms" } });
    const { email, password, token } = await first.user();
    const { body } = await first.upload(await largeCrate("stopped", 3000), token);
    expect((await first.ask(`/rocrate/upload/status/${body["submissionUUID"]}`, { token })).body).toMatchObject({ completed: false });
    const { status, ms } = await first.terminate();
    expect(status).toBe(0);
    expect(ms).toBeLessThan(8_000);
    const stopped = Date.now();
    const second = await RegistryProcess.start({ dataDir: first.dataDir });
    try {
      // The token of before is still good: its key is kept.
      const settled = await second.settled(body["submissionUUID"], token);
      expect(settled).toMatchObject({ status: "finished" });
      expect(Date.parse(settled["timeFinished"] as string)).toBeGreaterThan(stopped);
      await second.login(email, password);
      expect(second.announced).not.toContain("adminToken");
    } finally {
      await second.stop();
    }
  });

  test("keeps what was stored for the next start, files and graph alike", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "arkgraph-e2e-"));
    const first = await RegistryProcess.start({ dataDir });
    const { token } = await first.user();
    const { rocrateIdentifier: crate } = await first.take(await buildDemoCrate(), token);
    const ask = (registry: RegistryProcess) => Promise.all([registry.ask(`/${crate}/samples.csv`), registry.ask(`/evidencegraph/query/${crate}/results/clusters.csv`), registry.ask(`/datadownload/${crate}/results/clusters.csv/download`, { token })]);
    const before = await ask(first);
    expect((await first.terminate()).status).toBe(0);
    const second = await RegistryProcess.start({ dataDir, env: { PORT: new URL(first.url).port } });
    try {
      const after = await ask(second);
      expect(after.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(after.map(({ text }) => text)).toEqual(before.map(({ text }) => text));
    } finally {
      await second.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
