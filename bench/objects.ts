import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { Keys } from "../src/storage/objects/s3/location.js";
import { openS3Objects } from "../src/storage/objects/s3/store.js";
import { minioMissing, startMinio } from "../test/support/servers/minio.js";
import { clientOf, newBucket } from "../test/support/servers/s3-makes.js";
import type { Bench } from "./bench.js";
import { alternating, timed } from "./support/measure.js";
import { peakResident, resident } from "./support/resident.js";

/** The default of S3_PART_SIZE. */
const PART = 16 * 2 ** 20;
const CHUNK = 2 ** 16;
const SMALL = 4096;
/** Small objects of one measurement. */
const MANY = 100;

/** The S3 adapter beside the bare client, on one server, in one process. */
export const objects: Bench = async ({ sizes, say }) => {
  if (minioMissing !== undefined) {
    say(`nothing is measured: ${minioMissing}`);
    return [];
  }
  const server = await startMinio();
  try {
    const location = { ...(await newBucket(server)), partSize: PART };
    const { bucket } = location;
    const store = await openS3Objects(location);
    const client = Object.assign(clientOf(server), { partSize: PART, overRidePartSize: true });
    const part = randomBytes(CHUNK);
    const source = (size: number) =>
      Readable.from(
        (function* () {
          for (let left = size; left > 0; left -= CHUNK) yield part.subarray(0, left);
        })(),
        { objectMode: false },
      );
    const size = sizes.objectBytes;
    const drained = async (stream: Readable) => {
      let got = 0;
      for await (const chunk of stream as AsyncIterable<Buffer>) got += chunk.byteLength;
      if (got !== size) throw new Error(`${got} bytes instead of ${size}`);
    };
    const kept = await store.stage(source(size));
    await kept.publish();
    let published = 0;
    const small = randomBytes(SMALL);
    const measured = await alternating(sizes.rounds, {
      put: () =>
        timed(async () => {
          const staged = await store.stage(source(size));
          published = await timed(() => staged.publish());
        }).then((ms) => ms - published),
      publish: async () => published,
      barePut: () => timed(() => client.putObject(bucket, "bare", source(size))),
      get: () => timed(async () => drained(await store.open(kept.sha256))),
      // As downloads are with VERIFY_DOWNLOADS=no.
      unhashed: () =>
        timed(async () => drained(await store.open(kept.sha256, undefined, { hash: false }))),
      bareGet: () =>
        timed(async () =>
          drained(await client.getObject(bucket, new Keys(location.prefix).object(kept.sha256)!)),
        ),
      smallPut: () =>
        timed(async () => {
          for (let n = 0; n < MANY; n++)
            await (
              await store.stage([Buffer.concat([small, Buffer.from(String(n))])] as never)
            ).publish();
        }),
      bareSmallPut: () =>
        timed(async () => {
          for (let n = 0; n < MANY; n++) await client.putObject(bucket, `small-${n}`, small);
        }),
    });
    const before = resident(process.pid);
    const peakUp = await peakResident(process.pid, async () =>
      (await store.stage(source(size))).discard(),
    );
    const peakDown = await peakResident(process.pid, async () =>
      drained(await store.open(kept.sha256)),
    );
    const rate = (ms: number) => size / 2 ** 20 / (ms / 1000);
    const shown = `${Math.round(size / 1e6)} MB`;
    return [
      {
        name: `${shown} staged and published`,
        value: rate(measured.put + measured.publish),
        unit: "MiB/s",
        baseline: { name: "putObject", value: rate(measured.barePut) },
        wanted: { atLeast: 0.5 },
      },
      {
        name: `${shown} staged`,
        value: rate(measured.put),
        unit: "MiB/s",
        baseline: { name: "putObject", value: rate(measured.barePut) },
        wanted: { atLeast: 0.8 },
        note: "hashed besides",
      },
      {
        name: `${shown} read`,
        value: rate(measured.get),
        unit: "MiB/s",
        baseline: { name: "getObject", value: rate(measured.bareGet) },
        wanted: { atLeast: 0.8 },
      },
      {
        name: `${shown} read without a hash`,
        value: rate(measured.unhashed),
        unit: "MiB/s",
        baseline: { name: "getObject", value: rate(measured.bareGet) },
      },
      {
        name: `${SMALL} bytes staged and published`,
        value: measured.smallPut / MANY,
        unit: "ms",
        baseline: { name: "putObject", value: measured.bareSmallPut / MANY },
        note: "three calls beside one",
      },
      {
        name: `memory while ${shown} are staged`,
        value: Math.max(0.1, peakUp - before),
        unit: "MiB",
        wanted: { below: 128 },
      },
      {
        name: `memory while ${shown} are read`,
        value: Math.max(0.1, peakDown - before),
        unit: "MiB",
        wanted: { below: 128 },
      },
    ];
  } finally {
    await server.stop();
  }
};
