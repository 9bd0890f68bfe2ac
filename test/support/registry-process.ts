import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packageRoot } from "../../src/package-root.js";
import { COMPILE_LESS } from "./compile-less.js";
import { RegistryClient } from "./registry-client.js";

const ENDS_WITH_US =
  spawnSync("setpriv", ["--pdeathsig", "KILL", "true"]).status === 0
    ? ["setpriv", "--pdeathsig", "KILL"]
    : [];
/** A start may load threads and WASM on a busy machine. */
const START = 120_000;
/** In a test run; what a bench measures runs as it is. */
const V8 = process.env["TEST_RUN"] === undefined ? [] : COMPILE_LESS;
/** The time within which a process must stop. */
const STOP = 10_000;

export interface StartOptions {
  /** Data of an earlier start; default a new folder, removed by {@link RegistryProcess.stop}. */
  dataDir?: string;
  env?: Record<string, string>;
  /** The script to run, in the package; the default is that of `npm start`. */
  program?: string;
}

/** The registry as its users run it: a process of its own, spoken to over HTTP only. */
export class RegistryProcess extends RegistryClient {
  readonly #child: ChildProcess;
  readonly #output: { stdout: string; stderr: string };

  private constructor(
    url: string,
    readonly dataDir: string,
    child: ChildProcess,
    output: { stdout: string; stderr: string },
  ) {
    super(url);
    this.#child = child;
    this.#output = output;
  }

  /** @throws when the process ends before it listens, with its output */
  static async start({ dataDir, env, program }: StartOptions = {}): Promise<RegistryProcess> {
    const folder = dataDir ?? (await mkdtemp(join(tmpdir(), "arkgraph-e2e-")));
    const { child, output } = spawnRegistry(folder, env, program);
    const deadline = Date.now() + START;
    for (;;) {
      const url = /^Arkgraph listens at (\S+)$/m.exec(output.stdout)?.[1];
      if (url !== undefined) return new RegistryProcess(url, folder, child, output);
      const ended = child.exitCode !== null || child.signalCode !== null;
      if (ended || Date.now() > deadline) {
        child.kill("SIGKILL");
        // Its last output may still be on its way.
        await Promise.race([once(child, "close"), sleep(500)]);
        if (dataDir === undefined) await rm(folder, { recursive: true, force: true });
        throw new Error(
          "the registry did not start " +
            `(${ended ? `status ${child.exitCode}, signal ${child.signalCode}` : `nothing in ${START} ms`}): ` +
            `${output.stdout}${output.stderr}`,
        );
      }
      await sleep(10);
    }
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Resolves when it has ended, for any reason. */
  async ended(): Promise<void> {
    await this.#gone();
  }

  get log(): string {
    return this.#output.stderr;
  }

  get announced(): string {
    return this.#output.stdout;
  }

  /**
   * Ends it as an operator would; answers the exit status and how long that took. Past the promised
   * time it is killed.
   */
  async terminate(): Promise<{ status: number | null; ms: number }> {
    const began = Date.now();
    const gone = this.#gone();
    this.#child.kill("SIGTERM");
    const last = setTimeout(() => this.#child.kill("SIGKILL"), STOP);
    await gone;
    clearTimeout(last);
    return { status: this.#child.exitCode, ms: Date.now() - began };
  }

  /** SIGSTOP holds it as it is, SIGCONT lets it go on. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it as a power cut would; its data stays. */
  async kill(): Promise<void> {
    const gone = this.#gone();
    this.#child.kill("SIGKILL");
    await gone;
  }

  /** For `afterAll`: stops it, reports the fault when that was not clean, and removes its data. */
  async stop(): Promise<void> {
    const wasAlive = this.alive;
    const { status } = wasAlive ? await this.terminate() : { status: 0 };
    await this.remove();
    if (status !== 0)
      throw new Error(`the registry ended with status ${status}: ${this.log.slice(-2000)}`);
  }

  async remove(): Promise<void> {
    await rm(this.dataDir, { recursive: true, force: true });
  }

  /** Files of half-received uploads; none may outlive its request. */
  async staging(): Promise<string[]> {
    const folders = [join(this.dataDir, "objects", "staging"), join(this.dataDir, "staging")];
    const names = await Promise.all(
      folders.map((folder) =>
        readdir(folder).catch((error: NodeJS.ErrnoException) => {
          // A registry has one of them: that of its object store.
          if (error.code === "ENOENT") return [];
          throw error;
        }),
      ),
    );
    return names.flat();
  }

  async #gone(): Promise<void> {
    if (this.alive) await once(this.#child, "exit");
  }
}

/** Runs the service and waits for its end; for starts that must fail. */
export async function runToEnd(
  env: Record<string, string>,
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const folder = await mkdtemp(join(tmpdir(), "arkgraph-e2e-"));
  const { child, output } = spawnRegistry(folder, env);
  const last = setTimeout(() => child.kill("SIGKILL"), START);
  await once(child, "close");
  clearTimeout(last);
  await rm(folder, { recursive: true, force: true });
  return { status: child.exitCode, ...output };
}

function spawnRegistry(
  folder: string,
  env: Record<string, string> = {},
  program = "dist/src/app/main.js",
) {
  // util-linux: it is gone with the tests, however they end.
  const command = [...ENDS_WITH_US, process.execPath, ...V8, join(packageRoot, program)];
  const child = spawn(command[0]!, command.slice(1), {
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      HOST: "127.0.0.1",
      LOG_LEVEL: "warn",
      LOGIN_RATE: "off",
      SIGNUP_RATE: "off",
      DATA_DIR: folder,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  return { child, output };
}
