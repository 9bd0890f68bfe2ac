import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";

/** CPU time in ms, and the most memory in MB. */
export interface Usage {
  cpu: number;
  memory: number;
}

/**
 * The resources that a process used: it reports them itself when it ends. Its own peak of memory
 * where the system knows it (Linux): that of `resourceUsage` begins with the peak of the process
 * that started it.
 */
export async function usage(args: readonly string[], status: number, hook: string): Promise<Usage> {
  await writeFile(
    hook,
    `const { existsSync, readFileSync, writeSync } = require("node:fs");
process.on("exit", () => {
  const used = process.resourceUsage();
  if (existsSync("/proc/self/status"))
    used.maxRSS = Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
  writeSync(3, JSON.stringify(used));
});
`,
  );
  const child = spawn(process.execPath, ["--require", hook, ...args], {
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  let stated = "";
  child.stdio[3]!.on("data", (part: Buffer) => (stated += part.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== status) throw new Error(`${args.join(" ")} ended with ${code}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(stated) as NodeJS.ResourceUsage;
  return { cpu: (userCPUTime + systemCPUTime) / 1000, memory: (maxRSS * 1024) / 1e6 };
}
