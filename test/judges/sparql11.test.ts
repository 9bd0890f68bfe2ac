import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Parser, type Quad } from "n3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedData } from "../support/shared-data.js";
import { startServer, type TestServer } from "../support/server.js";

// The W3C's tests of SPARQL 1.1: every valid query is accepted, every invalid one refused as such.
const FOLDER = sharedData("judges/sparql11");

/** By file, what is refused by decision, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  "syntax-fed/syntax-service-01.rq": "SERVICE",
  "syntax-fed/syntax-service-02.rq": "SERVICE",
  "syntax-fed/syntax-service-03.rq": "SERVICE",
  "construct/constructwhere04.rq": "a graph of elsewhere",
  "syntax-query/syntax-construct-where-02.rq": "a graph of elsewhere",
};

interface Asked {
  file: string;
  valid: boolean;
}

function queriesIn(folder: string): Asked[] {
  const manifest = join(FOLDER!, folder, "manifest.ttl");
  if (!existsSync(manifest)) return [];
  const base = `file://${join(FOLDER!, folder)}/`;
  const bySubject = new Map<string, Quad[]>();
  for (const quad of new Parser({ baseIRI: base }).parse(readFileSync(manifest, "utf8"))) {
    const known = bySubject.get(quad.subject.value);
    if (known) known.push(quad);
    else bySubject.set(quad.subject.value, [quad]);
  }
  const valueOf = (subject: string, name: RegExp): string | undefined =>
    bySubject.get(subject)?.find(({ predicate }) => name.test(predicate.value))?.object.value;
  return [...bySubject.keys()].flatMap((test): Asked[] => {
    const type = bySubject
      .get(test)!
      .map(({ object }) => object.value)
      .find((value) => /#(?:Positive|Negative|Query|CSV).*Test/.test(value));
    const action = valueOf(test, /#action$/);
    if (type === undefined || action === undefined) return [];
    const file = (valueOf(action, /#(?:query|request)$/) ?? action).replace(base, `${folder}/`);
    return file.endsWith(".rq") && !file.includes("://") && existsSync(join(FOLDER!, file))
      ? [{ file, valid: !type.includes("Negative") }]
      : [];
  });
}

describe.skipIf(!FOLDER)("the queries of the W3C's SPARQL 1.1 tests", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ SPARQL_QUEUE: "1000" });
  });
  afterAll(() => server.stop());
  const verdictOf = async (query: string): Promise<string> => {
    const { status, body } = await server.request("POST", "/sparql", {
      body: query,
      headers: { "Content-Type": "application/sparql-query" },
    });
    return status === 200 ? "accepted" : String(body["code"]);
  };

  it("are accepted when they are valid, and refused as malformed when they are not", async () => {
    const asked = readdirSync(FOLDER!).flatMap(queriesIn);
    expect(asked.length).toBeGreaterThan(300);
    const odd: string[] = [];
    for (const { file, valid } of asked) {
      const verdict = await verdictOf(readFileSync(join(FOLDER!, file), "utf8"));
      const expected = Object.hasOwn(REFUSED, file)
        ? "QUERY_REFUSED"
        : valid
          ? "accepted"
          : "QUERY_SYNTAX";
      if (verdict !== expected) odd.push(`${file}: ${verdict}, not ${expected}`);
    }
    expect(odd).toEqual([]);
  });
});
