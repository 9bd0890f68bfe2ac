import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { packageRoot } from "../../src/package-root.js";

const text = readFileSync(join(packageRoot, "SECURITY.md"), "utf8");

describe("SECURITY.md", () => {
  it("names for every promise existing tests", () => {
    const promises = text
      .slice(0, text.indexOf("## What is not protected"))
      .split("\n")
      .filter((line) => line.startsWith("| ") && !/^\| (?:promise|---)/.test(line));
    expect(promises.length).toBeGreaterThan(20);
    for (const promise of promises) {
      const files = [...promise.matchAll(/`(test\/[^`]+)`/g)].map((match) => match[1]!);
      expect(files.length, promise).toBeGreaterThan(0);
      for (const file of files) expect(existsSync(join(packageRoot, file)), file).toBe(true);
    }
  });

  it("names existing settings", () => {
    const named = [...text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(
      (match) => match[1]!,
    );
    expect(named.length).toBeGreaterThan(5);
    for (const name of named) expect(readConfig({}), name).toHaveProperty(name);
  });
});
