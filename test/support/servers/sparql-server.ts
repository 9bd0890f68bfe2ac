import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./program.js";

const START = 60_000;

/** How a make of server is started. */
export interface Make {
  name: string;
  /** The programs that it needs. */
  needs: string;
  /**
   * The program and its arguments; `undefined` when it is not installed.
   * @param folder for its data; empty at the first start
   */
  command(port: number, folder: string): string[] | undefined;
  /** Paths of the endpoints. */
  query: string;
  update: string;
}

/** A SPARQL server of its own on a free port, with its data in a temporary folder. */
export class SparqlServer {
  #child: ChildProcess | undefined;
  #folder: string | undefined;
  #port = 0;
  log = "";

  constructor(readonly make: Make) {}

  get installed(): boolean {
    return this.make.command(0, "") !== undefined;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get queryUrl(): string {
    return this.origin + this.make.query;
  }

  get updateUrl(): string {
    return this.origin + this.make.update;
  }

  /** Starts it, on the port and with the data of its last start; a running server is left alone. */
  async start(): Promise<this> {
    if (this.#child && this.#child.exitCode === null && this.#child.signalCode === null)
      return this;
    this.#folder ??= await mkdtemp(join(tmpdir(), `arkgraph-${this.make.name.toLowerCase()}-`));
    this.#port ||= await freePort();
    const command = this.make.command(this.#port, this.#folder)!;
    // It dies with this process, however that ends.
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", ...command], {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: this.#folder,
    });
    child.stdout.on(
      "data",
      (text: Buffer) => (this.log = (this.log + text.toString()).slice(-20_000)),
    );
    child.stderr.on(
      "data",
      (text: Buffer) => (this.log = (this.log + text.toString()).slice(-20_000)),
    );
    this.#child = child;
    for (const end = Date.now() + START; ; await pause(50)) {
      if (child.exitCode !== null || Date.now() > end)
        throw new Error(`${this.make.name} did not start: ${this.log}`);
      if (await this.#answers()) return this;
    }
  }

  /** Ends it as a power cut would; its data stays. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  /** Deletes its data; for a server that was killed. */
  async lose(): Promise<void> {
    await rm(this.#folder!, { recursive: true, force: true });
    this.#folder = undefined;
  }

  /** A copy of its data, for {@link restore}; for one that was killed. */
  async backup(): Promise<string> {
    const copy = `${this.#folder!}-backup`;
    await cp(this.#folder!, copy, { recursive: true });
    return copy;
  }

  async restore(copy: string): Promise<void> {
    await rm(this.#folder!, { recursive: true, force: true });
    await cp(copy, this.#folder!, { recursive: true });
    await rm(copy, { recursive: true });
  }

  async stop(): Promise<void> {
    await this.kill();
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  /** SIGSTOP: it accepts connections and sends nothing. */
  pause(): void {
    this.#child!.kill("SIGSTOP");
  }

  resume(): void {
    this.#child!.kill("SIGCONT");
  }

  async update(text: string): Promise<void> {
    const answer = await fetch(this.updateUrl, {
      method: "POST",
      headers: { "Content-Type": "application/sparql-update" },
      body: text,
    });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  }

  async query(
    text: string,
  ): Promise<{ boolean?: boolean; results: { bindings: Record<string, { value: string }>[] } }> {
    const answer = await fetch(this.queryUrl, {
      method: "POST",
      headers: {
        "Content-Type": "application/sparql-query",
        Accept: "application/sparql-results+json",
      },
      body: text,
    });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Awaited<ReturnType<SparqlServer["query"]>>;
  }

  async clear(): Promise<void> {
    await this.update("CLEAR SILENT ALL");
  }

  async #answers(): Promise<boolean> {
    try {
      return (await this.query("ASK {}")).boolean === true;
    } catch {
      return false;
    }
  }
}
