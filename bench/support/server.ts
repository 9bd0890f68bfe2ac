import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { packageRoot } from "../../src/package-root.js";

/** ms that a process may take to say its address, and a store of a million quads to be loaded. */
const START = 60_000;
const LOADED = 120_000;

/** A server in a process of its own, on a free port of the loopback. */
export interface Server {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Children that have not ended: none outlives a bench that ends with an error. */
const running = new Set<number>();
process.once("exit", () => {
  for (const pid of running) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It ended by itself a moment ago.
    }
  }
});

// A signal alone ends the process without that.
for (const [signal, status] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.once(signal, () => process.exit(status));

/**
 * Starts a command that prints a line with its address.
 * @throws Error with its output, when it ends before that
 */
export async function startServer(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  // A group of its own, so that the stop also reaches the processes that npm started.
  const child = spawn(command, args, {
    cwd: packageRoot,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const { pid } = child;
  if (pid !== undefined) running.add(pid);
  child.once("exit", () => pid !== undefined && running.delete(pid));
  let written = "";
  child.stderr.on("data", (chunk: Buffer) => (written += chunk.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    const fail = () => reject(new Error(`${command} ${args.join(" ")} did not start: ${written}`));
    const timer = setTimeout(fail, START);
    child.stdout.on("data", (chunk: Buffer) => {
      written += chunk.toString();
      const address = /http:\/\/[\w.:[\]]+/.exec(written)?.[0];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
    child.once("exit", fail);
  });
  return { url, pid: pid!, stop: () => stop(child) };
}

/** The same of a script, by Node with the options that the bench itself runs with. */
export const startNode = (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<Server> => startServer(process.execPath, [...process.execArgv, ...args], env);

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  process.kill(-child.pid!, "SIGTERM");
  const last = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), 15_000);
  await gone;
  clearTimeout(last);
}

/** The script of the service. */
export const SERVER = join(packageRoot, "dist", "src", "app", "main.js");
/** Flags for Node in `npm start`, the image and the unit for systemd. */
const FLAGS = ["--v8-pool-size=0"];
/** Settings of a registry under measurement. */
export const registryEnv = (dataDir: string): Record<string, string> => ({
  DATA_DIR: dataDir,
  PORT: "0",
  HOST: "127.0.0.1",
  LOG_LEVEL: "error",
  BASE_URL: "",
});

/** The registry on a data folder, as `npm start` and the image run it. */
export const startRegistry = (
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Server> =>
  startNode([...FLAGS, SERVER], { MALLOC_ARENA_MAX: "2", ...registryEnv(dataDir), ...settings });

/** Waits until the graph index has every record. */
export async function untilLoaded({ url }: Server, atMost = LOADED): Promise<void> {
  const deadline = performance.now() + atMost;
  while (performance.now() < deadline) {
    const { checks } = (await (await fetch(`${url}/healthz`)).json()) as {
      checks: { index: string };
    };
    if (checks.index === "ok") return;
    await pause(100);
  }
  throw new Error("the graph index was not loaded in time");
}
