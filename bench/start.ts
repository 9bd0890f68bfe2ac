import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Bench } from "./bench.js";
import { alternating, timed } from "./support/measure.js";
import { SERVER, registryEnv, startNode, startServer } from "./support/server.js";

/**
 * From the command to the first 200 of /healthz, against a bare process that imports the same
 * modules and ends.
 */
export const start: Bench = async ({ sizes, stores, folder }) => {
  const script = await importsOnly(await folder());
  const [empty, full] = [await folder(), await stores.of(sizes.startRecords)];
  const sides = {
    bare: () => timed(() => ended(process.execPath, [...process.execArgv, script])),
    empty: () => untilHealthy(empty),
    full: () => untilHealthy(full),
  };
  // The first start makes keys and tables and warms the disk's cache.
  for (let round = 0; round < sizes.warmStarts; round++)
    for (const warm of Object.values(sides)) await warm();
  const measured = await alternating(sizes.starts, sides);
  const baseline = { name: "bare Node process, same imports", value: measured.bare };
  const figure = (name: string, value: number) => ({
    name,
    value,
    unit: "ms",
    baseline,
    wanted: { atMost: 1.5 },
  });
  return [
    figure("npm start, empty", measured.empty),
    figure(`npm start, ${sizes.startRecords} records`, measured.full),
  ];
};

async function untilHealthy(dataDir: string): Promise<number> {
  const began = performance.now();
  const server = await startServer("npm", ["start"], registryEnv(dataDir));
  try {
    while ((await fetch(`${server.url}/healthz`)).status !== 200) await pause(5);
    return performance.now() - began;
  } finally {
    await server.stop();
  }
}

async function ended(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  const child = spawn(command, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...env },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}`);
}

/**
 * Writes a script that only imports the packages that the main thread of the registry loads. A
 * resolve hook records them during a real start; so a module that is loaded later is not included.
 */
async function importsOnly(folder: string): Promise<string> {
  const list = join(folder, "imports.txt");
  await writeFile(list, "");
  const hooks = join(folder, "hooks.mjs");
  await writeFile(
    hooks,
    `import { appendFileSync } from "node:fs";
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const parent = context.parentURL ?? "";
  if (found.url.includes("/node_modules/") && !parent.includes("/node_modules/")) ` +
      `appendFileSync(${JSON.stringify(list)}, found.url + "\\n");
  return found;
}
`,
  );
  const preload = join(folder, "preload.mjs");
  await writeFile(
    preload,
    `import { register } from "node:module";
import { isMainThread } from "node:worker_threads";
if (isMainThread) register("./hooks.mjs", import.meta.url);
`,
  );
  const server = await startNode(["--import", preload, SERVER], registryEnv(join(folder, "data")));
  await fetch(`${server.url}/healthz`);
  await server.stop();
  const modules = new Set((await readFile(list, "utf8")).split("\n").filter((url) => url !== ""));
  const script = join(folder, "bare.mjs");
  await writeFile(
    script,
    `${[...modules].map((url) => `import ${JSON.stringify(url)};`).join("\n")}\nprocess.exit(0);\n`,
  );
  return script;
}
