import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { LARGEST_OFFSET, MAX_FACET_VALUES } from "../../src/services/search/search.js";
import { FACETED, RANKED } from "../../src/storage/records/search.js";
import { STATISTICS_KEYS } from "../../src/storage/records/port/selection.js";
import { bodyOf } from "../support/bodies.js";
import { type Person, startServer, type TestServer } from "../support/server.js";
import { hasTools } from "../support/shell-tools.js";

const page = readFileSync(join(packageRoot, "docs/search.md"), "utf8");
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, text]) => text!,
  );
/** Cells of the rows that begin with code, of tables with so many columns. */
const rows = (columns: number): string[][] =>
  page
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").slice(1, -1))
    .filter((cells) => cells.length === columns)
    .map((cells) => cells.map((cell) => cell.trim().replace(/^`(.*)`$/, "$1")));
const tools = hasTools("docs/search.md", "bash", "curl", "jq");

let server: TestServer;
let ada: Person;
/** A page as it is printed, with the identifier and the name of the account that the test has. */
const own = (text: string): string =>
  text.replaceAll("ark:99999/user-ada", ada.id).replaceAll("Ada Example", "ada");
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  for (const cells of rows(5)) {
    const [id, kind, name, description, keywords] = cells as [
      string,
      string,
      string,
      string,
      string,
    ];
    const answer = await server.request("POST", `/${kind}`, {
      token: ada.token,
      json: bodyOf(kind as "dataset" | "software", ada.id, {
        "@id": id,
        name,
        description,
        keywords: keywords.split(", "),
      }),
    });
    expect(answer.status, answer.text).toBe(200);
  }
});
afterAll(() => server.stop());

describe("docs/search.md", () => {
  it("shows records", () => expect(rows(5)).toHaveLength(4));

  it.each(rows(3))("finds for %s what it says", async (query, _, here) => {
    const { body } = await server.request<{ results: { "@id": string }[] }>(
      "GET",
      `/search/basic?query=${encodeURIComponent(query)}`,
    );
    expect(
      body.results.map((result) => result["@id"].replace("ark:99999/", "")).toSorted(),
    ).toEqual(here.split(", ").toSorted());
  });

  const documents = blocks("graphql").map((document, index) => [document, blocks("json")[index]!]);
  it.each(documents)("is answered as printed: %s", async (document, answer) => {
    const { body } = await server.graphql(document, {}, ada.token);
    expect(body.errors).toBeUndefined();
    expect(body.data).toMatchObject(JSON.parse(own(answer)) as object);
  });

  it.skipIf(!tools)("prints what its commands print", async () => {
    const { stdout } = await promisify(execFile)(
      "bash",
      ["-c", `set -euo pipefail\n${blocks("sh").join("\n")}`],
      { env: { ...process.env, BASE: server.url }, timeout: 100_000 },
    );
    expect(stdout).toBe(own(blocks("text").join("")));
  });

  it("names every facet and every limit", () => {
    for (const key of STATISTICS_KEYS) expect(page).toContain(`\`${key}\``);
    for (const limit of [FACETED, RANKED, LARGEST_OFFSET, MAX_FACET_VALUES])
      expect(page).toContain(` ${limit.toLocaleString("en")} `);
  });
});
