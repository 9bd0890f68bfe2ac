import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkIndex } from "../../../../src/services/check.js";
import {
  type EndpointEngine,
  openEndpointEngine,
} from "../../../../src/storage/graph/endpoint/index.js";
import { statementOf } from "../../../../src/storage/graph/endpoint/projector/updates.js";
import { openRecordsDigester } from "../../../../src/storage/graph/oxigraph/index.js";
import { ready } from "../../../conformance/query-engine.js";
import { anyLiteral } from "../../../support/literals.js";
import { MemoryFeed } from "../../../support/memory-feed.js";
import { MemoryLeases } from "../../../support/memory-leases.js";
import { ark, quadsOf } from "../../../support/quads.js";
import { FUSEKI } from "../../../support/servers/fuseki.js";
import { sparqlServer } from "../../../support/servers/installed.js";
import { OXIGRAPH } from "../../../support/servers/oxigraph.js";
import { select } from "../../../support/select.js";

const quads = (name: string, literals: string[]): string =>
  literals
    .map((value, i) => `<${ark(name)}> <https://schema.org/p${i}> ${value} <${ark(name)}> .\n`)
    .join("") + quadsOf(name);

for (const make of [OXIGRAPH, FUSEKI]) {
  const server = sparqlServer(make);
  describe.skipIf(!server.installed)(`literals on a SPARQL endpoint (${make.name})`, () => {
    const feed = new MemoryFeed();
    let engine: EndpointEngine;
    beforeAll(async () => {
      await server.start();
      engine = await openEndpointEngine({
        openFeed: feed.open,
        leases: new MemoryLeases(),
        source: async () => "literals",
        queryUrl: server.queryUrl,
        updateUrl: server.updateUrl,
        batch: 2_000,
      });
      await ready(engine);
    });
    afterAll(() => engine?.close());

    it("agree with those of the record store, however the server stores them", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(anyLiteral, { minLength: 1, maxLength: 25 }), {
            minLength: 1,
            maxLength: 25,
          }),
          async (records) => {
            engine.advance(
              feed.commit(
                Object.fromEntries(
                  records.map((literals, i) => [ark(`r${i}`), quads(`r${i}`, literals)]),
                ),
              ),
            );
            const {
              agree,
              records: stored,
              index,
            } = await checkIndex({
              openDigester: () => openRecordsDigester(feed.open, 50),
              queries: engine,
            });
            expect({ agree, ...stored }).toEqual({ agree: true, leftOut: 0, ...index });
          },
        ),
        { numRuns: 4 },
      );
    });

    it("cannot end early", async () => {
      const nasty = [
        "\\u0022 . } } ; DROP ALL #",
        "\\\\u0022 } ; CLEAR ALL #",
        "\\\\",
        "\\\\\\u0022",
        "u0041 \\\\u0041 \\\\\\\\U00000041",
        "'''\\\"\\\"\\\"",
        "\\n\\r\\t\\b\\f",
        "é\\u00e9\u{1f9ec}",
      ];
      const text = nasty
        .map((value, i) => `<ark:99999/n> <https://schema.org/p${i}> "${value}" <ark:99999/n> .\n`)
        .join("");
      await engine.reach(feed.commit({ "ark:99999/n": text }), 5_000);
      const { rows } = await select(engine, "SELECT ?v { <ark:99999/n> ?p ?v } ORDER BY ?p");
      const short: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
      const unescape = (value: string): string =>
        value.replaceAll(
          /\\(?:u(....)|U(........)|(.))/g,
          (_, four?: string, eight?: string, one?: string) =>
            one === undefined
              ? String.fromCodePoint(Number.parseInt((four ?? eight)!, 16))
              : (short[one] ?? one),
        );
      expect(rows.flat()).toEqual(nasty.map(unescape));
      expect(
        (await checkIndex({ openDigester: () => openRecordsDigester(feed.open), queries: engine }))
          .agree,
      ).toBe(true);
    });
  });
}

describe("a line of N-Quads", () => {
  it.each([
    ["1.50", "1.5"],
    ["1", "1.0"],
    ["-007", "-7.0"],
    ["+0", "0.0"],
    ["-0.00", "0.0"],
    [".5", "0.5"],
    ["100.0100", "100.01"],
    ["1e3", "1e3"],
    ["", ""],
    [".", "."],
  ])("has the decimal %s as %s", (written, sent) => {
    expect(
      statementOf(`<a:s> <a:p> "${written}"^^<http://www.w3.org/2001/XMLSchema#decimal> <a:g> .`)!
        .triple,
    ).toBe(`<a:s> <a:p> "${sent}"^^<http://www.w3.org/2001/XMLSchema#decimal> .`);
  });

  it.each([
    "<a:s> <a:p> <no iri> <a:g> .",
    "<a:s> <a:p> _:b <a:g> .",
    '<a:s> <a:p> "open <a:g> .',
    "<a:s> <a:p> <a:o> .",
    '<a:s> <a:p> "x"^^<b> <a:g> .',
    '<a:s> <a:p> "x"> } <a:g> .',
    "<a:s> <a:p> <a:o> <a:g> . }",
  ])("is refused when SPARQL cannot hold it: %s", (line) => {
    expect(statementOf(line)).toBeUndefined();
  });
});
