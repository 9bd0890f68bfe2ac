import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import type { Bench } from "./bench.js";
import { startRegistry, untilLoaded } from "./support/server.js";

/**
 * Resident memory of a registry that was started and left alone: empty, and with records in its
 * index.
 */
export const memory: Bench = async ({ sizes, stores, folder }) => {
  const resident = async (dataDir: string) => {
    const server = await startRegistry(dataDir);
    try {
      await untilLoaded(server);
      await pause(sizes.settle * 1000);
      return (
        Number(execFileSync("ps", ["-o", "rss=", "-p", String(server.pid)], { encoding: "utf8" })) /
        1024
      );
    } finally {
      await server.stop();
    }
  };
  const empty = await resident(await folder());
  const full = await resident(await stores.of(sizes.startRecords));
  return [
    { name: "idle, empty", value: empty, unit: "MiB" },
    {
      name: `idle, ${sizes.startRecords} records`,
      value: full,
      unit: "MiB",
      baseline: { name: "empty", value: empty },
      note: `${(((full - empty) * 1024) / sizes.startRecords).toFixed(1)} KiB a record`,
    },
  ];
};
