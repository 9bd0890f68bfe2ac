import { fileURLToPath } from "node:url";
import type { Bench } from "./bench.js";
import { randomPaths } from "./support/documents.js";
import { alternating } from "./support/measure.js";
import { startNode, startRegistry, untilLoaded, type Server } from "./support/server.js";

/**
 * GET /ark:… of 1 KB records against a bare Express handler that sends the bytes of one of them
 * from memory; and the same in a small and in a large store, which should make no difference.
 */
export const resolve: Bench = async ({ sizes, stores, load, say }) => {
  const { rounds, seconds, warmUp, connections, keys, fewRecords, manyRecords } = sizes;
  const servers: Server[] = [];
  const started = async (server: Promise<Server>) => {
    servers.push(await server);
    return servers.at(-1)!;
  };
  try {
    const few = await started(startRegistry(await stores.of(fewRecords)));
    const many = await started(startRegistry(await stores.of(manyRecords)));
    const fewPaths = randomPaths(keys, fewRecords);
    const bytes = Buffer.from(await (await fetch(few.url + fewPaths[0]!)).arrayBuffer());
    const express = await started(
      startNode([
        fileURLToPath(new URL("baselines/express.js", import.meta.url)),
        bytes.toString("base64"),
      ]),
    );
    await Promise.all([untilLoaded(few), untilLoaded(many)]);
    say(`both graph indexes are loaded; records of ${bytes.length} bytes`);

    const side =
      ({ url }: Server, paths: string[]) =>
      async (length = seconds) =>
        (await load.run({ url, connections, seconds: length, paths })).perSecond;
    const sides = {
      express: side(express, fewPaths),
      few: side(few, fewPaths),
      many: side(many, randomPaths(keys, manyRecords)),
      derived: side(many, randomPaths(keys, manyRecords, "read")),
    };
    for (const warm of Object.values(sides)) await warm(warmUp);
    const measured = await alternating(rounds, {
      express: () => sides.express(),
      few: () => sides.few(),
      many: () => sides.many(),
      derived: () => sides.derived(),
    });
    const baseline = { name: "bare Express 5, same bytes", value: measured.express };
    return [
      {
        name: `resolve, ${fewRecords} records`,
        value: measured.few,
        unit: "/s",
        baseline,
        wanted: { atLeast: 0.35 },
      },
      {
        name: `resolve, ${manyRecords} records`,
        value: measured.many,
        unit: "/s",
        baseline,
        wanted: { atLeast: 0.35 },
      },
      {
        name: `resolve, ${manyRecords} records`,
        value: measured.many,
        unit: "/s",
        baseline: { name: `${fewRecords} records`, value: measured.few },
        wanted: { atLeast: 0.8 },
      },
      { name: "resolve, with a derived entry", value: measured.derived, unit: "/s", baseline },
    ];
  } finally {
    for (const server of servers) await server.stop();
  }
};
