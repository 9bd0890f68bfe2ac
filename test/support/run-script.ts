import { spawn } from "node:child_process";
import { COMPILE_LESS } from "./compile-less.js";

interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs a script of the package to its end.
 * @param folder for its temporary files
 * @param onOutput may end the process when it has said enough
 */
export function runScript(
  folder: string,
  script: string,
  args: string[],
  env: Record<string, string> = {},
  onOutput?: (text: string, kill: (signal: NodeJS.Signals) => void) => void,
): Promise<Ended> {
  const child = spawn(process.execPath, [...COMPILE_LESS, script, ...args], {
    env: { PATH: process.env["PATH"], TMPDIR: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    output.stdout += chunk.toString();
    onOutput?.(output.stdout, (signal) => child.kill(signal));
  });
  child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  return new Promise((resolve) => child.on("close", (status) => resolve({ status, ...output })));
}
