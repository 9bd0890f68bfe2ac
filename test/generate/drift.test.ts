import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Parser } from "n3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { SETTINGS } from "../../src/config/config.js";
import { ERRORS } from "../../src/errors.js";
import { drifted, generate, OUTPUTS } from "../../src/generate/outputs.js";
import { openApiDocument } from "../../src/generate/openapi/document.js";
import { FINDING_CODES } from "../../src/services/crates/findings.js";

const rendered = async (file: string) => OUTPUTS.find((output) => output.file === file)!.render();

describe("the generated files", () => {
  it("are up to date; else run `npm run generate`", async () => {
    expect(await drifted()).toEqual([]);
  });

  it("are identical when generated twice", async () => {
    for (const { file, render } of OUTPUTS) expect(await render(), file).toBe(await render());
  });

  it("can be parsed to the data that they were generated from", async () => {
    expect(parse(await rendered("openapi/openapi.yaml"))).toEqual(
      JSON.parse(JSON.stringify(openApiDocument())),
    );
    expect(() => JSON.parse(String(OUTPUTS[0]!.render()))).not.toThrow();
    expect(new Parser().parse(await rendered("ontology/shapes.ttl")).length).toBeGreaterThan(100);
  });

  it("name every setting, every error code, and every code of a finding in a crate", async () => {
    for (const [code, { severity }] of Object.entries(FINDING_CODES)) {
      const [refused, advised] = (await rendered("docs/crates.md"))
        .split("## What is refused")[1]!
        .split("## What is advised") as [string, string];
      if (code !== "MORE_FINDINGS")
        expect(
          (severity === "REQUIRED" ? refused : advised)
            .split("\n")
            .filter((line) => line.startsWith(`| \`${code}\` |`)),
          code,
        ).toHaveLength(1);
    }
    for (const name of Object.keys(SETTINGS))
      expect(await rendered("docs/settings.md")).toContain(`| \`${name}\` |`);
    for (const code of Object.keys(ERRORS))
      expect(await rendered("docs/errors.md")).toContain(`| \`${code}\` |`);
  });
});

describe("settings in generated pages", () => {
  it("show a default as it may be written", async () => {
    const page = await rendered("docs/settings.md");
    for (const [name, shown] of [
      ["MAX_BODY_BYTES", "`2MiB`"],
      ["INDEX_WAIT", "`2s`"],
      ["WRITE_RATE", "`off`"],
      ["ARK_NAAN", "`99999`"],
      ["MAX_CRATE_RATIO", "`200`"],
      ["JWT_SECRET", "—"],
    ]) {
      expect(page).toContain(`| \`${name}\` | ${shown} |`);
    }
  });
});

describe("generate", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "generate-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("writes outdated or missing files, and nothing else", async () => {
    const outputs = [
      { file: "a/b.txt", render: () => "b" },
      { file: "c.txt", render: async () => "c" },
    ];
    expect(await drifted(outputs, folder)).toEqual(["a/b.txt", "c.txt"]);
    expect(await generate(outputs, folder)).toEqual(["a/b.txt", "c.txt"]);
    expect(await generate(outputs, folder)).toEqual([]);
    await writeFile(join(folder, "c.txt"), "spoilt");
    expect(await generate(outputs, folder)).toEqual(["c.txt"]);
    expect(await readFile(join(folder, "c.txt"), "utf8")).toBe("c");
  });
});
