import { execFile } from "node:child_process";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Bench, Figure, Surroundings } from "./bench.js";
import { Client } from "./support/client.js";
import { writeLargeArchive, type LargeArchive } from "./support/large-archive.js";
import { alternating, percentile, timed } from "./support/measure.js";
import { reads } from "./support/reads.js";
import { peakResident, resident } from "./support/resident.js";
import { startRegistry, untilLoaded, type Server } from "./support/server.js";
import { uploadFile } from "./support/upload.js";

const run = promisify(execFile);
const gigabytes = (bytes: number): string => `${(bytes / 1e9).toPrecision(2)} GB`;

/**
 * Crates with large files, in three shapes: how much the registry's memory grows during the upload;
 * and of the first shape the rate, and how long readers wait meanwhile.
 */
export const largeCrates: Bench = async (surroundings) => {
  const { crateBytes } = surroundings.sizes;
  const small = { manyBytes: 25_000, giantStored: false, zip64: true };
  return [
    ...(await rateOf(surroundings)),
    ...(await growthOf(surroundings, "in many small files", {
      ...small,
      name: "Many",
      many: Math.ceil(crateBytes / 4 / 25_000),
      giant: 0,
    })),
    ...(await growthOf(surroundings, "in one stored file, zip64", {
      ...small,
      name: "Stored",
      many: 1,
      giant: Math.ceil(crateBytes * 2.5),
      giantStored: true,
    })),
  ];
};

/** Uploads a file; returns the growth of the registry's memory meanwhile. */
async function uploaded(
  server: Server,
  client: Client,
  archive: string,
  about: string,
): Promise<Figure> {
  const idle = resident(server.pid);
  const peak = await peakResident(server.pid, () => uploadFile(client, archive));
  return {
    name: `memory growth, crate of ${about}`,
    value: Math.max(0.1, peak - idle),
    unit: "MiB",
    wanted: { below: 64 },
    note: `idle ${idle.toFixed(0)}, peak ${peak.toFixed(0)} MiB`,
  };
}

/** A registry of its own, which is removed afterwards: the disk need not hold all crates. */
async function onRegistry<Result>(
  { sizes, folder }: Surroundings,
  work: (server: Server, client: Client) => Promise<Result>,
): Promise<Result> {
  const dataDir = await folder();
  const server = await startRegistry(dataDir);
  try {
    await untilLoaded(server);
    const client = await Client.register(server);
    await pause(sizes.settle * 1000);
    return await work(server, client);
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function growthOf(
  surroundings: Surroundings,
  about: string,
  shape: LargeArchive,
): Promise<Figure[]> {
  const place = await surroundings.folder();
  const archive = join(place, "crate.zip");
  surroundings.say(`writing an archive ${about}`);
  await writeLargeArchive(archive, shape);
  const { size } = await stat(archive);
  const figure = await onRegistry(surroundings, (server, client) =>
    uploaded(server, client, archive, `${gigabytes(size)} ${about}`),
  );
  await rm(place, { recursive: true });
  return [figure];
}

/**
 * The rate of an intake, upload included, against checking the archive and hashing its members with
 * the system's own programs. Half of the crate is in files of 1 MB, half in one file.
 */
async function rateOf(surroundings: Surroundings): Promise<Figure[]> {
  const { sizes, folder, say } = surroundings;
  const place = await folder();
  const archive = (round: number) => join(place, `crate-${round}.zip`);
  say("writing archives with large files");
  const half = Math.ceil(sizes.crateBytes / 2);
  let bytes = 0;
  for (let round = 0; round < sizes.rounds; round++)
    bytes = await writeLargeArchive(archive(round), {
      name: `Round ${round}`,
      many: Math.ceil(half / 1e6),
      manyBytes: Math.min(1e6, half),
      giant: half,
      giantStored: false,
      zip64: false,
    });
  const crate = `${gigabytes(bytes)} in large files`;
  const unpacked = join(place, "unpacked");
  const programs = await run("unzip", ["-qq", archive(0), "-d", unpacked]).then(
    () => true,
    () => false,
  );
  const figures = await onRegistry(surroundings, async (server, client) => {
    const path = `${server.url}/${client.user}`;
    const quiet = await reads(path, () => pause(sizes.seconds * 1000));
    const during: number[] = [];
    const growth: Figure[] = [];
    const measured = await alternating(sizes.rounds, {
      intake: () =>
        timed(async () => {
          const upload = async () =>
            void growth.push(await uploaded(server, client, archive(growth.length), crate));
          during.push(...(await reads(path, upload)));
        }),
      programs: async () =>
        programs
          ? timed(async () => {
              await run("unzip", ["-tqq", archive(0)]);
              await run("sh", ["-c", "find . -type f -exec sha256sum {} +"], {
                cwd: unpacked,
                maxBuffer: 2 ** 28,
              });
            })
          : 0,
    });
    const rate = (ms: number): number => bytes / 1e6 / (ms / 1000);
    return [
      {
        name: `crate of ${crate}, upload to finished`,
        value: rate(measured.intake),
        unit: "MB/s",
        ...(programs
          ? {
              baseline: { name: "unzip -t and sha256sum", value: rate(measured.programs) },
              wanted: { atLeast: 0.5 },
            }
          : { note: "unzip is not installed: nothing to compare with" }),
      },
      {
        name: "p99 of reads during it",
        value: percentile(during, 0.99),
        unit: "ms",
        baseline: { name: "quiet", value: percentile(quiet, 0.99) },
        wanted: { below: 100 },
      },
      growth[0]!,
    ];
  });
  await rm(place, { recursive: true });
  return figures;
}
