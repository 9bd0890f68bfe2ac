import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ERRORS } from "../../../src/errors.js";
import { BOUNDS } from "../../../src/config/bounds.js";
import { SETTINGS } from "../../../src/config/config.js";
import { packageRoot } from "../../../src/package-root.js";
import { EXAMPLES } from "../../../src/web/pages/explorers.js";
import { bodyOf } from "../../support/bodies.js";
import { startServer, type TestServer } from "../../support/server.js";
import { ask } from "../../support/sparql.js";
import { hasTools } from "../../support/shell-tools.js";

const text = readFileSync(join(packageRoot, "docs", "sparql.md"), "utf8");
const blocks = (language: string) =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2]!);

describe("docs/sparql.md and the page at /sparql", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    const ada = await server.person("ada");
    await server.request("POST", "/dataset", {
      token: ada.token,
      json: {
        ...bodyOf("dataset", ada.id),
        "@id": "ark:99999/dataset-cells",
        derivedFrom: "ark:99999/dataset-images",
      },
    });
  });
  afterAll(() => server.stop());

  it.each([...blocks("sparql"), ...Object.values(EXAMPLES)])(
    "have queries that find something: %s",
    async (query) => {
      const { status, body, text: logged } = await ask(server, query);
      expect(status, logged).toBe(200);
      expect(body.results!.bindings.length).toBeGreaterThan(0);
    },
  );

  const curl = hasTools("docs/sparql.md", "curl");
  it.skipIf(!curl).each(blocks("sh").flatMap((block) => block.trim().split("\n")))(
    "have lines that work as they stand: %s",
    async (line) => {
      const { stdout } = await promisify(execFile)("sh", ["-c", `${line} --fail-with-body`], {
        env: { ...process.env, BASE: server.url },
      });
      expect(stdout.length).toBeGreaterThan(10);
    },
  );

  it("name every setting and error of the endpoint, and no other", () => {
    const named = new Set(text.match(/\b(?:SPARQL|QUERY|UPDATE|INDEX)_[A-Z_]+\b/g));
    expect(
      [...named].filter((name) => !(name in SETTINGS || name in BOUNDS || name in ERRORS)),
    ).toEqual([]);
    expect(
      [...Object.keys(SETTINGS), ...Object.keys(ERRORS)].filter(
        (name) => /^(SPARQL_|QUERY_(SYNTAX|REFUSED|MEMORY)|UPDATE_)/.test(name) && !named.has(name),
      ),
    ).toEqual([]);
  });
});
