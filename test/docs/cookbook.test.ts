import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Parser, Store } from "n3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { packageRoot } from "../../src/package-root.js";
import { startServer, type TestServer } from "../support/server.js";
import { FUSEKI } from "../support/servers/fuseki.js";
import { sparqlServer } from "../support/servers/installed.js";
import { OXIGRAPH } from "../support/servers/oxigraph.js";

const page = readFileSync(join(packageRoot, "docs", "cookbook.md"), "utf8");
const prefixes = /^```sparql prefixes\n([\s\S]*?)^```/m.exec(page)![1]!;
/** Each recipe: its heading, its query, and the answer printed below it, one row a line. */
const recipes = page
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    query: /^```sparql\n([\s\S]*?)^```/m.exec(section)![1]!,
    answer: /^```text\n([\s\S]*?)^```/m.exec(section)?.[1]!.trimEnd().split("\n"),
  }));

const inProcess = async (): Promise<Record<string, string>> => ({});
const places = [OXIGRAPH, FUSEKI].map(sparqlServer).map(
  (endpoint) =>
    [
      `a SPARQL endpoint (${endpoint.make.name})`,
      async () => {
        await endpoint.start();
        return {
          SPARQL_QUERY_URL: endpoint.queryUrl,
          SPARQL_UPDATE_URL: endpoint.updateUrl,
          INDEX_WAIT: "10s",
        };
      },
      endpoint.installed,
    ] as const,
);

describe.each([["the built-in index", inProcess, true], ...places] as const)(
  "the cookbook, on %s,",
  (_place, settings, installed) => {
    if (!installed) return it.skip("is not installed");
    let server: TestServer;
    beforeAll(async () => {
      server = await startServer(await settings());
      const { token } = await server.person("Ada");
      const form = new FormData();
      form.set("file", new Blob([new Uint8Array(await buildDemoCrate())]), "crate.zip");
      expect((await server.request("POST", "/rocrate/upload", { token, body: form })).status).toBe(
        200,
      );
    });
    afterAll(() => server.stop());

    const ask = (query: string, accept: string) =>
      server.request("POST", "/sparql", {
        body: query,
        headers: { "Content-Type": "application/sparql-query", Accept: accept },
      });

    it("has ten recipes", () => {
      expect(recipes).toHaveLength(10);
    });

    it.each(recipes.filter(({ query }) => query.startsWith("SELECT")))(
      "answers as printed: $title",
      async ({ query, answer }) => {
        const { status, text } = await ask(prefixes + query, "application/sparql-results+json");
        expect(status, text).toBe(200);
        const { head, results } = JSON.parse(text) as {
          head: { vars: string[] };
          results: { bindings: Record<string, { value: string }>[] };
        };
        const rows = results.bindings.map((row) =>
          head.vars.map((name) => row[name]?.value ?? "").join(" | "),
        );
        expect(rows).toEqual(answer ?? []);
      },
    );

    it("prints no answer only where there is none", () => {
      expect(recipes.filter(({ answer }) => !answer).map(({ title }) => title)).toEqual([
        "8. What came from nowhere?",
        "10. The chain in plain PROV-O, for another tool",
      ]);
    });

    it("exports the chain as PROV-O", async () => {
      const { status, text } = await ask(prefixes + recipes.at(-1)!.query, "text/turtle");
      expect(status, text).toBe(200);
      const graph = new Store(new Parser().parse(text));
      const prov = "http://www.w3.org/ns/prov#";
      const steps = graph
        .getObjects(null, "https://schema.org/name", null)
        .map(({ value }) => value)
        .toSorted();
      expect(steps).toEqual(["Clustering", "Image acquisition", "Image embedding"]);
      const used = graph
        .getQuads(null, `${prov}used`, null, null)
        .map(({ object }) => object.value);
      expect(used.some((iri) => iri.endsWith("/results/embeddings.csv"))).toBe(true);
      expect(graph.getQuads(null, `${prov}wasGeneratedBy`, null, null).length).toBeGreaterThan(8);
    });
  },
);
