import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { chown, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "./program.js";

const run = promisify(execFile);

/** Folder with these programs, the newest version first: Debian's folder, or one on PATH. */
function folderOf(...programs: string[]): string | undefined {
  const versions = existsSync("/usr/lib/postgresql")
    ? readdirSync("/usr/lib/postgresql").sort((a, b) => Number(b) - Number(a))
    : [];
  const folders = [
    ...versions.map((version) => `/usr/lib/postgresql/${version}/bin`),
    ...(process.env["PATH"] ?? "").split(":"),
  ];
  return folders.find((folder) => programs.every((program) => existsSync(join(folder, program))));
}

/**
 * `TEST_POSTGRES` is the folder of another version's server; the client programs come from the
 * installed one.
 */
const servers = process.env["TEST_POSTGRES"] || folderOf("initdb", "postgres");
const clients = folderOf("psql", "pg_isready");
/** Whether PostgreSQL is installed (Debian: `postgresql`). */
export const hasPostgres = servers !== undefined && clients !== undefined;
/** Path of another of its programs, such as `pgbench`; `undefined` where that is not installed. */
export const postgresProgram = (name: string): string | undefined =>
  clients !== undefined && existsSync(join(clients, name)) ? join(clients, name) : undefined;
if (!hasPostgres)
  // eslint-disable-next-line no-console
  console.warn("SKIPPED: PostgreSQL is not installed; apt-get install -y postgresql");

/**
 * PostgreSQL does not run as root: there it runs as `nobody`, and in any case it ends with this
 * process.
 */
const NOBODY = 65534;
const asRoot = process.getuid?.() === 0;
const command = (program: string, args: string[]): [string, string[]] => [
  "setpriv",
  [
    ...(asRoot ? ["--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups"] : []),
    "--pdeathsig",
    "KILL",
    join(servers!, program),
    ...args,
  ],
];

/** Empty data for a server that stores them in this folder, which it may write to. */
async function makeData(folder: string): Promise<string> {
  const data = join(folder, "data");
  if (asRoot) await chown(folder, NOBODY, NOBODY);
  const [program, args] = command("initdb", [
    "-D",
    data,
    "-U",
    "arkgraph",
    "-A",
    "trust",
    "-E",
    "UTF8",
    "--locale=C",
    "--no-sync",
  ]);
  await run(program, args, { cwd: folder });
  return data;
}

let prepared: Promise<string> | undefined;
/**
 * The same, copied from what this process made once: that takes a third of the time. Only in a test
 * run, which removes it.
 */
async function copyData(testRun: string, folder: string): Promise<void> {
  prepared ??= mkdtemp(join(testRun, "postgres-")).then(makeData);
  if (asRoot) await chown(folder, NOBODY, NOBODY);
  await run("cp", ["-a", await prepared, folder]);
}

/** A PostgreSQL server of a test's own, on a free port of loopback, in a temporary folder. */
export class PostgresServer {
  #process: ChildProcess | undefined;
  #databases = 0;

  readonly #folder: string;
  readonly #settings: readonly string[];

  private constructor(
    folder: string,
    readonly port: number,
    settings: readonly string[],
  ) {
    this.#folder = folder;
    this.#settings = settings;
  }

  /**
   * @param settings of postgresql.conf, e.g. `fsync=off`
   * @param disks that hold its data, and its log if that is on another one
   */
  static async start(
    settings: readonly string[] = [],
    { data = tmpdir(), log }: { data?: string; log?: string } = {},
  ): Promise<PostgresServer> {
    const folder = await mkdtemp(join(data, "arkgraph-postgres-"));
    const testRun = process.env["TEST_RUN"];
    await (testRun === undefined ? makeData(folder) : copyData(testRun, folder));
    if (log !== undefined) {
      await run("mv", [join(folder, "data/pg_wal"), log]);
      await symlink(join(log, "pg_wal"), join(folder, "data/pg_wal"));
    }
    const server = new PostgresServer(folder, await freePort(), settings);
    await server.up();
    return server;
  }

  url(database = "postgres"): string {
    return `postgres://arkgraph@127.0.0.1:${this.port}/${database}`;
  }

  /**
   * Starts the server on its existing data. A session that began while the last server was killed
   * holds its shared memory until it has noticed.
   */
  async up(): Promise<void> {
    const until = Date.now() + 30_000;
    for (;;) {
      const fault = await this.#launch();
      if (fault === undefined) return;
      if (!fault.includes("is still in use") || Date.now() > until)
        throw new Error(`PostgreSQL did not start: ${fault}`);
      await pause(200);
    }
  }

  /** @returns what the server stated if it did not start */
  async #launch(): Promise<string | undefined> {
    // Shared memory as files of its data: segments of the system would outlive a server that is
    // killed.
    const all = [
      `port=${this.port}`,
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "max_connections=200",
      "shared_buffers=64MB",
      "dynamic_shared_memory_type=mmap",
      ...this.#settings,
    ];
    const [program, args] = command("postgres", [
      "-D",
      join(this.#folder, "data"),
      ...all.flatMap((setting) => ["-c", setting]),
    ]);
    const child = spawn(program, args, { cwd: this.#folder, stdio: ["ignore", "ignore", "pipe"] });
    let stated = "";
    child.stderr.on("data", (text: Buffer) => (stated = (stated + text.toString()).slice(-4000)));
    this.#process = child;
    const until = Date.now() + 30_000;
    while (Date.now() < until && child.exitCode === null) {
      if (await this.isUp()) return undefined;
      await pause(50);
    }
    return stated;
  }

  /**
   * Waits until the server answers, and starts it again only if its process has ended. One that
   * recovers from a crash of its own refuses connections while it runs.
   */
  async repair(): Promise<void> {
    const child = this.#process;
    const until = Date.now() + 30_000;
    while (child && child.exitCode === null && child.signalCode === null && Date.now() < until) {
      if (await this.isUp()) return;
      await pause(50);
    }
    await this.up();
  }

  async isUp(): Promise<boolean> {
    return run(join(clients!, "pg_isready"), [
      "-h",
      "127.0.0.1",
      "-p",
      String(this.port),
      "-U",
      "arkgraph",
      "-d",
      "postgres",
    ]).then(
      () => true,
      () => false,
    );
  }

  /** Ends it as a power cut would: clients get no message, nothing is written. */
  async kill(): Promise<void> {
    const child = this.#process!;
    this.#process = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    // The sessions are processes of their own; killed with the first, before any of them could act
    // on its end.
    const { stdout } = await run("ps", ["-o", "pid=", "--ppid", String(child.pid)]).catch(() => ({
      stdout: "",
    }));
    child.kill("SIGKILL");
    for (const pid of stdout
      .split("\n")
      .map(Number)
      .filter((pid) => pid > 0)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
    await ended;
    await rm(join(this.#folder, "data", "postmaster.pid"), { force: true });
  }

  /** Stands still without ending, as a machine that hangs. */
  signal(signal: NodeJS.Signals): void {
    this.#process!.kill(signal);
  }

  /** URL of a database that is new and empty. */
  async database(): Promise<string> {
    const name = `test_${++this.#databases}`;
    await this.sql(`CREATE DATABASE ${name}`);
    return this.url(name);
  }

  /** URL of a schema that is new and empty, in a database that others use too. */
  async schema(): Promise<string> {
    const name = `test_${++this.#databases}`;
    await this.sql(`CREATE SCHEMA ${name}`);
    return `${this.url()}?options=${encodeURIComponent(`-c search_path=${name}`)}`;
  }

  /** Runs SQL of the test's own. */
  async sql(sql: string, url = this.url()): Promise<string> {
    return (
      await run(join(clients!, "psql"), [
        "-X",
        "-q",
        "-A",
        "-t",
        "-v",
        "ON_ERROR_STOP=1",
        "-d",
        url,
        "-c",
        sql,
      ])
    ).stdout.trim();
  }

  async stop(): Promise<void> {
    await this.kill();
    // Processes that were just killed may still be ending.
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}
