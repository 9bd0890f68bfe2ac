import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, open, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packageRoot } from "../../../src/package-root.js";
import { freePort } from "./program.js";

/** Where nginx is; `undefined` where it is not installed. */
export const NGINX = ["/usr/sbin/nginx", "nginx"].find(
  (path) => spawnSync(path, ["-v"]).status === 0,
);

/** False, with a warning, where nginx is not installed. */
export const nginxInstalled = NGINX !== undefined;
if (!nginxInstalled)
  process.stderr.write(
    "\n!! SKIPPED: no nginx here; install the Debian package nginx-light to run these tests.\n\n",
  );

/**
 * nginx with the settings that are deployed, but for its address, that of the nodes and where it
 * puts files.
 */
export class Nginx {
  readonly #folder: string;
  readonly #child: ChildProcess;

  private constructor(
    readonly url: string,
    folder: string,
    child: ChildProcess,
  ) {
    this.#folder = folder;
    this.#child = child;
  }

  /**
   * @param upstream address of a registry, such as http://127.0.0.1:8080
   * @param names port of a name server on loopback, which is then asked about the upstream's name
   */
  static async start(upstream: string, names?: number): Promise<Nginx> {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-nginx-"));
    await mkdir(join(folder, "logs"));
    const port = await freePort();
    const settings = replaced(
      await readFile(join(packageRoot, "deploy/nginx/nginx.conf"), "utf8"),
      {
        "listen 8080;": `listen 127.0.0.1:${port};`,
        "http://api:8080": upstream,
        "worker_processes auto;": "worker_processes 1;",
        "resolver 127.0.0.11 valid=5s":
          names === undefined
            ? "resolver 127.0.0.11 valid=5s"
            : `resolver 127.0.0.1:${names} valid=1s`,
        "/tmp/nginx.pid": join(folder, "nginx.pid"),
        "/tmp/body": join(folder, "body"),
        "/tmp/proxy": join(folder, "proxy"),
        "/tmp/fastcgi": join(folder, "fastcgi"),
        "/tmp/uwsgi": join(folder, "uwsgi"),
        "/tmp/scgi": join(folder, "scgi"),
      },
    );
    const file = join(folder, "nginx.conf");
    await writeFile(file, settings);
    // Files, for nginx opens /dev/stdout and /dev/stderr by name, which a socket cannot be.
    const log = await open(join(folder, "log"), "a");
    // util-linux: the server gets the signal when this process is gone, however it went.
    const child = spawn(
      "setpriv",
      ["--pdeathsig", "TERM", NGINX!, "-p", folder, "-c", file, "-g", "daemon off;"],
      { stdio: ["ignore", log.fd, log.fd] },
    );
    await log.close();
    const nginx = new Nginx(`http://127.0.0.1:${port}`, folder, child);
    for (let tries = 0; ; tries++) {
      if (
        await fetch(`${nginx.url}/healthz`).then(
          () => true,
          () => false,
        )
      )
        return nginx;
      if (child.exitCode !== null || tries > 200)
        throw new Error(`nginx did not start: ${await nginx.log()}`);
      await sleep(25);
    }
  }

  log(): Promise<string> {
    return readFile(join(this.#folder, "log"), "utf8");
  }

  /** Files of requests and answers that it stores on disk. */
  async kept(): Promise<string[]> {
    const folders = await Promise.all(
      ["body", "proxy"].map((name) =>
        readdir(join(this.#folder, name), { recursive: true, withFileTypes: true }),
      ),
    );
    return folders
      .flat()
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) {
      const gone = once(this.#child, "exit");
      this.#child.kill("SIGTERM");
      await gone;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/**
 * @throws when a text to replace is not there exactly once: then it is not the deployed file that
 * is tested
 */
function replaced(text: string, pairs: Readonly<Record<string, string>>): string {
  for (const [from, to] of Object.entries(pairs)) {
    const parts = text.split(from);
    if (parts.length !== 2)
      throw new Error(`nginx.conf has "${from}" ${parts.length - 1} times, not once`);
    text = parts.join(to);
  }
  return text;
}
