import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot } from "../src/package-root.js";
import { isMet, type Bench } from "./bench.js";
import { asJson, table, type Results } from "./report.js";
import { readSizes, SIZES } from "./sizes.js";
import { FilledStores } from "./support/filled-stores.js";
import { LoadGenerator } from "./support/load.js";
import { stolenShare, ticks } from "./support/stolen.js";

/**
 * In this order: the benches on an empty machine first, those that fill its memory last. Each is
 * loaded right before it runs.
 */
const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  start: async () => (await import("./start.js")).start,
  tabular: async () => (await import("./tabular.js")).tabular,
  memory: async () => (await import("./memory.js")).memory,
  creates: async () => (await import("./creates.js")).creates,
  "postgres-http": async () => (await import("./postgres-http.js")).postgresHttp,
  "reads-under-load": async () => (await import("./reads-under-load.js")).readsUnderLoad,
  intake: async () => (await import("./intake.js")).intake,
  "large-crates": async () => (await import("./large-crates.js")).largeCrates,
  evidence: async () => (await import("./evidence.js")).evidence,
  resolve: async () => (await import("./resolve.js")).resolve,
  lists: async () => (await import("./lists.js")).lists,
  harvest: async () => (await import("./harvest.js")).harvest,
  formats: async () => (await import("./formats.js")).formats,
  graphql: async () => (await import("./graphql.js")).graphql,
  pages: async () => (await import("./pages.js")).pages,
  search: async () => (await import("./search.js")).search,
  "private-drafts": async () => (await import("./private-drafts.js")).privateDrafts,
};

/** Those that take an hour or more, or need programs that few machines have: only by name. */
const BY_NAME: Readonly<Record<string, () => Promise<Bench>>> = {
  peers: async () => (await import("./peers.js")).peers,
  soak: async () => (await import("./soak.js")).soak,
  scale: async () => (await import("./scale.js")).scale,
  "graph-server": async () => (await import("./graph-server.js")).graphServer,
};
const ALL = { ...BENCHES, ...BY_NAME };

const HELP = `npm run bench -- [name…] [--quick] [--set size=number]… [--dir folder] [--json file]
                 [--crates folder] [--check] [--minutes of soak]
  names  ${Object.keys(BENCHES).join(", ")};
         all without one; only by name: ${Object.keys(BY_NAME).join(", ")}
  sizes  ${Object.entries(SIZES)
    .map(([name, [full, quick, about]]) => `${name} (${full}, quick ${quick}): ${about}`)
    .join("\n         ")}
`;

async function main(): Promise<void> {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      set: { type: "string", multiple: true, default: [] },
      dir: { type: "string", default: tmpdir() },
      json: { type: "string" },
      crates: { type: "string", default: join(packageRoot, "../shared/data/crates") },
      check: { type: "boolean", default: false },
      minutes: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const unknown = positionals.filter((name) => !Object.hasOwn(ALL, name));
  if (options.help || unknown.length > 0) {
    process.stdout.write(
      `${unknown.map((name) => `There is no bench ${name}.\n`).join("")}${HELP}`,
    );
    process.exitCode = options.help ? 0 : 1;
    return;
  }
  if (options.minutes !== undefined) options.set.push(`soakMinutes=${options.minutes}`);
  const sizes = readSizes(options.quick, options.set);
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const folders: string[] = [];
  const folder = async () => {
    const made = await mkdtemp(join(options.dir, "arkgraph-bench-"));
    folders.push(made);
    return made;
  };
  const results: Results = {};
  const stolen: Record<string, number> = {};
  const load = new LoadGenerator();
  try {
    const stores = new FilledStores(folder, say);
    for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHES)) {
      const began = performance.now();
      const before = ticks();
      say(`${name} …`);
      try {
        const bench = await ALL[name]!();
        results[name] = await bench({
          sizes,
          stores,
          load,
          crates: options.crates,
          folder,
          say: (line) => say(`  ${line}`),
        });
      } catch (error) {
        // The figures of the others took up to an hour.
        say(`${name} failed: ${(error as Error).stack}`);
        process.exitCode = 1;
        continue;
      }
      const share = stolenShare(before, ticks());
      if (share !== undefined) stolen[name] = share;
      const took = `${name} took ${((performance.now() - began) / 1000).toFixed(0)} s`;
      const stolenText =
        share === undefined ? "" : `; the host took ${(share * 100).toFixed(0)} % of the cores`;
      say(took + stolenText);
    }
  } finally {
    load.close();
    for (const made of folders) await rm(made, { recursive: true, force: true });
  }
  process.stdout.write(table(results));
  if (options.json !== undefined)
    await writeFile(
      options.json,
      asJson(results, {
        node: process.version,
        cores: availableParallelism(),
        memory: totalmem(),
        sizes,
        stolen,
      }),
    );
  if (
    options.check &&
    Object.values(results)
      .flat()
      .some((figure) => isMet(figure) === false)
  )
    process.exitCode = 1;
}

await main();
