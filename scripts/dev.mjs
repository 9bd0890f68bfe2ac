// Runs the registry and starts it again after every change: TypeScript compiles what has changed, the bundles of the
// threads follow, and Node restarts the server. Ctrl+C ends all of them.
import { spawn, spawnSync } from "node:child_process";
import { watch } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const run = (...args) => spawn(process.execPath, args, { cwd: root, stdio: "inherit" });

if (
  spawnSync("npm", ["run", "-s", "build"], { cwd: root, stdio: "inherit", shell: true }).status !==
  0
)
  process.exit(1);

const compiler = run(
  fileURLToPath(import.meta.resolve("typescript/package.json")).replace("package.json", "bin/tsc"),
  "-p",
  "tsconfig.json",
  "--watch",
  "--preserveWatchOutput",
);

let server = run("dist/src/app/main.js");
let later;
/** Compiling writes many files: the server starts again when nothing was written for half a second. */
const restart = () => {
  clearTimeout(later);
  later = setTimeout(() => {
    const old = server;
    server = undefined;
    const next = () => {
      if (
        spawnSync(process.execPath, ["scripts/build.mjs"], { cwd: root, stdio: "inherit" })
          .status === 0
      )
        server = run("dist/src/app/main.js");
    };
    if (old === undefined || old.exitCode !== null) next();
    else {
      old.once("exit", next);
      old.kill("SIGTERM");
    }
  }, 500);
};
for (const folder of ["src", "cli"])
  watch(
    `${root}/dist/${folder}`,
    { recursive: true },
    (_event, name) => name?.endsWith(".js") && restart(),
  );

for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => {
    compiler.kill();
    if (server === undefined || server.exitCode !== null) process.exit(0);
    server.once("exit", () => process.exit(0));
    server.kill("SIGTERM");
  });
