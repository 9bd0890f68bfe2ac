import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_PATCH_OPERATIONS } from "../../src/model/json/patch.js";
import { packageRoot } from "../../src/package-root.js";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";
import { hasTools } from "../support/shell-tools.js";

const page = readFileSync(join(packageRoot, "docs", "updates.md"), "utf8");
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, text]) => text!,
  );
const tools = hasTools("docs/updates.md", "bash", "curl", "jq");

it("docs/updates.md names the limit on operations", () => {
  expect(page).toContain(`at most ${MAX_PATCH_OPERATIONS.toLocaleString("en")} operations`);
});

describe.skipIf(!tools)("the examples of docs/updates.md", () => {
  let server: TestServer;
  let ada: Person;
  beforeAll(async () => {
    server = await startServer();
    ada = await server.person("ada");
  });
  afterAll(() => server.stop());

  it("run as printed", async () => {
    const { stdout } = await promisify(execFile)(
      "bash",
      ["-c", `set -euo pipefail\n${blocks("sh").join("\n")}\necho "@@$DATASET"`],
      { env: { ...process.env, BASE: server.url, TOKEN: ada.token, ME: ada.id }, timeout: 100_000 },
    );
    const [printed, id] = stdout.split("@@") as [string, string];
    expect(printed).toBe(blocks("text")[0]);
    const [update, use] = blocks("graphql") as [string, string];
    const updated = await server.graphql(update, { id: id.trim() }, ada.token);
    expect(updated.body).toMatchObject({ data: JSON.parse(blocks("json")[0]!) as unknown });
    const run = await server.request<{ "@id": string }>("POST", "/computation", {
      token: ada.token,
      json: bodyOf("computation", ada.id, { usedDataset: "ark:99999/before" }),
    });
    const used = await server.graphql(use, { run: run.body["@id"], data: id.trim() }, ada.token);
    expect(used.body).toMatchObject({
      data: {
        updateComputation: {
          computation: {
            usedDataset: { nodes: [{ id: "ark:99999/before" }, { id: id.trim() }] },
          },
        },
      },
    });
  });
});
