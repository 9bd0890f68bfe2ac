import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sharedData } from "../support/shared-data.js";
import { useFolder } from "./terminal.js";

const { run, write } = useFolder();
const CASES = sharedData("cases/public");
const read = (folder: string, name: string): Buffer => readFileSync(join(CASES!, folder, name));

describe.skipIf(!CASES)("a table with the mark of UTF-8 and one byte of another encoding", () => {
  const file = (name: string): Buffer => read("24-utf-8-mark-and-a-later-single-byte", name);
  const PLACE = "data.csv: row 1200 (line 1202), column 1 (place): byte 0xA0 is not UTF-8";
  const validate = async (...options: string[]) => {
    await write("data.csv", file("data.csv"));
    await write("schema.json", file("schema.json"));
    return run(["schema", "validate", "--data", "data.csv", "--schema", "schema.json", ...options]);
  };

  it("does not conform, and one line names the place and the option", async () => {
    const { status, stdout, stderr } = await validate();
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^arkgraph: data\.csv: [^\n]*give --encoding latin1\n$/);
    expect(stderr).toContain(PLACE);
    expect(await validate("--quiet")).toEqual({ status, stdout, stderr });
    const inferred = await run("schema infer data.csv");
    expect([inferred.status, inferred.stdout]).toEqual([1, ""]);
    expect(inferred.stderr).toContain(PLACE);
  });

  it("is named in every format of a report", async () => {
    const said = expect.stringContaining(PLACE) as string;
    const json = await validate("--format", "json");
    expect([json.status, JSON.parse(json.stdout)]).toEqual([
      1,
      { files: [{ file: "data.csv", failure: said }], valid: false },
    ]);
    const ndjson = await validate("--format", "ndjson");
    expect(JSON.parse(ndjson.stdout)).toEqual({ file: "data.csv", failure: said });
    const sarif = await validate("--format", "sarif");
    expect(JSON.parse(sarif.stdout)).toMatchObject({
      runs: [
        {
          invocations: [
            {
              executionSuccessful: false,
              toolExecutionNotifications: [{ level: "error", message: { text: said } }],
            },
          ],
        },
      ],
    });
    const github = await validate("--format", "github");
    expect(github.stdout).toContain(`::error file=data.csv::${PLACE}`);
  });

  it("is read with --encoding, without the mark in the first name", async () => {
    expect(await validate("--encoding", "windows-1252")).toEqual({
      status: 0,
      stdout: "Validation Success\n",
      stderr: "",
    });
    const { stdout } = await run("schema infer data.csv --encoding windows-1252");
    expect(Object.keys(JSON.parse(stdout).properties)).toEqual(["id", "place", "value"]);
  });
});
