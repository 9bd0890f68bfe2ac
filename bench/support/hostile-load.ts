import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { packageRoot } from "../../src/package-root.js";
import type { HostileLoad, HostileResult } from "./hostile-process.js";

/** Sends hostile requests from a process of its own, and ends it. @throws Error when it fails */
export async function sendHostile(load: HostileLoad): Promise<HostileResult> {
  const child = fork(join(packageRoot, "dist/bench/support/hostile-process.js"), {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = once(child, "exit").then(() => ({
    error: "the process that sends hostile requests ended",
  }));
  try {
    child.send(load);
    const [answer] = await Promise.race([
      once(child, "message") as Promise<[{ result: HostileResult } | { error: string }]>,
      ended.then((failure) => [failure] as const),
    ]);
    if ("error" in answer) throw new Error(answer.error);
    return answer.result;
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}
