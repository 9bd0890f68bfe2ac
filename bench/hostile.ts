import { setTimeout as pause } from "node:timers/promises";
import type { Bench } from "./bench.js";
import { Client } from "./support/client.js";
import { sendHostile } from "./support/hostile-load.js";
import { median, percentile } from "./support/measure.js";
import { reads } from "./support/reads.js";
import { startRegistry, untilLoaded } from "./support/server.js";

/** Hostile requests that are under way at a time. */
const AT_ONCE = 8;

/**
 * How long a reader waits for a record while others send requests that are large, deep, wide, slow
 * and repeated, with and without a token.
 */
export const hostile: Bench = async ({ sizes, folder }) => {
  const server = await startRegistry(await folder());
  try {
    await untilLoaded(server);
    const client = await Client.register(server);
    const record = (await client.create("/dataset", JSON.parse(client.creating().body) as object))[
      "@id"
    ];
    const path = `${server.url}/${record}`;
    const quiet: number[] = [];
    const attacked: number[] = [];
    const own: number[] = [];
    let statuses = "";
    for (let round = 0; round < sizes.rounds; round++) {
      for (const time of await reads(path, () => pause(sizes.seconds * 1000))) quiet.push(time);
      const attack = async () => {
        const result = await sendHostile({
          url: server.url,
          token: client.token,
          user: client.user,
          record,
          seed: round + 1,
          count: sizes.hostile,
          atOnce: AT_ONCE,
        });
        if (result.faults.length > 0)
          throw new Error(`hostile requests ended in faults: ${result.faults.join("; ")}`);
        statuses = Object.entries(result.statuses)
          .map(([status, count]) => `${count} × ${status}`)
          .join(", ");
      };
      for (const time of await reads(path, attack)) attacked.push(time);
      for (const time of await reads(path, attack, server.pid)) own.push(time);
    }
    return [
      {
        name: `p99 of reads during ${sizes.hostile} hostile requests, ${AT_ONCE} at a time`,
        value: percentile(attacked, 0.99),
        unit: "ms",
        baseline: { name: "quiet", value: percentile(quiet, 0.99) },
        wanted: { below: 50 },
        note:
          `median ${median(attacked).toFixed(1)} ms, longest ` +
          `${attacked.reduce((most, time) => Math.max(most, time), 0).toFixed(1)} ms of ` +
          `${attacked.length} reads; last answers ${statuses}`,
      },
      {
        name: "the same without what the registry and the reader waited for a core",
        value: percentile(own, 0.99),
        unit: "ms",
        wanted: { below: 50 },
        note:
          `longest ${own.reduce((most, time) => Math.max(most, time), 0).toFixed(1)} ms of ` +
          `${own.length} reads`,
      },
    ];
  } finally {
    await server.stop();
  }
};
