import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  OpenEndpoint,
  openEndpointEngine,
  type EndpointEngine,
  type OpenEndpointOptions,
} from "../../../../src/storage/graph/endpoint/index.js";
import { CpuPool } from "../../../../src/services/cpu-pool.js";
import { spellGraphs } from "../../../../src/app/spell-graphs.js";
import type { Asker, OpenQuestion } from "../../../../src/storage/graph/port.js";
import { ready } from "../../../conformance/query-engine.js";
import { MemoryFeed } from "../../../support/memory-feed.js";
import { MemoryLeases } from "../../../support/memory-leases.js";
import { Proxy } from "../../../support/proxy.js";
import { quadsOf } from "../../../support/quads.js";
import { FUSEKI } from "../../../support/servers/fuseki.js";
import { OXIGRAPH } from "../../../support/servers/oxigraph.js";
import { sparqlServer } from "../../../support/servers/installed.js";

const cpu = new CpuPool();
afterAll(() => cpu.close());

const COUNT = "SELECT (COUNT(*) AS ?n) { ?r <https://schema.org/name> ?name }";
const NAMES = "SELECT ?n { ?r <https://schema.org/name> ?n } ORDER BY ?n";

for (const make of [OXIGRAPH, FUSEKI]) {
  const server = sparqlServer(make);
  describe.skipIf(!server.installed)(
    `queries of anonymous callers on a SPARQL endpoint (${make.name})`,
    () => {
      const feed = new MemoryFeed();
      let proxy: Proxy;
      let queries: EndpointEngine;
      let engine: OpenEndpoint;
      beforeAll(async () => {
        await server.start();
        proxy = await Proxy.to(() => server.origin);
        feed.commit(
          Object.fromEntries(
            Array.from({ length: 20 }, (_, i) => [
              `ark:99999/r${i}`,
              quadsOf(`r${i}`, { name: `r${i} {"é}</result>\n",` }),
            ]),
          ),
        );
        queries = await openEndpointEngine({
          openFeed: feed.open,
          leases: new MemoryLeases(),
          source: async () => "open",
          queryUrl: server.queryUrl,
          updateUrl: server.updateUrl,
        });
        await ready(queries);
      });
      afterEach(async () => {
        proxy.before = () => {};
        await engine.close();
      });
      afterAll(async () => {
        await queries?.close();
        await proxy?.close();
      });
      const open = (options: Partial<OpenEndpointOptions> = {}): OpenEndpoint =>
        (engine = new OpenEndpoint(
          queries,
          { queryUrl: proxy.origin + make.query, updateUrl: proxy.origin + make.update },
          {
            timeout: 10_000,
            maxRows: 1000,
            maxBytes: 2 ** 20,
            atOnce: 1,
            queue: 4,
            queueWait: 10_000,
            slice: 60_000,
            indexWait: 1_500,
            spell: spellGraphs(cpu, 2 ** 30),
            ...options,
          },
        ));
      const ask = async (query: string, options: Partial<OpenQuestion> & Asker = {}) => {
        const { signal, caller, admit, ...question } = options;
        const { bytes, ...logged } = await engine.ask(
          {
            query,
            format: "json",
            graph: false,
            base: "http://x/sparql",
            sequence: 0,
            ...question,
          },
          { ...(signal && { signal }), ...(caller && { caller }), ...(admit && { admit }) },
        );
        return { text: new TextDecoder().decode(bytes), ...logged };
      };

      it("are answered in four forms, each cut between rows where it is too long", async () => {
        open({ maxRows: 7 });
        expect(
          (JSON.parse((await ask("ASK { ?s ?p ?o }")).text) as { boolean: boolean }).boolean,
        ).toBe(true);
        expect((await ask("ASK {}", { format: "xml" })).text).toContain("<boolean>true</boolean>");
        const all = {
          json: await ask(NAMES),
          xml: await ask(NAMES, { format: "xml" }),
          csv: await ask(NAMES, { format: "csv" }),
          tsv: await ask(NAMES, { format: "tsv" }),
        };
        for (const { truncated, sequence } of Object.values(all))
          expect([truncated, sequence]).toEqual(["SPARQL_MAX_ROWS", 1]);
        expect(
          (JSON.parse(all.json.text) as { results: { bindings: unknown[] } }).results.bindings,
        ).toHaveLength(7);
        expect(all.xml.text.match(/<result>/g)).toHaveLength(7);
        expect(all.xml.text).toMatch(/<\/results><\/sparql>$/);
        expect(all.csv.text.match(/"r\d+ /g)).toHaveLength(7);
        expect(all.tsv.text.trim().split("\n")).toHaveLength(8);
        open({ maxRows: 20 });
        expect((await ask(NAMES)).truncated).toBeNull();
        open({ maxBytes: 700 });
        for (const format of ["json", "xml", "csv", "tsv"] as const) {
          const { text, truncated } = await ask("SELECT ?r ?p ?n { ?r ?p ?n }", { format });
          expect([format, truncated, Buffer.byteLength(text) <= 700, text.length > 300]).toEqual([
            format,
            "SPARQL_MAX_BYTES",
            true,
            true,
          ]);
          if (format === "json")
            expect(
              (JSON.parse(text) as { results: { bindings: unknown[] } }).results.bindings.length,
            ).toBeGreaterThan(0);
        }
        open({ maxBytes: 90 });
        expect(
          (
            JSON.parse((await ask(`SELECT ("${"x".repeat(500)}" AS ?long) {}`)).text) as {
              results: { bindings: unknown[] };
            }
          ).results.bindings,
        ).toEqual([]);
      });

      it("for graphs as well, in four forms, from a server that may support fewer", async () => {
        open({ maxRows: 5 });
        const query =
          "CONSTRUCT { ?r <https://schema.org/name> ?n } { ?r <https://schema.org/name> ?n }";
        const lines = await ask(query, { format: "nt", graph: true });
        expect(lines.truncated).toBe("SPARQL_MAX_ROWS");
        expect(lines.text.trim().split("\n")).toHaveLength(5);
        expect((await ask(query, { format: "ttl", graph: true })).text).toMatch(
          /^@prefix schema: <https:\/\/schema.org\/>\.\n\n<ark:99999\/r\d+> schema:name "r\d+/,
        );
        expect(JSON.parse((await ask(query, { format: "jsonld", graph: true })).text)).toHaveLength(
          5,
        );
        expect((await ask(query, { format: "rdfxml", graph: true })).text).toContain("<rdf:RDF");
        expect(
          (await ask("DESCRIBE <r/1>", { format: "nt", graph: true, base: "ark:99999/" })).text,
        ).toBe("");
      });

      it("of the requested dataset, and fetch none", async () => {
        open();
        const names = async (query: string, dataset?: OpenQuestion["dataset"]) =>
          (await ask(query, { format: "tsv", ...(dataset && { dataset }) })).text
            .trim()
            .split("\n")
            .slice(1)
            .map((line) => line.slice(1, 3))
            .sort();
        const union = "SELECT ?n { ?r <https://schema.org/name> ?n }";
        const byGraph = "SELECT ?n { GRAPH ?g { ?r <https://schema.org/name> ?n } }";
        expect(await names(union)).toHaveLength(20);
        expect(
          await names(union, { default: ["ark:99999/r1", "ark:99999/none"], named: [] }),
        ).toEqual(["r1"]);
        expect(await names(byGraph, { default: ["ark:99999/r1"], named: [] })).toEqual([]);
        expect(
          await names(byGraph, { default: [], named: ["ark:99999/r0", "ark:99999/r2"] }),
        ).toEqual(["r0", "r2"]);
        expect(await names(union, { default: [], named: ["ark:99999/r0"] })).toEqual([]);
        for (const iri of ["http://localhost:1/x", "urn:arkgraph:projection"])
          await expect(
            ask(union, { dataset: { default: [iri], named: [] } }),
          ).rejects.toMatchObject({ code: "QUERY_REFUSED", status: 400 });
      });

      it("wait in a queue of bounded length, are scheduled fairly, and leave it with their caller", async () => {
        open({ queue: 4, queueWait: 5_000 });
        let release = (): void => {};
        const held = new Promise<void>((resolve) => (release = resolve));
        proxy.before = () => held;
        const served: string[] = [];
        let barred = false;
        const by = (caller: string) =>
          ask(COUNT, {
            caller,
            admit: () => {
              if (barred && caller === "mallory") throw new Error("barred");
            },
          }).then(
            () => served.push(caller),
            (error: Error) => served.push(`${caller} ${error.message}`),
          );
        const first = by("mallory");
        await pause(50);
        const leaving = new AbortController();
        const left = ask(COUNT, { signal: leaving.signal }).catch((error: Error) => error.message);
        const rest = [by("mallory"), by("ada"), by("grace")];
        await pause(50);
        expect(engine.state()).toEqual({ threads: 1, waiting: 4 });
        await expect(ask(COUNT)).rejects.toMatchObject({
          code: "SPARQL_BUSY",
          message: expect.stringContaining("SPARQL_QUEUE") as string,
        });
        leaving.abort(new Error("gone"));
        expect(await left).toBe("gone");
        barred = true;
        release();
        await Promise.all([first, ...rest]);
        expect(served.filter((who) => who !== "mallory barred")).toEqual([
          "mallory",
          "ada",
          "grace",
        ]);
        expect(served).toContain("mallory barred");
      });

      it(
        "are cancelled when they take too long, when their caller disconnects, and when the " +
          "service stops",
        async () => {
          open({ timeout: 200, atOnce: 4 });
          proxy.before = () => pause(2_000);
          const before = proxy.left;
          await expect(ask(COUNT)).rejects.toMatchObject({
            code: "QUERY_TIMEOUT",
            status: 503,
            message: expect.stringContaining("SPARQL_TIMEOUT") as string,
          });
          open({ atOnce: 4 });
          const leaving = new AbortController();
          const left = ask(COUNT, { signal: leaving.signal }).catch(
            (error: Error) => error.message,
          );
          const stopped = ask(COUNT).catch((error: { code: string }) => error.code);
          await pause(100);
          leaving.abort(new Error("gone"));
          expect(await left).toBe("gone");
          await engine.close();
          expect(await stopped).toBe("SHUTTING_DOWN");
          for (let tries = 0; proxy.left < before + 3 && tries < 100; tries++) await pause(20);
          expect(proxy.left).toBeGreaterThanOrEqual(before + 3);
          await expect(ask(COUNT)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
        },
      );

      it("see every commit that the request names, and report the server's refusals", async () => {
        open();
        const count = async (sequence: number) =>
          Number(
            (
              JSON.parse((await ask(COUNT, { sequence })).text) as {
                results: { bindings: { n: { value: string } }[] };
              }
            ).results.bindings[0]!.n.value,
          );
        expect(await count(feed.commit({ "ark:99999/late": quadsOf("late") }))).toBe(21);
        expect(await count(feed.commit({ "ark:99999/late": null }))).toBe(20);
        await expect(count(feed.sequence + 1)).rejects.toMatchObject({
          code: "INDEX_BEHIND",
          status: 503,
        });
        await expect(
          ask("SELECT ?x (COUNT(*) AS ?n) { ?x ?y ?z } GROUP BY ?y"),
        ).rejects.toMatchObject({
          // A syntax error where the server names the place.
          code: expect.stringMatching(/^QUERY_(?:REFUSED|SYNTAX)$/),
          status: 400,
        });
      });
    },
  );
}
