import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { sweepObjects } from "../../src/services/objects/damage.js";
import { crate, metadata, zip } from "../support/crates.js";
import type { FaultProxy } from "../support/fault-proxy.js";
import type { RegistryClient, User } from "../support/registry-client.js";
import { startOnS3, type RegistryOnS3 } from "../support/registry-on-s3.js";
import { ROLES } from "../support/roles.js";
import { runToEnd } from "../support/registry-process.js";
import { keysOf, locationOf, S3_MAKES, sayMissing } from "../support/servers/s3-makes.js";

const MIB = 2 ** 20;
const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
sayMissing();
const make = S3_MAKES.find(({ missing }) => missing === undefined) ?? S3_MAKES[0]!;

describe.skipIf(make.missing)(`a registry whose objects are in S3 (${make.make})`, () => {
  let onS3: RegistryOnS3 | undefined;
  let proxy: FaultProxy;
  let registry: RegistryClient;
  let ada: User;
  const stored = async () =>
    (await keysOf(onS3!.server, locationOf(onS3!.server, onS3!.bucket), "registry/")).toSorted();
  const keyOf = (bytes: Uint8Array | string) =>
    `registry/objects/${sha256(bytes).slice(0, 2)}/${sha256(bytes).slice(2)}`;
  beforeAll(async () => {
    onS3 = await startOnS3(make.start, {
      S3_PREFIX: "registry/",
      S3_TIMEOUT: "2s",
      S3_RETRIES: "2",
    });
    ({ proxy, registry } = onS3);
    ada = await registry.user("Ada");
  }, 600_000);
  afterAll(() => onS3?.stop(), 60_000);
  afterEach(() => {
    proxy.fault = () => undefined;
    proxy.seen.length = 0;
  });

  it("ingests a crate, returns its members by path and by range, and sweeps unused objects", async () => {
    // Two parts of an upload to S3.
    const large = randomBytes(20 * MIB);
    const files = {
      "cells.csv": "id,area\n1,3\n",
      "images/fov.bin": large,
      "notes/read me.txt": "not said",
    };
    const described = [
      {
        "@id": "cells.csv",
        "@type": "File",
        name: "Cells",
        description: "Of one field",
        encodingFormat: "text/csv",
      },
      {
        "@id": "images/fov.bin",
        "@type": "File",
        name: "Image",
        description: "Of one field",
        encodingFormat: "application/octet-stream",
      },
    ];
    const graph = metadata(described, {
      hasPart: described.map(({ "@id": id }) => ({ "@id": id })),
    });
    const archive = await zip({ "ro-crate-metadata.json": graph, ...files }, { compress: false });
    const done = await registry.take(archive, ada.token);
    expect(done).toMatchObject({ status: "finished" });
    const root = done["rocrateIdentifier"] as string;
    const read = (path: string, headers: Record<string, string> = {}) =>
      registry.ask(path, { token: ada.token, headers });

    expect((await read(`/${root}/notes/read%20me.txt`)).text).toBe("not said");
    const whole = await fetch(`${registry.url}/rocrate/download/${root}`, {
      headers: { Authorization: `Bearer ${ada.token}` },
    });
    expect(whole.status).toBe(200);
    expect(sha256(new Uint8Array(await whole.arrayBuffer()))).toBe(sha256(archive));
    const part = await read(`/rocrate/download/${root}`, { Range: "bytes=0-3" });
    expect([part.status, part.text.slice(0, 2), part.headers.get("content-range")]).toEqual([
      206,
      "PK",
      `bytes 0-3/${archive.byteLength}`,
    ]);

    const { objects, records } = onS3!.stores;
    const orphan = await objects.stage(Readable.from(["nobody's"]));
    await orphan.publish();
    const left = await objects.stage(Readable.from(["left by a dead process"]));
    expect(left.size).toBe(22);
    await sleep(20);
    const { removed, stale } = await sweepObjects({ objects, records, intentLifetime: 1 });
    expect(removed).toBe(1);
    // A request that a busy server answered too late was repeated; its parts are swept as well.
    expect(stale).toBeGreaterThanOrEqual(1);
    await expect(objects.readStaged(left.place)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await stored()).toEqual(
      [archive, JSON.stringify(graph), ...Object.values(files)].map(keyOf).toSorted(),
    );
  });

  it("ingests a crate of many members with one request for its archive", async () => {
    const members = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [`part/${n}.txt`, `member ${n}`]),
    );
    proxy.seen.length = 0;
    expect(await registry.take(await crate([], members), ada.token)).toMatchObject({
      status: "finished",
    });
    expect(proxy.seen.filter(({ method }) => method === "GET")).toHaveLength(1);
  });

  it(
    "redirects downloads to the server where that is configured, and answers conditional " +
      "requests itself",
    async () => {
      const other = await onS3!.another({ S3_PRESIGNED: "1m" });
      try {
        const user = await other.user("Bea");
        const archive = await crate([], { "a.txt": "alpha" });
        const done = await other.take(archive, user.token);
        const path = `/rocrate/download/${done["rocrateIdentifier"] as string}`;
        const ask = (headers: Record<string, string> = {}, method = "GET") =>
          fetch(other.url + path, {
            method,
            redirect: "manual",
            headers: { Authorization: `Bearer ${user.token}`, ...headers },
          });
        const redirect = await ask({ Range: "bytes=0-1" });
        expect(redirect.status).toBe(307);
        expect([redirect.headers.get("etag"), redirect.headers.get("cache-control")]).toEqual([
          `"${sha256(archive)}"`,
          "private, no-store",
        ]);
        const followed = await fetch(redirect.headers.get("location")!, {
          headers: { Range: "bytes=0-1" },
        });
        expect([
          followed.status,
          await followed.text(),
          followed.headers.get("content-type"),
        ]).toEqual([206, "PK", "application/zip"]);
        expect(followed.headers.get("content-disposition")).toContain(
          'attachment; filename="crate.zip"',
        );
        expect((await ask({ "If-None-Match": `"${sha256(archive)}"` })).status).toBe(304);
        expect((await ask({ Range: `bytes=${archive.byteLength}-` })).status).toBe(416);
        const same = await ask({ Range: "bytes=0-1", "If-Range": `"${sha256(archive)}"` });
        expect([same.status, await same.text()]).toEqual([206, "PK"]);
        const head = await ask({}, "HEAD");
        expect([head.status, head.headers.get("content-length")]).toEqual([
          200,
          String(archive.byteLength),
        ]);
        expect((await fetch(other.url + path, { redirect: "manual" })).status).toBe(401);
      } finally {
        await other.stop();
      }
    },
  );

  it("answers 503 while the server is unavailable, and recovers", async () => {
    const archive = await crate([], { "b.txt": "beta" });
    const done = await registry.take(archive, ada.token);
    const path = `/rocrate/download/${done["rocrateIdentifier"] as string}`;
    await proxy.goAway();
    expect(await registry.ask(path, { token: ada.token })).toMatchObject({
      status: 503,
      body: { code: "STORE_UNAVAILABLE" },
    });
    expect(await registry.upload(archive, ada.token)).toMatchObject({
      status: 503,
      body: { code: "STORE_UNAVAILABLE" },
    });
    expect((await registry.ask("/healthz")).status).toBe(503);
    expect((await registry.graphql("{ roCrates { totalCount } }")).status).toBe(200);
    await proxy.comeBack();
    expect((await registry.ask("/healthz")).status).toBe(200);
    expect((await registry.ask(path, { token: ada.token })).status).toBe(200);
  });

  it("ingests a crate although the server fails meanwhile, and answers a dry run without it", async () => {
    const archive = await crate(
      [],
      Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`d/${n}.txt`, `delta ${n}`])),
    );
    const { body, status } = await registry.upload(archive, ada.token);
    expect(status).toBe(200);
    // More faults in a row than a call is tried again: the attempt fails, and the next one goes
    // through.
    proxy.failing(60, ({ method }) => method === "PUT", { status: 500 });
    const done = await registry.settled(body["submissionUUID"] as string, ada.token, 25_000);
    expect(done["status"]).toBe("finished");
    proxy.fault = () => ({ status: 500 });
    expect(await registry.upload(archive, ada.token, { path: "/rocrate/validate" })).toMatchObject({
      status: 200,
      body: { conforms: true },
    });
  });

  it("never ends a truncated download as if it were complete", async () => {
    const archive = await zip({
      "ro-crate-metadata.json": metadata(),
      "c.bin": randomBytes(2 * MIB),
    });
    const done = await registry.take(archive, ada.token);
    proxy.fault = ({ method }) => (method === "GET" ? { cutAfter: MIB } : undefined);
    const answer = await fetch(
      `${registry.url}/rocrate/download/${done["rocrateIdentifier"] as string}`,
      { headers: { Authorization: `Bearer ${ada.token}` } },
    );
    expect([answer.status, answer.headers.get("content-length")]).toEqual([
      200,
      String(archive.byteLength),
    ]);
    await expect(answer.arrayBuffer()).rejects.toThrow();
  });

  it.each(ROLES)(
    "does not start with invalid settings, and says why in one line: role %s",
    async (role) => {
      const absent = await runToEnd(onS3!.settings(role, { S3_BUCKET: "no-such-bucket" }));
      expect(absent.status).toBe(1);
      expect(absent.stderr).toMatch(/^arkgraph: [^\n]*no bucket no-such-bucket[^\n]*\n$/);
      const wrong = await runToEnd(
        onS3!.settings(role, { S3_SECRET_KEY: "an-entirely-wrong-key" }),
      );
      expect(wrong.status).toBe(1);
      expect(wrong.stderr).toMatch(/^arkgraph: [^\n]*refuses the credentials[^\n]*\n$/);
      expect(wrong.stderr + wrong.stdout).not.toContain("an-entirely-wrong-key");
    },
  );
});
