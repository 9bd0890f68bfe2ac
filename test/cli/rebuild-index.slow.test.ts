import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { bodyOf } from "../support/bodies.js";
import { startServer } from "../support/server.js";
import { sparqlServer } from "../support/servers/installed.js";
import { OXIGRAPH } from "../support/servers/oxigraph.js";

const endpoint = sparqlServer(OXIGRAPH);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-rebuild-"));
  const server = await startServer({ DATA_DIR: folder });
  const { token, id } = await server.person("Ada");
  for (let i = 0; i < 3; i++)
    await server.request("POST", "/dataset", { token, json: bodyOf("dataset", id) });
  await server.stop();
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const arkgraph = (args: string[], env: Record<string, string> = {}) =>
  promisify(execFile)(
    process.execPath,
    [join(packageRoot, "bin", "arkgraph.js"), ...args, "--data", folder],
    { env: { PATH: process.env["PATH"]!, ...env } },
  ).then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      status: error.code,
      stdout: error.stdout,
      stderr: error.stderr,
    }),
  );

describe("arkgraph rebuild-index", () => {
  it("says that there is nothing to rebuild where no endpoint is configured", async () => {
    expect(await arkgraph(["rebuild-index"])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^arkgraph: no SPARQL endpoint is set .*\n$/) as string,
    });
  });

  it("fails when the endpoint is unavailable, and so does a check", async () => {
    const env = {
      SPARQL_QUERY_URL: "http://127.0.0.1:9/query",
      SPARQL_UPDATE_URL: "http://127.0.0.1:9/update",
    };
    for (const command of ["rebuild-index", "check"])
      expect(await arkgraph([command], env), command).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("SPARQL endpoint cannot be used") as string,
      });
  });

  it.skipIf(!endpoint.installed)(
    "empties and fills an endpoint so that the check agrees, and the check finds missing data",
    async () => {
      await endpoint.start();
      const env = { SPARQL_QUERY_URL: endpoint.queryUrl, SPARQL_UPDATE_URL: endpoint.updateUrl };
      await endpoint.update(
        "INSERT DATA { GRAPH <http://others/g> { <http://others/s> <http://others/p> 1 } }",
      );
      expect(await arkgraph(["check"], env)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("rebuild-index") as string,
      });
      expect(await arkgraph(["rebuild-index"], env)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining("as of commit") as string,
      });
      expect(await arkgraph(["check"], env)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining("agrees with the records") as string,
      });
      expect((await endpoint.query("ASK { GRAPH <http://others/g> { ?s ?p ?o } }")).boolean).toBe(
        false,
      );
      await endpoint.update("DELETE WHERE { GRAPH ?g { ?s <https://schema.org/name> ?o } }");
      expect(await arkgraph(["check"], env)).toMatchObject({
        status: 1,
        stdout: expect.stringContaining("differs") as string,
      });
    },
    60_000,
  );
});
