import { readFileSync, readdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { parseAst } from "vitest/node";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";

/** Packages that no file imports, each with the reason why it is installed. */
const NOT_IMPORTED: Readonly<Record<string, string>> = {
  "@graphql-typed-document-node/core": "a type in docs/clients/typescript",
  "@redocly/cli": "`redocly lint`, in .ci/run",
  "@swc/core": "the parser of dependency-cruiser, see .dependency-cruiser.cjs",
  "@types/node": "the types of Node itself",
  "dependency-cruiser": "`npm run layers`, in .ci/run",
  "@vitest/coverage-v8": "`npm run coverage`",
  oxlint: "`npm run lint`, in .ci/run",
  prettier: "`npm run format`, and the check in .ci/run",
  "oxlint-tsgolint": "what oxlint asks for types, see `npm run lint`",
};

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}
const manifest = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as Manifest;

/** Parts of `src` of which the package holds nothing, or what the build bundles for browsers. */
const BUILT = /^(?:generate|web\/client)\//;

const read = (...folders: string[]): string[] => folders.flatMap((folder) => readOf(folder));
const readOf = (folder: string, left = /^assets\//): string[] =>
  readdirSync(join(packageRoot, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.[cm]?[jt]sx?$/.test(name) && !left.test(name))
    .map((name) => readFileSync(join(packageRoot, folder, name), "utf8"));

const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

interface Node {
  type: string;
  [key: string]: unknown;
}

/** What an import, an export from elsewhere, or a call of a `require` or `resolve` names. */
function specifierOf(node: Node): unknown {
  if (node.type !== "CallExpression") return (node["source"] as Node | null | undefined)?.["value"];
  const callee = node["callee"] as Node;
  const name = callee["name"] ?? (callee["property"] as Node | undefined)?.["name"];
  return name === "require" || (name === "resolve" && callee["object"] !== undefined)
    ? (node["arguments"] as Node[])[0]?.["value"]
    : undefined;
}

/** The packages that a source imports, loads or resolves. Types of packages are not imported when it runs. */
function imported(source: string, types = true): string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    if (!types && node["importKind"] === "type") return;
    const name = specifierOf(node);
    if (typeof name === "string" && /^[@a-z]/.test(name) && !isBuiltin(name))
      found.push(packageOf(name));
    for (const value of Object.values(node))
      for (const inner of Array.isArray(value) ? value : [value])
        if (inner !== null && typeof inner === "object" && typeof (inner as Node).type === "string")
          visit(inner as Node);
  };
  visit(
    parseAst(source, {
      lang: source.includes("/>") || source.includes("</") ? "tsx" : "ts",
    }) as unknown as Node,
  );
  return found;
}

const running = new Set(read("src", "cli").flatMap((source) => imported(source)));
/** Packages that are loaded when the registry or the command line runs. */
const serving = new Set([
  ...[...readOf("src", BUILT), ...readOf("cli")].flatMap((source) => imported(source, false)),
  // Every file with JSX loads its runtime (`jsxImportSource`), and a peer is loaded by its package.
  "preact",
  "express-rate-limit",
]);
const developing = new Set(read("scripts", "bench", "test").flatMap((source) => imported(source)));
/** Scripts also name the files of a package, without importing them. */
const scripts = read("scripts").join("\n");

describe("the packages of package.json", () => {
  it("are imported by the code that they are installed for", () => {
    const unused = [
      ...Object.keys(manifest.dependencies).filter((name) => !running.has(name)),
      ...Object.keys(manifest.devDependencies).filter(
        (name) =>
          !running.has(name.replace(/^@types\//, "")) &&
          !developing.has(name) &&
          !scripts.includes(`"${name}/`),
      ),
    ];
    expect(unused.sort(), "remove the package, or name here why it is installed").toEqual(
      Object.keys(NOT_IMPORTED).sort(),
    );
  });
  it("are installed with the package where the service or the CLI imports them", () => {
    expect([...serving].filter((name) => !(name in manifest.dependencies))).toEqual([]);
    expect(Object.keys(manifest.dependencies).filter((name) => !serving.has(name))).toEqual([]);
  });
  it("have a row each on the page of dependencies, with files that import them", () => {
    const page = readFileSync(join(packageRoot, "docs/dependencies.md"), "utf8");
    const quoted = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
    const rows = [...page.matchAll(/^\| (`[^|]+) \|[^|]+\| ([^|]+) \|$/gm)].flatMap((row) =>
      quoted(row[1]!).map((name) => ({ name, files: quoted(row[2]!) })),
    );
    expect(rows.map(({ name }) => name).sort()).toEqual([...running].sort());
    for (const { name, files } of rows) {
      expect(files, name).not.toEqual([]);
      for (const file of files)
        expect(imported(readFileSync(join(packageRoot, file), "utf8")), file).toContain(name);
    }
  });
  it("are pinned to one version each", () => {
    const versions = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(Object.entries(versions).filter(([, version]) => !/^\d/.test(version))).toEqual([]);
  });
  it("count as imported however the import is written", () => {
    const sources = [
      'import cors from "cors";',
      'import type { Quad } from "@rdfjs/types/data";',
      'import {\n  a,\n  b,\n} from "n3";',
      'export { a } from "n3";',
      'import "reflect-metadata";',
      'const { default: types } = await import("mime-db");',
      'const pg = require("pg");',
      'const page = fileURLToPath(import.meta.resolve("swagger-ui-dist/index.css"));',
    ];
    expect(sources.map((source) => imported(source))).toEqual([
      ["cors"],
      ["@rdfjs/types"],
      ["n3"],
      ["n3"],
      ["reflect-metadata"],
      ["mime-db"],
      ["pg"],
      ["swagger-ui-dist"],
    ]);
    expect(
      ['import { a } from "./a.js";', '// from "n3"', 'const name = "pg";'].flatMap((source) =>
        imported(source),
      ),
    ).toEqual([]);
    expect(imported('import { join } from "node:path";')).toEqual([]);
  });
});
