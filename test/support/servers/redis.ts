import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "./program.js";

/** False, and said so, where Redis is not installed. */
export const redisInstalled: boolean = spawnSync("redis-server", ["--version"]).status === 0;
if (!redisInstalled) process.stderr.write("SKIPPED: no redis-server here; install the Debian package redis-server to run these tests.\n");


/** A Redis of its own on a free port of this machine; it ends with the process that started it. */
export class RedisServer {
  private constructor(readonly port: number, private readonly folder: string, private readonly persistent: boolean) {}
  private child: ChildProcess | undefined;

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** @param options.persistent keeps an append-only file, so that {@link restart} finds what was there */
  static async start({ persistent = false } = {}): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), "arkgraph-redis-")), persistent);
    await server.restart();
    return server;
  }

  /** Starts it where it was before: empty unless it is persistent. */
  async restart(): Promise<void> {
    const keep = this.persistent ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--appendonly", "no"];
    const options = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.folder, "--save", "", ...keep, "--maxmemory-policy", "noeviction"];
    // util-linux: the server gets the signal when this process is gone, however it went.
    this.child = spawn("setpriv", ["--pdeathsig", "KILL", "redis-server", ...options], { stdio: "ignore" });
    const client = new Redis(this.url, { lazyConnect: true, maxRetriesPerRequest: null, retryStrategy: () => 20 });
    client.on("error", () => {});
    await client.connect().catch(() => {});
    await client.ping();
    client.disconnect();
  }

  /** As a power cut would. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  /** Holds it as it is, so that it answers nothing; {@link resume} lets it go on. */
  pause(): void {
    this.child?.kill("SIGSTOP");
  }

  resume(): void {
    this.child?.kill("SIGCONT");
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
