import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync, mkdtempSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram, untilReady, type Program } from "./program.js";

const BUSYBOX = "/bin/busybox";
/**
 * Podman, a runtime that takes any make of control groups, and a program without libraries to put
 * into an image.
 */
const works = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args).status === 0;
/** False, with a warning, where they are not installed. */
export const podmanInstalled: boolean =
  works("podman", "--version") &&
  works("runc", "--version") &&
  works(BUSYBOX, "true") &&
  process.getuid?.() === 0;
if (!podmanInstalled)
  process.stderr.write(
    "SKIPPED: no Podman for root here; install the Debian packages podman, runc, crun and " +
      "busybox-static to run these tests.\n",
  );

/** The image of the tests' containers: a shell and its tools, put together without any registry. */
export const IMAGE = "localhost/arkgraph-test:1";
/** For a shell: waits until {@link PodmanServer.letGo}. */
export const WAIT = "until [ -e /tmp/go ]; do sleep 0.1; done";
const TOOLS = [
  "sh",
  "cat",
  "ls",
  "id",
  "ln",
  "mkdir",
  "sleep",
  "touch",
  "wc",
  "seq",
  "dd",
  "sort",
  "true",
  "false",
  "env",
  "head",
  "tr",
  "tail",
  "ping",
  "mount",
  "stat",
];

/**
 * A container engine of its own, with storage of its own; it and its containers end with
 * {@link stop}.
 */
export class PodmanServer {
  #service: Program | undefined;
  private constructor(
    readonly folder: string,
    readonly socket: string,
  ) {}

  static async start(): Promise<PodmanServer> {
    const folder = mkdtempSync(join(tmpdir(), "arkgraph-podman-"));
    const podman = new PodmanServer(folder, join(folder, "podman.sock"));
    writeFileSync(
      podman.#configuration,
      [
        "[containers]",
        'default_ulimits=["nofile=1024:1024","nproc=1000:1000"]',
        "[engine]",
        'runtime="runc"',
        'cgroup_manager="cgroupfs"',
        'events_logger="none"',
        `tmp_dir="${folder}/tmp"`,
        "",
      ].join("\n"),
    );
    podman.#importImage();
    await podman.resume();
    return podman;
  }

  get host(): string {
    return `unix://${this.socket}`;
  }

  get #configuration(): string {
    return join(this.folder, "containers.conf");
  }

  #args(...args: string[]): string[] {
    return [
      "--root",
      join(this.folder, "root"),
      "--runroot",
      join(this.folder, "run"),
      "--storage-driver",
      "vfs",
      ...args,
    ];
  }

  /** Asks it as its operator would. */
  podman(...args: string[]): string {
    return execFileSync("podman", this.#args(...args), {
      env: { ...process.env, CONTAINERS_CONF: this.#configuration },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Names of all existing containers and volumes. */
  left(): string[] {
    return [
      ...this.podman("ps", "--all", "--format", "{{.Names}}").split("\n"),
      ...this.podman("volume", "ls", "--format", "{{.Name}}").split("\n"),
    ].filter((name) => name !== "");
  }

  /** Releases a run that waits for `/tmp/go`, see {@link WAIT}. */
  letGo(container: string): void {
    this.podman("exec", container, "touch", "/tmp/go");
  }

  /** Stops the service; running containers go on. */
  async pause(): Promise<void> {
    await this.#service?.stop();
    rmSync(this.socket, { force: true });
  }

  async resume(): Promise<void> {
    this.#service = startProgram("podman", this.#args("system", "service", "--time=0", this.host), {
      cwd: this.folder,
      env: { CONTAINERS_CONF: this.#configuration },
    });
    await untilReady(
      [this.#service],
      () =>
        new Promise((resolve) => {
          request({ socketPath: this.socket, path: "/_ping" }, (answer) =>
            resolve(answer.resume().statusCode === 200),
          )
            .on("error", () => resolve(false))
            .end();
        }),
    );
  }

  async stop(): Promise<void> {
    this.podman("rm", "--all", "--force", "--time", "0");
    await this.#service?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #importImage(): void {
    const root = join(this.folder, "image");
    mkdirSync(join(root, "bin"), { recursive: true });
    // The image's own files there are neither an input nor a result.
    for (const place of ["inputs", "outputs"]) {
      mkdirSync(join(root, place));
      writeFileSync(join(root, place, "of-the-image.txt"), "not asked for");
    }
    copyFileSync(BUSYBOX, join(root, "bin", "busybox"));
    for (const tool of TOOLS) symlinkSync("busybox", join(root, "bin", tool));
    const archive = join(this.folder, "image.tar");
    execFileSync("tar", ["-c", "-f", archive, "-C", root, "."]);
    this.podman("import", archive, IMAGE);
    rmSync(root, { recursive: true });
    rmSync(archive);
  }
}
