import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KillableCluster } from "./killable-cluster.js";
import type { RegistryClient } from "./registry-client.js";
import { RegistryProcess } from "./registry-process.js";
import { isCluster, type Role } from "./roles.js";

/** A registry whose processes are killed, and started again on the same stores. */
export interface Killable {
  /** Settings that lead to its stores. */
  readonly stores: Readonly<Record<string, string>>;
  /**
   * Settings of another process of this role: beside the nodes of a cluster, over their stores; the
   * one process shares nothing, another one has data of its own.
   */
  besides(role: Role): Readonly<Record<string, string>>;
  /** A running process, in this role. */
  running(role: Role): RegistryProcess;
  /** The standard output of the running processes. */
  readonly announced: string;
  /** The standard error of the running processes. */
  readonly log: string;
  /** Where it is spoken to while something of it is dead; `undefined` when that was all of it. */
  readonly survivors: RegistryClient | undefined;
  /**
   * Starts the processes that do not run; returns the current address.
   * @param at the earlier address, to be used again; that of a cluster stays
   */
  whole(at?: string): Promise<RegistryClient>;
  /**
   * Further settings of the processes started from now on, besides or in place of the earlier ones;
   * empty: not set.
   */
  configure(env: Readonly<Record<string, string>>): void;
  /** Files of half-received uploads. */
  staging(): Promise<string[]>;
  /** Resolves when a process has died that ran when this was asked. */
  death(): Promise<void>;
  /**
   * Ends processes as a power cut would: the only one, or one that accepts requests and one that
   * runs jobs.
   * @param at the submission that the latter runs, according to its log (LOG_LEVEL=info)
   */
  kill(at?: string): Promise<void>;
  /** Ends every process as an operator would; the stores stay. Answers their exit statuses. */
  terminate(): Promise<(number | null)[]>;
  /** Kills all running processes and removes the stores. */
  remove(): Promise<void>;
}

/**
 * One process, or with TEST_TOPOLOGY=cluster two nodes of each role over real servers, none of
 * which runs yet.
 */
export const startKillable = (env: Readonly<Record<string, string>>): Promise<Killable> =>
  isCluster ? KillableCluster.start(env) : KillableProcess.start(env);

class KillableProcess implements Killable {
  readonly survivors = undefined;
  #running: RegistryProcess | undefined;
  readonly stores: Readonly<Record<string, string>>;

  readonly #dataDir: string;
  #env: Readonly<Record<string, string>>;

  private constructor(dataDir: string, env: Readonly<Record<string, string>>) {
    this.#dataDir = dataDir;
    this.#env = env;

    this.stores = { DATA_DIR: dataDir };
  }

  static async start(env: Readonly<Record<string, string>>): Promise<KillableProcess> {
    return new KillableProcess(await mkdtemp(join(tmpdir(), "arkgraph-mortal-")), env);
  }

  besides(): Readonly<Record<string, string>> {
    return {};
  }

  running(): RegistryProcess {
    return this.#running!;
  }

  get announced(): string {
    return this.#running!.announced;
  }

  get log(): string {
    return this.#running!.log;
  }

  staging(): Promise<string[]> {
    return this.#running!.staging();
  }

  async whole(at?: string): Promise<RegistryClient> {
    const env = { ...this.#env, ...(at !== undefined && { PORT: new URL(at).port }) };
    return (this.#running = this.#running?.alive
      ? this.#running
      : await RegistryProcess.start({ dataDir: this.#dataDir, env }));
  }

  configure(env: Readonly<Record<string, string>>): void {
    this.#env = { ...this.#env, ...env };
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
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}
