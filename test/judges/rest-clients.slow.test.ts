import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { packageRoot } from "../../src/package-root.js";
import { LiveRegistry } from "../support/live-registry.js";
import { folderOf, maySkip, toolsMissing } from "../support/servers/judges.js";

const page = await readFile(join(packageRoot, "docs/rest-clients.md"), "utf8");
const BLOCKS = [...page.matchAll(/```sh (\S+)\n(.*?)```/gs)].map(
  ([, generator, commands]) => [generator!, commands!] as const,
);
const missing = toolsMissing("rest-clients");
const EMAIL = "ada@example.org";
const PASSWORD = "correct horse battery";

let registry: LiveRegistry;
let folder: string;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  await registry.ask("/user", { body: { name: "Ada", email: EMAIL, password: PASSWORD } });
  folder = await mkdtemp(join(tmpdir(), "arkgraph-rest-clients-"));
  await writeFile(join(folder, "crate.zip"), await buildDemoCrate());
  const description = await fetch(`${registry.url}/openapi.json`);
  await writeFile(join(folder, "openapi.json"), Buffer.from(await description.arrayBuffer()));
});
afterAll(async () => {
  await registry?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("the page for authors of REST clients has a block for each of six generators", () => {
  expect(BLOCKS.map(([generator]) => generator)).toEqual([
    "openapi-typescript",
    "typescript-fetch",
    "python",
    "openapi-python-client",
    "go",
    "java",
  ]);
});

test.skipIf(missing && maySkip).each(BLOCKS)(
  "a client that %s makes compiles, uploads a crate and reads it",
  async (generator, commands) => {
    const tools = folderOf("rest-clients");
    const work = join(folder, generator);
    await cp(join(packageRoot, "docs/clients/rest", generator), work, { recursive: true });
    // Programs in TypeScript find their packages beside them.
    await symlink(join(tools, "node_modules"), join(work, "node_modules"));
    const copy = join(work, "copy.zip");
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", commands], {
      cwd: work,
      env: {
        ...process.env,
        PATH: [join(tools, "node_modules/.bin"), join(tools, "bin"), process.env["PATH"]].join(
          delimiter,
        ),
        PYTHONPATH: tools,
        JAVA_TOOL_OPTIONS: "-XX:TieredStopAtLevel=1",
        DESCRIPTION: join(folder, "openapi.json"),
        BASE: registry.url,
        EMAIL,
        PASSWORD,
        CRATE: join(folder, "crate.zip"),
        COPY: copy,
      },
      maxBuffer: 2 ** 26,
    });
    const [crate, evidence, search] = stripVTControlCharacters(stdout)
      .trimEnd()
      .split("\n")
      .slice(-3);
    expect(crate).toMatch(/^ark:/);
    expect(evidence).toMatch(/^evidence: \d+ nodes$/);
    expect(search).toMatch(/^search: [1-9]\d* records$/);
    expect((await readFile(copy)).subarray(0, 2).toString()).toBe("PK");
  },
  240_000,
);
