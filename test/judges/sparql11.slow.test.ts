import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Parser, type Quad } from "n3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Store } from "oxigraph";
import { readConfig } from "../../src/config/config.js";
import { QueryGuard } from "../../src/services/sparql/answer.js";
import { check, type CheckLimits } from "../../src/services/sparql/guard/check.js";
import { tokens } from "../../src/services/sparql/guard/scan.js";
import { BOOKKEEPING } from "../../src/storage/graph/endpoint/index.js";
import { sharedData } from "../support/shared-data.js";
import { startServer, type TestServer } from "../support/server.js";

// The W3C's tests of SPARQL 1.1: every valid query is accepted, every invalid one refused as such.
const SHARED = sharedData("judges/sparql11");
const FOLDER = SHARED ?? "";

/** By file, what is refused by decision, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  "syntax-fed/syntax-service-01.rq": "SERVICE",
  "syntax-fed/syntax-service-02.rq": "SERVICE",
  "syntax-fed/syntax-service-03.rq": "SERVICE",
  "construct/constructwhere04.rq": "a graph of elsewhere",
  "syntax-query/syntax-construct-where-02.rq": "a graph of elsewhere",
};

/** On an endpoint a graph that a query only names must hold something; here there is none. */
const NAME_ONLY = "bindings/graph.rq";

interface Asked {
  file: string;
  valid: boolean;
  /** Files of the default graph, in Turtle or RDF/XML. */
  data: string[];
}

function queriesIn(folder: string): Asked[] {
  const manifest = join(FOLDER, folder, "manifest.ttl");
  if (!existsSync(manifest)) return [];
  const base = `file://${join(FOLDER, folder)}/`;
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
    return file.endsWith(".rq") && !file.includes("://") && existsSync(join(FOLDER, file))
      ? [
          {
            file,
            valid: !type.includes("Negative"),
            data: (bySubject.get(action) ?? [])
              .filter(({ predicate }) => predicate.value.endsWith("#data"))
              .map(({ object }) => object.value.replace(base, `${folder}/`))
              .filter((name) => existsSync(join(FOLDER, name))),
          },
        ]
      : [];
  });
}

describe.skipIf(!SHARED)("the queries of the W3C's SPARQL 1.1 tests", () => {
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
    const asked = readdirSync(FOLDER).flatMap(queriesIn);
    expect(asked.length).toBeGreaterThan(300);
    const odd: string[] = [];
    for (const { file, valid } of asked) {
      const verdict = await verdictOf(readFileSync(join(FOLDER, file), "utf8"));
      const expected = Object.hasOwn(REFUSED, file)
        ? "QUERY_REFUSED"
        : valid
          ? "accepted"
          : "QUERY_SYNTAX";
      if (verdict !== expected) odd.push(`${file}: ${verdict}, not ${expected}`);
    }
    expect(odd).toEqual([]);
  });

  it("have the answers of the engine alone after the guard has rewritten them", async () => {
    const guards = [undefined, BOOKKEEPING].map(
      (hidden) => new QueryGuard(readConfig({}), server.deps.cpu, hidden),
    );
    const odd: string[] = [];
    let compared = 0;
    for (const { file, valid, data } of readdirSync(FOLDER).flatMap(queriesIn)) {
      if (!valid || Object.hasOwn(REFUSED, file) || file === NAME_ONLY) continue;
      const query = readFileSync(join(FOLDER, file), "utf8");
      const meant = answersOf(query, data);
      // Random values, the time, and rows that a LIMIT without order chooses.
      if (meant === undefined || meant !== answersOf(query, data)) continue;
      compared++;
      for (const guard of guards) {
        const text = await guard.check(query, BASE).then(
          (guarded) => guarded.text,
          (error: Error) => error.message,
        );
        if (answersOf(text, data) !== meant) odd.push(`${file}: ${text}`);
      }
    }
    for (const guard of guards) guard.close();
    expect(odd).toEqual([]);
    expect(compared).toBeGreaterThan(200);
  }, 120_000);

  it("have the answers of the engine alone where the guard writes each of them anew", () => {
    const limits = readConfig({});
    const odd: string[] = [];
    let compared = 0;
    for (const { file, valid, data } of readdirSync(FOLDER).flatMap(queriesIn)) {
      if (!valid || Object.hasOwn(REFUSED, file)) continue;
      const query = readFileSync(join(FOLDER, file), "utf8");
      const end = endOfPattern(query);
      if (end === undefined) continue;
      // The guard replaces the call of an unknown function by the error that 1/0 is.
      const asked = (call: string): string =>
        `${query.slice(0, end)} FILTER(${call} || true) ${query.slice(end)}`;
      const meant = answersOf(asked("1/0"), data);
      if (meant === undefined || meant !== answersOf(asked("1/0"), data)) continue;
      compared++;
      const anew = writtenAnew(asked("<urn:unknown>(1)"), limits);
      if (answersOf(anew, data) !== meant) odd.push(`${file}: ${anew}`);
    }
    expect(odd).toEqual([]);
    expect(compared).toBeGreaterThan(200);
  }, 120_000);
});

/** The text that the guard writes for a query with an unknown function, or its refusal. */
function writtenAnew(query: string, limits: CheckLimits): string {
  try {
    return check(query, BASE, limits).narrowed ?? "The query was not changed.";
  } catch (error) {
    return (error as Error).message;
  }
}

/** The offset of the bracket that ends the outermost pattern; `undefined` without a pattern. */
function endOfPattern(query: string): number | undefined {
  let end: number | undefined;
  let depth = 0;
  for (const { from, to } of tokens(query)) {
    const token = query.slice(from, to).toUpperCase();
    if (token === "VALUES" && depth === 0) break;
    if (token === "{") depth++;
    if (token === "}" && --depth === 0) end = from;
  }
  return end;
}

const BASE = "http://x/sparql";
/** Answers of the engine itself, rows in any order; `undefined` where it has none. */
function answersOf(query: string, data: readonly string[]): string | undefined {
  const store = new Store();
  for (const name of data)
    store.load(readFileSync(join(FOLDER, name), "utf8"), {
      format: name.endsWith(".rdf") ? "application/rdf+xml" : "text/turtle",
      base_iri: "http://x/data/",
    });
  try {
    const isTable = !/\b(?:construct|describe)\b/i.test(query.replace(/#[^\n<>]*$/gm, ""));
    const text = store.query(query, {
      results_format: isTable ? "json" : "nt",
      base_iri: BASE,
    }) as string;
    // Names of blank nodes, and the order of columns, are the engine's own.
    const plain = text
      .replace(/"type":"bnode","value":"[^"]*"/g, '"type":"bnode"')
      .replace(/_:[0-9a-z]+/g, "_:");
    if (!isTable) return plain.split("\n").toSorted().join("\n");
    const { results, boolean } = JSON.parse(plain) as {
      results?: { bindings: object[] };
      boolean?: boolean;
    };
    return JSON.stringify(
      results?.bindings.map((row) => JSON.stringify(Object.entries(row).toSorted())).toSorted() ??
        boolean,
    );
  } catch {
    return undefined;
  }
}
