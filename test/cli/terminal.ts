import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { packageRoot } from "../../src/package-root.js";

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built executable in a process of its own. */
export function arkgraph(
  args: readonly string[],
  {
    cwd,
    input,
    env = {},
  }: { cwd: string; input?: Uint8Array | string; env?: Record<string, string> },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(packageRoot, "bin", "arkgraph.js"), ...args], {
      cwd,
      env: { PATH: process.env["PATH"]!, ...env },
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => out.push(part));
    child.stderr.on("data", (part: Buffer) => err.push(part));
    child.on("error", reject);
    child.on("close", (status) =>
      resolve({
        status,
        stdout: Buffer.concat(out).toString(),
        stderr: Buffer.concat(err).toString(),
      }),
    );
    // A command that does not read its input may be gone before all of it is written.
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
  });
}

/** Whether programs can be run in a pseudo-terminal here. */
export const hasTerminals = spawnSync("python3", ["-c", "import pty"]).status === 0;
if (!hasTerminals)
  process.stderr.write(
    "\n!! SKIPPED: what is shown on a terminal needs python3; install it to run these tests.\n\n",
  );

/**
 * Runs the executable in a pseudo-terminal; `steps` are texts to wait for and what is typed then.
 * Shown is all that came, both streams.
 */
export function inTerminal(
  args: readonly string[],
  {
    cwd,
    env = {},
    steps = [],
  }: {
    cwd: string;
    env?: Record<string, string>;
    steps?: readonly (readonly [awaited: string, typed: string])[];
  },
): Promise<{ status: number | null; shown: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      "python3",
      [
        join(packageRoot, "test", "support", "terminal.py"),
        process.execPath,
        join(packageRoot, "bin", "arkgraph.js"),
        ...args,
      ],
      { cwd, env: { PATH: process.env["PATH"]!, HOME: cwd, TERM: "xterm-256color", ...env } },
    );
    let shown = "";
    child.stdout.on("data", (part: Buffer) => (shown += part.toString()));
    child.stderr.on("data", (part: Buffer) => (shown += part.toString()));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, shown: shown.replaceAll("\r\n", "\n") }));
    child.stdin.end(steps.map((step) => `${JSON.stringify(step)}\n`).join(""));
  });
}

/** A folder of its own for a test file, with files written into it and commands run in it. */
export function useFolder(): {
  path(): string;
  write(name: string, content: string | Uint8Array | object): Promise<string>;
  run(
    command: string | readonly string[],
    input?: Uint8Array | string,
    env?: Record<string, string>,
  ): Promise<Ended>;
} {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-cli-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return {
    path: () => folder,
    async write(name, content) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(
        join(folder, name),
        typeof content === "string" || content instanceof Uint8Array
          ? content
          : JSON.stringify(content),
      );
      return name;
    },
    run: (command, input, env) =>
      arkgraph(typeof command === "string" ? command.split(" ") : command, {
        cwd: folder,
        ...(input === undefined ? {} : { input }),
        ...(env === undefined ? {} : { env }),
      }),
  };
}

/** A schema document with these properties; comma and no header unless said otherwise. */
export const schemaOf = (properties: Record<string, object>, rest: object = {}): object => ({
  "@id": "ark:99999/schema-test",
  "@type": "EVI:Schema",
  name: "Test",
  description: "For a test",
  properties,
  type: "object",
  additionalProperties: true,
  required: Object.keys(properties),
  seperator: ",",
  header: false,
  examples: [],
  ...rest,
});
