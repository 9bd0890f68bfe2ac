import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { graphsOf } from "../../src/rdf/graph.js";
import { inOneSpelling, oneSpelling } from "../../src/rdf/terms.js";
import { plainTokens } from "../../src/services/sparql/guard/scan.js";
import { packQuads, unpackQuads } from "../../src/storage/records/codecs.js";

const FOLDER = join(packageRoot, "ontology", "contexts");
/** LDaC's terms are of a vocabulary of its own, beside schema.org's of the same names. */
const OTHER_VOCABULARY = "https://w3id.org/ldac/terms#";

type Definition = string | { "@id"?: string } | null;

/** Term → IRI, of one bundled context. */
function termsOf(file: string): Map<string, string> {
  const { "@context": stated } = JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as {
    "@context": Record<string, Definition> | Record<string, Definition>[];
  };
  const terms = Object.assign({}, ...[stated].flat()) as Record<string, Definition>;
  const idOf = (term: string): string | undefined => {
    const definition = terms[term];
    return typeof definition === "string" ? definition : definition?.["@id"];
  };
  const iriOf = (text: string): string => {
    const [prefix, rest] = [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1)];
    const namespace = rest.startsWith("//") ? undefined : idOf(prefix);
    return namespace === undefined ? text : namespace + rest;
  };
  return new Map(
    Object.keys(terms).flatMap((term): [string, string][] => {
      const id = term.startsWith("@") ? undefined : idOf(term);
      return id === undefined || id.startsWith("@") ? [] : [[term, iriOf(id)]];
    }),
  );
}

describe("a term of the bundled contexts", () => {
  const byTerm = new Map<string, Set<string>>();
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".jsonld")))
    for (const [term, iri] of termsOf(file))
      if (!iri.startsWith(OTHER_VOCABULARY))
        byTerm.set(term, (byTerm.get(term) ?? new Set()).add(iri));
  const changed = [...byTerm].filter(([, iris]) => iris.size > 1);

  it("has one IRI in the graph, whichever of them defines it", () => {
    const several = changed
      .map(([term, iris]) => [term, ...new Set([...iris].map(oneSpelling))])
      .filter(({ length }) => length > 2);
    expect(several).toEqual([]);
    expect(changed.map(([term]) => term)).toEqual(
      expect.arrayContaining(["RepositoryObject", "ComputationalWorkflow", "input", "cite-as"]),
    );
  });

  it("is found by queries that use any of its IRIs, whole or by a prefix", () => {
    for (const [, iris] of changed) {
      const stored = oneSpelling([...iris][0]!);
      for (const iri of iris) {
        expect(plainTokens(`ASK { ?x ?y <${iri}> }`, oneSpelling)).toBe(
          `ASK { ?x ?y <${stored}> }`,
        );
        const end = /[^/#]*$/.exec(iri)!.index;
        const [namespace, local] = [iri.slice(0, end), iri.slice(end)];
        const query = plainTokens(`PREFIX p: <${namespace}> ASK { ?x ?y p:${local} }`, oneSpelling);
        const [, declared, name] = /^PREFIX p: <(.*)> ASK \{ \?x \?y (.*) \}$/.exec(query)!;
        expect(name === `p:${local}` ? `<${declared}${local}>` : name).toBe(`<${stored}>`);
      }
    }
  });

  it("is read from the quads of an earlier version as the graph has it now", () => {
    for (const [, iris] of changed) {
      const [stored] = [...iris].map(oneSpelling);
      for (const written of iris) {
        // That one was stored as https ever since.
        const iri = written.replace(/^http:\/\/schema\.org/, "https://schema.org");
        const line = (term: string) =>
          `<ark:1/x> <${term}> <${term}> <ark:1/x> .\n<ark:1/x> <urn:p> "see <${iri}>" <ark:1/x> .\n`;
        const sorted = (text: string) => text.trimEnd().split("\n").toSorted();
        expect(sorted(unpackQuads(packQuads(line(iri))))).toEqual(sorted(line(stored!)));
      }
    }
    const both =
      "<ark:1/x> <urn:a> <http://pcdm.org/models#Object> <ark:1/x> .\n" +
      "<ark:1/x> <urn:a> <http://pcdm.org/models#object> <ark:1/x> .\n";
    expect(inOneSpelling(both)).toBe(both.split("\n")[0] + "\n");
  });
});

describe("addresses of Bioschemas", () => {
  it.each(["terms/", "properties/", "types/", ""])("of a term below /%s are one", (folder) => {
    for (const scheme of ["http", "https"])
      expect(oneSpelling(`${scheme}://bioschemas.org/${folder}LabProcess`)).toBe(
        "https://bioschemas.org/LabProcess",
      );
  });

  it("of profiles and of versions stay", () => {
    for (const page of [
      "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE",
      "https://bioschemas.org/types/ComputationalWorkflow/1.0-RELEASE",
    ])
      expect(oneSpelling(page)).toBe(page);
  });
});

describe("a LabProcess", () => {
  const at = (name: string) => `ark:99999/crate/${name}`;
  const linesOf = async (type: string, context: object[], protocol: string) => {
    const [graph] = await graphsOf(["https://w3id.org/ro/crate/1.1/context", ...context] as never, [
      {
        ark: at("p"),
        kind: "experiment",
        fromCrate: true,
        document: {
          "@id": at("p"),
          "@type": type,
          object: { "@id": at("plant") },
          result: { "@id": at("extract") },
          agent: { "@id": at("ada") },
          [protocol]: { "@id": at("protocol") },
        },
      },
    ]);
    return graph!.quads;
  };

  it.each([
    [
      "LabProcess",
      [
        {
          LabProcess: "https://bioschemas.org/LabProcess",
          executesLabProtocol: "https://bioschemas.org/executesLabProtocol",
        },
      ],
      "executesLabProtocol",
    ],
    [
      "https://bioschemas.org/LabProcess",
      [],
      "https://bioschemas.org/properties/executesLabProtocol",
    ],
    [
      "bioschemas:LabProcess",
      [{ bioschemas: "https://bioschemas.org/" }],
      "bioschemas:executesLabProtocol",
    ],
    // No context explains them.
    ["LabProcess", [], "executesLabProtocol"],
  ])(
    "%s makes evidence of its object, result, agent and protocol",
    async (type, context, protocol) => {
      const quads = await linesOf(type, context, protocol);
      const supported = (subject: string, object: string) =>
        `<${at(subject)}> <https://w3id.org/EVI#directlySupportedBy> <${at(object)}> <${at("p")}#inferred> .`;
      for (const support of [
        supported("p", "plant"),
        supported("extract", "p"),
        supported("p", "ada"),
        supported("p", "protocol"),
      ])
        expect(quads).toContain(support);
      for (const [term, object] of [
        ["used", "protocol"],
        ["usedDataset", "plant"],
        ["generated", "extract"],
        ["associatedWith", "ada"],
      ])
        expect(quads).toContain(`<${at("p")}> <https://w3id.org/EVI#${term}> <${at(object!)}>`);
    },
  );
});
