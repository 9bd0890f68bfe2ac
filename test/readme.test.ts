import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../src/package-root.js";
import { RegistryProcess } from "./support/registry-process.js";
import { sharedData } from "./support/shared-data.js";

const run = promisify(execFile);
const has = (command: string): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${command}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
const missing = ["bash", "curl", "jq", "zip"].filter((command) => !has(command));
if (missing.length > 0)
  process.stderr.write(
    `\n!! SKIPPED: the examples of README.md and docs/quickstart.md need ${missing.join(", ")}; install them to run ` +
      `these tests.\n\n`,
  );

const readme = readFileSync(join(packageRoot, "README.md"), "utf8");
const quickstart = readFileSync(join(packageRoot, "docs", "quickstart.md"), "utf8");

const blocks = (language: string): string[] =>
  [...`${readme}\n${quickstart}`.matchAll(/^```(\w+) workflow\n([\s\S]*?)^```/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2]!);

const client = /^```sh client\n([\s\S]*?)^```/m.exec(readme)?.[1] ?? "";

const CRATES = sharedData("crates");

describe.skipIf(missing.length > 0)("README.md with docs/quickstart.md", () => {
  let registry: RegistryProcess;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-readme-"));
    registry = await RegistryProcess.start({ env: { LOGIN_RATE: "off" } });
  });
  afterAll(async () => {
    await registry.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /**
   * Runs the lines of docs/quickstart.md in one shell, as they stand; answers what they printed and the
   * variables they set.
   */
  async function workflow(): Promise<{ printed: string; variables: Record<string, string> }> {
    const names = ["TOKEN", "SUBMISSION", "CRATE", "RESULT", "UPDATE", "ME"];
    const script =
      `set -euo pipefail\n${blocks("sh").join("\n")}\necho\nfor name in ${names.join(" ")}; ` +
      `do echo "@@$name=\${!name}"; done\n`;
    const { stdout } = await run("bash", ["-c", script], {
      cwd: folder,
      env: { ...process.env, BASE: registry.url },
      timeout: 100_000,
      maxBuffer: 1 << 26,
    });
    return {
      printed: stdout,
      variables: Object.fromEntries(
        [...stdout.matchAll(/^@@(\w+)=(.*)$/gm)].map((match) => [match[1]!, match[2]!]),
      ),
    };
  }

  test("has a workflow whose lines run as printed, on the example crate", async () => {
    await run(process.execPath, [
      join(packageRoot, "bin", "arkgraph.js"),
      "demo-crate",
      join(folder, "crate.zip"),
    ]);
    const { printed, variables } = await workflow();
    expect(variables["CRATE"]).toMatch(/^ark:99999\/rocrate-/);
    expect(variables["RESULT"]).toMatch(/^ark:99999\/rocrate-.+\//);
    expect(variables["ME"]).toMatch(/^ark:99999\/user-/);
    expect(printed).toContain('"conforms": true');
    expect(printed).toContain("generatedBy");
    expect(printed).toMatch(/"counts": \{\s+"\w+": \d+/);
    expect(printed).toMatch(/^event: submission\nid: completed\ndata: .*"status":"finished"/m);
    expect(printed).toContain(
      `["finished","${variables["CRATE"]}"]\n["finished","${variables["CRATE"]}"]`,
    );
    expect(printed).toMatch(/^source\r\nark:99999\//m);
    expect(printed).toContain('"name":"Plate 7, repeated"');
    expect(printed).toContain("@prefix schema: <https://schema.org/>");
  });

  test("has a client session whose lines run as printed", async () => {
    const shim = `arkgraph() { '${process.execPath}' '${join(packageRoot, "bin", "arkgraph.js")}' "$@"; }`;
    const { stdout } = await run("bash", ["-c", `set -euo pipefail\n${shim}\n${client}`], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, BASE: registry.url },
      timeout: 100_000,
    });
    expect(stdout).toContain("Logged in to ");
    expect(stdout).toContain("└─ generatedBy: ");
    expect(stdout).toMatch(/^\d+ records$/m);
    // The update by the lines before these changed nothing: the archive is that of the upload.
    expect(
      readFileSync(join(folder, "copy.zip")).equals(readFileSync(join(folder, "crate.zip"))),
    ).toBe(true);
  });

  test("has a GraphQL example that is answered without errors", async () => {
    const [query] = blocks("graphql");
    const answer = (await (
      await fetch(`${registry.url}/graphql`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ query }),
      })
    ).json()) as { errors?: unknown; data: { roCrates: { totalCount: number } } };
    expect(answer.errors).toBeUndefined();
    expect(answer.data.roCrates.totalCount).toBeGreaterThan(0);
  });

  test("and the page on crates show a dry run before an upload, in lines that run", async () => {
    const { token } = await registry.user("Grace");
    const lines = [
      ...readFileSync(join(packageRoot, "docs", "crates.md"), "utf8").matchAll(
        /^```sh\n([\s\S]*?)^```/gm,
      ),
    ].find(([block]) => block.includes("/rocrate/validate"))![1]!;
    await writeFile(
      join(folder, "ro-crate-metadata.json"),
      JSON.stringify({
        "@context": "https://w3id.org/ro/crate/1.1/context",
        "@graph": [
          {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            about: { "@id": "./" },
            conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
          },
          { "@id": "./", "@type": "Dataset", name: "Alone" },
        ],
      }),
    );
    const { stdout } = await run("bash", ["-c", `set -euo pipefail\n${lines}`], {
      cwd: folder,
      env: { ...process.env, BASE: registry.url, TOKEN: token },
      timeout: 100_000,
    });
    expect(stdout.match(/"conforms":true/g)).toHaveLength(2);
  });

  test.skipIf(!CRATES).each([
    ["run-profile-ex-provenance", true],
    ["rb-zip-biobb_hpc_workflows-condapack.zip", false],
  ] as const)("has a workflow that works on %s", async (name, isFolder) => {
    await rm(join(folder, "crate.zip"), { force: true });
    if (isFolder)
      await run("zip", ["-qr", join(folder, "crate.zip"), "."], { cwd: join(CRATES!, name) });
    else await copyFile(join(CRATES!, name), join(folder, "crate.zip"));
    const { variables } = await workflow().catch((error: { stdout?: string; message: string }) => {
      throw new Error(`${error.message}\n${error.stdout}`);
    });
    const crate = variables["CRATE"]!;
    const metadata = (await (await fetch(`${registry.url}/rocrate/${crate}`)).json()) as {
      "@graph": { "@id": string; name?: string }[];
    };
    const resolved = (await (await fetch(`${registry.url}/${crate}`)).json()) as {
      "@id": string;
      name?: string;
    };
    const graphql = (await (
      await fetch(`${registry.url}/graphql`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({
          query: "query ($id: ID!) { record(id: $id) { __typename id name document } }",
          variables: { id: crate },
        }),
      })
    ).json()) as { data: { record: { __typename: string; id: string; document: unknown } } };
    expect(resolved["@id"]).toBe(crate);
    expect(metadata["@graph"].find((entity) => entity["@id"] === crate)?.name).toBe(resolved.name);
    expect(graphql.data.record).toMatchObject({
      __typename: "ROCrate",
      id: crate,
      document: resolved,
    });
  });
});
