import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { packageRoot } from "../src/package-root.js";
import type { Bench } from "./bench.js";
import { alternating, timed } from "./support/measure.js";
import { registryEnv, startServer } from "./support/server.js";

const CLI = join(packageRoot, "bin/arkgraph.js");
/** ms until the first 200 of /healthz. */
const STARTED_MS = 2000;

/** From the command to the first 200 of /healthz, and the help of the command line. */
export const start: Bench = async ({ sizes, stores, folder }) => {
  const [empty, full] = [await folder(), await stores.of(sizes.startRecords)];
  const sides = {
    bare: () => timed(() => ended("-e", "0")),
    help: () => timed(() => ended(CLI, "--help")),
    empty: () => untilHealthy(empty),
    full: () => untilHealthy(full),
  };
  // The first start makes keys and tables and warms the disk's cache.
  for (let round = 0; round < sizes.warmStarts; round++)
    for (const warm of Object.values(sides)) await warm();
  const measured = await alternating(sizes.starts, sides);
  const started = (name: string, value: number) => ({
    name,
    value,
    unit: "ms",
    wanted: { below: STARTED_MS },
  });
  return [
    started("npm start, empty", measured.empty),
    started(`npm start, ${sizes.startRecords} records`, measured.full),
    {
      name: "arkgraph --help",
      value: measured.help,
      unit: "ms",
      baseline: { name: "node -e 0", value: measured.bare },
      wanted: { atMost: 2.5 },
    },
  ];
};

async function untilHealthy(dataDir: string): Promise<number> {
  const began = performance.now();
  const server = await startServer("npm", ["start"], registryEnv(dataDir));
  try {
    while ((await fetch(`${server.url}/healthz`)).status !== 200) await pause(5);
    return performance.now() - began;
  } finally {
    await server.stop();
  }
}

async function ended(...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`node ${args.join(" ")} ended with ${code}`);
}
