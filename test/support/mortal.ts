import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RegistryClient } from "./registry-client.js";
import { RegistryProcess } from "./registry-process.js";
import { Topology } from "./topology.js";

const isCluster = process.env["TEST_TOPOLOGY"] === "cluster";
/** What the processes of a registry do: the one there is everything, or those of a cluster each its part. */
export const ROLES: readonly ("all" | "api" | "worker")[] = isCluster ? ["api", "worker"] : ["all"];
export type Role = (typeof ROLES)[number];

/** A registry whose processes die, and are started again on what they left. */
export interface Mortal {
  /** Settings that lead to its stores. */
  readonly stores: Readonly<Record<string, string>>;
  /** Settings of another process of this role: beside the nodes of a cluster, over their stores; the one process shares nothing, another one has data of its own. */
  besides(role: Role): Readonly<Record<string, string>>;
  /** What those that run have written to standard output. */
  readonly announced: string;
  /** Where it is spoken to while something of it is dead; `undefined` when that was all of it. */
  readonly survivors: RegistryClient | undefined;
  /** Starts what does not run; answers where it is spoken to now. @param at address of before that it is to have again; that of a cluster stays */
  whole(at?: string): Promise<RegistryClient>;
  /** Names of half-received uploads; where others cannot see them, none. */
  staging: (() => Promise<string[]>) | undefined;
  /** The same of one that was started {@link besides}, as soon as they are more than a first part. */
  stagingOf(besides: RegistryProcess): Promise<string[]>;
  /** Resolves when a process has died that ran when this was asked. */
  death(): Promise<void>;
  /** Ends processes as a power cut would: the one that there is, or one of those that take requests and one of those that work. */
  kill(): Promise<void>;
  /** Ends every process as an operator would; the stores stay. Answers their exit statuses. */
  terminate(): Promise<(number | null)[]>;
  /** Kills what still runs and removes the stores. */
  remove(): Promise<void>;
}

/** One process, or with TEST_TOPOLOGY=cluster two nodes of each role over real servers, none of which runs yet. */
export const startMortal = (env: Readonly<Record<string, string>>): Promise<Mortal> => (isCluster ? MortalCluster.start(env) : MortalProcess.start(env));

class MortalProcess implements Mortal {
  readonly survivors = undefined;
  #running: RegistryProcess | undefined;
  readonly stores: Readonly<Record<string, string>>;
  readonly staging = (): Promise<string[]> => this.#running!.staging();

  private constructor(private readonly dataDir: string, private readonly env: Readonly<Record<string, string>>) {
    this.stores = { DATA_DIR: dataDir };
  }

  static async start(env: Readonly<Record<string, string>>): Promise<MortalProcess> {
    return new MortalProcess(await mkdtemp(join(tmpdir(), "arkgraph-mortal-")), env);
  }

  besides(): Readonly<Record<string, string>> {
    return {};
  }

  get announced(): string {
    return this.#running!.announced;
  }

  stagingOf(besides: RegistryProcess): Promise<string[]> {
    return besides.staging();
  }

  async whole(at?: string): Promise<RegistryClient> {
    const env = { ...this.env, ...(at !== undefined && { PORT: new URL(at).port }) };
    return (this.#running = this.#running?.alive ? this.#running : await RegistryProcess.start({ dataDir: this.dataDir, env }));
  }

  death(): Promise<void> {
    return this.#running!.ended();
  }

  kill(): Promise<void> {
    return this.#running!.kill();
  }

  async terminate(): Promise<(number | null)[]> {
    return [(await this.#running!.terminate()).status];
  }

  async remove(): Promise<void> {
    if (this.#running?.alive) await this.#running.kill();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

const NODES_OF_A_ROLE = 2;
/** Settings with which a node notices soon what became of others. */
const WATCHFUL = { STALLED_INTERVAL: "300ms", RECONCILE_INTERVAL: "500ms", JOB_BACKOFF: "50ms" };

class MortalCluster implements Mortal {
  /** What a node has received of an upload is in its memory until it makes a part. */
  readonly staging = undefined;
  readonly stores: Readonly<Record<string, string>>;
  readonly survivors: RegistryClient;
  readonly #ends = new WeakMap<RegistryProcess, Promise<void>>();

  private constructor(private readonly cluster: Topology, private readonly env: Readonly<Record<string, string>>) {
    this.stores = cluster.servers.env;
    this.survivors = cluster;
  }

  static async start(env: Readonly<Record<string, string>>): Promise<MortalCluster> {
    const settings = { ...WATCHFUL, ...env };
    return new MortalCluster(await Topology.start({ apis: 0, workers: 0 }), settings);
  }

  besides(role: Role): Readonly<Record<string, string>> {
    return { ...this.stores, ROLE: role, BASE_URL: this.cluster.url, ...this.env };
  }

  stagingOf(): Promise<string[]> {
    return this.cluster.staging();
  }

  get announced(): string {
    return this.#alive().map(({ announced }) => announced).join("");
  }

  async whole(): Promise<RegistryClient> {
    await Promise.all(([["api", this.cluster.apis], ["worker", this.cluster.workers]] as const).flatMap(([role, nodes]) =>
      Array.from({ length: NODES_OF_A_ROLE }, async (_, at) => {
        if (nodes[at]?.alive) return;
        await nodes[at]?.remove();
        nodes[at] = await RegistryProcess.start({ env: { ...this.besides(role) } });
      })));
    return this.cluster;
  }

  death(): Promise<void> {
    return Promise.race(this.#alive().map((node) => {
      // Listened to once: a node may outlive many.
      const end = this.#ends.get(node) ?? node.ended();
      this.#ends.set(node, end);
      return end;
    }));
  }

  async kill(): Promise<void> {
    const one = (nodes: readonly RegistryProcess[]) => nodes[Math.floor(Math.random() * nodes.length)]!;
    await Promise.all([one(this.cluster.apis).kill(), one(this.cluster.workers).kill()]);
  }

  terminate(): Promise<(number | null)[]> {
    return Promise.all(this.#alive().map(async (node) => (await node.terminate()).status));
  }

  async remove(): Promise<void> {
    await Promise.all(this.#alive().map((node) => node.kill()));
    await this.cluster.stop();
  }

  #alive(): RegistryProcess[] {
    return [...this.cluster.apis, ...this.cluster.workers].filter(({ alive }) => alive);
  }
}
