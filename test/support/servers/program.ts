import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * The longest time until a server answers for the first time, on a machine with other load (ms).
 */
const PATIENCE = 45_000;

/**
 * A server that runs until it is stopped, or the process that started it ends, however that ends.
 */
export interface Program {
  readonly output: () => string;
  readonly ended: () => boolean;
  stop(): Promise<void>;
}

/**
 * Below the ports that systems give to outgoing connections: so no such connection takes a port
 * that was just found free, or the port of a server that is started again.
 */
const [LOWEST, HIGHEST] = [10_000, 32_000];
/** None is given twice. */
const given = new Set<number>();

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(LOWEST, HIGHEST);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server
      .once("error", () => resolve(false))
      .listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

export const freePort = async (): Promise<number> => (await freePorts(1))[0]!;

/** Starts a program that is killed when this process ends, also when this is killed itself. */
export function startProgram(
  command: string,
  args: readonly string[],
  { env, cwd }: { env?: Record<string, string>; cwd?: string } = {},
): Program {
  const child: ChildProcess = spawn("setpriv", ["--pdeathsig", "KILL", command, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { PATH: process.env["PATH"], HOME: cwd, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout!, child.stderr!])
    stream.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000)));
  const ended = () =>
    child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  child.on("error", (error) => (output += error.message));
  return {
    output: () => output,
    ended,
    async stop() {
      if (ended()) return;
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      const last = setTimeout(() => child.kill("SIGKILL"), 3000);
      await gone;
      clearTimeout(last);
    },
  };
}

/**
 * Asks until it gets an answer.
 * @throws with the output of the programs when one ends before, or time is up
 */
export async function untilReady(
  programs: readonly Program[],
  ask: () => Promise<boolean>,
): Promise<void> {
  for (const begun = Date.now(); ; await sleep(100)) {
    if (await ask().catch(() => false)) return;
    const ended = programs.some((program) => program.ended());
    if (!ended && Date.now() - begun < PATIENCE) continue;
    await Promise.all(programs.map((program) => program.stop()));
    throw new Error(
      `a test server ${ended ? "ended" : `did not answer in ${PATIENCE} ms`}: ` +
        programs.map((program) => program.output()).join("\n"),
    );
  }
}
