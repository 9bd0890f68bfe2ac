import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { Certificate } from "../certificate.js";
import { freePort } from "./program.js";

/** False, with a warning, where Redis is not installed. */
export const redisInstalled: boolean = spawnSync("redis-server", ["--version"]).status === 0;
if (!redisInstalled)
  process.stderr.write(
    "SKIPPED: no redis-server here; install the Debian package redis-server to run these tests.\n",
  );

interface RedisOptions {
  /** Writes an append-only file, so that {@link RedisServer.restart} finds the earlier data. */
  persistent?: boolean;
  /** Takes connections over TLS only. */
  tls?: Certificate;
  password?: string;
  /** Folder on the disk that it writes to. */
  disk?: string;
  /** When appended data are made durable; by default before the answer. */
  fsync?: "always" | "everysec";
  /** Follows another one. */
  replicaOf?: { port: number };
}

/** A Redis of its own on a free port of this machine; it ends with the process that started it. */
export class RedisServer {
  readonly #folder: string;
  readonly #options: RedisOptions;

  private constructor(
    readonly port: number,
    folder: string,
    options: RedisOptions,
  ) {
    this.#folder = folder;
    this.#options = options;
  }
  #child: ChildProcess | undefined;

  get url(): string {
    const { tls, password } = this.#options;
    return `${tls ? "rediss" : "redis"}://${password === undefined ? "" : `:${encodeURIComponent(password)}@`}127.0.0.1:${this.port}`;
  }

  static async start(options: RedisOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(
      await freePort(),
      await mkdtemp(join(options.disk ?? tmpdir(), "arkgraph-redis-")),
      options,
    );
    await server.restart();
    return server;
  }

  /** Starts it where it was before: empty unless it is persistent. */
  async restart(): Promise<void> {
    const { persistent, fsync = "always", tls, password, replicaOf } = this.#options;
    const keep = persistent
      ? ["--appendonly", "yes", "--appendfsync", fsync]
      : ["--appendonly", "no"];
    const listeners = tls
      ? [
          "--port",
          "0",
          "--tls-port",
          String(this.port),
          "--tls-cert-file",
          tls.file,
          "--tls-key-file",
          tls.key,
          "--tls-ca-cert-file",
          tls.file,
          "--tls-auth-clients",
          "no",
        ]
      : ["--port", String(this.port)];
    const others = [
      ...(password === undefined ? [] : ["--requirepass", password]),
      ...(replicaOf ? ["--replicaof", "127.0.0.1", String(replicaOf.port)] : []),
    ];
    const options = [
      ...listeners,
      ...others,
      "--bind",
      "127.0.0.1",
      "--dir",
      this.#folder,
      "--save",
      "",
      ...keep,
      "--maxmemory-policy",
      "noeviction",
    ];
    // util-linux: the server gets the signal when this process is gone, however it went.
    this.#child = spawn("setpriv", ["--pdeathsig", "KILL", "redis-server", ...options], {
      stdio: "ignore",
    });
    const client = new Redis(this.url, {
      lazyConnect: true,
      ...(tls && { tls: { ca: readFileSync(tls.file) } }),
      maxRetriesPerRequest: null,
      retryStrategy: () => 20,
    });
    client.on("error", () => {});
    await client.connect().catch(() => {});
    await client.ping();
    client.disconnect();
  }

  /** As a power cut would. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  /** Holds it as it is, so that it answers nothing; {@link resume} lets it go on. */
  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
