import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { SETTINGS } from "../../src/config/config.js";
import { packageRoot } from "../../src/package-root.js";
import { openApiDocument, operationsIn } from "../../src/rest/document.js";
import { LiveRegistry } from "../support/live-registry.js";
import { folderOf, maySkip, toolsMissing } from "../support/servers/judges.js";
import { hasTools } from "../support/shell-tools.js";

const run = promisify(execFile);
const page = await readFile(join(packageRoot, "docs/harvesting.md"), "utf8");
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, block]) => block!.trim(),
  );
const commands = blocks("sh").flatMap((block) => block.split("\n"));
const tools = hasTools("docs/harvesting.md", "bash", "curl");
const skipsPython = toolsMissing("harvest-judges") && maySkip;

let registry: LiveRegistry;
let env: Record<string, string>;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  const ada = await registry.user("Ada");
  const { rocrateIdentifier: crate } = await registry.take(await buildDemoCrate(), ada.token);
  await registry.publish(crate as string, ada.token);
  env = {
    ...(process.env as Record<string, string>),
    SERVER: registry.url,
    ARK: crate as string,
    PYTHONPATH: folderOf("harvest-judges"),
    PYTHONDONTWRITEBYTECODE: "1",
  };
});
afterAll(() => registry?.stop());

describe("docs/harvesting.md", () => {
  it("shows commands", () => expect(commands.length).toBeGreaterThan(8));

  it.skipIf(!tools).each(commands)("is answered: %s", async (command) => {
    const { stdout } = await run("bash", ["-euc", command.replace("curl -sS", "curl -sSf")], {
      env,
    });
    expect(stdout).not.toContain("<error");
    expect(stdout).toContain(registry.url);
  });

  it.skipIf(skipsPython)("harvests with Python", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-harvesting-"));
    try {
      await writeFile(join(folder, "harvest.py"), blocks("python")[0]!);
      const { stdout } = await run("python3", [join(folder, "harvest.py")], { env });
      expect(stdout.split("\n").some((line) => line.startsWith(`${env["ARK"]} `))).toBe(true);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("names addresses and settings that there are", () => {
    const rows = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell]) => cell!);
    const paths = rows.filter((cell) => cell.startsWith("/"));
    const harvesting = operationsIn(openApiDocument()).filter(({ tags }) =>
      tags.includes("harvesting"),
    );
    expect(paths.toSorted()).toEqual([...new Set(harvesting.map(({ path }) => path))].toSorted());
    const settings = rows.filter((cell) => /^[A-Z_]+$/.test(cell));
    expect(settings.length).toBeGreaterThan(2);
    for (const name of settings) expect(SETTINGS).toHaveProperty(name);
  });

  it("names every error of the protocol that is answered", async () => {
    const source = await readFile(
      join(packageRoot, "src/services/harvest/oai-arguments.ts"),
      "utf8",
    );
    const codes = /type OaiErrorCode =([^;]+);/.exec(source)![1]!.match(/\w+/g)!;
    expect(codes.length).toBeGreaterThan(5);
    for (const code of codes) expect(page, code).toContain(`| \`${code}\` |`);
  });
});
