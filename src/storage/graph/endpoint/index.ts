/** Opens the graph index on a SPARQL endpoint, or on a server that is started for it. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { access, mkdir, readFile, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { delimiter, join } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { ServiceError } from "../../../errors.js";
import { type EngineLog, silent } from "../port.js";
import { type EndpointAddress, type EndpointOptions, SparqlHttp } from "./client.js";
import { EndpointEngine } from "./engine.js";

interface OwnServerOptions {
  /** OXIGRAPH_PROGRAM: a name on PATH, or a path. */
  program: string;
  /** Of its data, which can be filled again from the records. */
  folder: string;
  /** OXIGRAPH_MEMORY, bytes. */
  memory: number;
  /** ms after which {@link OwnServer.start} returns although the server still reads its log. */
  patience?: number;
  log?: EngineLog;
}

/** It listens here only: it has no password. */
const HOST = "127.0.0.1";
/** ms within which it answers: it reads its log first, which may have a gigabyte. */
const READY = 1_800_000;
/** ms that it may take to end before it is killed. */
const END = 5_000;
/** ms before it is started again; doubled up to the last, and anew once it has run for a while. */
const FIRST_BACKOFF = 200;
const LAST_BACKOFF = 30_000;
const WELL = 10_000;
/** ms that a query may go on after its connection was closed. */
const GRACE = 2_000;
/** Starts that may fail because the port, or the folder of a registry that was killed, is in use. */
const STARTS = 20;
const IN_USE = /address already in use|lock file/i;
/** A folder that the server cannot read. */
const DAMAGED = /corruption|no such file or directory/i;
/** It has neither answered nor failed. */
const LATER = "later";
/** Characters of its last output that are read for a reason. */
const TAIL = 4_000;

/**
 * Runs a program with bounded memory, and kills it when file descriptor 3 closes: the system closes
 * it however this process ends. A line on it dismisses the guard. The shell becomes the program, so
 * that its id and its exit are the program's.
 */
const GUARDED =
  'ulimit -d "$1"; shift; ' +
  "{ read -r line <&3 || kill -9 $$; } < /dev/null > /dev/null 2>&1 & " +
  'exec "$@" 3<&-';

/**
 * A SPARQL server of the registry's own: an Oxigraph process on a port of the loopback interface,
 * started again whenever it ends. Its option `--timeout-s` is not used: it keeps a thread for each
 * query until that time is over, however short the query was, and the server ends when it can start
 * no more. The registry closes the connection of a query that is too late. The server notices when
 * it sends the next row; if it computes for longer, it is ended and started again.
 */
export class OwnServer {
  readonly address: EndpointAddress;
  #child: ChildProcess | undefined;
  #tail = "";
  #backoff = 0;
  #restart: NodeJS.Timeout | undefined;
  #checking = false;
  #replacing: { back: Promise<void>; done: () => void } | undefined;
  /** Its damaged folder was removed; a second one is no accident. */
  #emptied = false;
  #closed = false;

  readonly #options: Required<OwnServerOptions>;
  readonly #port: number;
  readonly #http: SparqlHttp;

  private constructor(options: Required<OwnServerOptions>, port: number) {
    this.#options = options;
    this.#port = port;
    const origin = `http://${HOST}:${port}`;
    const urls = { queryUrl: `${origin}/query`, updateUrl: `${origin}/update` };
    this.address = {
      ...urls,
      server: {
        givenUp: () => {
          this.#endUnwanted().catch((error: Error) =>
            options.log.error(
              { reason: error.message },
              "it is unknown whether the graph server goes on with queries that were given up",
            ),
          );
        },
        replaced: () => this.#replacing?.back,
      },
    };
    this.#http = new SparqlHttp(urls, 1);
  }

  /**
   * Resolves when it answers, or after `patience`: it goes on with its start then.
   * @throws ServiceError `STORE_UNAVAILABLE` when it cannot be started, with the reason and the fix
   */
  static async start(options: OwnServerOptions): Promise<OwnServer> {
    const program = await found(options.program);
    const whole = { log: silent, patience: READY, ...options, program };
    for (let start = 1, emptied = false; ; start++) {
      const server = new OwnServer(whole, await freePort());
      server.#emptied = emptied;
      const begun = server.#begin();
      const reason = await Promise.race([
        begun,
        pause(whole.patience, undefined, { ref: false }).then(() => LATER),
      ]);
      if (reason === undefined) return server;
      if (reason === LATER) {
        whole.log.warn(
          { folder: whole.folder },
          "the graph server still reads its log: records are served, evidence and /sparql later",
        );
        server.#goOn(begun);
        return server;
      }
      await server.close();
      if (start < STARTS && IN_USE.test(reason)) await pause(FIRST_BACKOFF);
      else if (await server.#emptyIfDamaged(reason)) emptied = true;
      else
        throw unavailable(
          `the Oxigraph server did not start: ${reason}. Its folder, graph in DATA_DIR, holds ` +
            "only what the registry fills in again: remove it if it is damaged.",
        );
    }
  }

  /** @returns whether its folder was damaged, and was removed */
  async #emptyIfDamaged(reason: string): Promise<boolean> {
    if (this.#emptied || !DAMAGED.test(reason)) return false;
    const { folder, log } = this.#options;
    // It holds only what the registry fills in again.
    log.error({ reason, folder }, "the folder of the graph server is damaged; it is filled anew");
    await rm(folder, { recursive: true, force: true });
    return (this.#emptied = true);
  }

  /** Of its process; `undefined` while none runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restart);
    this.#replacing?.done();
    this.#http.close();
    const child = this.#child;
    if (!child) return;
    const gone = once(child, "close");
    child.kill("SIGTERM");
    const last = setTimeout(() => child.kill("SIGKILL"), END);
    await gone;
    clearTimeout(last);
  }

  /** Starts the process; returns why it does not answer, if so. */
  async #begin(): Promise<string | undefined> {
    const began = performance.now();
    await mkdir(this.#options.folder, { recursive: true, mode: 0o700 });
    if (this.#closed) return "it was stopped";
    const child = this.#spawn();
    this.#child = child;
    let ready = false;
    let failure: string | undefined;
    const failed = (reason: string): string => {
      failure ??= reason;
      if (this.#child === child) this.#child = undefined;
      return failure;
    };
    child.once("error", (error) => failed(error.message));
    child.once("exit", () => dismissGuard(child));
    // After its last words have arrived.
    child.once("close", (code, signal) => {
      const reason = failed(this.#reason(code, signal));
      if (performance.now() - began > WELL) this.#backoff = 0;
      if (!ready || this.#closed) return;
      if (this.#replacing) this.#startAgain();
      else this.#again(reason);
    });
    while (failure === undefined && performance.now() - began < READY) {
      try {
        await this.#http.text("ASK {}", {
          accept: "application/sparql-results+json",
          timeout: END,
        });
      } catch {
        await pause(20);
        continue;
      }
      if (failure !== undefined) break;
      const ms = Math.round(performance.now() - began);
      this.#options.log.info({ pid: child.pid, port: this.#port, ms }, "the graph server answers");
      ready = true;
      this.#replacing?.done();
      this.#replacing = undefined;
      return undefined;
    }
    if (failure === undefined) child.kill("SIGKILL");
    return failure ?? `it did not answer within ${READY / 1000} s`;
  }

  #spawn(): ChildProcess {
    const { program, folder, memory } = this.#options;
    const command = [
      program,
      "serve",
      "--location",
      folder,
      "--bind",
      `${HOST}:${this.#port}`,
      "--union-default-graph",
    ];
    // None of the registry's secrets.
    const { SystemRoot } = process.env;
    const env = { MALLOC_ARENA_MAX: "2", RUST_BACKTRACE: "0", ...(SystemRoot && { SystemRoot }) };
    const [file, ...args] =
      process.platform === "win32"
        ? (command as [string, ...string[]])
        : ["/bin/sh", "-c", GUARDED, "arkgraph", String(Math.ceil(memory / 1024)), ...command];
    // In a process group of its own: Ctrl+C at the terminal must not end it before the registry.
    const child = spawn(file, args, {
      env,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    this.#tail = "";
    child.stderr?.on("data", (part: Buffer) => {
      this.#tail = (this.#tail + part.toString("utf8")).slice(-TAIL);
    });
    // The guard may be gone when it is dismissed.
    child.stdio[3]?.on("error", () => {});
    return child;
  }

  #reason(code: number | null, signal: NodeJS.Signals | null): string {
    // Its first line; a stack may follow.
    const said = this.#tail
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("Listening for requests"))[0];
    const end = signal === null ? `it ended with status ${code}` : `it ended by ${signal}`;
    return said === undefined ? end : `${end}: ${said.slice(0, 300)}`;
  }

  /** Replaces a server that goes on with a query whose connection was closed. */
  async #endUnwanted(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    try {
      for (let before = new Set<string>(), more = true; more;) {
        await pause(GRACE, undefined, { ref: false });
        const child = this.#child;
        if (this.#closed || !child || this.#replacing) return;
        const now = await forsaken(this.#port);
        if ([...now].some((peer) => before.has(peer))) {
          let done!: () => void;
          const back = new Promise<void>((resolve) => (done = resolve));
          this.#replacing = { back, done };
          this.#options.log.error(
            { pid: child.pid },
            "the graph server goes on with a query that was given up; it is started again",
          );
          child.kill("SIGKILL");
          return;
        }
        before = now;
        more = now.size > 0;
      }
    } finally {
      this.#checking = false;
    }
  }

  #again(reason: string): void {
    this.#replacing?.done();
    this.#replacing = undefined;
    this.#backoff = Math.min(this.#backoff === 0 ? FIRST_BACKOFF : this.#backoff * 2, LAST_BACKOFF);
    this.#options.log.error(
      { reason, again: this.#backoff },
      "the graph server ended unexpectedly; it is started again after a pause",
    );
    this.#restart = setTimeout(() => this.#startAgain(), this.#backoff);
  }

  #startAgain(): void {
    this.#goOn(this.#begin());
  }

  /** Starts it again after a start that failed. */
  #goOn(begun: Promise<string | undefined>): void {
    begun
      .then(async (failure) => {
        if (failure === undefined || this.#closed) return;
        if (await this.#emptyIfDamaged(failure)) this.#startAgain();
        else this.#again(failure);
      })
      .catch((error: Error) => {
        if (!this.#closed) this.#again(error.message);
      });
  }
}

function dismissGuard(child: ChildProcess): void {
  const guard = child.stdio[3] as Writable;
  guard.end("\n", () => guard.destroy());
}

/**
 * Ports of the clients that have closed their connections while the server has not: it is still
 * computing for them.
 */
async function forsaken(port: number): Promise<Set<string>> {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const [list, line] =
    process.platform === "linux"
      ? // 08 is CLOSE_WAIT.
        [await readFile("/proc/net/tcp", "utf8"), `0100007F:${hex} 0100007F:([0-9A-F]+) 08`]
      : [
          (await promisify(execFile)("netstat", ["-an"])).stdout,
          `127\\.0\\.0\\.1[.:]${port}\\s+127\\.0\\.0\\.1[.:](\\d+)\\s+CLOSE_WAIT`,
        ];
  return new Set([...list.matchAll(new RegExp(line, "g"))].flatMap(([, peer]) => peer ?? []));
}

const unavailable = (message: string): ServiceError =>
  new ServiceError("STORE_UNAVAILABLE", `GRAPH_ENGINE=oxigraph: ${message}`);

/** The path of a program. @throws ServiceError `STORE_UNAVAILABLE` when there is none */
async function found(program: string): Promise<string> {
  const names = process.platform === "win32" ? [program, `${program}.exe`] : [program];
  const folders = /[/\\]/.test(program) ? [""] : (process.env["PATH"] ?? "").split(delimiter);
  for (const folder of folders) {
    for (const name of names) {
      const path = folder === "" ? name : join(folder, name);
      try {
        await access(path, constants.X_OK);
        return path;
      } catch {
        // Not there.
      }
    }
  }
  throw unavailable(
    `the program ${program} was not found. Install it (pip install oxigraph, or cargo install ` +
      "oxigraph-cli), and set OXIGRAPH_PROGRAM to its path if it is not on PATH.",
  );
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, HOST);
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

export { EndpointEngine } from "./engine.js";
export { type NTriples, OpenEndpoint, type OpenEndpointOptions } from "./open-engine.js";
export { BOOKKEEPING } from "./client.js";
export type { EndpointAddress, EndpointOptions } from "./client.js";

/**
 * Opens an engine on an endpoint. The engine polls the endpoint in the background and fills it
 * where necessary.
 */
export async function openEndpointEngine(options: EndpointOptions): Promise<EndpointEngine> {
  const engine = new EndpointEngine(options);
  engine.start();
  return engine;
}
