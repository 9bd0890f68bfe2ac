import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isMet, type Bench } from "./bench.js";
import { cluster } from "./cluster.js";
import { crateLimits } from "./crate-limits.js";
import { creates } from "./creates.js";
import { evidence } from "./evidence.js";
import { evidenceGraphs } from "./evidence-graphs.js";
import { graphql } from "./graphql.js";
import { intake } from "./intake.js";
import { jobs } from "./jobs.js";
import { crateMemory, crateRate } from "./large-crates.js";
import { memory } from "./memory.js";
import { postgres } from "./postgres.js";
import { postgresHttp } from "./postgres-http.js";
import { objects } from "./objects.js";
import { readsWhileWriting } from "./reads-while-writing.js";
import { asJson, table, type Results } from "./report.js";
import { projection } from "./projection.js";
import { resolve } from "./resolve.js";
import { sparql } from "./sparql.js";
import { readSizes, SIZES } from "./sizes.js";
import { start } from "./start.js";
import { tabular } from "./tabular.js";
import { FilledStores } from "./support/filled-stores.js";

/** In this order: those on an empty machine first, those that fill its memory last. */
const BENCHES: Readonly<Record<string, Bench>> = {
  start, tabular, memory, jobs, creates, postgres, "postgres-http": postgresHttp, "reads-while-writing": readsWhileWriting, intake, "crate-rate": crateRate, "crate-memory": crateMemory, "crate-limits": crateLimits, objects, evidence, "evidence-graphs": evidenceGraphs, resolve, graphql, sparql, projection, cluster,
};

const HELP = `npm run bench -- [name…] [--tiny] [--set size=number]… [--dir folder] [--json file] [--check]
  names  ${Object.keys(BENCHES).join(", ")}; all without one
  sizes  ${Object.entries(SIZES).map(([name, [usual, , about]]) => `${name} (${usual}): ${about}`).join("\n         ")}
`;

async function main(): Promise<void> {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      tiny: { type: "boolean", default: false }, set: { type: "string", multiple: true, default: [] }, dir: { type: "string", default: tmpdir() },
      json: { type: "string" }, check: { type: "boolean", default: false }, help: { type: "boolean", default: false },
    },
  });
  const unknown = positionals.filter((name) => !Object.hasOwn(BENCHES, name));
  if (options.help || unknown.length > 0) {
    process.stdout.write(`${unknown.map((name) => `There is no bench ${name}.\n`).join("")}${HELP}`);
    process.exitCode = options.help ? 0 : 1;
    return;
  }
  const sizes = readSizes(options.tiny, options.set);
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const folders: string[] = [];
  const folder = async () => {
    const made = await mkdtemp(join(options.dir, "arkgraph-bench-"));
    folders.push(made);
    return made;
  };
  const results: Results = {};
  try {
    const stores = new FilledStores(folder, say);
    for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHES)) {
      const began = performance.now();
      say(`${name} …`);
      results[name] = await BENCHES[name]!({ sizes, stores, folder, say: (line) => say(`  ${line}`) });
      say(`${name} took ${((performance.now() - began) / 1000).toFixed(0)} s`);
    }
  } finally {
    for (const made of folders) await rm(made, { recursive: true, force: true });
  }
  process.stdout.write(table(results));
  if (options.json !== undefined) await writeFile(options.json, asJson(results, { node: process.version, cores: availableParallelism(), memory: totalmem(), sizes }));
  if (options.check && Object.values(results).flat().some((figure) => isMet(figure) === false)) process.exitCode = 1;
}

await main();
