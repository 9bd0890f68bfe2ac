import { dice, type Dice } from "./dice.js";
import type { Entity, Json, Members } from "./crates.js";
import { FEATURES } from "./odd-crates.js";

/**
 * Own terms that crates bring along; none means something else in another crate of the same
 * archive.
 */
const TERMS: readonly Entity[] = [
  {
    ex: "https://example.org/terms#",
    exLink: { "@id": "ex:link", "@type": "@id" },
    exLabels: { "@id": "ex:labels", "@container": "@language" },
    exSteps: { "@id": "ex:steps", "@container": "@list" },
    exDate: { "@id": "ex:date", "@type": "xsd:date" },
    xsd: "http://www.w3.org/2001/XMLSchema#",
  },
  {
    sample: "https://example.org/sample",
    runsOn: "https://w3id.org/ro/terms/test#runsOn",
    mine: "https://example.org/mine",
  },
];
/** A term that two crates of one archive understand differently. */
const CONFLICTING = ["https://example.org/here", "https://example.org/there"];
const VERSIONS = ["1.0", "1.1", "1.2", "1.3"];
const PROFILES = [
  "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
  "https://w3id.org/ro/wfrun/process/0.5",
  "https://example.org/profile",
];
const FILES = ["data.csv", "with space.txt", "ünï/日本.txt", "a/b/c.d", "notes.md", "raw/x%y.bin"];
const reference = (id: string): Entity => ({ "@id": id });

/**
 * One crate by its seed. All its statements can be exported: each is in the place where RO-Crate
 * has it.
 */
export function variedCrate(seed: number): Members {
  const chance = dice(seed * 6151 + 3);
  let marks = 0;
  const mark = () => `mark${seed}x${marks++}`;
  const members: Members = {};
  const folder = chance.of(["", "", "top/"]);
  pack(members, folder, chance, mark, {
    depth: 0,
    arkRoots: chance.once(3),
    seed,
    vocabulary: chance.once(4),
  });
  return members;
}

interface Place {
  depth: number;
  arkRoots: boolean;
  seed: number;
  /**
   * Its terms come from `@vocab`, as those of all crates in one archive: an entity described in two
   * files is one record, with one context.
   */
  vocabulary: boolean;
}

function pack(
  members: Members,
  folder: string,
  chance: Dice,
  mark: () => string,
  { depth, arkRoots, seed, vocabulary }: Place,
): void {
  const version = chance.of(VERSIONS);
  const { context, explains } = contextOf(version, chance, depth, vocabulary);
  const legacy = version === "1.0" && chance.once(2);
  const metadataFile = legacy ? "ro-crate-metadata.jsonld" : "ro-crate-metadata.json";
  const rootId = arkRoots
    ? `ark:59852/varied-${seed}-${depth}-${chance.roll(1e6)}`
    : chance.of(["./", "./", "./", ".", `https://example.org/crate/${seed}/${depth}/`, "#crate"]);
  const folderApart = rootId === "#crate" || (rootId.startsWith("https:") && chance.once(2));
  const graph: Entity[] = [];
  const parts: Entity[] = [];

  for (const name of FILES) {
    if (chance.once(2)) continue;
    members[folder + name] = `${mark()} in ${name}`;
    if (chance.once(3)) continue;
    const id = name.split("/").map(encodeURIComponent).join("/");
    parts.push(reference(id));
    graph.push({
      "@id": id,
      "@type": chance.of<Json>(["File", ["File", "SoftwareSourceCode"]]),
      name: mark(),
      ...(chance.once(3)
        ? {
            encodingFormat: [
              "text/csv",
              reference("https://www.nationalarchives.gov.uk/PRONOM/x-fmt/18"),
            ],
          }
        : {}),
      ...(chance.once(4) ? { isPartOf: reference(rootId) } : {}),
    });
  }
  if (members[`${folder}a/b/c.d`] !== undefined && chance.once(2))
    graph.push({
      "@id": "a/b/",
      "@type": "Dataset",
      name: mark(),
      hasPart: [reference("a/b/c.d")],
    });
  for (let n = 0; n < 5; n++)
    graph.push({
      "@id": chance.of([
        `#e${n}`,
        `_:e${n}`,
        `https://example.org/e/${depth}/${n}`,
        `https://orcid.org/0000-000${n}-${depth}`,
        `urn:uuid:${seed}-${depth}-${n}`,
        `ark:59852/e-${seed}-${depth}-${n}`,
      ]),
      ...statements(chance, mark, explains, metadataFile),
    });
  // Entities with a URL may state the URL as well.
  if (context !== undefined && chance.once(3))
    graph.push({
      "@id": `https://example.org/same/${depth}`,
      "@type": "Organization",
      name: mark(),
      sameAs: chance.of<Json>([
        reference(`https://example.org/same/${depth}`),
        `https://example.org/same/${depth}`,
        [reference("https://example.org/other"), reference(`https://example.org/same/${depth}`)],
      ]),
    });
  if (folderApart)
    graph.push({
      "@id": "./",
      "@type": "Dataset",
      name: mark(),
      description: mark(),
      about: reference(rootId),
    });
  const isTagged = JSON.stringify(context ?? "").includes("@language");
  if (context !== undefined && !isTagged && depth < 2 && chance.once(depth === 0 ? 2 : 3)) {
    const sub = chance.of(["sub/", "inner/deep/"]);
    parts.push(reference(sub));
    graph.push({
      "@id": sub,
      "@type": "Dataset",
      name: mark(),
      ...(chance.once(2) ? { subjectOf: reference(`${sub}ro-crate-metadata.json`) } : {}),
    });
    if (chance.once(3))
      graph.push({
        "@id": `${sub}ro-crate-metadata.json`,
        "@type": "CreativeWork",
        encodingFormat: "application/ld+json",
        name: mark(),
      });
    pack(members, `${folder}${sub}`, chance, mark, {
      depth: depth + 1,
      arkRoots: arkRoots && chance.once(2),
      seed,
      vocabulary,
    });
  }

  const root: Entity = {
    "@id": rootId,
    "@type": chance.of<Json>([
      "Dataset",
      depth === 0 ? ["Dataset", "RepositoryObject"] : ["Dataset"],
    ]),
    name: mark(),
    description: mark(),
    license: reference("https://spdx.org/licenses/MIT"),
    datePublished: "2024-05-03",
    hasPart: parts,
    ...(chance.once(3) ? { conformsTo: [reference(PROFILES[1]!)] } : {}),
    ...(chance.once(3) ? { mentions: reference(metadataFile) } : {}),
  };
  const specification = reference(`https://w3id.org/ro/crate/${version}`);
  const descriptor: Entity = {
    "@id": chance.of([metadataFile, metadataFile, metadataFile, `./${metadataFile}`]),
    "@type": "CreativeWork",
    about: reference(rootId),
    conformsTo: chance.of<Json>([
      specification,
      [specification, reference(PROFILES[0]!)],
      [specification, ...PROFILES.map(reference)],
    ]),
    ...chance.of<Entity>([
      {},
      { sdPublisher: reference("https://ror.org/1") },
      {
        sdPublisher: { "@id": "#publisher", "@type": "Organization", name: mark() },
        sdLicense: reference("https://spdx.org/licenses/CC0-1.0"),
      },
      {
        author: [{ "@type": "Person", name: mark() }, "Ada"],
        dateCreated: { "@value": "2024-05-03", "@type": "http://www.w3.org/2001/XMLSchema#date" },
        version: 1.5,
      },
    ]),
    ...(explains ? chance.of<Entity>([{}, { mine: mark() }, { "ex:p": mark() }]) : {}),
  };
  graph.splice(chance.roll(graph.length + 1), 0, root);
  graph.splice(chance.roll(graph.length + 1), 0, descriptor);
  members[folder + metadataFile] = {
    ...(context === undefined ? {} : { "@context": context }),
    "@graph": graph,
  };
}

/** Contexts as crates have them: one URL, one object, lists of both. */
function contextOf(
  version: string,
  chance: Dice,
  depth: number,
  vocabulary: boolean,
): { context: Json | undefined; explains: boolean } {
  const named = `https://w3id.org/ro/crate/${version}/context`;
  const own = { ...TERMS[0]!, ...TERMS[1]!, differing: CONFLICTING[depth % 2]! };
  if (vocabulary)
    return chance.of<{ context: Json | undefined; explains: boolean }>([
      {
        context: { "@vocab": "https://schema.org/", EVI: "https://w3id.org/EVI#" },
        explains: false,
      },
      {
        context: { "@vocab": "https://schema.org/", evi: "https://w3id.org/EVI#", ...own },
        explains: true,
      },
    ]);
  return chance.of<{ context: Json | undefined; explains: boolean }>([
    { context: named, explains: false },
    { context: [named], explains: false },
    { context: [named, own], explains: true },
    { context: [named, ...TERMS, { differing: own.differing }], explains: true },
    { context: [named, "https://w3id.org/ro/terms/workflow-run", own], explains: true },
    // Of crates without others inside.
    ...(depth === 0
      ? [
          { context: [named, own, { "@language": "en" }], explains: true },
          { context: undefined, explains: false },
        ]
      : []),
  ]);
}

/**
 * The statements of an entity: of features that odd crates also have, and of terms of this context.
 */
function statements(
  chance: Dice,
  mark: () => string,
  explains: boolean,
  metadataFile: string,
): Entity {
  const feature = chance.of(Object.keys(FEATURES));
  const own: Entity = explains
    ? chance.of<Entity>([
        {},
        { mine: mark(), differing: mark() },
        { exLabels: { de: mark(), en: [mark()] }, exSteps: [mark(), mark()] },
        { exLink: "https://example.org/x", exDate: "2024-05-03", "ex:p": reference("ex:thing") },
      ])
    : {};
  return {
    ...(chance.once(8)
      ? {}
      : {
          "@type": chance.of<Json>([
            "Person",
            "Organization",
            ["Dataset"],
            "CreateAction",
            "SoftwareApplication",
            "https://schema.org/Place",
            "ex:Thing",
          ]),
        }),
    ...FEATURES[feature]!(mark, chance),
    ...own,
    ...(chance.once(4) ? { subjectOf: reference(metadataFile) } : {}),
    ...(chance.once(4)
      ? {
          affiliation: {
            "@id": `#nested-${mark()}`,
            "@type": "Organization",
            name: mark(),
            address: { "@type": "PostalAddress", streetAddress: mark() },
            member: { "@id": `#deeper-${mark()}`, "@type": "Person", name: mark() },
          },
        }
      : {}),
    ...(chance.once(5)
      ? {
          funder: [
            { "@type": "Organization", name: mark() },
            { "@id": "https://ror.org/1", name: "Said here" },
          ],
        }
      : {}),
  };
}
