import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildProgram } from "../../cli/program.js";
import { leavesOf, pathOf } from "../../src/generate/pages.js";
import { packageRoot } from "../../src/package-root.js";
import { EXAMPLES } from "../../src/model/examples.js";
import { RegistryProcess } from "../support/registry-process.js";
import { RO_CRATE } from "../support/crates.js";
import { sparqlServer } from "../support/servers/installed.js";
import { OXIGRAPH } from "../support/servers/oxigraph.js";
import { storeCells } from "../support/store-cells.js";
import { useFolder } from "./terminal.js";

const run = promisify(execFile);
const commands = leavesOf(buildProgram());
const folder = useFolder();
let registry: RegistryProcess;
let env: Record<string, string>;

/** The manual's examples in an order in which each finds what the ones before it made. */
const STORY = [
  "demo-crate",
  "login",
  "whoami",
  "upload",
  "status",
  "get",
  "croissant",
  "evidence",
  "score",
  "search",
  "list",
  "history",
  "open",
  "publish",
  "token create",
  "token list",
  "token revoke",
  "review-link create",
  "review-link list",
  "review-link revoke",
  "download",
  "schema create-tabular",
  "schema add-property string",
  "schema add-property number",
  "schema add-property integer",
  "schema add-property array",
  "schema add-property boolean",
  "schema validate",
  "schema list",
  "schema show",
  "schema check",
  "schema diff",
  "schema push",
  "schema pull",
  "schema export",
  "schema import",
  "schema infer",
  "completion",
  "transfer",
  "withdraw",
  "logout",
  "serve",
  "check",
  "migrate",
  "rebuild-index",
  "demo",
];

beforeAll(async () => {
  registry = await RegistryProcess.start();
  await registry.ask("/user", {
    body: {
      "@id": EXAMPLES.user["@id"],
      name: "Ada Example",
      email: "ada@example.org",
      password: "correct horse battery",
    },
  });
  await storeCells(registry, "ada@example.org", "correct horse battery");
  const token = await registry.login("ada@example.org", "correct horse battery");
  await registry.ask("/group", { token, body: EXAMPLES.group });
  const scored = await registry.ask("/rocrate/metadata", {
    token,
    body: {
      "@context": RO_CRATE,
      "@graph": [
        {
          "@id": "ro-crate-metadata.json",
          "@type": "CreativeWork",
          about: { "@id": "ark:99999/rocrate-cells" },
          conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
        },
        {
          "@id": "ark:99999/rocrate-cells",
          "@type": "Dataset",
          name: "Cells",
          description: "Cells of images.",
          license: "https://creativecommons.org/licenses/by/4.0/",
          author: "Ada Example",
        },
      ],
    },
  });
  expect(scored.status).toBe(200);
  const bin = join(folder.path(), "bin");
  await mkdir(bin);
  await writeFile(
    join(bin, "arkgraph"),
    `#!/bin/sh\nexec ${process.execPath} ${join(packageRoot, "bin", "arkgraph.js")} "$@"\n`,
  );
  await chmod(join(bin, "arkgraph"), 0o755);
  await folder.write("genes.csv", "symbol,score,count,bait,x,y,z\nBRCA1,0.5,12,true,1,2,3\n");
  env = {
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: folder.path(),
    ARKGRAPH_SERVER: registry.url,
    TMPDIR: folder.path(),
  };
}, 60_000);
afterAll(() => registry.stop());
/** For the one example that needs another server. */
const endpoint = sparqlServer(OXIGRAPH);
const runs = (name: string): boolean => name !== "rebuild-index" || endpoint.installed;

/** Changes that let an example run in a test; what it does stays. */
const adapted = (line: string): string =>
  line
    .replace("PORT=8080", "PORT=0")
    .replaceAll("http://localhost:7878", endpoint.origin)
    .replace("2027-01-31", new Date(Date.now() + 86_400_000).toISOString())
    .replace(
      /(review-link revoke \S+) \S+/,
      "$1 $(arkgraph review-link list ark:99999/rocrate-cells | cut -f 1)",
    )
    .replace(/(token revoke) \S+/, "$1 $(arkgraph token list | grep pipeline | cut -f 1)");

describe("the manual", () => {
  it("has an example of every command, and the examples form one session", () => {
    expect(commands.filter(({ examples }) => examples.length === 0).map(pathOf)).toEqual([]);
    expect(STORY.toSorted()).toEqual(commands.map(pathOf).toSorted());
    const page = readFileSync(join(packageRoot, "docs", "cli.md"), "utf8");
    for (const { examples } of commands)
      for (const line of examples) expect(page).toContain(`\`\`\`sh example\n${line}\n\`\`\`\n`);
  });

  it.each(STORY.filter(runs))(
    "has an example that runs as printed: %s",
    async (name) => {
      const { examples } = commands.find((command) => pathOf(command) === name)!;
      expect(examples).not.toEqual([]);
      if (name === "rebuild-index") await endpoint.start();
      for (const line of examples) {
        if (name === "serve") {
          expect(await served(adapted(line))).toBe(0);
          continue;
        }
        const { stdout } = await run("bash", ["-c", `set -o pipefail; ${adapted(line)}`], {
          cwd: folder.path(),
          env,
        });
        expect(stdout !== "" || line.includes(">"), line).toBe(true);
      }
    },
    60_000,
  );

  it("has help with the same example", async () => {
    expect((await run("bash", ["-c", "arkgraph schema validate --help"], { env })).stdout).toMatch(
      /\nExample:\n {2}arkgraph schema validate --data genes\.csv --schema genes\.json\n/,
    );
  });
});

/** Starts what the line says, tells it to stop once it listens, and answers how it ended. */
function served(line: string): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn("bash", ["-c", line.replace("arkgraph serve", "exec arkgraph serve")], {
      cwd: folder.path(),
      env: { ...env, LOG_LEVEL: "warn" },
    });
    child.stdout.on("data", (part: Buffer) => part.includes("listens at") && child.kill("SIGTERM"));
    child.on("close", resolve);
  });
}
