import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { hasWrk, runWrk, SHORTEST } from "./wrk.js";

/** A task of a load generator. */
export interface Load {
  url: string;
  connections: number;
  seconds: number;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Paths to ask for, dealt out to the connections; at least one for each. */
  paths?: string[];
  /**
   * Sends requests as programs in Node do, also where wrk is installed: the caller's own time is
   * then part of the result.
   */
  inNode?: true;
}
export interface LoadResult {
  perSecond: number;
  done: number;
  failed: number;
}

/** Seconds after which a server without an answer is given up. */
const LONGEST = 20;

/**
 * wrk where it is installed, else (and for less than a second) autocannon in a process of its own,
 * started at its first run; all benches share it.
 */
export class LoadGenerator {
  #process: ChildProcess | undefined;

  /**
   * One run; a machine so busy that nothing was answered in it is given longer, twice as long each
   * time.
   *
   * @throws Error when any request failed: a figure of refusals would mean nothing
   */
  async run(load: Load): Promise<LoadResult> {
    for (let { seconds } = load; ; seconds *= 2) {
      const result = await this.#once({ ...load, seconds });
      if (result.failed > 0)
        throw new Error(
          `${result.failed} of ${result.done + result.failed} requests to ${load.url} failed`,
        );
      if (result.done > 0) return result;
      if (seconds > LONGEST)
        throw new Error(`nothing was answered within ${seconds} s by ${load.url}`);
    }
  }

  async #once(load: Load): Promise<LoadResult> {
    if (hasWrk && load.inNode !== true && load.seconds >= SHORTEST) return runWrk(load);
    const generator = (this.#process ??= fork(
      fileURLToPath(new URL("load-process.js", import.meta.url)),
    ));
    const answer = await new Promise<{ result: LoadResult } | { error: string }>(
      (resolve, reject) => {
        generator.once("message", resolve as never);
        generator.once("exit", (code) =>
          reject(new Error(`the load generator ended with ${code}`)),
        );
        generator.send(load);
      },
    );
    generator.removeAllListeners("exit");
    if ("error" in answer) throw new Error(answer.error);
    return answer.result;
  }

  close(): void {
    this.#process?.disconnect();
  }
}
