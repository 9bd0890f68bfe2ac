import { readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { schemaOf, useFolder } from "./terminal.js";

const { run, write, path } = useFolder();
const A = { a: { description: "d", index: 0, type: "integer" } };
const SCHEMA = schemaOf(A, { header: true });
const read = (name: string): Promise<string> => readFile(join(path(), name), "utf8");
const OUTPUTS = "--valid-output good.csv --invalid-output bad.csv";

beforeEach(async () => {
  await write("s.json", SCHEMA);
});

describe("schema validate --valid-output and --invalid-output", () => {
  const validate = async (table: string | Uint8Array, options = "") => {
    await write("d.csv", table);
    return run(`schema validate --data d.csv --schema s.json --force ${OUTPUTS} ${options}`.trim());
  };

  it("write the rows as they are, with the header", async () => {
    const table = 'a,"b"\r\n1,"x\n""y"""\r\nz, 2 \n\n\n 3 ,é\nlast,"4"';
    expect((await validate(table)).status).toBe(1);
    expect(await read("good.csv")).toBe('a,"b"\r\n1,"x\n""y"""\r\n 3 ,é\n');
    expect(await read("bad.csv")).toBe('a,"b"\r\nz, 2 \n\n\nlast,"4"');
  });

  it("write lines above the header, and no comments", async () => {
    await write("s.json", schemaOf(A, { header: true, skipRows: 1, commentPrefix: "#" }));
    expect((await validate("made by hand\n# c\na\n1\n# c\n2\n\n")).status).toBe(0);
    expect(await read("good.csv")).toBe("made by hand\na\n1\n2\n");
    expect(await read("bad.csv")).toBe("made by hand\na\n");
  });

  it("write a large table as a stream, from gzip and to gzip", async () => {
    const rows = Array.from({ length: 300_000 }, (_, row) =>
      row % 3 === 0 ? `x${row}` : `${row}`,
    );
    await write("d.csv.gz", gzipSync(`a\n${rows.join("\n")}\n`));
    const { status } = await run(
      "schema validate --data d.csv.gz --schema s.json --quiet --valid-output good.csv.gz " +
        "--invalid-output large.csv",
    );
    expect(status).toBe(1);
    const good = gunzipSync(await readFile(join(path(), "good.csv.gz"))).toString();
    const bad = await read("large.csv");
    const isBad = (row: string): boolean => row.startsWith("x");
    expect(good).toBe(`a\n${rows.filter((row) => !isBad(row)).join("\n")}\n`);
    expect(bad).toBe(`a\n${rows.filter(isBad).join("\n")}\n`);
  });

  it("write nothing when the check cannot be finished", async () => {
    await validate("a\n1\n");
    const before = await readdir(path());
    const ended = await validate('a\n2\n"open\n');
    expect(ended.status).toBe(1);
    expect(ended.stderr).toContain("is never closed");
    expect(await read("good.csv")).toBe("a\n1\n");
    expect(await readdir(path())).toEqual(before);
  });

  it("never overwrite what is read, nor another file without --force", async () => {
    await write("d.csv", "a\n1\nx\n");
    await symlink("d.csv", join(path(), "link.csv")).catch(() => undefined);
    const refused = (options: string) =>
      run(`schema validate --data d.csv --schema s.json ${options}`);
    for (const target of ["d.csv", "link.csv", "./s.json"]) {
      const { status, stderr } = await refused(`--force --invalid-output ${target}`);
      expect([status, stderr]).toEqual([
        1,
        `arkgraph: ${target}: the rows need a file of their own: choose another name\n`,
      ]);
    }
    const same = await refused("--valid-output one.csv --invalid-output ./one.csv");
    expect(same.stderr).toContain("./one.csv: the rows need a file of their own");
    await write("there.csv", "old");
    expect((await refused("--valid-output there.csv")).stderr).toContain("exists already");
    expect(await read("there.csv")).toBe("old");
    expect(await read("d.csv")).toBe("a\n1\nx\n");
    expect((await readdir(path())).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("refuse several files, Parquet, and a check that ends early", async () => {
    await write("d.csv", "a\n1\n");
    await write("none.parquet", "PAR1");
    for (const [options, reason] of [
      ["--data d.csv d.csv", "are for one data file"],
      ["--data d.csv --max-errors 1", "need every row"],
      ["--data none.parquet", "are for text"],
    ])
      expect((await run(`schema validate --schema s.json ${OUTPUTS} ${options}`)).stderr).toContain(
        `--valid-output and --invalid-output ${reason}`,
      );
  });
});
