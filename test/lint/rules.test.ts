import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";

/** What the rules of scripts/lint report, and what they do not. */
const RULES = {
  "spread-into-call": {
    reported: [
      "rows.push(...more);",
      "Math.max(0, ...sizes);",
      "a?.b(...c);",
      "new Map(...pairs);",
      "String.fromCharCode(...codes);",
      "f<string>(...(await g()));",
      "list.concat.apply(list, lists);",
      "const f = (...given: number[]) => 1; g(...given);",
    ],
    free: [
      "const hand = (...given: number[]) => g(...given); g(...NAMES); g(...(many ? [] : [1]));",
      "const f = (...all: number[]) => [...all]; const { a, ...rest } = b; g({ ...rest }, [...f()]);",
      "store.apply(graphs);",
    ],
  },
  "hash-private": {
    reported: [
      "class A { private a = 1; }",
      "class A { private readonly a = 1; }",
      "class A { private a() {} }",
      "class A { private static a() {} }",
      "class A { constructor(private readonly a: number) {} }",
    ],
    free: ["class A { #a = 1; private constructor() {} }"],
  },
};

describe.each(Object.entries(RULES))("the rule arkgraph/%s", (rule, { reported, free }) => {
  let folder: string;
  let lines: number[];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-lint-"));
    const config = {
      categories: { correctness: "off" },
      jsPlugins: [join(packageRoot, "scripts/lint/plugin.mjs")],
      rules: { [`arkgraph/${rule}`]: "error" },
    };
    await writeFile(join(folder, ".oxlintrc.json"), JSON.stringify(config));
    await writeFile(
      join(folder, "code.ts"),
      [...reported, ...free].map((line) => `{ ${line} }`).join("\n"),
    );
    lines = await linesReported(folder);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("reports each of its cases, and nothing else", () => {
    expect([...new Set(lines)].toSorted((a, b) => a - b)).toEqual(
      reported.map((_, index) => index + 1),
    );
  });
});

async function linesReported(folder: string): Promise<number[]> {
  const oxlint = join(packageRoot, "node_modules/oxlint/bin/oxlint");
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, [oxlint, "--format", "json"], { cwd: folder }, (_, stdout) =>
      resolve(stdout),
    ),
  );
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { labels: { span: { line: number } }[] }[];
  };
  return diagnostics.map(({ labels }) => labels[0]!.span.line);
}
