import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";

/** Labels of Graphviz are no markup, though it reads references in them. */
const OTHERS = ["src/services/evidence/formats.ts"];

it("text in XML and HTML is escaped by src/model/markup.ts alone", () => {
  const files = ["src", "cli"].flatMap((top) =>
    readdirSync(join(packageRoot, top), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !name.startsWith("web/assets"))
      .map((name) => `${top}/${name.replaceAll("\\", "/")}`),
  );
  const escaping = files.filter((file) =>
    /&(?:amp|lt|quot|apos|#39);/.test(readFileSync(join(packageRoot, file), "utf8")),
  );
  expect(escaping.filter((file) => !OTHERS.includes(file))).toEqual(["src/model/markup.ts"]);
});
