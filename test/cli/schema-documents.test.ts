import { XMLParser, XMLValidator } from "fast-xml-parser";
import { describe, expect, it } from "vitest";
import { schemaOf, useFolder } from "./terminal.js";

const { run, write } = useFolder();
const SCHEMA = schemaOf(
  {
    a: { description: "d", index: 0, type: "string", pattern: "^[a-z]+$" },
    b: { description: "d", index: 1, type: "integer" },
  },
  { header: true },
);
const HOSTILE = "<script>alert(1)</script>\u0001\u001b[31m ]]> &amp; \"'";
const validate = async (table: string, options: string) => {
  await write("d.csv", table);
  await write("s.json", SCHEMA);
  return run(`schema validate --data d.csv --schema s.json ${options}`);
};
const hostileTable = `a,b\n"${HOSTILE.replaceAll('"', '""')}",1\nfine,x\nBAD,2\n`;

describe("schema validate --format junit", () => {
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "",
    isArray: (name) => name === "testcase" || name === "testsuite",
  });

  it("has a suite for each file and a failed case for each property and keyword", async () => {
    const { status, stdout } = await validate(hostileTable, "--format junit none.csv");
    expect(status).toBe(1);
    expect(XMLValidator.validate(stdout)).toBe(true);
    const [suite, unreadable] = parser.parse(stdout).testsuites.testsuite;
    expect(suite).toMatchObject({ name: "d.csv", tests: "2", failures: "2", errors: "0" });
    const [pattern, datatype] = suite.testcase;
    expect(pattern).toMatchObject({
      classname: "d.csv",
      name: "a: pattern",
      failure: { type: "ValidationError", message: "2 errors" },
    });
    expect(pattern.failure["#text"]).toMatch(
      /^row 0 \(line 2\): '<script>.*\nrow 2 \(line 4\): 'BAD'/,
    );
    expect(datatype).toMatchObject({ name: "b: datatype", failure: { type: "ParsingError" } });
    expect(unreadable).toMatchObject({
      name: "none.csv",
      errors: "1",
      testcase: [{ error: { message: "none.csv: there is no such file or folder" } }],
    });
  });

  it("has one case that passes for rows that conform, and findings as cases", async () => {
    const plain = await validate("a,b\nx,1\n", "--format junit");
    expect(plain.status).toBe(0);
    expect(parser.parse(plain.stdout).testsuites.testsuite).toMatchObject([
      { tests: "1", failures: "0", testcase: [{ name: "the rows conform" }] },
    ]);
    const strict = await validate("b,a\nx,1\n", "--format junit --strict");
    expect(parser.parse(strict.stdout).testsuites.testsuite[1]).toMatchObject({
      name: "findings",
      failures: "1",
      testcase: [{ classname: "d.csv", name: "HEADER_DIFFERS", failure: {} }],
    });
  });
});

describe("schema validate --format html", () => {
  it("is a page that loads nothing and in which nothing of the data can run", async () => {
    const { status, stdout } = await validate(hostileTable, "--format html");
    expect(status).toBe(1);
    expect(stdout).toMatch(/^<!doctype html>/);
    expect(stdout).toContain("default-src 'none'");
    expect(stdout).toContain("&lt;script&gt;alert(1)&lt;/script&gt;\\x01\\x1b[31m");
    expect(stdout).not.toMatch(/<script|\ssrc=|<link|(?!\n)\p{Cc}/u);
    expect(stdout).toContain("3 rows, 3 errors in 3 rows");
    expect(stdout).toContain("<td>BAD</td><td>^[a-z]+$</td>");
  });

  it("lists the first 1000 errors of a file and counts the others", async () => {
    const table = `a,b\n${"A,1\n".repeat(1500)}`;
    const { stdout } = await validate(table, "--format html");
    expect(stdout.split("<td>A</td>")).toHaveLength(1001);
    expect(stdout).toContain("500 more errors are not listed");
    const junit = (await validate(table, "--format junit")).stdout;
    expect(junit).toContain('message="1500 errors"');
    expect(junit.split("\nrow ")).toHaveLength(1000);
  });
});
