import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Registry } from "../../docs/clients/typescript/client.js";
import { packageRoot } from "../../src/package-root.js";
import { unnamed } from "../support/bodies.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { User } from "../support/registry-client.js";
import { findProgram } from "../support/servers/programs.js";

const PACKAGES = join(process.env["TEST_SERVERS"] ?? "", "gql");
const python = findProgram("python3");
const hasGql =
  process.env["TEST_SERVERS"] !== undefined && existsSync(join(PACKAGES, "gql")) && !!python;
if (!hasGql)
  process.stderr.write(
    "\n!! SKIPPED: the example in Python, whose packages are not installed (python3 -m pip " +
      "install --target FOLDER/gql -r docs/clients/python/requirements.txt, with " +
      "TEST_SERVERS=FOLDER).\n\n",
  );

let registry: LiveRegistry;
let ada: User;
let ids: string[];
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
  ids = [];
  for (const name of ["one", "two", "three"]) {
    const body = unnamed("dataset", ada.ark, { name });
    ids.unshift((await registry.ask("/dataset", { token: ada.token, body })).body["@id"] as string);
  }
});
afterAll(() => registry?.stop());

describe("the example clients", () => {
  test("in TypeScript lists the caller's datasets and follows their changes", async () => {
    // Browsers and Node.js 22 have one.
    vi.stubGlobal("WebSocket", WebSocket);
    try {
      const client = new Registry(registry.url, ada.token);
      const listed: string[] = [];
      for await (const { id } of client.myDatasets()) listed.push(id);
      expect(listed).toEqual(ids);
      const changed: string[] = [];
      for await (const { changes } of client.changes(0)) {
        changed.push(...changes.map(({ id }) => id));
        if (changed.length === ids.length) break;
      }
      expect(changed).toEqual(ids.toReversed());
    } finally {
      vi.unstubAllGlobals();
    }
    await expect(new Registry(registry.url, "none").myDatasets().next()).rejects.toThrow(/token/i);
  });

  test.skipIf(!hasGql)(
    "in Python lists the caller's datasets and follows their changes",
    async () => {
      const script = join(packageRoot, "docs/clients/python/client.py");
      const { stdout } = await promisify(execFile)(
        python!,
        [script, registry.url, ada.token, "0", "2"],
        { env: { ...process.env, PYTHONPATH: PACKAGES, PYTHONDONTWRITEBYTECODE: "1" } },
      );
      expect(stdout.split("\n").filter((line) => line.startsWith("dataset "))).toEqual(
        ids.map((id) => expect.stringContaining(id) as string),
      );
      for (const id of ids) expect(stdout).toContain(`CREATED ${id}`);
      expect(stdout).toContain("sequence 0");
    },
  );
});

describe("/graphql/schema.graphql", () => {
  test("is the schema, and a client that has it is told so", async () => {
    const first = await registry.ask("/graphql/schema.graphql");
    expect(first.status).toBe(200);
    expect(first.headers.get("content-type")).toMatch(/^application\/graphql/);
    expect(first.text).toContain("type Subscription {");
    const etag = first.headers.get("etag")!;
    const again = await registry.ask("/graphql/schema.graphql", {
      headers: { "If-None-Match": `"other", ${etag}` },
    });
    expect([again.status, again.text]).toEqual([304, ""]);
    expect((await registry.ask("/graphql/schema.graphql", { method: "HEAD" })).status).toBe(200);
    const refused = await registry.ask("/graphql/schema.graphql", { method: "POST", body: {} });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});
