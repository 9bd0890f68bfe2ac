// Starts the registry in a Node process of its own, because two things must be set before a process begins: docs/decisions
// 0032 (memory arenas) and 0041 (V8's threads). A shell could set them, but not every shell the same way.
const { spawn } = require("node:child_process");
const { join } = require("node:path");

/**
 * How Node must be started for the registry; `undefined` when this process was started so.
 * What the operator has set stays.
 */
function startOptions({ platform, env, execArgv }) {
  const flags = [...execArgv, ...(env.NODE_OPTIONS ?? "").split(" ")];
  const hasPool = flags.some((flag) => flag.startsWith("--v8-pool-size"));
  // Only glibc has arenas; macOS and Windows have not.
  const hasArenas = platform !== "linux" || env.MALLOC_ARENA_MAX !== undefined;
  if (hasPool && hasArenas) return undefined;
  return {
    execArgv: hasPool ? execArgv : ["--v8-pool-size=0", ...execArgv],
    env: hasArenas ? env : { ...env, MALLOC_ARENA_MAX: "2" },
  };
}

/** The launcher passes signals on to the registry, and ends as the registry ended. */
function follow(child, self = process) {
  const windows = self.platform === "win32";
  // The console of Windows sends Ctrl+C to both processes, and kill() would end the registry without its stop.
  // On other systems the registry may get Ctrl+C twice; it stops once.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", ...(windows ? ["SIGBREAK"] : [])])
    self.on(signal, () => windows || child.kill(signal));
  child.on("error", (error) => {
    self.stderr.write(`arkgraph: Node cannot be started: ${error.message}\n`);
    self.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) return self.exit(code);
    self.removeAllListeners(signal);
    self.kill(self.pid, signal);
  });
}

/** The registry stops when its launcher is gone, however the launcher ended: nobody else would stop it. */
function endWithLauncher(self = process) {
  // Windows has no SIGTERM to send; the handlers of the registry are called directly.
  self.once("disconnect", () => self.emit("SIGTERM", "SIGTERM") || self.exit(1));
  // A listener keeps the process alive otherwise.
  self.channel.unref();
}

/** How often (ms) the shell of npm is looked for. */
const SHELL_CHECK = 250;

/**
 * npm and npx run a command through a shell and send signals to the shell. Many shells (dash) end by
 * the signal without passing it on: the end of the shell counts as the signal.
 * A script of another package may start the registry in the background, where its shell ends at once.
 */
function stopWithShell(stop, self = process) {
  const { npm_lifecycle_event: script, npm_package_json: manifest } = self.env;
  const ours = script === "npx" || manifest === join(__dirname, "..", "package.json");
  if (self.platform === "win32" || !ours) return;
  const shell = self.ppid;
  const timer = setInterval(() => {
    if (self.ppid === shell) return;
    clearInterval(timer);
    stop();
  }, SHELL_CHECK);
  timer.unref();
}

/** @returns whether this process is only the launcher of another one */
function launch(script, args) {
  const options = startOptions(process);
  if (options === undefined) {
    // Its launcher started it so, or an operator did.
    if (process.connected) endWithLauncher();
    else stopWithShell(() => process.emit("SIGTERM", "SIGTERM") || process.exit(1));
    return false;
  }
  const child = spawn(process.execPath, [...options.execArgv, script, ...args], {
    env: options.env,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  follow(child);
  stopWithShell(() => child.kill("SIGTERM"));
  return true;
}

module.exports = { endWithLauncher, follow, launch, startOptions, stopWithShell };
