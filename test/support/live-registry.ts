import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configWithBounds } from "./config.js";
import { openLog } from "../../src/adapters/log.js";
import { serve, type Running } from "../../src/app/serve.js";
import type { Deps } from "../../src/services/deps.js";
import { RegistryClient } from "./registry-client.js";

/** A registry in this process, on a port of its own: tests can read its stores while it answers. */
export class LiveRegistry extends RegistryClient {
  readonly #folder: string;

  private constructor(
    readonly running: Running,
    folder: string,
  ) {
    super(running.url);
    this.#folder = folder;
  }

  static async start(env: Record<string, string> = {}): Promise<LiveRegistry> {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-live-"));
    const config = configWithBounds({
      PORT: "0",
      HOST: "127.0.0.1",
      DATA_DIR: folder,
      LOG_LEVEL: "silent",
      LOGIN_RATE: "off",
      SIGNUP_RATE: "off",
      // A busy machine takes longer than a client waits.
      INDEX_WAIT: "20s",
      ...env,
    });
    return new LiveRegistry(await serve(config, openLog(config.LOG_LEVEL)), folder);
  }

  get deps(): Deps {
    return this.running.registry.deps;
  }

  async stop(): Promise<void> {
    await this.running.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
