import { clusterInstalled, Topology } from "../test/support/topology.js";
import type { Bench, Figure, Surroundings } from "./bench.js";
import { Client } from "./support/client.js";
import { crateMetadata, zipped } from "./support/crate.js";
import { alternating } from "./support/measure.js";
import { startRegistry, untilLoaded } from "./support/server.js";

/** Nodes that ingest crates; each new node is set up beside the running ones. */
const WORKERS = [1, 2, 4];

/**
 * A cluster over real servers, all on this machine: the cost of a record compared with one process,
 * and the gain of further workers.
 */
export const cluster: Bench = async (surroundings) => {
  if (!clusterInstalled) {
    surroundings.say("the servers of a cluster are not all installed: nothing is measured");
    return [];
  }
  const topology = await Topology.start({ apis: 1, workers: 0 });
  try {
    const client = await Client.register(topology.apis[0]!);
    return [
      ...(await besideSingle(client, surroundings)),
      ...(await intake(topology, client, surroundings)),
    ];
  } finally {
    await topology.stop();
  }
};

async function besideSingle(
  client: Client,
  { sizes, folder, load }: Surroundings,
): Promise<Figure[]> {
  const { rounds, seconds, warmUp, writers, connections } = sizes;
  const single = await startRegistry(await folder());
  try {
    await untilLoaded(single);
    const alone = await Client.register(single);
    const creates =
      (by: Client) =>
      async (length = seconds) =>
        (await load.run({ ...by.creating(), connections: writers, seconds: length })).perSecond;
    const sides = { cluster: creates(client), single: creates(alone) };
    await sides.cluster(warmUp);
    await sides.single(warmUp);
    const created = await alternating(rounds, {
      cluster: () => sides.cluster(),
      single: () => sides.single(),
    });
    const read = async (of: Client) => {
      const ark = (await of.create("/dataset", JSON.parse(of.creating().body) as object))["@id"];
      return async () =>
        (await load.run({ url: `${of.url}/${ark}`, connections, seconds })).perSecond;
    };
    const found = await alternating(rounds, {
      cluster: await read(client),
      single: await read(alone),
    });
    const figure = (name: string, one: number, other: number): Figure => ({
      name,
      value: one,
      unit: "/s",
      baseline: { name: "profile single", value: other },
    });
    return [
      figure(`POST /dataset of a cluster, ${writers} at a time`, created.cluster, created.single),
      figure("GET /ark:… of a cluster", found.cluster, found.single),
    ];
  } finally {
    await single.stop();
  }
}

async function intake(
  topology: Topology,
  client: Client,
  { sizes }: Surroundings,
): Promise<Figure[]> {
  const rates: number[] = [];
  let number = 0;
  const counts = WORKERS.filter((workers) => workers <= sizes.clusterWorkers);
  for (const workers of counts) {
    while (topology.workers.length < workers) await topology.addWorker();
    const archives = await Promise.all(
      Array.from({ length: sizes.clusterCrates }, () =>
        zipped(crateMetadata(sizes.clusterEntities, `Crate ${number++} of a cluster`)),
      ),
    );
    const began = performance.now();
    await Promise.all(archives.map((archive) => client.upload(archive)));
    rates.push(sizes.clusterCrates / ((performance.now() - began) / 1000));
  }
  return counts.map((workers, index) => ({
    name: `crates of ${sizes.clusterEntities} entities, ${workers} worker${workers > 1 ? "s" : ""}`,
    value: rates[index]!,
    unit: "/s",
    baseline: { name: "one worker", value: rates[0]! },
  }));
}
