import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { OXIGRAPH } from "../support/servers/oxigraph.js";
import { findProgram } from "../support/servers/programs.js";
import { freePort } from "../support/servers/program.js";
import { ENDLESS } from "../support/sparql.js";

const program = findProgram("oxigraph");
const possible = program !== undefined && existsSync("/bin/busybox");
if (!possible)
  process.stderr.write(
    `SKIPPED: the script of the graph's image needs /bin/busybox and Oxigraph (${OXIGRAPH.needs})\n`,
  );

describe.skipIf(!possible)("the script of the graph's image", () => {
  it("replaces a server that goes on with a query that was given up, and ends with SIGTERM", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-oxigraph-image-"));
    const port = await freePort();
    const server = spawn(
      "/bin/busybox",
      [
        "sh",
        join(packageRoot, "deploy/oxigraph/serve.sh"),
        "serve",
        "--location",
        folder,
        "--bind",
        `127.0.0.1:${port}`,
        "--union-default-graph",
      ],
      { env: { PORT: String(port), GRACE: "1", OXIGRAPH: program! }, stdio: "pipe" },
    );
    let said = "";
    server.stderr.on("data", (part: Buffer) => (said += part.toString()));
    const url = `http://127.0.0.1:${port}`;
    const answers = async (ms = 20_000) => {
      for (const end = Date.now() + ms; Date.now() < end; await pause(100))
        if (
          await fetch(`${url}/query?query=ASK%7B%7D`).then(
            ({ ok }) => ok,
            () => false,
          )
        )
          return true;
      return false;
    };
    try {
      expect(await answers()).toBe(true);
      const lines = Array.from({ length: 100 }, (_, i) => `<urn:s> <urn:p> <urn:o${i}> .`);
      const stored = await fetch(`${url}/store?default`, {
        method: "POST",
        headers: { "Content-Type": "application/n-triples" },
        body: lines.join("\n"),
      });
      expect(stored.status).toBe(204);
      // Short queries, and one that is answered after a while, stay as they are.
      await pause(2_500);
      expect(said).not.toContain("given up");
      await expect(
        fetch(`${url}/query`, {
          method: "POST",
          headers: { "Content-Type": "application/sparql-query" },
          body: ENDLESS,
          signal: AbortSignal.timeout(1_000),
        }),
      ).rejects.toThrow();
      for (const end = Date.now() + 20_000; !said.includes("given up"); await pause(100))
        expect(Date.now()).toBeLessThan(end);
      expect(await answers()).toBe(true);
      const gone = once(server, "exit");
      server.kill("SIGTERM");
      await gone;
      expect(await answers(300)).toBe(false);
    } finally {
      server.kill("SIGTERM");
      await rm(folder, { recursive: true, force: true });
    }
  }, 90_000);
});
