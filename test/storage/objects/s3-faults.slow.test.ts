import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { zipSync } from "fflate";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ObjectStore } from "../../../src/storage/objects/port.js";
import type { S3Location } from "../../../src/storage/objects/s3/location.js";
import { openS3Objects, prepareBucket } from "../../../src/storage/objects/s3/store.js";
import { Archive } from "../../../src/services/crates/zip/archive.js";
import { LIMITS } from "../../support/crates.js";
import { FaultProxy, type Seen } from "../../support/fault-proxy.js";
import { newBucket, S3_MAKES, sayMissing, unfinishedOf } from "../../support/servers/s3-makes.js";
import type { S3Server } from "../../support/servers/s3-server.js";

const MIB = 2 ** 20;
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const bytesOf = async (stream: Readable) => Buffer.concat((await stream.toArray()) as Buffer[]);
const any = () => true;
const puts = ({ method }: Seen) => method === "PUT";
const objects = ({ method, path }: Seen) => method === "GET" && path.includes("/objects/");
sayMissing();
const make = S3_MAKES.find(({ missing }) => missing === undefined) ?? S3_MAKES[0]!;

describe.skipIf(make.missing)(`an S3 server with faults (${make.make})`, () => {
  let server: S3Server;
  let proxy: FaultProxy;
  let location: S3Location;
  let store: ObjectStore;
  beforeAll(async () => {
    server = await make.start();
    proxy = await FaultProxy.start(server.endpoint);
    location = { ...(await newBucket(server)), endpoint: proxy.url, timeout: 1000, retries: 3 };
    store = await openS3Objects(location);
  });
  afterAll(async () => {
    await proxy?.goAway();
    await server?.stop();
  });
  afterEach(() => {
    proxy.fault = () => undefined;
    proxy.seen.length = 0;
  });
  const staged = () => readdir(location.staging);
  const put = async (bytes: Buffer) => {
    const object = await store.stage(Readable.from([bytes]));
    await object.publish();
    return object.sha256;
  };

  it("answers 500 temporarily: every call is retried", async () => {
    const bytes = randomBytes(11 * MIB);
    const failed = new Map<string, number>();
    // The first try of whatever it is, and a further one of some.
    proxy.fault = ({ method, path }) => {
      const call = `${method} ${path}`;
      failed.set(call, (failed.get(call) ?? 0) + 1);
      return failed.get(call) === 1
        ? { status: 500 }
        : failed.get(call) === 2 && path.includes("partNumber=2")
          ? { status: 503 }
          : undefined;
    };
    const key = await put(bytes);
    expect(sha256(await bytesOf(await store.open(key)))).toBe(key);
    for await (const listed of store.list()) expect(listed).toBe(key);
    await store.remove(key);
    expect(await store.size(key)).toBeUndefined();
    expect(await staged()).toEqual([]);
  });

  it("answers 500 permanently: calls are retried a few times, then it is unavailable", async () => {
    proxy.fault = ({ method, path }) =>
      method === "PUT" && path.includes("partNumber=2") ? { status: 500 } : undefined;
    const object = await store.stage(Readable.from([randomBytes(11 * MIB)]));
    await expect(object.publish()).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      status: 503,
      message: expect.stringContaining("status 500"),
    });
    expect(proxy.seen.filter(({ path }) => path.includes("partNumber=2"))).toHaveLength(4);
    expect(await store.size(object.sha256)).toBeUndefined();
    const key = proxy.seen
      .find(({ method }) => method === "PUT")!
      .path.split(/[?/]/)
      .slice(2, 6);
    expect(await unfinishedOf(server, location, key.join("/").split("?")[0]!)).toEqual([]);
    // Its bytes are still here: publishing again stores them.
    proxy.fault = () => undefined;
    await object.publish();
    expect(await store.size(object.sha256)).toBe(11 * MIB);
    expect(await staged()).toEqual([]);
  });

  it.each([
    [507, "XMinioStorageFull"],
    [507, "InsufficientStorage"],
    [403, "QuotaExceeded"],
    [400, "XOneMakesOwnWord"],
  ])("refuses for a vendor-specific reason: status %s, %s", async (status, code) => {
    proxy.failing(1, puts, { status, code });
    const message = expect.stringMatching(
      code.startsWith("XOne")
        ? /refused the request \(XOneMakesOwnWord\)/
        : new RegExp(`has no space left \\(${code}\\)`),
    );
    const object = await store.stage(Readable.from([randomBytes(1000)]));
    await expect(object.publish()).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      status: 503,
      message,
    });
    await object.discard();
    expect(await staged()).toEqual([]);
  });

  it("is silent: the call is retried once, and the time-out is named", async () => {
    proxy.failing(1, any, { silent: true });
    await store.health().catch(() => {});
    expect(await store.size("0".repeat(64))).toBeUndefined();
    proxy.fault = () => ({ silent: true });
    proxy.seen.length = 0;
    await expect(store.size("0".repeat(64))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("S3_TIMEOUT=1000"),
    });
    expect(proxy.seen).toHaveLength(2);
    await expect(store.health()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("truncates objects or falls silent amid them: the download ends with an error", async () => {
    const bytes = randomBytes(3 * MIB);
    const key = await put(bytes);
    for (const fault of [{ cutAfter: 700_000 }, { stallAfter: MIB }, { cutAfter: 0 }])
      for (const range of [undefined, { start: 5, end: 2 * MIB }]) {
        proxy.failing(1, objects, fault);
        const stream = await store.open(key, range);
        const began = Date.now();
        await expect(bytesOf(stream)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
        expect(Date.now() - began).toBeLessThan(3000);
        expect(stream.destroyed).toBe(true);
      }
    // As a client resumes it.
    const rest = await bytesOf(await store.open(key, { start: 700_000, end: 3 * MIB - 1 }));
    expect(rest.equals(bytes.subarray(700_000))).toBe(true);
    proxy.failing(1, objects, { cutAfter: 1000 });
    await expect(store.reader(key)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await staged()).toEqual([]);
  });

  it("never returns a whole object: the download ends with an error, not early", async () => {
    const key = await put(randomBytes(MIB));
    let first = true;
    proxy.fault = (request) => {
      if (!objects(request)) return undefined;
      const fault = first ? { cutAfter: 1000 } : { status: 500 };
      first = false;
      return fault;
    };
    const stream = await store.open(key);
    let got = 0;
    await expect(
      (async () => {
        for await (const chunk of stream as AsyncIterable<Buffer>) got += chunk.byteLength;
      })(),
    ).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(got).toBeLessThanOrEqual(1000);
  });

  it("is read slowly: a slow reader does not make the server count as silent", async () => {
    const key = await put(randomBytes(8 * MIB));
    proxy.seen.length = 0;
    const stream = await store.open(key);
    let got = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (got === 0) await new Promise((resolve) => setTimeout(resolve, 1500));
      got += chunk.byteLength;
    }
    expect(got).toBe(8 * MIB);
    expect(proxy.seen.filter(objects)).toHaveLength(1);
  });

  it("loses connections during requests and during answers", async () => {
    const bytes = randomBytes(11 * MIB);
    proxy.failing(2, ({ path }) => path.includes("partNumber="), { breakAfter: MIB });
    expect(await put(bytes)).toBe(sha256(bytes));
    for (const fits of [
      puts,
      ({ method, path }: Seen) => method === "POST" && path.includes("uploadId"),
      ({ method }: Seen) => method === "DELETE",
    ]) {
      proxy.failing(1, fits, { loseAnswer: true });
      expect(await put(bytes)).toBe(sha256(bytes));
      await store.remove(await put(randomBytes(10)));
    }
    expect(sha256(await bytesOf(await store.open(sha256(bytes))))).toBe(sha256(bytes));
    expect(await staged()).toEqual([]);
  });

  it("is unavailable, and is used again when it is back", async () => {
    const key = await put(randomBytes(100));
    const object = await store.stage(Readable.from(["x"]));
    await proxy.goAway();
    const attempts = [
      store.size(key),
      store.open(key),
      object.publish(),
      store.reader(key),
      store.health(),
      store.abortUploads!(1),
      prepareBucket(location, true),
    ];
    await Promise.all(
      attempts.map((attempt) =>
        expect(attempt).rejects.toMatchObject({
          code: "STORE_UNAVAILABLE",
          message: expect.stringContaining("ECONNREFUSED"),
        }),
      ),
    );
    await proxy.comeBack();
    await object.publish();
    await store.health();
    expect(await bytesOf(await store.open(key))).toHaveLength(100);
  });

  it("gets few requests for an archive of many members", async () => {
    const packed = zipSync(
      Object.fromEntries(
        Array.from({ length: 20_000 }, (_, n) => [`part/${n}.bin`, randomBytes(700)]),
      ),
      { level: 0 },
    );
    const key = await put(Buffer.from(packed));
    proxy.seen.length = 0;
    const archive = await Archive.open(await store.reader(key), {
      ...LIMITS,
      MAX_CRATE_ENTRIES: 20_000,
    });
    const opened = proxy.seen.length;
    let next = 0;
    let bytes = 0;
    // As the intake reads them; every member checks its own sum.
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let n = next++; n < 20_000; n = next++)
          for await (const chunk of archive.read(archive.members[n]!)) bytes += chunk.byteLength;
      }),
    );
    await archive.close();
    expect([archive.members.length, bytes]).toEqual([20_000, 20_000 * 700]);
    expect(opened).toBe(2);
    expect(proxy.seen).toHaveLength(2);
    expect(await staged()).toEqual([]);
  });

  it("is not called for the bytes of a caller who has left", async () => {
    const given = new AbortController();
    const waiting = store.stage(
      (async function* () {
        setTimeout(() => given.abort(new Error("no longer wanted")), 100);
        yield randomBytes(6 * MIB);
        await new Promise(() => undefined);
      })(),
      { signal: given.signal },
    );
    await expect(waiting).rejects.toThrow("no longer wanted");
    expect(proxy.seen).toEqual([]);
    expect(await staged()).toEqual([]);
  });
});
