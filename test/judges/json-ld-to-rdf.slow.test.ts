import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import jsonld from "jsonld";
import { DataFactory, Parser, type Quad, type Term, Writer } from "n3";
import { beforeAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/model/field.js";
import { graphOf } from "../../src/rdf/graph.js";
import { oneSpelling } from "../../src/rdf/terms.js";
import { sharedData } from "../support/shared-data.js";

// The W3C's tests of JSON-LD 1.1 "Deserialize JSON-LD to RDF", by the path that the entities of
// crates take.
const FOLDER = sharedData("judges/json-ld-toRdf");

interface Test {
  "@id": string;
  "@type": string[];
  input: string;
  expect?: string;
}
const readJson = (path: string): unknown => JSON.parse(readFileSync(join(FOLDER!, path), "utf8"));
/** One test names a document of another suite, which is not here. */
const listedTests = (): Test[] =>
  (readJson("toRdf-manifest.jsonld") as { sequence: Test[] }).sequence;
const TESTS = FOLDER ? listedTests().filter(({ input }) => existsSync(join(FOLDER, input))) : [];

/**
 * Why the statements of a test differ, or why its document is accepted or refused, and the tests.
 */
const DEVIATIONS: Readonly<Record<string, string>> = {
  "Relative IRIs are paths of the crate: there is no other base, and `@base` moves nothing.":
    "t0016 t0017 t0018 te005 te028 te029 te040 te048 te050 te051 te056 te057 te059 te060 " +
    "te062 te066 te076 te078 te089 te090 te092 te110 tli13 tm005",
  "No context is fetched. One that is not bundled explains nothing: a test's own is not, and one that cannot be loaded is no error.":
    "tc031 tc034 te126 te127 te128 ter02 ter03 ter04 ter05 tso01 tso03 tso05 tso06 tso07 tso10 tso12 tso13",
  "What JSON-LD leaves out is stored as `urn:arkgraph:term:…`: terms without a meaning, or whose meaning is `null`, and unknown keywords.":
    "tc014 tc018 tc032 tc033 te003 te016 te032 te065 te119 te122 ter20 ter23 tin06 tpr06 " +
    "tpr19 tpr34 tpr35 tpr36 tpr38",
  "What an IRI cannot hold is percent-encoded; JSON-LD leaves such statements out.":
    "twf01 twf02 twf03 twf04 twf05 twf07",
  "A blank in a key is percent-encoded, also in a JSON literal that only the context calls so.":
    "tjs10 tjs11 tjs13",
  "A context that is not bundled is left out, also of a JSON literal that only the context calls so.":
    "tjs21",
  "A blank node as a type or a property is a term without a meaning.": "te038 te068 tm003 tm004",
  "The test asks for an option of the API: expandContext, rdfDirection, produceGeneralizedRdf.":
    "t0118 tdi09 tdi10 tdi11 tdi12 te075 te077",
  "The test is for processors of JSON-LD 1.0.":
    "tc029 te014 te026 te071 te115 te116 tep02 ter21 ter24 ter32 ter42 ttn01",
  "jsonld.js 9.0.0 deviates.": "tc037 tc038 te111 te112 tli12 tli14",
};
const LISTED = Object.values(DEVIATIONS).flatMap((tests) => tests.split(" "));

const ARK = "ark:99999/test";
const TYPE_OF_RECORD = "https://schema.org/Thing";
const { blankNode, namedNode, quad } = DataFactory;
const parse = (text: string): Quad[] => new Parser({ format: "N-Quads" }).parse(text);

/** A document as one record says it, which stands for the document. */
async function statements(document: JsonValue): Promise<Quad[]> {
  const record = { "@graph": [document].flat() };
  const { quads } = await graphOf({ ark: ARK, kind: "entity", document: record, fromCrate: true });
  // What the record itself says, and what is inferred, no document says.
  const ofRecord = ({ subject, object }: Quad): boolean =>
    subject.value === ARK && object.value === TYPE_OF_RECORD;
  return parse(quads).filter((statement) => statement.graph.value === ARK && !ofRecord(statement));
}
/** Nodes without a name are skolem IRIs in the graph, and vocabularies have one spelling. */
function plain<T extends Term>(term: T): T {
  if (term.termType !== "NamedNode") return term;
  const isSkolem = term.value.startsWith(`${ARK}#genid-`);
  const named: Term = isSkolem
    ? blankNode(term.value.slice(ARK.length + 1))
    : namedNode(oneSpelling(term.value));
  return named as T;
}
/** A record is one graph: the statements of named graphs are among them. */
async function canonical(quads: Quad[]): Promise<string> {
  const one = ({ subject, predicate, object }: Quad): Quad =>
    quad(plain(subject), plain(predicate), plain(object));
  const text = new Writer({ format: "N-Quads" }).quadsToString(quads.map(one));
  // Lists of like values look alike to the algorithm for longer than it tries of itself.
  const options = {
    inputFormat: "application/n-quads",
    format: "application/n-quads",
    canonizeOptions: { maxWorkFactor: 2 },
  };
  return jsonld.canonize(text as never, options as never) as unknown as Promise<string>;
}

/** How the registry deviates from a test; undefined when it does not. */
async function deviation({
  "@type": types,
  input,
  expect: expected,
}: Test): Promise<string | undefined> {
  const negative = types.includes("jld:NegativeEvaluationTest");
  let quads: Quad[];
  try {
    quads = await statements(readJson(input) as JsonValue);
  } catch (error) {
    expect(["JsonLdError", "UnknownContext"]).toContain((error as Error).name);
    return negative ? undefined : (error as Error).message;
  }
  if (negative) return "accepted";
  if (expected === undefined) return undefined;
  const wanted = readFileSync(join(FOLDER!, expected), "utf8");
  try {
    if ((await canonical(quads)) === (await canonical(parse(wanted)))) return undefined;
  } catch {
    // Generalized RDF is no N-Quads.
  }
  return `${new Writer({ format: "N-Quads" }).quadsToString(quads)} instead of ${wanted}`;
}

describe.skipIf(!FOLDER)("the W3C's tests of JSON-LD to RDF", () => {
  const found = new Map<string, string>();
  beforeAll(async () => {
    for (const test of TESTS) {
      const how = await deviation(test);
      if (how !== undefined) found.set(test["@id"].slice(1), how);
    }
  });

  it("are all run", () => {
    expect(TESTS.length).toBe(466);
  });

  it("result in the expected statements, except for those that are listed with a reason", () => {
    expect([...found].filter(([test]) => !LISTED.includes(test))).toEqual([]);
  });

  it("deviate wherever the list says so", () => {
    expect(LISTED.filter((test) => !found.has(test))).toEqual([]);
    expect(new Set(LISTED).size).toBe(LISTED.length);
  });
});
