import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkObjects } from "../../../src/services/check.js";
import type { ObjectStore } from "../../../src/storage/objects/port.js";
import { Keys, type S3Location } from "../../../src/storage/objects/s3/location.js";
import { openS3Objects, prepareBucket } from "../../../src/storage/objects/s3/store.js";
import { objectStoreConformance } from "../../conformance/object-store.js";
import {
  clientOf,
  keysOf,
  locationOf,
  newBucket,
  S3_MAKES,
  sayMissing,
  unfinishedOf,
} from "../../support/servers/s3-makes.js";
import type { S3Server } from "../../support/servers/s3-server.js";

const MIB = 2 ** 20;
/** Servers tell the time of a change, and their own, by the second. */
const TICK = 2100;
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const bytesOf = async (stream: Readable) => Buffer.concat((await stream.toArray()) as Buffer[]);
const chunks = (bytes: Buffer, each: number) =>
  Readable.from(
    (function* () {
      for (let at = 0; at < bytes.byteLength; at += each) yield bytes.subarray(at, at + each);
    })(),
  );

sayMissing();
for (const { make, missing, start } of S3_MAKES) {
  describe.skipIf(missing)(`on ${make}`, () => {
    let server: S3Server;
    let location: S3Location;
    let store: ObjectStore;
    const staged = () => readdir(location.staging);
    beforeAll(async () => {
      server = await start();
      location = await newBucket(server);
      store = await openS3Objects(location);
    });
    afterAll(() => server?.stop());

    objectStoreConformance(`S3 (${make})`, async () => {
      const own = await newBucket(server);
      return {
        store: await openS3Objects(own),
        staged: async () => (await readdir(own.staging)).length,
        tick: TICK,
        damage: async (key, bytes) =>
          void (await clientOf(server).putObject(
            own.bucket,
            new Keys(own.prefix).object(key)!,
            Buffer.from(bytes),
          )),
        close: async () => {},
      };
    });

    it(
      "is checked as a whole: damaged or missing objects are listed with the records that " +
        "need them",
      async () => {
        const own = await newBucket(server);
        const checked = await openS3Objects(own);
        const items: { sha256: string; size: number }[] = [];
        for (const size of [1, 300_000, 6 * MIB]) {
          const staged = await checked.stage(Readable.from([randomBytes(size)]));
          await staged.publish();
          items.push({ sha256: staged.sha256, size });
        }
        const replace = async (key: string, bytes: Buffer) =>
          void (await clientOf(server).putObject(
            own.bucket,
            new Keys(own.prefix).object(key)!,
            bytes,
          ));
        const transfer = {
          neededObjects: async () => ({ items }),
          needing: async (key: string) => [`who needs ${key}`],
        };
        const wrong: { sha256: string; what: string; neededBy: string[] }[] = [];
        const check = () =>
          checkObjects({ transfer, objects: checked, wrong: (object) => wrong.push(object) });
        expect(await check()).toEqual({ objects: 3, bytes: 1 + 300_000 + 6 * MIB, wrong: 0 });
        await replace(items[1]!.sha256, randomBytes(300_000));
        await replace(items[2]!.sha256, randomBytes(5000));
        await checked.remove(items[0]!.sha256);
        expect(await check()).toMatchObject({ objects: 3, wrong: 3 });
        const by = new Map(wrong.map((object) => [object.sha256, object]));
        expect(items.map(({ sha256: key }) => by.get(key)?.what)).toEqual([
          expect.stringContaining("missing"),
          expect.stringContaining("another hash"),
          expect.stringMatching(/5000 bytes of it instead of 6291456/),
        ]);
        expect(by.get(items[0]!.sha256)?.neededBy).toEqual([`who needs ${items[0]!.sha256}`]);
      },
    );

    it("stores objects of any size around its part size", async () => {
      for (const size of [5 * MIB, 5 * MIB + 1, 11 * MIB]) {
        const bytes = randomBytes(size);
        const object = await store.stage(chunks(bytes, 700_001), { digests: ["md5"] });
        expect(object).toMatchObject({
          size,
          sha256: sha256(bytes),
          digests: { md5: createHash("md5").update(bytes).digest("hex") },
        });
        const reader = await store.readStaged(object.place);
        const part = Buffer.alloc(100);
        expect(await reader.read(part, size - 50)).toBe(50);
        expect(part.subarray(0, 50)).toEqual(bytes.subarray(size - 50));
        await reader.close();
        await object.publish();
        expect(sha256(await bytesOf(await store.open(object.sha256)))).toBe(object.sha256);
        expect(
          (await bytesOf(await store.open(object.sha256, { start: 3 * MIB, end: 4 * MIB }))).equals(
            bytes.subarray(3 * MIB, 4 * MIB + 1),
          ),
        ).toBe(true);
        expect(await keysOf(server, location, "registry/objects/")).toContain(
          `registry/objects/${object.sha256.slice(0, 2)}/${object.sha256.slice(2)}`,
        );
        expect(await staged()).toEqual([]);
      }
    });

    it("sends nothing and leaves no file of a source that fails midway", async () => {
      const failing = Readable.from(
        (function* () {
          for (let at = 0; at < 12; at++) yield randomBytes(MIB);
          throw new Error("line is dead");
        })(),
      );
      await expect(store.stage(failing)).rejects.toThrow("line is dead");
      await expect(
        store.stage(chunks(randomBytes(12 * MIB), MIB), {
          limit: 11 * MIB,
          limitName: "MAX_UPLOAD_BYTES",
        }),
      ).rejects.toMatchObject({ code: "TOO_LARGE" });
      const given = new AbortController();
      const endless = Readable.from(
        (function* () {
          for (let at = 0; ; at++) {
            if (at === 12) given.abort(new Error("no longer wanted"));
            yield randomBytes(MIB);
          }
        })(),
      );
      await expect(store.stage(endless, { signal: given.signal })).rejects.toThrow(
        "no longer wanted",
      );
      expect(endless.destroyed).toBe(true);
      expect(await staged()).toEqual([]);
    });

    it("aborts uploads to the server of a process that died, not running ones", async () => {
      const bytes = randomBytes(11 * MIB);
      const key = new Keys(location.prefix).object(sha256(bytes))!;
      const client = clientOf(server);
      const uploadId = await client.initiateNewMultipartUpload(location.bucket, key, {});
      await client.uploadPart(
        {
          bucketName: location.bucket,
          objectName: key,
          uploadID: encodeURIComponent(uploadId),
          partNumber: 1,
          headers: {},
        },
        bytes.subarray(0, 5 * MIB),
      );
      expect(await unfinishedOf(server, location, key)).toEqual([key]);
      expect(await store.abortUploads!(60_000)).toBe(0);
      expect(await unfinishedOf(server, location, key)).toEqual([key]);
      await new Promise((resolve) => setTimeout(resolve, TICK));
      // MinIO lists an upload under its whole name only, and removes old ones itself.
      const listed = make !== "MinIO";
      expect(await store.abortUploads!(1)).toBe(listed ? 1 : 0);
      expect(await unfinishedOf(server, location, key)).toEqual(listed ? [] : [key]);
      // The same bytes are stored beside it, or in its place.
      const object = await store.stage(chunks(bytes, MIB));
      await object.publish();
      expect(sha256(await bytesOf(await store.open(object.sha256)))).toBe(sha256(bytes));
      expect(await unfinishedOf(server, location, key)).toEqual([]);
    });

    it("stores equal parts again after an upload of them was cut off", async () => {
      const bytes = Buffer.alloc(16 * MIB, 7);
      const client = clientOf(server);
      const key = new Keys(location.prefix).object(sha256(bytes))!;
      const uploadId = await client.initiateNewMultipartUpload(location.bucket, key, {});
      for (const partNumber of [1, 2, 3])
        await client.uploadPart(
          {
            bucketName: location.bucket,
            objectName: key,
            uploadID: encodeURIComponent(uploadId),
            partNumber,
            headers: {},
          },
          bytes.subarray(0, 5 * MIB),
        );
      const object = await store.stage(chunks(bytes, MIB));
      await object.publish();
      expect(sha256(await bytesOf(await store.open(object.sha256)))).toBe(object.sha256);
    });

    it("stores large objects that several processes send at the same time", async () => {
      const bytes = randomBytes(11 * MIB);
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          const object = await (await openS3Objects(location)).stage(chunks(bytes, MIB));
          await object.publish();
        }),
      );
      expect(sha256(await bytesOf(await store.open(sha256(bytes))))).toBe(sha256(bytes));
      expect(await staged()).toEqual([]);
    });

    it("does not touch other objects in its bucket", async () => {
      const other = await openS3Objects({ ...location, prefix: "" });
      const object = await other.stage(Readable.from(["other's"]));
      await object.publish();
      for await (const key of store.list()) expect(key).not.toBe(object.sha256);
      expect(await store.size(object.sha256)).toBeUndefined();
      expect(await other.size(object.sha256)).toBe(7);
    });

    it("returns an address that expires, with type and name, and supports ranges", async () => {
      expect(
        await store.address!("0".repeat(64), { type: "text/plain", disposition: "inline" }),
      ).toBeUndefined();
      const object = await store.stage(Readable.from(["hello, world"]));
      await object.publish();
      const disposition = `attachment; filename="a_b.csv"; filename*=UTF-8''a%27b%20%C3%A9.csv`;
      const presigning = await openS3Objects({ ...location, presigned: 60_000 });
      const address = await presigning.address!(object.sha256, {
        type: "text/csv; charset=utf-8",
        disposition,
      });
      const named = ({ headers }: Response) => [
        headers.get("content-type"),
        headers.get("content-disposition"),
      ];
      const whole = await fetch(address!);
      expect([whole.status, await whole.text()]).toEqual([200, "hello, world"]);
      expect(named(whole)).toEqual(["text/csv; charset=utf-8", disposition]);
      const range = await fetch(address!, { headers: { Range: "bytes=7-11" } });
      expect([range.status, await range.text()]).toEqual([206, "world"]);
      // Garage does not put them on a range.
      expect(named(range)).toEqual(make === "Garage" ? [null, null] : named(whole));
      const tampered = address!.replace(/([0-9a-f])$/, (last) => (last === "0" ? "1" : "0"));
      expect((await fetch(tampered)).status).toBe(403);
    });

    it("creates its bucket only where it may, and reports what is missing in one line", async () => {
      const absent = locationOf(server, `absent-${Date.now()}`);
      await expect(prepareBucket(absent, false)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        message: expect.stringMatching(
          new RegExp(`^[^\\n]*no bucket ${absent.bucket}; [^\\n]*S3_CREATE_BUCKET=yes[^\\n]*$`),
        ),
      });
      await Promise.all([prepareBucket(absent, true), prepareBucket(absent, true)]);
      await (await openS3Objects(absent)).health();
      await prepareBucket(absent, false);
    });

    it("refuses wrong credentials in one line that does not show them", async () => {
      const wrong = { ...location, secretKey: "an-entirely-wrong-key" };
      for (const attempt of [
        () => prepareBucket(wrong, true),
        async () => (await openS3Objects(wrong)).health(),
        async () => (await (await openS3Objects(wrong)).stage(Readable.from(["x"]))).publish(),
        async () => (await openS3Objects(wrong)).size("0".repeat(64)),
      ]) {
        const error = await attempt().then(
          () => undefined,
          (caught: Error) => caught,
        );
        expect(error).toMatchObject({
          code: "STORE_UNAVAILABLE",
          message: expect.stringMatching(
            /^[^\n]*refuses the credentials[^\n]*S3_SECRET_KEY[^\n]*$/,
          ),
        });
        expect(JSON.stringify([error, error!.stack, error!.cause])).not.toMatch(
          /entirely-wrong|Signature=|StringToSign/,
        );
      }
    });
  });
}
