import { setTimeout as pause } from "node:timers/promises";
import type { Bench } from "./bench.js";
import { Client } from "./support/client.js";
import { crateMetadata, zipped } from "./support/crate.js";
import { median, percentile } from "./support/measure.js";
import { reads } from "./support/reads.js";
import { startRegistry, untilLoaded } from "./support/server.js";

/**
 * How long a reader waits for a record: on a quiet registry, during many concurrent creates, while
 * the registry ingests a large crate.
 */
export const readsWhileWriting: Bench = async ({ sizes, folder, load }) => {
  const server = await startRegistry(await folder());
  try {
    await untilLoaded(server);
    const client = await Client.register(server);
    const creating = client.creating();
    const path = `/${(await client.create("/dataset", JSON.parse(creating.body) as object))["@id"]}`;
    await load.run({ ...creating, connections: sizes.writers, seconds: sizes.warmUp });
    const quiet: number[] = [];
    const creates: number[] = [];
    const crate: number[] = [];
    for (let round = 0; round < sizes.rounds; round++) {
      quiet.push(...(await reads(server.url + path, () => pause(sizes.seconds * 1000))));
      creates.push(
        ...(await reads(server.url + path, () =>
          load.run({ ...creating, connections: sizes.writers, seconds: sizes.seconds }),
        )),
      );
      const archive = await zipped(crateMetadata(sizes.entities, `Crate ${round}`));
      crate.push(...(await reads(server.url + path, () => client.upload(archive))));
    }
    const figure = (name: string, all: readonly number[], wanted?: { below: number }) => ({
      name,
      value: percentile(all, 0.99),
      unit: "ms",
      baseline: { name: "quiet", value: percentile(quiet, 0.99) },
      ...(wanted ? { wanted } : {}),
      note:
        `median ${median(all).toFixed(1)} ms, longest ${Math.max(...all).toFixed(1)} ms of ` +
        `${all.length} reads`,
    });
    return [
      figure(`p99 of reads during ${sizes.writers} creates at a time`, creates, { below: 50 }),
      figure(`p99 of reads during a crate of ${sizes.entities} entities`, crate, { below: 50 }),
    ];
  } finally {
    await server.stop();
  }
};
