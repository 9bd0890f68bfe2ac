import { execFile } from "node:child_process";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Bench, Figure } from "./bench.js";
import { Client } from "./support/client.js";
import { writeLargeArchive, type LargeArchive } from "./support/large-archive.js";
import { alternating, median, percentile, timed } from "./support/measure.js";
import { reads } from "./support/reads.js";
import { peakResident, resident } from "./support/resident.js";
import { startRegistry, untilLoaded } from "./support/server.js";
import { uploadFile } from "./support/upload.js";

const run = promisify(execFile);

/**
 * How much the registry grows by taking in archives of any size: of many members, of a giant one,
 * deflated, stored, in zip64.
 */
export const crateMemory: Bench = async ({ sizes, folder, say }) => {
  const archive = join(await folder(), "crate.zip");
  const { memoryBytes } = sizes;
  const shapes: (LargeArchive & { about: string })[] = [
    {
      name: "Many",
      about: "many deflated members",
      many: Math.ceil(memoryBytes / 10 / 25_000),
      manyBytes: 25_000,
      giant: 0,
      giantStored: false,
      zip64: true,
    },
    {
      name: "Giant",
      about: "one deflated member",
      many: 1,
      manyBytes: 1000,
      giant: Math.ceil(memoryBytes / 2),
      giantStored: false,
      zip64: true,
    },
    {
      name: "All",
      about: "many deflated, a giant stored one",
      many: Math.ceil(memoryBytes / 20 / 25_000),
      manyBytes: 25_000,
      giant: Math.ceil(memoryBytes * 0.95),
      giantStored: true,
      zip64: true,
    },
  ];
  const figures: Figure[] = [];
  for (const { about, ...shape } of shapes) {
    say(`writing an archive of ${about}`);
    const bytes = await writeLargeArchive(archive, shape);
    const size = (await stat(archive)).size;
    const dataDir = await folder();
    const server = await startRegistry(dataDir);
    try {
      await untilLoaded(server);
      const client = await Client.register(server);
      await pause(sizes.settle * 1000);
      const idle = resident(server.pid);
      let seconds = 0;
      const peak = await peakResident(
        server.pid,
        async () => (seconds = (await timed(() => uploadFile(client, archive))) / 1000),
      );
      figures.push({
        name: `growth, ${(size / 1e9).toPrecision(2)} GB of ${about}`,
        value: Math.max(0.1, peak - idle),
        unit: "MiB",
        wanted: { below: 64 },
        note:
          `idle ${idle.toFixed(0)}, peak ${peak.toFixed(0)} MiB; ` +
          `${(bytes / 1e9).toPrecision(2)} GB inside, in ${seconds.toFixed(0)} s`,
      });
    } finally {
      await server.stop();
      // The disk need not hold all of them at a time.
      await rm(dataDir, { recursive: true, force: true });
      await rm(archive, { force: true });
    }
  }
  return figures;
};

/**
 * The rate of an intake, upload included, against checking the archive and hashing its members with
 * the system's own programs.
 */
export const crateRate: Bench = async ({ sizes, folder, say }) => {
  const place = await folder();
  const server = await startRegistry(await folder());
  const archive = (round: number) => join(place, `crate-${round}.zip`);
  try {
    await untilLoaded(server);
    const client = await Client.register(server);
    const path = `/${client.user}`;
    say("writing archives");
    const half = Math.ceil(sizes.payloadBytes / 2);
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
    const rate = (ms: number): number => bytes / 1e6 / (ms / 1000);
    const unpacked = join(place, "unpacked");
    const programs = await run("unzip", ["-qq", archive(0), "-d", unpacked]).then(
      () => true,
      () => false,
    );
    const quiet = await reads(server.url + path, () => pause(sizes.seconds * 1000));
    const during: number[] = [];
    let uploads = 0;
    const sides = {
      intake: () =>
        timed(async () =>
          during.push(
            ...(await reads(server.url + path, () => uploadFile(client, archive(uploads++)))),
          ),
        ),
      ...(programs
        ? {
            check: () => timed(() => run("unzip", ["-tqq", archive(0)])),
            hash: () =>
              timed(() =>
                run("sh", ["-c", `find . -type f -exec sha256sum {} +`], {
                  cwd: unpacked,
                  maxBuffer: 2 ** 28,
                }),
              ),
          }
        : {}),
    };
    const measured = await alternating<"intake" | "check" | "hash">(
      sizes.rounds,
      sides as Required<typeof sides>,
    );
    return [
      {
        name: `crate of ${(bytes / 1e9).toPrecision(2)} GB, upload to finished`,
        value: rate(measured.intake),
        unit: "MB/s",
        ...(programs
          ? {
              baseline: {
                name: "unzip -t and sha256sum",
                value: rate(measured.check + measured.hash),
              },
              wanted: { atLeast: 0.5 },
            }
          : { note: "unzip is not installed: nothing to compare with" }),
      },
      {
        name: `p99 of reads during a crate of ${(bytes / 1e9).toPrecision(2)} GB`,
        value: percentile(during, 0.99),
        unit: "ms",
        baseline: { name: "quiet", value: percentile(quiet, 0.99) },
        wanted: { below: 50 },
        note:
          `median ${median(during).toFixed(1)} ms, longest ${Math.max(...during).toFixed(1)} ` +
          `ms of ${during.length} reads`,
      },
    ];
  } finally {
    await server.stop();
    for (const name of await readdir(place))
      await rm(join(place, name), { recursive: true, force: true });
  }
};
