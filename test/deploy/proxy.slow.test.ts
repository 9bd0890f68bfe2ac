import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { bodyOf } from "../support/bodies.js";
import { webSocketClient } from "../support/graphql-streams.js";
import { LiveRegistry } from "../support/live-registry.js";
import { type Json, RegistryClient, type User } from "../support/registry-client.js";
import { Nginx, nginxInstalled } from "../support/servers/nginx.js";

const MIB = 2 ** 20;

describe.skipIf(!nginxInstalled)("a registry behind the nginx of deploy/", () => {
  let registry: LiveRegistry;
  let nginx: Nginx;
  let client: RegistryClient;
  let ada: User;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-proxied-"));
    registry = await LiveRegistry.start({
      DATA_DIR: folder,
      MAX_UPLOAD_BYTES: "64MiB",
      EVENT_HEARTBEAT: "100ms",
      LOGIN_RATE: "2",
      TRUSTED_PROXIES: "127.0.0.1",
    });
    nginx = await Nginx.start(registry.url);
    client = new RegistryClient(nginx.url);
    ada = await client.user("Ada");
  });
  afterAll(async () => {
    await nginx?.stop();
    await registry?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("ingests a crate and follows it over a WebSocket", async () => {
    const submission = (await client.upload(await buildDemoCrate(), ada.token)).body[
      "submissionUUID"
    ] as string;
    const socket = webSocketClient(nginx.url, ada.token);
    const seen: Json[] = [];
    for await (const { data } of socket.iterate<{ submissionProgress: Json }>({
      query: "subscription ($id: ID!) { submissionProgress(id: $id) { completed success } }",
      variables: { id: submission },
    }))
      seen.push(data!.submissionProgress);
    await socket.dispose();
    expect(seen.at(-1)).toEqual({ completed: true, success: true });
  });

  test.each([
    ["40 Chinese characters", `实验/${"数".repeat(40)}.csv`],
    ["300 Chinese characters", "数据".repeat(150)],
    ["300 emoji and letters", "🧬a".repeat(150)],
    ["700 Chinese characters", "数".repeat(700)],
    ["the longest accepted length", "x".repeat(4096 - "ark:99999/long-".length - 40)],
  ])("answers a record whose identifier has %s in every format", async (_what, name) => {
    const ark = `ark:99999/long-${randomUUID().slice(0, 8)}/${name}`;
    const created = await client.ask("/dataset", {
      body: bodyOf("dataset", ada.ark, { "@id": ark }),
      token: ada.token,
    });
    expect(created.status, created.text).toBe(200);
    const path = encodeURI(ark);
    const headers = { Authorization: `Bearer ${ada.token}` };
    const statuses = async (target: string, more: Record<string, string> = {}) => {
      const answer = await fetch(`${nginx.url}/${target}`, { headers: { ...headers, ...more } });
      await answer.arrayBuffer();
      return [answer.status, answer.headers] as const;
    };
    for (const target of [
      path,
      // Another spelling of the same identifier: Content-Location has the stored one.
      path.replace("ark:", "ark:/"),
      `dataset/${path}`,
      `${path}?format=linkset`,
      `${path}?format=bibtex`,
      `${path}??`,
    ]) {
      const [status, answered] = await statuses(target);
      expect([target.slice(-30), status]).toEqual([target.slice(-30), 200]);
      // The root of an answer's links is there whatever the length.
      if (name.length < 60) {
        const links = answered.get("link") ?? "";
        expect(links).toContain(target.endsWith("??") ? 'rel="describes"' : 'rel="cite-as"');
        expect(links.length).toBeLessThan(3_000);
      }
    }
    expect((await statuses(path, { Accept: "text/html" }))[0]).toBe(200);
  });

  test("sends server-sent events as they occur", async () => {
    const { submission } = await registry.deps.records.submit({
      id: randomUUID(),
      type: "crate",
      user: ada.ark,
      sha256: null,
      input: {},
      at: Date.now(),
    });
    const abort = new AbortController();
    const response = await fetch(`${nginx.url}/rocrate/upload/status/${submission.id}`, {
      signal: abort.signal,
      headers: { Accept: "text/event-stream", Authorization: `Bearer ${ada.token}` },
    });
    // Nothing ends this stream: what is read here was not held back.
    const reader = response.body!.getReader();
    let text = "";
    while (!/^event:/m.test(text) || !/^:/m.test(text))
      text += Buffer.from((await reader.read()).value!).toString();
    expect(text).toContain(submission.id);
    abort.abort();
  });

  test("forwards an upload while it arrives, and buffers none of it on disk", async () => {
    const sending = request(`${nginx.url}/rocrate/upload-async`, {
      method: "POST",
      headers: {
        "Content-Type": "multipart/form-data; boundary=x",
        Authorization: `Bearer ${ada.token}`,
        "Transfer-Encoding": "chunked",
      },
    });
    sending.on("error", () => {});
    sending.write(
      '--x\r\nContent-Disposition: form-data; name="file"; filename="crate.zip"\r\n' +
        "Content-Type: application/zip\r\n\r\n",
    );
    const piece = randomBytes(MIB);
    for (let sent = 0; sent < 24; sent++) if (!sending.write(piece)) await once(sending, "drain");
    const staged = async () => {
      const staging = join(registry.running.registry.deps.config.DATA_DIR, "objects", "staging");
      const sizes = await Promise.all(
        (await readdir(staging)).map((name) =>
          stat(join(staging, name)).then(
            ({ size }) => size,
            () => 0,
          ),
        ),
      );
      return sizes.reduce((sum, size) => sum + size, 0);
    };
    for (let tries = 0; (await staged()) < 20 * MIB && tries < 400; tries++) await sleep(25);
    expect(await staged()).toBeGreaterThan(20 * MIB);
    expect(await nginx.kept()).toEqual([]);
    sending.destroy();
    for (let tries = 0; (await staged()) > 0 && tries < 200; tries++) await sleep(25);
    expect(await staged()).toBe(0);
  });

  test("lets the registry decide what is too large", async () => {
    const file = new FormData();
    file.set("file", new Blob([Buffer.alloc(65 * MIB)]), "crate.zip");
    const refused = await client
      .ask("/rocrate/upload-async", { token: ada.token, body: file })
      .catch((error: Error) => error);
    // It may end the connection before it was sent all of it; it never is nginx that refuses.
    if (!(refused instanceof Error))
      expect([refused.status, refused.headers.get("content-type")]).toEqual([
        413,
        expect.stringContaining("json"),
      ]);
    expect(await nginx.log()).not.toContain("client intended to send too large body");
  });

  test("returns ranges of a file", async () => {
    const crate = (await client.take(await buildDemoCrate(), ada.token)) as unknown as {
      rocrateIdentifier: string;
    };
    const whole = `${nginx.url}/rocrate/archived/download/${crate.rocrateIdentifier}`;
    const headers = { Authorization: `Bearer ${ada.token}` };
    const all = Buffer.from(await (await fetch(whole, { headers })).arrayBuffer());
    const part = await fetch(whole, { headers: { ...headers, Range: "bytes=100-299" } });
    expect([part.status, part.headers.get("content-range")]).toEqual([
      206,
      `bytes 100-299/${all.length}`,
    ]);
    expect(Buffer.from(await part.arrayBuffer()).equals(all.subarray(100, 300))).toBe(true);
  });

  test("forwards targets as written", async () => {
    for (const target of [
      `/${ada.ark}`,
      `/${ada.ark}?info`,
      `/${ada.ark}??`,
      `/${ada.ark}?`,
      `/${ada.ark.replaceAll("/", "%2F")}`,
      `//${ada.ark}`,
      "/%FF",
      "/nothing?a=b%20c+d",
    ]) {
      const [direct, proxied] = await Promise.all([
        raw(registry.url, target),
        raw(nginx.url, target),
      ]);
      expect([target, proxied.status, proxied.body]).toEqual([target, direct.status, direct.body]);
    }
  });

  test("passes the address of the client to the registry, whatever the client sends", async () => {
    const login = (from: string, claims: string) =>
      raw(
        nginx.url,
        "/token",
        {
          method: "POST",
          localAddress: from,
          headers: { "X-Forwarded-For": claims, "Content-Type": "application/json" },
        },
        JSON.stringify({ username: "nobody@example.org", password: "wrong" }),
      );
    const statuses: number[] = [];
    for (const [from, claims] of [
      ["127.0.0.2", "198.51.100.1"],
      ["127.0.0.2", "198.51.100.2"],
      ["127.0.0.2", "198.51.100.3"],
      ["127.0.0.3", "198.51.100.3"],
    ] as const)
      statuses.push((await login(from, claims)).status);
    expect(statuses).toEqual([401, 401, 429, 401]);
  });
});

/** One request whose target goes out exactly as given. */
async function raw(
  base: string,
  target: string,
  options: { method?: string; localAddress?: string; headers?: Record<string, string> } = {},
  body?: string,
): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(base);
  // The same name on both ways: it may stand in links.
  const asked = request({
    hostname,
    port,
    path: target,
    agent: false,
    ...options,
    headers: { Host: "registry.example", ...options.headers },
  });
  asked.end(body);
  const [response] = (await once(asked, "response")) as [import("node:http").IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode!, body: text };
}
