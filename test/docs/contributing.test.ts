import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { OUTPUTS } from "../../src/generate/outputs.js";
import { packageRoot } from "../../src/package-root.js";

const read = (path: string): string => readFileSync(join(packageRoot, path), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  version: string;
  license: string;
  scripts: Record<string, string>;
};
const links = (text: string): string[] =>
  [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1]!);
/** Scripts that come with the formatter and the layer check; this page may name them before. */
const ANNOUNCED = ["format"];
const unknownScripts = (text: string): string[] =>
  [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)]
    .map((match) => match[1]!)
    .filter((name) => !(name in manifest.scripts) && !ANNOUNCED.includes(name));

describe("CITATION.cff", () => {
  const citation = parse(read("CITATION.cff")) as Record<string, unknown>;

  it("agrees with package.json in version and licence", () => {
    expect(citation["version"]).toBe(manifest.version);
    expect(citation["license"]).toBe(manifest.license);
  });

  it("has the fields that the format requires", () => {
    expect(citation).toMatchObject({
      "cff-version": "1.2.0",
      message: expect.any(String) as string,
      title: "Arkgraph",
      authors: [{ name: "Arkgraph maintainers" }],
    });
  });
});

describe("CONTRIBUTING.md", () => {
  const page = read("CONTRIBUTING.md");

  it("is linked from the README", () => {
    expect(links(read("README.md"))).toEqual(
      expect.arrayContaining(["CONTRIBUTING.md", "docs/architecture.md"]),
    );
  });

  it("names only files, folders and npm scripts that exist", () => {
    const named = [...page.matchAll(/(?<![\w/.-])(?:test|src|docs|\.ci)\/[\w./-]*\w/g)].map(
      (match) => match[0],
    );
    expect(named.length).toBeGreaterThan(15);
    for (const path of [...named, ...links(page), ...links(read("CODE_OF_CONDUCT.md"))])
      expect([path, existsSync(join(packageRoot, path))]).toEqual([path, true]);
    expect(unknownScripts(page)).toEqual([]);
  });

  it("names every generated file that a reader might edit", () => {
    const outputs = OUTPUTS.filter((output) => !output.file.startsWith("src/"));
    expect(outputs.length).toBeGreaterThan(5);
    for (const { file } of outputs)
      expect(page).toContain(file.startsWith("ontology/") ? "`ontology/`" : `\`${file}\``);
  });

  it("names the version of Node.js that package.json requires", () => {
    const { engines } = JSON.parse(read("package.json")) as { engines: { node: string } };
    expect(page).toContain(`Node.js ${engines.node.replace(">=", "")} or newer`);
  });
});

describe("the files for GitHub", () => {
  it.each(["bug", "feature"])("have an issue form that GitHub can read: %s", (name) => {
    const form = parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`)) as {
      name: string;
      description: string;
      body: { type: string; id?: string; attributes: Record<string, unknown> }[];
    };
    expect([typeof form.name, typeof form.description]).toEqual(["string", "string"]);
    const fields = form.body.filter(({ type }) => type !== "markdown");
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
    for (const { type, id, attributes } of fields) {
      expect(["textarea", "input", "dropdown", "checkboxes"]).toContain(type);
      expect([id, typeof attributes["label"]]).toEqual([id, "string"]);
      if (type === "dropdown" || type === "checkboxes")
        expect([id, Array.isArray(attributes["options"])]).toEqual([id, true]);
    }
  });

  it("have a pull-request template that names scripts that exist", () => {
    expect(unknownScripts(read(".github/PULL_REQUEST_TEMPLATE.md"))).toEqual([]);
  });

  it("run the whole suite on every supported version of Node.js, the linters and the image", () => {
    const text = read(".github/workflows/ci.yml");
    const { jobs, permissions } = parse(text) as {
      permissions: object;
      jobs: Record<
        string,
        { strategy?: { matrix: { node: number[] } }; steps: { run?: string; uses?: string }[] }
      >;
    };
    const runs = (job: string): string => jobs[job]!.steps.map(({ run }) => run).join("\n");
    expect(permissions).toEqual({ contents: "read" });
    expect(jobs["suite"]!.strategy!.matrix.node).toEqual([20, 22, 24]);
    expect(runs("suite")).toContain(".ci/run");
    expect(runs("image")).toContain("deploy/try-image.sh");
    for (const check of ["prettier --check", "npm run -s lint", "layers", "--check", "tsc"])
      expect(runs("lint")).toContain(check);
    expect(unknownScripts(text)).toEqual([]);
  });

  it("have settings of Renovate that pin exact versions", () => {
    expect(JSON.parse(read("renovate.json"))).toMatchObject({ rangeStrategy: "pin" });
  });
});
