import { join } from "node:path";
import { minioMissing } from "./servers/minio.js";
import { RegistryProcess } from "./registry-process.js";
import { isCluster } from "./roles.js";
import { SmallDisk } from "./small-disk.js";
import { Topology } from "./topology.js";
import type { RegistryUnderTest } from "./under-test.js";

/**
 * The parts of a registry that can be on a disk of their own: of one process none, of a cluster the
 * data of each of its servers.
 */
export type Disk = "all" | "tables" | "log" | "objects" | "queue" | "nodes";
/**
 * The disks that a registry needs for its records, for the bytes of uploads, and for starting jobs.
 */
export const NEEDED: Readonly<Record<"records" | "objects" | "queue", readonly Disk[]>> = isCluster
  ? { records: ["tables", "log"], objects: ["objects", "nodes"], queue: ["queue"] }
  : { records: ["all"], objects: ["all"], queue: [] };
/**
 * MiB. PostgreSQL's tables take 30 while they are empty, a segment of its log takes 16; nodes
 * store bytes on their way to and from the object store.
 */
const SIZES: Readonly<Record<Disk, number>> = {
  all: 24,
  tables: 96,
  log: 80,
  objects: 32,
  queue: 16,
  nodes: 64,
};

/** A registry whose disks are small. */
export interface CrampedRegistry {
  registry: RegistryUnderTest;
  disk(name: Disk): SmallDisk;
  /** Makes space on every disk. */
  clear(): Promise<void>;
  /** The operator's steps beside freeing space: starts a server again that the full disk ended. */
  repair(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * One process on one small disk, or with TEST_TOPOLOGY=cluster two nodes of each role whose servers
 * have one each. Returns nothing where that is not possible.
 */
export async function startCramped(
  env: Readonly<Record<string, string>>,
): Promise<CrampedRegistry | undefined> {
  if (isCluster && minioMissing !== undefined)
    return void process.emitWarning(`tests of full disks are left out: ${minioMissing}`);
  const disks = new Map<Disk, SmallDisk>();
  const unmount = async (): Promise<void> => {
    for (const disk of disks.values()) await disk.unmount();
  };
  for (const name of new Set(Object.values(NEEDED).flat())) {
    const disk = await SmallDisk.mount(SIZES[name]);
    if (!disk) return void (await unmount());
    disks.set(name, disk);
  }
  const folder = (name: Disk): string => disks.get(name)!.folder;
  const start = async (): Promise<RegistryUnderTest> => {
    if (!isCluster)
      return RegistryProcess.start({ dataDir: join(folder("all"), "data"), env: { ...env } });
    return Topology.start({
      env: { TMPDIR: folder("nodes"), ...env },
      disks: {
        nodes: folder("nodes"),
        tables: folder("tables"),
        log: folder("log"),
        objects: folder("objects"),
        queue: folder("queue"),
      },
    });
  };
  try {
    const registry = await start();
    return {
      registry,
      disk: (name) => disks.get(name)!,
      async clear() {
        await Promise.all(
          Object.values(NEEDED)
            .flat()
            .map((name) => disks.get(name)!.clear()),
        );
      },
      async repair() {
        if (registry instanceof Topology) await registry.servers.postgres.repair();
      },
      async stop() {
        await registry.stop().finally(unmount);
      },
    };
  } catch (error) {
    await unmount();
    throw error;
  }
}
