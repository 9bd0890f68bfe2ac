import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Bench } from "./bench.js";
import { Client } from "./support/client.js";
import { inPairs, median, timed } from "./support/measure.js";
import { startRegistry } from "./support/server.js";

/** How often the cost of one sync of the disk is measured. */
const SYNCS = 200;

/**
 * Durable creates: many at a time share a write to the disk, for which a single one waits alone.
 * The less the write costs, the less there is to share.
 */
export const creates: Bench = async ({ sizes, folder, load }) => {
  const { pairs, seconds, warmUp, writers } = sizes;
  const server = await startRegistry(await folder());
  try {
    const creating = (await Client.register(server)).creating();
    const side =
      (connections: number) =>
      async (length = seconds) =>
        (await load.run({ ...creating, connections, seconds: length })).perSecond;
    const sides = { many: side(writers), one: side(1) };
    await sides.many(warmUp);
    const {
      figure: many,
      baseline: one,
      ratios,
    } = await inPairs(
      pairs,
      () => sides.many(),
      () => sides.one(),
    );
    const note =
      `in ${pairs} pairs ${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)}; one create ` +
      `alone takes ${(1000 / one).toFixed(1)} ms, one sync of this disk ` +
      `${(await syncOf(await folder())).toFixed(2)} ms`;
    return [
      {
        name: `POST /dataset, ${writers} at a time`,
        value: many,
        unit: "/s",
        baseline: { name: "one at a time", value: one },
        wanted: { atLeast: 4 },
        note,
      },
    ];
  } finally {
    await server.stop();
  }
};

/** The time to sync 4 KB to the disk of a folder (ms). */
async function syncOf(folder: string): Promise<number> {
  const file = await open(join(folder, "synced"), "w");
  try {
    const times: number[] = [];
    for (let count = 0; count < SYNCS; count++) {
      await file.write(Buffer.alloc(4096, count));
      times.push(await timed(() => file.datasync()));
    }
    return median(times);
  } finally {
    await file.close();
  }
}
