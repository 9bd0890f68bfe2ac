import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isMet, ratioOf } from "../../bench/bench.js";
import { table } from "../../bench/report.js";
import { readSizes, type Sizes } from "../../bench/sizes.js";
import { inPairs, alternating, median, percentile } from "../../bench/support/measure.js";
import { slope } from "../../bench/soak.js";
import { stolenShare, ticks } from "../../bench/support/stolen.js";
import { hasPgbench } from "../../bench/baselines/pgbench.js";
import { packageRoot } from "../../src/package-root.js";
import { COMPILE_LESS } from "../support/compile-less.js";
import { hasPostgres } from "../support/servers/postgres.js";

const run = promisify(execFile);
/** Those that need a server, and whether it is here. */
const NEEDS: Readonly<Record<string, boolean>> = {
  "postgres-http": hasPgbench,
};
const BENCHES = [
  "start",
  "tabular",
  "memory",
  "creates",
  "postgres-http",
  "reads-under-load",
  "intake",
  "large-crates",
  "evidence",
  "resolve",
  "lists",
  "harvest",
  "formats",
  "graphql",
  "pages",
  "search",
  "private-drafts",
];
/** Sizes that prove that every bench works; what it measures with them means nothing. */
const TINY: Sizes = {
  rounds: 1,
  pairs: 1,
  seconds: 0.1,
  warmUp: 0.1,
  connections: 4,
  keys: 400,
  fewRecords: 100,
  manyRecords: 300,
  startRecords: 300,
  draftsRecords: 300,
  soakMinutes: 0.1,
  millionRecords: 100,
  scaleRecords: 300,
  sparqlRecords: 100,
  warmStarts: 0,
  starts: 1,
  settle: 0.1,
  writers: 4,
  fetches: 4,
  hostile: 20,
  readSeconds: 0.2,
  entities: 60,
  crateBytes: 300_000,
  objectBytes: 1_000_000,
  chain: 20,
  graph: 30,
  warmQueries: 1,
  tableRows: 2_000,
  embeddingRows: 300,
};

interface Shown {
  name: string;
  value: number;
  unit: string;
  ratio: number | null;
  met: boolean | null;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bench-test-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
/** `npm run bench` with tiny sizes. */
const bench = (...args: string[]) =>
  run(
    process.execPath,
    [
      ...COMPILE_LESS,
      join(packageRoot, "dist", "bench", "run.js"),
      ...Object.entries(TINY).flatMap(([name, size]) => ["--set", `${name}=${size}`]),
      ...args,
      // Relevance is evaluated on public crates, which takes a minute and is no matter of sizes.
      "--crates",
      join(folder, "none"),
      "--dir",
      folder,
    ],
    { timeout: 580_000 },
  );

describe("npm run bench", { timeout: 600_000 }, () => {
  it("runs every bench, prints a table, writes JSON, and leaves nothing behind", async () => {
    const file = join(folder, "figures.json");
    const { stdout } = await bench("--json", file);
    const { benches } = JSON.parse(await readFile(file, "utf8")) as {
      benches: Record<string, Shown[]>;
    };
    expect(Object.keys(benches)).toEqual(BENCHES);
    for (const [name, figures] of Object.entries(benches)) {
      // A server that is not installed is not measured.
      if (NEEDS[name] !== false) expect(stdout).toContain(`\n| ${name} `);
      for (const figure of figures) {
        expect(figure.value, figure.name).toBeGreaterThan(0);
        expect(stdout).toContain(figure.name);
      }
    }
    expect(await readdir(folder)).toEqual(["figures.json"]);
  });

  it("runs the named benches, and lists the known ones", async () => {
    const { stdout } = await bench("intake");
    expect(stdout).toContain("\n| intake ");
    expect(stdout).not.toContain("\n| start ");
    await expect(bench("memroy")).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining("There is no bench memroy.") as string,
    });
  });

  it("goes on after a bench that fails, and ends with an error", async () => {
    await expect(bench("graphql", "harvest", "--set", "fewRecords=0")).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining("\n| harvest ") as string,
      stderr: expect.stringContaining("graphql failed: Error: the page is not") as string,
    });
  });
});

describe("benches by name", { timeout: 120_000 }, () => {
  it("soak prints the slope of the memory and the slowest answers", async () => {
    const { stdout } = await bench("soak", "--minutes", `${TINY.soakMinutes}`);
    for (const name of ["slope of the memory", "create, p99", "evidence, p99", "search, p99"])
      expect(stdout).toContain(name);
  });

  it("the slope is that of the line with the least squares", () => {
    const points = Array.from({ length: 10 }, (_, x) => [x, 3 * x + 7 + (x % 2)] as const);
    expect(slope(points)).toBeCloseTo(3, 1);
    expect(slope([[1, 5]])).toBe(0);
  });

  it("peers compares with what is installed, and names what is not", async () => {
    const { stdout, stderr } = await bench("peers");
    for (const peer of ["Oxigraph", "Fuseki", "ro-crate-py and rdflib", "roc-validator"])
      expect(stdout + stderr).toContain(peer);
  });

  it.runIf(hasPostgres)("scale fills PostgreSQL and measures it", async () => {
    const { stdout } = await bench("scale");
    for (const name of ["disk of a record", "a word of all records"])
      expect(stdout).toContain(name);
  });
});

describe("figures", () => {
  const figure = { name: "a", value: 30, unit: "/s", baseline: { name: "b", value: 10 } };

  it("are medians of alternating runs", async () => {
    const order: string[] = [];
    const side = (name: string, values: number[]) => async () => {
      order.push(name);
      return values.shift()!;
    };
    expect(await alternating(3, { a: side("a", [1, 9, 2]), b: side("b", [4, 5, 6]) })).toEqual({
      a: 2,
      b: 5,
    });
    expect(order.join("")).toBe("ababab");
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(
      percentile(
        Array.from({ length: 100 }, (_, index) => index + 1),
        0.99,
      ),
    ).toBe(99);
  });

  it("are those of the pair with the median ratio", async () => {
    const figures = [40, 90, 10, 60];
    const baselines = [10, 10, 10, 20];
    expect(
      await inPairs(
        4,
        async () => figures.shift()!,
        async () => baselines.shift()!,
      ),
    ).toEqual({ figure: 60, baseline: 20, ratios: [1, 3, 4, 9] });
  });

  it("report the CPU time that the host took, where the system shows it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "stat-"));
    try {
      const file = join(folder, "stat");
      await writeFile(file, "cpu  100 0 50 800 10 0 5 35 7 0\ncpu0 1 2 3\n");
      const before = ticks(file);
      expect(before).toEqual({ stolen: 35, all: 1000 });
      await writeFile(file, "cpu  200 0 50 1000 10 0 5 135 7 0\n");
      expect(stolenShare(before, ticks(file))).toBe(0.25);
      expect(stolenShare(before, before)).toBeUndefined();
      await writeFile(file, "intr 1 2 3\n");
      expect([ticks(file), ticks(join(folder, "none")), stolenShare(undefined, before)]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("say whether the goals were reached", () => {
    expect(ratioOf(figure)).toBe(3);
    expect(isMet(figure)).toBeUndefined();
    expect([
      isMet({ ...figure, wanted: { atLeast: 3 } }),
      isMet({ ...figure, wanted: { atMost: 2 } }),
      isMet({ ...figure, wanted: { below: 31 } }),
    ]).toEqual([true, false, true]);
    expect(table({ bench: [{ ...figure, wanted: { atMost: 2 } }] })).toMatch(
      /^\| bench +\| a +\| +30 \/s \| b +\| +10 \/s \| +3\.00 \| ≤ 2 +\| MISSED \|$/m,
    );
  });

  it("have sizes that one setting changes", () => {
    expect(readSizes(false, ["manyRecords=5000"])).toMatchObject({
      manyRecords: 5000,
      fewRecords: 1000,
    });
    expect(readSizes(true, []).entities).toBeLessThan(readSizes(false, []).entities);
    expect(() => readSizes(false, ["manyRecords=no"])).toThrow("manyRecords");
  });
});
