import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../src/package-root.js";
import type { Bench, Figure } from "./bench.js";
import { alternating, timed } from "./support/measure.js";
import { TABLE_PEERS } from "./support/table-peers.js";
import { genesSchema, writeEmbedding, writeGenes } from "./support/tables.js";
import { type Usage, usage } from "./support/usage.js";

const ARKGRAPH = join(packageRoot, "bin/arkgraph.js");
const EMBEDDING_SCHEMA = "ark:59852/schema-cm4ai-image-embedding-image-emd";

/** Checking tables at the terminal; whole processes, from their start to their end. */
export const tabular: Bench = async ({ sizes, folder, say }) => {
  const place = await folder();
  const path = (name: string) => join(place, name);
  say("writing tables");
  await writeGenes(path("genes.csv"), sizes.tableRows);
  await writeGenes(path("bars.txt"), sizes.tableRows, "||");
  await writeFile(path("bars.json"), JSON.stringify({ ...genesSchema(), seperator: "||" }));
  await writeEmbedding(path("embedding.tsv"), sizes.embeddingRows);
  await writeFile(
    path("three.csv"),
    "id,symbol,ensembl,score,reads,bait,description,plate\n".concat(
      '1,TP53,ENSG00000141510,0.5,3,true,"a, b",B2AI_1_x\n'.repeat(3),
    ),
  );
  await writeFile(path("good.json"), JSON.stringify(genesSchema()));
  await writeFile(
    path("violated.json"),
    JSON.stringify(genesSchema({ ensembl: { pattern: "^ENSX[0-9]{11}$" } })),
  );
  const validate = (data: string, schema: string, status = 0) =>
    ended([ARKGRAPH, "schema", "validate", "--data", data, "--schema", schema], status);
  const genes = path("genes.csv");

  const starts = await alternating(sizes.rounds * 5, {
    bare: () => ended(["-e", "0"]),
    three: () => validate(path("three.csv"), path("good.json")),
  });
  const large = await alternating(sizes.rounds, {
    good: () => validate(genes, path("good.json")),
    bars: () => validate(path("bars.txt"), path("bars.json")),
  });
  const hook = path("usage.cjs");
  const used = (status: number, data: string, schema: string): Promise<Usage> =>
    usage([ARKGRAPH, "schema", "validate", "--data", data, "--schema", schema], status, hook);
  const [good, violated, embedding] = [
    await used(0, genes, path("good.json")),
    await used(1, genes, path("violated.json")),
    await used(0, path("embedding.tsv"), EMBEDDING_SCHEMA),
  ];
  const megabytes = (await stat(genes)).size / 1e6;
  const rate = (ms: number): number => megabytes / (ms / 1000);
  const memory = (name: string, { memory }: Usage): Figure => ({
    name,
    value: memory,
    unit: "MB",
    wanted: { below: 100 },
  });
  return [
    {
      name: "schema validate, 3 rows",
      value: starts.three,
      unit: "ms",
      baseline: { name: "node -e 0", value: starts.bare },
      wanted: { atMost: 2.5 },
    },
    {
      name: `schema validate, ${sizes.tableRows} rows of 8 columns`,
      value: rate(large.good),
      unit: "MB/s",
    },
    {
      name: "the same, between two characters",
      value: large.bars,
      unit: "ms",
      baseline: { name: "one character", value: large.good },
      wanted: { atMost: 1.5 },
    },
    memory("memory, every row conforms", good),
    memory("memory, every row violates a pattern", violated),
    memory("memory, 1,025 columns", embedding),
    ...(await others(place, rate, large.good, sizes.rounds, () =>
      validate(genes, path("good.json")),
    )),
  ];
};

/** Runs Node to its end and returns its time, in ms. */
function ended(args: readonly string[], status = 0): Promise<number> {
  return timed(() => finished(process.execPath, args, status));
}

async function finished(
  command: string,
  args: readonly string[],
  status = 0,
  cwd?: string,
): Promise<void> {
  const child = spawn(command, args, {
    stdio: ["ignore", "ignore", "inherit"],
    ...(cwd === undefined ? {} : { cwd }),
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== status) throw new Error(`${command} ${args.join(" ")} ended with ${code}`);
}

/**
 * Other tools that check tables, where they are installed; frictionless by the same schema,
 * exported.
 */
async function others(
  folder: string,
  rate: (ms: number) => number,
  ours: number,
  rounds: number,
  validateGenes: () => Promise<number>,
): Promise<Figure[]> {
  await finished(
    process.execPath,
    [
      ARKGRAPH,
      "schema",
      "export",
      "good.json",
      "--to",
      "frictionless",
      "--output",
      "table-schema.json",
    ],
    0,
    folder,
  );
  // qsvlite is qsv with fewer commands; this one it has. Without a schema it checks the form of the
  // table only.
  const tools: [commands: string[], args: string[]][] = [
    [["frictionless"], ["validate", "genes.csv", "--schema", "table-schema.json"]],
    [
      ["qsv", "qsvlite"],
      ["validate", "genes.csv"],
    ],
  ];
  const figures: Figure[] = [];
  for (const [commands, args] of tools) {
    const command = await installed(commands);
    if (command === undefined) {
      process.stderr.write(`  ${commands.join(" or ")} is not on PATH: not compared with it\n`);
      continue;
    }
    figures.push({
      name: "the same beside another tool",
      value: rate(ours),
      unit: "MB/s",
      baseline: {
        name: `${command} validate`,
        value: rate(await timed(() => finished(command, args, 0, folder))),
      },
    });
  }
  for (const [library, script] of Object.entries(TABLE_PEERS)) {
    const imports = await finished("python3", ["-c", `import ${library}`]).then(
      () => true,
      () => false,
    );
    if (!imports) {
      process.stderr.write(`  python3 has no ${library}: not compared with it\n`);
      continue;
    }
    await writeFile(join(folder, `check-${library}.py`), script);
    const both = await alternating(rounds, {
      ours: () => validateGenes(),
      theirs: () => timed(() => finished("python3", [`check-${library}.py`], 0, folder)),
    });
    figures.push({
      name: "the same beside a library that counts wrong rows",
      value: rate(both.ours),
      unit: "MB/s",
      baseline: { name: `${library}, one thread`, value: rate(both.theirs) },
      ...(library === "duckdb" && { wanted: { atLeast: 1 / 1.2 } }),
    });
  }
  return figures;
}

/** The first of these programs that can be run. */
async function installed(commands: readonly string[]): Promise<string | undefined> {
  for (const command of commands) {
    const runs = await finished(command, ["--version"]).then(
      () => true,
      () => false,
    );
    if (runs) return command;
  }
  return undefined;
}
