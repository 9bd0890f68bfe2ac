import type { Killable } from "./killable.js";
import type { RegistryClient } from "./registry-client.js";
import { RegistryProcess } from "./registry-process.js";
import type { Role } from "./roles.js";
import { Topology } from "./topology.js";

const NODES_OF_A_ROLE = 2;
/** Settings with which a node soon notices the loss of other nodes. */
const WATCHFUL = { STALLED_INTERVAL: "300ms", RECONCILE_INTERVAL: "500ms", JOB_BACKOFF: "50ms" };

/** Two nodes of each role, one of which dies while the others go on. */
export class KillableCluster implements Killable {
  readonly stores: Readonly<Record<string, string>>;
  readonly survivors: RegistryClient;
  readonly #ends = new WeakMap<RegistryProcess, Promise<void>>();

  readonly #cluster: Topology;
  #env: Readonly<Record<string, string>>;

  private constructor(cluster: Topology, env: Readonly<Record<string, string>>) {
    this.#cluster = cluster;
    this.#env = env;

    this.stores = cluster.servers.env;
    this.survivors = cluster;
  }

  static async start(env: Readonly<Record<string, string>>): Promise<KillableCluster> {
    const settings = { ...WATCHFUL, ...env };
    return new KillableCluster(await Topology.start({ apis: 0, workers: 0 }), settings);
  }

  besides(role: Role): Readonly<Record<string, string>> {
    return { ...this.stores, ROLE: role, BASE_URL: this.#cluster.url, ...this.#env };
  }

  staging(): Promise<string[]> {
    return this.#cluster.staging();
  }

  running(role: Role): RegistryProcess {
    return (role === "api" ? this.#cluster.apis : this.#cluster.workers).find(
      ({ alive }) => alive,
    )!;
  }

  get announced(): string {
    return this.#alive()
      .map(({ announced }) => announced)
      .join("");
  }

  get log(): string {
    return this.#alive()
      .map(({ log }) => log)
      .join("");
  }

  async whole(): Promise<RegistryClient> {
    await Promise.all(
      (
        [
          ["api", this.#cluster.apis],
          ["worker", this.#cluster.workers],
        ] as const
      ).flatMap(([role, nodes]) =>
        Array.from({ length: NODES_OF_A_ROLE }, async (_, at) => {
          if (nodes[at]?.alive) return;
          await nodes[at]?.remove();
          nodes[at] = await RegistryProcess.start({ env: { ...this.besides(role) } });
        }),
      ),
    );
    return this.#cluster;
  }

  configure(env: Readonly<Record<string, string>>): void {
    this.#env = { ...this.#env, ...env };
  }

  death(): Promise<void> {
    return Promise.race(
      this.#alive().map((node) => {
        // Listened to once: a node may outlive many.
        const end = this.#ends.get(node) ?? node.ended();
        this.#ends.set(node, end);
        return end;
      }),
    );
  }

  async kill(at?: string): Promise<void> {
    const one = (nodes: readonly RegistryProcess[]) =>
      nodes[Math.floor(Math.random() * nodes.length)]!;
    const worker =
      at === undefined
        ? one(this.#cluster.workers)
        : this.#cluster.workers.find(({ alive, log }) => alive && log.includes(at));
    if (!worker) throw new Error(`no worker works on ${at}`);
    await Promise.all([one(this.#cluster.apis).kill(), worker.kill()]);
  }

  terminate(): Promise<(number | null)[]> {
    return Promise.all(this.#alive().map(async (node) => (await node.terminate()).status));
  }

  async remove(): Promise<void> {
    await Promise.all(this.#alive().map((node) => node.kill()));
    await this.#cluster.stop();
  }

  #alive(): RegistryProcess[] {
    return [...this.#cluster.apis, ...this.#cluster.workers].filter(({ alive }) => alive);
  }
}
