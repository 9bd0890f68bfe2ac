import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { archiveFolder } from "../../cli/commands/registry/archive-folder.js";
import { describeFolder, type FolderOptions } from "../../cli/commands/registry/describe-folder.js";
import { suggestedDescription } from "../../src/model/described-folder.js";
import { startServer, type TestServer } from "../support/server.js";
import { AS_CREATED } from "../../src/services/records/pages.js";

describe("what a folder may be called", () => {
  const readme =
    "[![badge](https://x.example/b.svg)](x)\n\n# Cells of plate 7\n\n![picture](a.png)\n\n" +
    "Four hundred fields\nof view of cultured cells.\n\n## Use\n\nAsk.\n";

  test("comes from the title and the first paragraph of its README", () => {
    expect(suggestedDescription("plate-7", readme)).toEqual({
      name: "Cells of plate 7",
      description: "Four hundred fields of view of cultured cells.",
    });
    expect(suggestedDescription("x", readme.replaceAll("\n", "\r\n"))).toMatchObject({
      name: "Cells of plate 7",
    });
    expect(suggestedDescription("x", "# Title\nText below it.")).toEqual({
      name: "Title",
      description: "Text below it.",
    });
  });

  test("is its own name without a README, and has bounds", () => {
    expect(suggestedDescription("plate_7-of_May", undefined)).toEqual({
      name: "plate 7 of May",
      description: "",
    });
    for (const text of [
      "",
      "#",
      "# ",
      "\0".repeat(1000),
      `# ${"x".repeat(100_000)}\n\ny`,
      " ".repeat(1_000_000),
    ])
      expect(suggestedDescription("f", text).name.length).toBeLessThanOrEqual(300);
    const long = suggestedDescription("f", "word ".repeat(20_000));
    expect(long.description.length).toBeLessThanOrEqual(2000);
  });
});

describe("a folder without metadata", () => {
  let folder: string;
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    folder = join(await mkdtemp(join(tmpdir(), "arkgraph-folder-")), "plate-7");
    await mkdir(join(folder, "data"), { recursive: true });
    await writeFile(join(folder, "data", "a #1 50%.csv"), "id,x\n1,2\n");
    await writeFile(join(folder, "README.md"), "# Plate 7\n\nCells.\n");
  });
  afterAll(async () => {
    await server.stop();
    await rm(join(folder, ".."), { recursive: true, force: true });
  });
  const archive = (options: FolderOptions) =>
    archiveFolder(folder, (files) => describeFolder(folder, files, options));

  test("becomes a crate by options, and what they leave out comes from its README", async () => {
    const ada = await server.person("ada");
    const { stream } = await archive({ description: "Cells of May.", license: "MIT" });
    const bytes: Buffer[] = [];
    for await (const part of stream(() => {})) bytes.push(part as Buffer);
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(Buffer.concat(bytes))]), "crate.zip");
    const { body, text } = await server.request("POST", "/rocrate/upload", {
      token: ada.token,
      body: form,
    });
    expect(body["@id"], text).toBeTypeOf("string");
    const read = await server.request("GET", `/${body["@id"] as string}`);
    expect(read.body).toMatchObject({
      name: "Plate 7",
      description: "Cells of May.",
      license: "MIT",
    });
    const { items } = await server.deps.records.select({
      filter: { kinds: ["datadownload"] },
      order: AS_CREATED,
      limit: 10,
    });
    expect(items.map(({ name }) => name).toSorted()).toEqual(["README.md", "a #1 50%.csv"]);
  });

  test("is refused without options, and without a licence, with the option to add", async () => {
    await expect(archive({})).rejects.toThrow(
      "describe it by --title, --description and --license",
    );
    await expect(archive({ title: "Plate" })).rejects.toThrow("give --license");
  });
});
