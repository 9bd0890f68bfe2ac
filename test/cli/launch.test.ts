import { spawn, type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { packageRoot } from "../../src/package-root.js";

interface StartOptions {
  execArgv: readonly string[];
  env: Readonly<NodeJS.ProcessEnv>;
}
const { endWithLauncher, follow, startOptions, stopWithShell } = createRequire(import.meta.url)(
  join(packageRoot, "bin", "launch.js"),
) as {
  startOptions(process: StartOptions & { platform: NodeJS.Platform }): StartOptions | undefined;
  follow(child: ChildProcess, self: NodeJS.Process): void;
  endWithLauncher(self: NodeJS.Process): void;
  stopWithShell(stop: () => void, self: NodeJS.Process): void;
};

describe("the options that Node is started with", () => {
  const linux = { platform: "linux", env: {}, execArgv: [] } as const;

  it("are two arenas and as many of V8's threads as there are cores", () => {
    expect(startOptions({ ...linux, env: { PATH: "/bin" }, execArgv: ["--inspect"] })).toEqual({
      execArgv: ["--v8-pool-size=0", "--inspect"],
      env: { PATH: "/bin", MALLOC_ARENA_MAX: "2" },
    });
  });

  it.each(["darwin", "win32"] as const)("leave the environment alone on %s", (platform) => {
    const env = { Path: "C:\\bin" };
    expect(startOptions({ platform, env, execArgv: [] })).toEqual({
      execArgv: ["--v8-pool-size=0"],
      env,
    });
  });

  it("are the operator's own where they are set", () => {
    const env = { MALLOC_ARENA_MAX: "8" };
    const pool = ["--v8-pool-size=4"];
    expect(startOptions({ ...linux, env })?.env).toEqual(env);
    expect(startOptions({ ...linux, execArgv: pool })?.execArgv).toEqual(pool);
    expect(startOptions({ ...linux, env: { NODE_OPTIONS: pool[0]! } })?.execArgv).toEqual([]);
  });

  it("are set once: the process that was started with them starts no other", () => {
    const { execArgv, env } = startOptions(linux)!;
    expect(startOptions({ platform: "linux", env, execArgv })).toBeUndefined();
  });
});

/** A process whose signals and end are only recorded. */
class Recorded extends EventEmitter {
  readonly pid = 17;
  readonly channel = { unref: vi.fn() };
  readonly stderr = { write: vi.fn() };
  readonly exit = vi.fn();
  readonly kill = vi.fn();
  env: NodeJS.ProcessEnv = {};
  ppid = 16;

  constructor(readonly platform: NodeJS.Platform = "linux") {
    super();
  }
}
const asProcess = (process: Recorded) => process as unknown as NodeJS.Process & ChildProcess;

describe("the launcher", () => {
  it.each(["linux", "darwin"] as const)("passes signals on, on %s", (platform) => {
    const [self, child] = [new Recorded(platform), new Recorded()];
    follow(asProcess(child), asProcess(self));
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) self.emit(signal, signal);
    expect(child.kill.mock.calls).toEqual([["SIGINT"], ["SIGTERM"], ["SIGHUP"]]);
  });

  it("waits for the registry after Ctrl+C in a console of Windows, and does not kill it", () => {
    const [self, child] = [new Recorded("win32"), new Recorded("win32")];
    follow(asProcess(child), asProcess(self));
    for (const signal of ["SIGINT", "SIGBREAK", "SIGHUP"])
      expect(self.emit(signal, signal)).toBe(true);
    expect(child.kill).not.toHaveBeenCalled();
    expect(self.exit).not.toHaveBeenCalled();
    child.emit("exit", 0, null);
    expect(self.exit).toHaveBeenCalledWith(0);
  });

  it("ends with the status of the registry, or by the signal that ended it", () => {
    const [self, child] = [new Recorded(), new Recorded()];
    follow(asProcess(child), asProcess(self));
    child.emit("exit", 3, null);
    expect(self.exit).toHaveBeenCalledWith(3);
    child.emit("exit", null, "SIGTERM");
    expect(self.kill).toHaveBeenCalledWith(17, "SIGTERM");
    expect(self.listenerCount("SIGTERM")).toBe(0);
  });

  it("reports that Node cannot be started", () => {
    const [self, child] = [new Recorded(), new Recorded()];
    follow(asProcess(child), asProcess(self));
    child.emit("error", new Error("spawn ENOMEM"));
    expect(self.stderr.write).toHaveBeenCalledWith(
      "arkgraph: Node cannot be started: spawn ENOMEM\n",
    );
    expect(self.exit).toHaveBeenCalledWith(1);
  });

  it("ends the registry when it ends, where signals cannot be sent too", () => {
    const self = new Recorded("win32");
    const stopped = vi.fn();
    self.on("SIGTERM", stopped);
    endWithLauncher(asProcess(self));
    expect(self.channel.unref).toHaveBeenCalled();
    self.emit("disconnect");
    expect(stopped).toHaveBeenCalledOnce();
    expect(self.exit).not.toHaveBeenCalled();
  });

  it("ends a registry that does not handle signals yet", () => {
    const self = new Recorded();
    endWithLauncher(asProcess(self));
    self.emit("disconnect");
    expect(self.exit).toHaveBeenCalledWith(1);
  });
});

describe("the end of the shell that npm has started", () => {
  const manifest = join(packageRoot, "package.json");
  it.each([
    ["stops the registry of npm start", "linux", { npm_package_json: manifest }, true],
    ["stops the registry of npx", "darwin", { npm_lifecycle_event: "npx" }, true],
    [
      "leaves alone what a script of another package started in the background",
      "linux",
      { npm_lifecycle_event: "pretest", npm_package_json: "/other/package.json" },
      false,
    ],
    ["means nothing where npm did not start the registry", "linux", {}, false],
    ["cannot be seen on Windows", "win32", { npm_lifecycle_event: "npx" }, false],
  ] as const)("%s", (_, platform, env, stops) => {
    vi.useFakeTimers();
    try {
      const self = new Recorded(platform);
      self.env = env;
      const stop = vi.fn();
      stopWithShell(stop, asProcess(self));
      vi.advanceTimersByTime(1000);
      expect(stop).not.toHaveBeenCalled();
      self.ppid = 1;
      vi.advanceTimersByTime(1000);
      expect(stop).toHaveBeenCalledTimes(stops ? 1 : 0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe.runIf(process.platform === "linux")("npm start and arkgraph serve", () => {
  let folder: string;
  let launcher: ChildProcess;
  let output: string;
  let url: string;
  let registry: number;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-launch-"));
    const { start } = (
      JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as {
        scripts: { start: string };
      }
    ).scripts;
    const [command, ...args] = start.split(" ");
    output = "";
    // A group of its own, as a shell gives to a command.
    launcher = spawn(command!, args, {
      cwd: packageRoot,
      env: { PATH: process.env["PATH"], PORT: "0", DATA_DIR: folder, HOST: "127.0.0.1" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    for (const stream of [launcher.stdout!, launcher.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    await until(() => output.includes("listens at"));
    url = /listens at (\S+)/.exec(output)![1]!;
    registry = Number(
      readFileSync(`/proc/${launcher.pid}/task/${launcher.pid}/children`, "utf8").trim(),
    );
    return async () => {
      if (isAlive(-launcher.pid!)) process.kill(-launcher.pid!, "SIGKILL");
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    };
  });
  afterEach(() => expect(isAlive(-launcher.pid!)).toBe(false));

  it("run the registry with its options, and end with it on SIGTERM", async () => {
    expect(readFileSync(`/proc/${registry}/cmdline`, "utf8").split("\0")).toContain(
      "--v8-pool-size=0",
    );
    const environment = readFileSync(`/proc/${registry}/environ`, "utf8").split("\0");
    expect(environment).toContain("MALLOC_ARENA_MAX=2");
    launcher.kill("SIGTERM");
    expect(await once(launcher, "exit")).toEqual([0, null]);
    await until(() => !isAlive(registry));
  });

  it("stop once on Ctrl+C, which a terminal sends to both processes", async () => {
    process.kill(-launcher.pid!, "SIGINT");
    expect(await once(launcher, "exit")).toEqual([0, null]);
    await until(() => !isAlive(registry));
    expect(output.match(/"stopping"/g)).toHaveLength(1);
  });

  it("leave nothing running when the launcher is killed", async () => {
    launcher.kill("SIGKILL");
    await until(() => !isAlive(registry));
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    // A clean stop: it lets go of the data folder.
    expect(output).toContain('"stopping"');
  });

  it("end by the signal that ended the registry", async () => {
    process.kill(registry, "SIGKILL");
    expect(await once(launcher, "exit")).toEqual([null, "SIGKILL"]);
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (const last = Date.now() + 20_000; !condition();) {
    if (Date.now() > last) throw new Error(`in vain: ${condition.toString()}`);
    await sleep(20);
  }
}

/** @param pid that of a process, or below zero that of a group */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
