import { describe, expect, it } from "vitest";
import { embedderOf } from "../../../src/app/compose.js";
import { ConfigError, readConfig } from "../../../src/config/config.js";
import { faultOf } from "./embedder.js";

const URL = "http://127.0.0.1:8000/v1";

describe("The settings of an embeddings server", () => {
  it("are unset by default, and then there is no server", async () => {
    expect(await embedderOf(readConfig({}))).toBeUndefined();
    expect(await embedderOf(readConfig({ EMBEDDINGS_KEY: "key" }))).toBeUndefined();
  });
  it.each([
    [{ EMBEDDINGS_URL: URL }, "EMBEDDINGS_MODEL"],
    [{ EMBEDDINGS_MODEL: "e5" }, "EMBEDDINGS_URL"],
  ])("%j is incomplete", async (settings, missing) => {
    const error = await faultOf(embedderOf(readConfig(settings)));
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toBe(
      `${missing} is missing: an embeddings server needs both EMBEDDINGS_URL and EMBEDDINGS_MODEL`,
    );
  });
  it("preserve the spaces of prefixes, and trim all others", async () => {
    const config = readConfig({
      EMBEDDINGS_QUERY_PREFIX: "query: ",
      EMBEDDINGS_PASSAGE_PREFIX: "  Instruct: find\nPassage: ",
      EMBEDDINGS_URL: ` ${URL}/ `,
      EMBEDDINGS_MODEL: " e5 ",
    });
    expect(config).toMatchObject({
      EMBEDDINGS_QUERY_PREFIX: "query: ",
      EMBEDDINGS_PASSAGE_PREFIX: "  Instruct: find\nPassage: ",
      EMBEDDINGS_URL: URL,
      EMBEDDINGS_MODEL: "e5",
    });
    const embedder = (await embedderOf(config))!;
    expect(embedder.model).toMatch(/^e5#[0-9a-f]{8}$/);
    await embedder.close();
  });
  it.each([
    ["EMBEDDINGS_URL", `${URL}?key=hunter2`],
    ["EMBEDDINGS_URL", `${URL}#a`],
    ["EMBEDDINGS_URL", "http://ada:hunter2@127.0.0.1/v1"],
    ["EMBEDDINGS_URL", "127.0.0.1:8000"],
    ["EMBEDDINGS_MODEL", "e5 small"],
    ["EMBEDDINGS_MODEL", "e5#1"],
    ["EMBEDDINGS_QUERY_PREFIX", "a\0"],
    ["EMBEDDINGS_KEY", "hunter2 hunter3"],
    ["EMBEDDINGS_KEY", "hunter2é"],
    ["EMBEDDINGS_MAX_TEXT", "4K"],
  ])("%s is not %j", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      new RegExp(`^${name}.* is not valid: expected `),
    );
    if (!value.includes("?")) expect(() => readConfig({ [name]: value })).not.toThrow("hunter2");
  });
});
