import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { packageRoot } from "../../src/package-root.js";
import { FORMATS } from "../../src/services/formats/table.js";
import { LiveRegistry } from "../support/live-registry.js";
import { hasTools } from "../support/shell-tools.js";

const run = promisify(execFile);
const tools = hasTools("docs/formats.md", "bash", "curl");
const page = await readFile(join(packageRoot, "docs/formats.md"), "utf8");
const blocks = (language: string, text: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, block]) => block!.trim(),
  );
/** The command of each section, by its title. */
const commands = page
  .split(/^## /m)
  .slice(1)
  .map((section) => [section.split("\n")[0]!, blocks("sh", section)[0]!] as const);

let registry: LiveRegistry;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-formats-"));
  registry = await LiveRegistry.start();
  const ada = await registry.user("Ada");
  const { rocrateIdentifier: crate } = await registry.take(await buildDemoCrate(), ada.token);
  await registry.publish(crate as string, ada.token);
  const { body } = await registry.ask(`/rocrate/summary/${crate}?limit=1000`);
  const software = (body["members"] as Record<string, string>[]).find(
    ({ kind }) => kind === "Software",
  )!;
  env = {
    ...(process.env as Record<string, string>),
    SERVER: registry.url,
    ARK: crate as string,
    SOFTWARE: software["@id"]!,
  };
});
afterAll(async () => {
  await registry?.stop();
  await rm(folder, { recursive: true, force: true });
});

const shell = async (command: string): Promise<string> =>
  (await run("bash", ["-euc", command], { cwd: folder, env })).stdout;

describe("docs/formats.md", () => {
  it("has a section for each format", () => {
    expect(commands.map(([title]) => title)).toEqual(FORMATS.map(({ label }) => label));
  });

  it.skipIf(!tools).each(commands)("%s: the command prints a document", async (_label, command) => {
    const output = await shell(command);
    const file = / -o (\S+)$/.exec(command)?.[1];
    expect(file === undefined ? output : await readFile(join(folder, file), "latin1")).not.toBe("");
  });

  it.skipIf(!tools)("shows three ways to one document", async () => {
    const [, , , byName, byType, head, links] = blocks("sh", page)[0]!.split("\n");
    expect(await shell(byType!)).toBe(await shell(byName!));
    expect(await shell(head!)).toMatch(/^link: .*rel="describedby"/im);
    expect(JSON.parse(await shell(links!))).toHaveProperty("linkset");
    const { body } = await registry.graphql(
      blocks("graphql", page)[0]!.replaceAll("ark:99999/rocrate-release", env["ARK"]!),
    );
    expect(body["data"].record.as).toEqual({
      mediaType: "text/turtle",
      text: await shell(byName!),
    });
  });
});
