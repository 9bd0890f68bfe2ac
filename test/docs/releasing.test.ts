import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";

const read = (path: string): string => readFileSync(join(packageRoot, path), "utf8");
const page = read("docs/releasing.md");
const { version } = JSON.parse(read("package.json")) as { version: string };

describe("a release", () => {
  /** What each file of step 3 says, by the page. */
  const PLACES: Readonly<Record<string, string>> = {
    "package.json": `"version": "${version}"`,
    "package-lock.json": `"name": "arkgraph",\n  "version": "${version}"`,
    "CITATION.cff": `\nversion: ${version}\n`,
    Dockerfile: `org.opencontainers.image.version="${version}"`,
    "deploy/kubernetes/kustomization.yaml": `newTag: "${version}"`,
    "docs/deployment.md": `/arkgraph:${version} .`,
  };

  it.each(Object.entries(PLACES))("has its version in %s", (path, text) => {
    expect(page).toContain(`\`${path}\``);
    expect(read(path)).toContain(text);
  });

  it("has its notes below an Unreleased section", () => {
    const sections = [...read("CHANGELOG.md").matchAll(/^## (\S+)/gm)].map((match) => match[1]);
    expect(sections[0]).toBe("Unreleased");
    // The first version is the one before the first release.
    if (version !== "0.1.0") expect(sections[1]).toBe(version);
  });

  it("is described by a page that names existing files", () => {
    const paths = [...page.matchAll(/`((?:test|deploy|docs)\/[^`\s]+)`/g)].map(
      (match) => match[1]!,
    );
    expect(paths.length).toBeGreaterThan(5);
    for (const path of paths) expect(read(path)).not.toBe("");
  });
});
