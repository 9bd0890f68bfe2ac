import { Parser, Store } from "n3";
import { describe, expect, it } from "vitest";
import { PREFIXES, expandCurie } from "../../../src/model/field.js";
import { KINDS } from "../../../src/model/kinds.js";
import { PROVENANCE, type ProvenanceName } from "../../../src/model/provenance.js";
import { evidenceOntology } from "../../../src/model/vocabulary/ontology.js";

const OWL = "http://www.w3.org/2002/07/owl#";
const RDFS = PREFIXES.rdfs;
const turtle = evidenceOntology();
const store = new Store(new Parser().parse(turtle));
const objects = (subject: string, predicate: string): string[] =>
  store.getObjects(subject, predicate, null).map(({ value }) => value);
const isDefined = (iri: string): boolean =>
  objects(iri, `${RDFS}isDefinedBy`).includes(PREFIXES.evi);

/** Everything above an IRI, through sub-properties and equivalents. */
function above(iri: string, seen = new Set<string>()): Set<string> {
  for (const next of [
    ...objects(iri, `${RDFS}subPropertyOf`),
    ...objects(iri, `${OWL}equivalentProperty`),
    ...objects(iri, `${RDFS}subClassOf`),
  ]) {
    if (seen.has(next)) continue;
    seen.add(next);
    above(next, seen);
  }
  return seen;
}

describe("the evidence vocabulary", () => {
  it("is the same each time", () => {
    expect(evidenceOntology()).toBe(turtle);
  });

  it("defines every class and term of its namespace that records are stored under", () => {
    const used = new Set<string>();
    for (const kind of Object.values(KINDS)) {
      for (const term of [kind.rdfClass, ...Object.values(kind.fields).map((field) => field.term)])
        if (term.startsWith("evi:")) used.add(term);
    }
    for (const name of ["evi:password", "evi:currentPassword", "evi:adminToken"]) used.delete(name);
    expect([...used].filter((term) => !isDefined(expandCurie(term)))).toEqual([]);
    expect(turtle).not.toMatch(/password|adminToken/i);
  });

  it.each(Object.entries(PROVENANCE))(
    "places %s on its side of support, and under its PROV-O term",
    (name, { evi, support, ...term }: { evi: string; support: string; prov?: string }) => {
      const stated = above(expandCurie(evi));
      const iri = expandCurie(evi);
      if (name === "informedBy") expect(above(expandCurie("prov:wasInformedBy"))).toContain(iri);
      else
        expect(stated).toContain(
          expandCurie(support === "object" ? "evi:directlySupportedBy" : "evi:directlySupports"),
        );
      if (term.prov && name !== "informedBy") expect(stated).toContain(expandCurie(term.prov));
      expect(stated).not.toContain(
        expandCurie(support === "object" ? "evi:supports" : "evi:supportedBy"),
      );
    },
  );

  it("models use by a computation as support by its object", () => {
    expect(objects(expandCurie("evi:usedDataset"), `${RDFS}subPropertyOf`)).toEqual([
      expandCurie("evi:used"),
    ]);
    expect(objects(expandCurie("evi:used"), `${RDFS}subPropertyOf`).toSorted()).toEqual([
      expandCurie("prov:used"),
      expandCurie("evi:directlySupportedBy"),
    ]);
  });

  it("names inverses that are defined, lie on the other side, and are stated once", () => {
    const pairs = store
      .getQuads(null, `${OWL}inverseOf`, null, null)
      .map(({ subject, object }) => [subject.value, object.value] as const);
    expect(pairs.length).toBeGreaterThan(20);
    const supportOf = (iri: string): string[] =>
      [...above(iri), iri].filter((each) =>
        /#(supports|supportedBy|challenges|challengedBy)$/.test(each),
      );
    for (const [one, other] of pairs) {
      expect(isDefined(other), other).toBe(true);
      expect(pairs).not.toContainEqual([other, one]);
      expect(
        supportOf(one).filter((each) => supportOf(other).includes(each)),
        one,
      ).toEqual([]);
    }
    const inverses = pairs.map(([, other]) => other);
    expect(
      (Object.keys(PROVENANCE) as ProvenanceName[])
        .filter(
          (name) =>
            name !== "informedBy" &&
            PROVENANCE[name].support === "object" &&
            !/Stain|Treatment/.test(name),
        )
        .map((name) => expandCurie(PROVENANCE[name].evi))
        .filter((iri) => !inverses.includes(iri)),
    ).toEqual([]);
  });

  it(
    "infers no type by accident: no domain, range or equivalent class, no agent that is " +
      "an entity, no cycle",
    () => {
      for (const predicate of [`${RDFS}domain`, `${RDFS}range`, `${OWL}equivalentClass`])
        expect(store.getQuads(null, predicate, null, null)).toEqual([]);
      expect(above(expandCurie("evi:Service"))).toEqual(
        new Set(["http://www.w3.org/ns/prov#SoftwareAgent"]),
      );
      for (const subject of store.getSubjects(null, null, null))
        expect([...above(subject.value)]).not.toContain(subject.value);
    },
  );

  it("has PROV-O's terms in PROV-O's namespace", () => {
    expect(turtle).not.toContain("https://www.w3.org/ns/prov");
    const known =
      /^http:\/\/www\.w3\.org\/ns\/prov#(Activity|Entity|Agent|SoftwareAgent|used|generated|wasGeneratedBy|wasDerivedFrom|wasAssociatedWith|wasAttributedTo|wasInformedBy)$/;
    const terms = new Set(
      store
        .getQuads(null, null, null, null)
        .flatMap(({ subject, object }) => [subject.value, object.value])
        .filter((value) => value.startsWith(PREFIXES.prov)),
    );
    for (const term of terms) expect(term).toMatch(known);
  });
});
