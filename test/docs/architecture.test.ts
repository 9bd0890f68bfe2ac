import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { parse, validate } from "graphql";
import { describe, expect, it } from "vitest";
import { ERRORS } from "../../src/errors.js";
import { graphqlSchema } from "../../src/graphql/schema.js";
import { packageRoot } from "../../src/package-root.js";
import { openApiDocument } from "../../src/rest/document.js";
import { FINDING_CODES } from "../../src/services/crates/findings.js";

const read = (path: string): string => readFileSync(join(packageRoot, path), "utf8");
const page = read("docs/architecture.md");
const codeMap = read("docs/code-map.md");
const decisions = read("docs/decisions/README.md");
const glossary = read("docs/glossary.md");
const section = (heading: string): string => page.split(`## ${heading}\n`)[1]!.split("\n## ")[0]!;
/** The cells of the tables in a part of the page, without their headings. */
const rowsIn = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line, index, lines) => line.startsWith("|") && !lines[index + 1]?.startsWith("|---"))
    .filter((line) => !line.startsWith("|---"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
const quotedIn = (cell: string): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
/** Whole words only: `find` must not be found in `findMany`. */
const holds = (text: string, name: string): boolean =>
  new RegExp(`(?<!\\w)${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?!\\w)`).test(text);

/** A line of a tree: a step, its file, and the rest of the line. */
interface Step {
  line: string;
  name: string;
  file: string;
  rest: string;
}
const treeOf = (text: string): Step[] =>
  [...text.matchAll(/^[│├└─ ]*([\w.]+) +(src\/\S+)(.*)$/gm)].map(([line, name, file, rest]) => ({
    line,
    name: name!,
    file: file!,
    rest: rest!,
  }));
const trees = [...page.matchAll(/^```text\n([\s\S]*?)^```$/gm)]
  .map((match) => match[1]!)
  .filter((text) => text.includes("└─ "));
const treeNamed = (title: string): string => trees.find((text) => text.startsWith(`${title}\n`))!;
/** `404 NOT_FOUND` behind an arrow. */
const exitsOf = (text: string): [number, string][] =>
  [...text.matchAll(/(\d{3}) ([A-Z_]{4,})/g)].map(([, status, code]) => [Number(status), code!]);

const existing = (path: string): boolean => existsSync(join(packageRoot, path));
const folders = (path: string): string[] =>
  readdirSync(join(packageRoot, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${path}/${name}`);
const sources = (path: string): string[] =>
  readdirSync(join(packageRoot, path), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => posix.join(path, file.replaceAll("\\", "/")));

const pages = execFileSync("git", ["ls-files", "*.md"], { cwd: packageRoot, encoding: "utf8" })
  .split("\n")
  // Templates are checked as the pages in docs that are made from them.
  .filter((path) => path !== "" && !path.startsWith("src/generate/templates/") && existing(path));
const headingsIn = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

describe("the Markdown pages of the repository", () => {
  it("have links that lead to files and headings", () => {
    const links = pages.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)/g)].map((match) => ({
        path,
        target: match[1] === "" ? path : posix.join(dirname(path), match[1]!),
        heading: match[2]!,
      })),
    );
    expect(links.length).toBeGreaterThan(200);
    const broken = links.filter(
      ({ target, heading }) =>
        !existing(target) ||
        (heading !== "" && target.endsWith(".md") && !headingsIn(read(target)).includes(heading)),
    );
    expect(broken).toEqual([]);
  });
});

describe("docs/architecture.md", () => {
  it("names only files and folders that exist", () => {
    const paths = [
      ...`${page}\n${codeMap}\n${glossary}`.matchAll(
        /(?<![\w/.-])(?:src|cli|test|docs|bin|scripts|deploy)\/[\w./-]*\w/g,
      ),
    ].map((match) => match[0]);
    expect(paths.length).toBeGreaterThan(150);
    expect(paths.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([]);
  });

  it("answers each question with files that contain the answer", () => {
    const rows = rowsIn(codeMap);
    expect(rows.length).toBeGreaterThan(17);
    for (const [question, files, names] of rows) {
      const texts = quotedIn(files!).map((file) => [file, read(file)] as const);
      expect(texts.length, question).toBeGreaterThan(0);
      for (const name of quotedIn(names!))
        expect(
          texts.some(([, text]) => holds(text, name)),
          `${question}: ${name}`,
        ).toBe(true);
      for (const [file, text] of texts)
        expect(
          quotedIn(names!).some((name) => holds(text, name)),
          `${question}: ${file}`,
        ).toBe(true);
    }
  });

  it.each([
    ["Who may change or delete", "export async function assertMayChange"],
    ["The RDF term for `usedDataset`", "usedDataset: custom("],
    ["What refuses a zip", "limits.MAX_CRATE_INFLATED_BYTES"],
    ["The SPARQL guard", "export class QueryGuard"],
    ["The text of a 422", "String should have at most"],
  ])("answers the question of a newcomer: %s", (question, text) => {
    const [row] = rowsIn(codeMap).filter(([asked]) => asked!.startsWith(question));
    expect(quotedIn(row![1]!).some((file) => read(file).includes(text))).toBe(true);
  });

  it("names in its trees only steps that are in the files they name", () => {
    const steps = trees.flatMap(treeOf);
    expect(steps.length).toBeGreaterThan(70);
    for (const { line, name, file } of steps)
      for (const part of name.split("."))
        expect([line, holds(read(file), part)]).toEqual([line, true]);
  });

  it("gives each exit the status of its code", () => {
    const exits = trees.flatMap((tree) => [...exitsOf(tree)]);
    expect(exits.length).toBeGreaterThan(20);
    for (const [status, code] of exits)
      expect([code, (ERRORS as Record<string, { status: number }>)[code]?.status]).toEqual([
        code,
        status,
      ]);
  });

  it("names for a failed crate only codes that are documented", () => {
    const failed = treeOf(treeNamed("job of type crate")).flatMap(({ file, rest }) =>
      [...(rest.split("failed: ")[1] ?? "").matchAll(/[A-Z]+_[A-Z_]+/g)].map(
        ([code]) => [code, file] as const,
      ),
    );
    expect(failed.length).toBeGreaterThan(8);
    for (const [code, file] of failed)
      expect([code, code in FINDING_CODES || read(file).includes(`"${code}"`)]).toEqual([
        code,
        true,
      ]);
  });

  it.each([
    ["POST /dataset", "/dataset", "post"],
    ["GET /evidencegraph/query/ark:…", "/evidencegraph/query/ark:{NAAN}/{postfix}", "get"],
  ])("shows every status of %s in the contract", (title, path, method) => {
    const shown = exitsOf(treeNamed("any request") + treeNamed(title)).map(([status]) => status);
    const { paths } = openApiDocument() as {
      paths: Record<string, Record<string, { responses: object }>>;
    };
    const documented = Object.keys(paths[path]![method]!.responses).map(Number);
    expect(documented.filter((status) => status !== 200 && !shown.includes(status))).toEqual([]);
  });

  it("has a GraphQL example that the schema accepts", async () => {
    const [example] = [...page.matchAll(/^```graphql\n([\s\S]*?)^```$/gm)].map((m) => m[1]!);
    expect(validate(await graphqlSchema(), parse(example!))).toEqual([]);
  });

  it("lists every decision once", () => {
    const listed = [...decisions.matchAll(/\]\((\d[^)]+)\)/g)].map((match) => match[1]!);
    // The page groups them by topic, so only the set is compared.
    expect(listed.toSorted()).toEqual(
      readdirSync(join(packageRoot, "docs/decisions"))
        .filter((name) => name !== "README.md")
        .sort(),
    );
    for (const [number, link] of rowsIn(decisions))
      expect(link).toContain(`(${number!.padStart(4, "0")}-`);
  });

  it("keeps every decision under 30 lines", () => {
    const long = readdirSync(join(packageRoot, "docs/decisions"))
      .filter((name) => name !== "README.md")
      .filter((name) => read(`docs/decisions/${name}`).split("\n").length > 30);
    expect(long).toEqual([]);
  });

  it("explains the words of the code in alphabetical order", () => {
    const words = rowsIn(glossary).map(([word]) => word!);
    expect(words).toEqual(words.toSorted((a, b) => a.localeCompare(b, "en")));
    for (const word of [
      "record",
      "kind",
      "crate",
      "submission",
      "lane",
      "feed",
      "projection",
      "evidence",
      "edge",
      "support",
      "revision",
      "tombstone",
    ])
      expect(words).toContain(word);
  });
});

describe("the layers in docs/architecture.md", () => {
  const layers = rowsIn(section("The layers"))
    .filter((row) => row.length === 3)
    .map(([layer, , imports]) => ({ layer: quotedIn(layer!)[0]!, imports: imports! }));
  const layerOf = (file: string): string | undefined =>
    layers.map(({ layer }) => layer).find((layer) => file.startsWith(`${layer}/`));

  it("are the folders of src, and cli", () => {
    expect(layers.map(({ layer }) => layer).sort()).toEqual([...folders("src"), "cli"].sort());
  });

  it("import only the layers that the table allows, types included", () => {
    const found = new Map<string, Set<string>>();
    for (const file of layers.flatMap(({ layer }) => sources(layer))) {
      for (const [, target] of read(file).matchAll(/(?:from |import\(|^import )"(\.[^"]+)"/gm)) {
        const from = layerOf(file)!;
        const to = layerOf(posix.join(dirname(file), target!));
        if (to === undefined || to === from) continue;
        found.set(from, (found.get(from) ?? new Set()).add(to));
      }
    }
    expect(found.size).toBeGreaterThan(10);
    for (const { layer, imports } of layers) {
      if (imports === "everything below") continue;
      const allowed = imports === "nothing" ? [] : imports.split(", ");
      const used = [...(found.get(layer) ?? [])].map((name) => name.replace("src/", ""));
      expect([layer, used.filter((name) => !allowed.includes(name))]).toEqual([layer, []]);
    }
  });
});

describe("stores behind services", () => {
  it("are read directly by exactly the files that the page names", () => {
    const paragraph = /read the record store without a service[\s\S]*?\n\n/.exec(page)?.[0] ?? "";
    const found = ["src/rest", "src/graphql", "src/web", "src/http"]
      .flatMap(sources)
      .filter((file) => /\bdeps\.(?:records|objects|queries)\.\w/.test(read(file)));
    expect(found.sort()).toEqual(quotedIn(paragraph).filter(existing).sort());
  });
});

describe("the READMEs of the code", () => {
  const readmes = ["src", "cli"].flatMap((top) =>
    readdirSync(join(packageRoot, top), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith("README.md"))
      .map((file) => posix.join(top, file.replaceAll("\\", "/"))),
  );

  it("are in cli and in each folder of src", () => {
    for (const folder of [...folders("src"), "cli"])
      expect(readmes).toContain(`${folder}/README.md`);
  });

  it.each(readmes)("%s is short and names only files that exist", (file) => {
    const folder = dirname(file);
    const text = read(file);
    expect(text.startsWith(`# ${folder}\n`)).toBe(true);
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(12);
    for (const [, path] of text.matchAll(/`([\w.-]+\/[\w./-]*|[\w-]+\.ts)`/g))
      expect([
        path,
        [folder, "."].some((from) => existsSync(join(packageRoot, from, path!))),
      ]).toEqual([path, true]);
  });
});
