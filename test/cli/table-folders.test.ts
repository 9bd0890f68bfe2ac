import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { cp, chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { sharedData } from "../support/shared-data.js";
import { arkgraph, useFolder } from "./terminal.js";

// The commands of the README of each folder, on its files.
const CASES = sharedData("cases/tables");
const folder = useFolder();
const place = (name: string) => join(folder.path(), name);
const run = (name: string, command: string) => arkgraph(command.split(" "), { cwd: place(name) });
const shell = (name: string, script: string) =>
  promisify(execFile)("sh", ["-c", script], {
    cwd: place(name),
    env: { PATH: `${place("bin")}:${process.env["PATH"]}`, HOME: folder.path() },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
const CONFORMS = { status: 0, stdout: "Validation Success\n" };
const VALIDATE = "schema validate --data d.csv --schema s.json";

const TESTS: Readonly<Record<string, (name: string) => Promise<void>>> = {
  async "frictionless5-dialect"(name) {
    await run(name, "schema import semi.resource.json --from frictionless --output semi.json");
    expect(await run(name, "schema validate --data semi.csv --schema semi.json")).toMatchObject(
      CONFORMS,
    );
  },
  async "full-disk-stack-trace"(name) {
    for (const command of [VALIDATE, "schema list"]) {
      const { code, stderr } = await shell(name, `arkgraph ${command} > /dev/full`);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^arkgraph: [^\n]+no space[^\n]+\n$/),
      ]);
    }
  },
  async "ignored-keywords"(name) {
    const { stdout, stderr } = await run(name, VALIDATE);
    expect(stderr.match(/KEYWORD_UNKNOWN/g)).toHaveLength(2);
    expect(stdout).toContain("'x' is not a 'iri'");
  },
  async "infer-header"(name) {
    for (const [file, names] of Object.entries({
      comma: ["Office", "Place (lon, lat)"],
      comments: ["id", "n"],
      digit: ["name", "639-1"],
      only: ["id", "name"],
      repeated: ["id", "name", "id_2", "age", "id_3"],
      trailing: ["h1", "h2", "column_2", "column_3", "column_4"],
    })) {
      const { stdout } = await run(name, `schema infer ${file}.csv`);
      const { header, properties } = JSON.parse(stdout) as { header: boolean; properties: object };
      expect([file, header, Object.keys(properties)]).toEqual([file, true, names]);
    }
  },
  async "notes-are-not-results"(name) {
    const report = async (file: string) =>
      run(name, `schema validate --data ${file}.csv --schema s.json --format json --strict`);
    for (const [file, expected] of Object.entries({
      swapped: { findings: [{ code: "HEADER_DIFFERS" }] },
      latin1: { files: [{ failure: expect.stringContaining("byte 0xE9 is not UTF-8") as string }] },
      nul: { files: [{ failure: expect.stringContaining("binary") as string }] },
    })) {
      const { status, stdout } = await report(file);
      expect([file, status]).toEqual([file, 1]);
      expect(JSON.parse(stdout)).toMatchObject(expected);
    }
  },
  async "optional-numbers"(name) {
    const { stdout, stderr } = await run(name, "schema infer d.csv");
    expect(JSON.parse(stdout)).toMatchObject({
      properties: { n: { type: "integer" }, m: { type: "number" } },
    });
    expect(stderr).toContain("cells has no value");
    expect(await run(name, VALIDATE)).toMatchObject(CONFORMS);
  },
  async "parallel-add-property"(name) {
    expect((await shell(name, "sh run.sh")).stdout).toMatch(/\n8\n$/);
  },
  async "parquet-infer-and-names"(name) {
    const { stdout } = await run(name, "schema infer swap.parquet");
    expect(Object.keys(JSON.parse(stdout).properties as object)).toEqual(["b", "a"]);
    expect((await run(name, "schema check s.json --data swap.parquet")).status).toBe(0);
    expect((await run(name, "schema check fs.json")).status).toBe(0);
    const named = await run(name, "schema validate --data swap.parquet --schema s.json --strict");
    expect(named).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("HEADER_DIFFERS") as string,
    });
    await cp(join(place(name), "swap.parquet"), join(place(name), "t.pq"));
    expect(await run(name, "schema validate --data t.pq --schema fs.json")).toMatchObject(CONFORMS);
  },
  async "parquet-zstd-lz4"(name) {
    for (const file of ["lz4", "polars"])
      expect(
        await run(name, `schema validate --data ${file}.parquet --schema s.json`),
      ).toMatchObject(CONFORMS);
  },
  async "separator-key-interop"(name) {
    expect(await run(name, "schema validate --data t.tsv --schema tsv.json")).toMatchObject(
      CONFORMS,
    );
    const add = "schema add-property boolean --name c --index 2 --description c tsv.json";
    expect((await run(name, add)).status).toBe(0);
    const file = join(place(name), "tsv.json");
    const schema = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
    await writeFile(file, JSON.stringify({ ...schema, separator: "," }));
    expect((await run(name, "schema check tsv.json")).stdout).toContain("separator");
  },
  async "slow-multichar-separator"(name) {
    // How long it takes is for the bench "tabular".
    await shell(name, "python3 make.py");
    expect(await run(name, "schema validate --data m.txt --schema s.json")).toMatchObject(CONFORMS);
  },
  async "stray-quote"(name) {
    const stderr = expect.stringContaining("STRAY_QUOTE") as string;
    expect(await run(name, VALIDATE)).toMatchObject({ status: 0, stderr });
    expect(await run(name, `${VALIDATE} --strict`)).toMatchObject({ status: 1, stderr });
  },
};

describe.skipIf(!CASES)("the tables of the cases", () => {
  beforeAll(async () => {
    await mkdir(place("bin"));
    const tool = `#!/bin/sh\nexec ${process.execPath} ${join(packageRoot, "bin", "arkgraph.js")} "$@"\n`;
    await writeFile(join(place("bin"), "arkgraph"), tool, { mode: 0o755 });
    // The files may be read only.
    for (const name of await readdir(CASES!)) {
      await mkdir(place(name));
      for (const file of await readdir(join(CASES!, name))) {
        await cp(join(CASES!, name, file), join(place(name), file));
        await chmod(join(place(name), file), 0o644);
      }
    }
  });

  it("have a test for each folder", () => {
    expect(Object.keys(TESTS).toSorted()).toEqual(readdirSync(CASES!).toSorted());
  });

  it.each(Object.entries(TESTS))("end as the README says: %s", (name, test) => test(name));
});
