import { dice, type Dice } from "./dice.js";
import type { Entity, Json, Members } from "./crates.js";

/** A crate that is legal and unusual, and texts that none of its statements may lose. */
export interface OddCrate {
  members: Members;
  /** Stand in values: each must be in some record's graph. */ marks: string[];
  entities: number;
}

type Feature = (mark: () => string, chance: Dice) => Entity;

/**
 * Ways to say something, each with terms that {@link CONTEXT} or RO-Crate explains, or that none
 * does.
 */
export const FEATURES: Readonly<Record<string, Feature>> = {
  text: (mark) => ({ description: mark() }),
  texts: (mark) => ({ keywords: [mark(), mark()] }),
  numbers: (mark) => ({ version: 1, size: -0.5, big: 1e21, name: mark() }),
  booleans: (mark) => ({ isAccessibleForFree: true, name: mark() }),
  nulls: (mark) => ({ license: null, funder: [null], empty: [], name: mark() }),
  language: (mark) => ({
    name: [
      { "@value": mark(), "@language": "de" },
      { "@value": mark(), "@language": "en-GB" },
    ],
  }),
  oddLanguage: (mark) => ({ name: { "@value": mark(), "@language": "de_DE x" } }),
  typed: (mark) => ({
    dateCreated: { "@value": mark(), "@type": "http://www.w3.org/2001/XMLSchema#token" },
  }),
  ordered: (mark) => ({ step: { "@list": [mark(), { "@value": mark() }] } }),
  set: (mark) => ({ citation: { "@set": [mark()] } }),
  listOfLists: (mark) => ({ position: [[mark()], [mark(), [mark()]]] }),
  embedded: (mark) => ({
    address: { "@type": "PostalAddress", streetAddress: mark(), addressCountry: { name: mark() } },
  }),
  embeddedWithId: (mark) => {
    const name = mark();
    return { author: { "@id": `#author-${name}`, "@type": "Person", name } };
  },
  reverse: (mark) => ({
    "@reverse": { about: [{ "@id": `#reverse-${mark()}` }, { name: mark() }] as Json },
  }),
  included: (mark) => ({ "@included": [{ "@id": `#included`, name: mark() }] }),
  named: (mark) => ({ "@graph": [{ "@id": "#inner", name: mark() }] }),
  unknownTerm: (mark) => ({ strangeTerm: mark(), "strange term": mark(), "": mark(), täg: mark() }),
  oddKeyword: (mark) => ({ "@label": mark(), "@version": mark(), knows: { "@preview": mark() } }),
  wholeIri: (mark) => ({ "https://example.org/terms#p": mark(), "urn:x:p": mark() }),
  prefixed: (mark) => ({ "ex:p": mark(), "undeclared:p": mark(), "schema:alternateName": mark() }),
  reference: (mark) => ({
    isBasedOn: { "@id": `https://example.org/${mark()}` },
    mentions: [{ "@id": `#${mark()}` }, { "@id": `_:${mark()}` }],
  }),
  coercedReference: (mark) => ({ exLink: [`https://example.org/${mark()}`], exVocab: mark() }),
  languageMap: (mark) => ({ exLabels: { de: mark(), en: [mark()] } }),
  indexMap: (mark) => ({ exIndexed: { a: mark(), b: [mark()] } }),
  idMap: (mark) => ({ exById: { [`https://example.org/${mark()}`]: { name: mark() } } }),
  listContainer: (mark) => ({ exSteps: [mark(), mark()] }),
  jsonLiteral: (mark) => ({ exJson: { a: [mark(), { b: null }] } }),
  nested: (mark) => ({ exNest: { exInner: mark() } }),
  scoped: (mark) => ({ exScoped: { inside: mark() } }),
  ownContext: (mark) => ({
    "@context": { mine: "https://example.org/mine" },
    mine: mark(),
    name: mark(),
  }),
  emptiedContext: (mark) => ({
    "@context": [null, { mine: "https://example.org/mine" }],
    mine: mark(),
    lost: mark(),
  }),
  noVocabulary: (mark) => ({ "@context": { "@vocab": null as unknown as Json }, exotic: mark() }),
  nullTerm: (mark) => ({ exDropped: mark() }),
  propertyValue: (mark) => ({
    identifier: { "@type": "PropertyValue", propertyID: "doi", value: mark() },
  }),
  html: (mark) => ({ abstract: `<p>"${mark()}" \\ \n\t ✓ 𝒳 \u{10ffff}</p>` }),
  long: (mark) => ({ text: `${mark()} ${"lorem ipsum ".repeat(500)}` }),
  dates: (mark) => ({ startTime: "2024-05-03T08:00:00+02:00", endTime: "yesterday", name: mark() }),
};

const CONTEXT: Entity = {
  ex: "https://example.org/terms#",
  exLink: { "@id": "ex:link", "@type": "@id" },
  exVocab: { "@id": "ex:vocab", "@type": "@vocab" },
  exLabels: { "@id": "ex:labels", "@container": "@language" },
  exIndexed: { "@id": "ex:indexed", "@container": "@index" },
  exById: { "@id": "ex:byId", "@container": "@id" },
  exSteps: { "@id": "ex:steps", "@container": "@list" },
  exJson: { "@id": "ex:json", "@type": "@json" },
  exNest: "@nest",
  exInner: "ex:inner",
  exScoped: { "@id": "ex:scoped", "@context": { inside: "ex:inside" } },
  exDropped: null,
};

const VERSIONS = ["1.0", "1.1", "1.2", "1.3"];
/** Identifiers in the forms that crates use; `n` makes them distinct. */
const IDS: readonly ((n: number) => string)[] = [
  (n) => `#entity-${n}`,
  (n) => `_:b${n}`,
  (n) => `#with space ${n}`,
  (n) => `#ünï-${n}-日本`,
  (n) => `arcp://uuid,32a423d6-52ab-47e3-a9cd-54f418a48571/x${n}`,
  (n) => `urn:uuid:${n}`,
  (n) => `https://example.org/thing/${n}`,
  (n) => `http://example.org/a b/${n}`,
  (n) => `mailto:p${n}@example.org`,
  (n) => `ark:59852/odd-${n}`,
  (n) => `https://n2t.net/ark:/59852/odd-${n}/part.v1`,
  (n) => `ark:/Lab_${n}`,
  (n) => `doi:10.5281/zenodo.${n}`,
  (n) => `people/p${n}`,
  (n) => `./dir ${n}/`,
  (n) => `x%20y${n}`,
  (n) => `100%${n}`,
  (n) => `a?b=${n}`,
  (n) => `packed.cwl#main/${n}`,
  (n) => `file:///c:/x${n}`,
  (n) => `\\\\server\\share${n}`,
  (n) => `C:\\x${n}`,
  (n) => `/abs/${n}`,
  (n) => `https://orcid.org/0000-0001-2345-67${n}`,
  (n) => `{${n}}`,
  (n) => `id"${n}<>`,
];
const FILES = [
  "data.csv",
  "with space.txt",
  "ünïcode/日本.txt",
  "a/b/c.d",
  "per%cent.txt",
  "hash#1.txt",
  "plus+(1)&x.txt",
  "UPPER.TXT",
];
const TYPES: readonly Json[] = [
  "Person",
  "Organization",
  ["Dataset"],
  "https://schema.org/Place",
  "http://schema.org/Thing",
  "evi:Software",
  "CreateAction",
  ["SoftwareSourceCode", "ComputationalWorkflow"],
  "bioschemas:LabProtocol",
  "Unknown Type",
  "ex:Thing",
  [],
];

/** One crate by its seed; every feature and spelling comes up over some dozens of them. */
export function oddCrate(seed: number): OddCrate {
  const chance = dice(seed * 7919 + 1);
  const marks: string[] = [];
  const mark = () => {
    const text = `mark${seed}x${marks.length}end`;
    marks.push(text);
    return text;
  };
  const names = Object.keys(FEATURES);
  const entities: Entity[] = [];
  for (let n = 0; n < 8; n++) {
    const feature = names[(seed * 8 + n) % names.length]!;
    const type = chance.of(TYPES);
    entities.push({
      "@id": IDS[(seed * 5 + n) % IDS.length]!(n),
      ...(chance.once(6) ? {} : { "@type": type }),
      ...FEATURES[feature]!(mark, chance),
    });
  }
  const files: Members = {};
  for (const name of FILES) {
    if (chance.once(2)) continue;
    files[name] = `content of ${name}`;
    const id =
      name.includes("#") || chance.once(3)
        ? name
        : name.split("/").map(encodeURIComponent).join("/");
    entities.push({
      "@id": name.includes("%") ? encodeURIComponent(name) : chance.once(2) ? `./${id}` : id,
      "@type": chance.of<Json>([
        "File",
        ["File", "SoftwareSourceCode"],
        "http://schema.org/MediaObject",
      ]),
      name: mark(),
    });
  }
  return { ...packed(entities, files, mark, chance), marks, entities: entities.length };
}

function packed(
  entities: Entity[],
  files: Members,
  mark: () => string,
  chance: Dice,
): { members: Members } {
  const version = chance.of(VERSIONS);
  const named = chance.of([
    `https://w3id.org/ro/crate/${version}/context`,
    `https://w3id.org/ro/crate/${version}/context`,
    `https://www.researchobject.org/ro-crate/${version}/context.jsonld`,
  ]);
  const base: Entity = chance.of<Entity>([
    {},
    {},
    { "@base": null },
    { "@base": "https://example.org/base/" },
  ]);
  const context: Json = chance.of<Json>([
    [named, { ...CONTEXT, ...base }],
    [named, CONTEXT, base],
    [{ ...CONTEXT, ...base }, named, "https://w3id.org/ro/terms/workflow-run"],
    { "@vocab": "https://schema.org/", evi: "https://w3id.org/EVI#", ...CONTEXT },
  ]);
  const rootId = chance.of([
    "./",
    "./",
    "",
    ".",
    "https://example.org/crate/",
    "ark:59852/rocrate-odd",
    "arcp://name,odd/",
    "my crate/",
  ]);
  const root: Entity = {
    "@id": rootId,
    "@type": chance.of<Json>(["Dataset", ["Dataset", "RepositoryObject"]]),
    name: mark(),
    description: mark(),
    hasPart: Object.keys(files).map((name) => ({ "@id": name })),
  };
  const folder = chance.of(["", "", "top/", "deep/er/ünder/"]);
  const file = chance.of(["ro-crate-metadata.json", "ro-crate-metadata.jsonld"]);
  const graph = [...entities];
  let metadata: Entity;
  if (chance.once(5))
    metadata = {
      ...root,
      "@id": rootId === "" ? "./" : rootId,
      "@context": context,
      "@graph": graph,
    };
  else {
    graph.splice(chance.roll(graph.length), 0, root);
    graph.splice(chance.roll(graph.length), 0, {
      "@id": chance.of([file, `./${file}`]),
      "@type": "CreativeWork",
      about: chance.of<Json>([{ "@id": rootId }, [{ "@id": rootId }]]),
      conformsTo: { "@id": `https://w3id.org/ro/crate/${version}` },
    });
    metadata = { "@graph": graph, "@context": context };
  }
  const text = JSON.stringify(metadata, null, chance.roll(3));
  const members: Members = { [folder + file]: chance.once(4) ? `\ufeff${text}` : text };
  for (const [name, content] of Object.entries(files)) members[folder + name] = content;
  return { members };
}
