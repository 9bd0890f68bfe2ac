import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { embedderOf } from "../../src/app/compose.js";
import { SETTINGS, readConfig } from "../../src/config/config.js";
import { packageRoot } from "../../src/package-root.js";
import { VECTOR_CODES } from "../../src/services/vectors/handler.js";
import { EmbeddingsServer, embeddingsMissing } from "../support/servers/embeddings.js";

const file = join(packageRoot, "docs/semantic-search.md");
const page = readFileSync(file, "utf8");
const blocks = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
  language: match[1]!,
  text: match[2]!,
}));
const examples = blocks
  .filter(({ language }) => language === "sh settings")
  .map(({ text }) => text);
/** As a shell reads them. */
const settingsOf = (text: string): Record<string, string> =>
  JSON.parse(
    spawnSync(
      "bash",
      ["-c", `set -a; ${text}\nexec "$0" -p 'JSON.stringify(process.env)'`, process.execPath],
      { encoding: "utf8", env: {} },
    ).stdout,
  ) as Record<string, string>;

describe("docs/semantic-search.md", () => {
  test("lists every code with its meaning", () => {
    const listed = Object.fromEntries(
      [...page.matchAll(/^\| `([A-Z_]+)` \| ([^|]*) \|$/gm)]
        .filter(([, code]) => !Object.hasOwn(SETTINGS, code!))
        .map(([, code, meaning]) => [code, meaning]),
    );
    expect(listed).toEqual(VECTOR_CODES);
  });

  test("names existing settings, and all of embeddings", () => {
    const named = [...page.matchAll(/`(EMBEDDINGS_\w+|SEARCH_\w+)/g)].map((match) => match[1]!);
    expect(named.filter((name) => !(name in SETTINGS || name in VECTOR_CODES))).toEqual([]);
    expect(
      Object.keys(SETTINGS).filter(
        (name) => name.startsWith("EMBEDDINGS_") && !named.includes(name),
      ),
    ).toEqual([]);
    for (const [, target] of page.matchAll(/\]\(([^)#]+)\)/g))
      expect([target, existsSync(join(dirname(file), target!))]).toEqual([target, true]);
  });

  test("prints valid settings, and commands that a shell can read", async () => {
    expect(examples).toHaveLength(3);
    for (const text of examples) {
      const embedder = await embedderOf(readConfig(settingsOf(text)));
      expect(embedder!.model).toMatch(/#/);
      await embedder!.close();
    }
    expect(readConfig(settingsOf(examples[1]!)).EMBEDDINGS_QUERY_PREFIX).toBe("query: ");
    for (const { text } of blocks)
      expect([text, spawnSync("bash", ["-n"], { input: text, encoding: "utf8" }).stderr]).toEqual([
        text,
        "",
      ]);
  });

  test.skipIf(embeddingsMissing())(
    "has the settings of the server that is tested",
    async () => {
      const server = await EmbeddingsServer.start();
      try {
        const embedder = (await embedderOf(
          readConfig({ ...settingsOf(examples[0]!), EMBEDDINGS_URL: server.url }),
        ))!;
        await embedder.health();
        expect(await embedder.query("tumour imaging")).toHaveLength(384);
        await embedder.close();
      } finally {
        await server.stop();
      }
    },
    90_000,
  );
});
