import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/model/field.js";
import { Archive } from "../../../../src/services/crates/zip/archive.js";
import {
  type Entity,
  LIMITS,
  type Members,
  readerOf,
  zip,
  zipFolder,
} from "../../../support/crates.js";
import { dice, type Dice } from "../../../support/dice.js";
import { ingestInThisThread } from "../../../support/intake-here.js";
import { type IntakeRig, openIntakeRig, UPLOADER } from "../../../support/registry.js";
import { sharedData } from "../../../support/shared-data.js";

const CASES = sharedData("cases/crates");
const GENERATED = 60;
const TOGETHER = 2;
const TYPE = ["Dataset", "https://w3id.org/EVI#ROCrate"];
const DESCRIPTOR = "ro-crate-metadata.json";
const OTHER = "ark:99999/user-bob";
const reference = (id: string): Entity => ({ "@id": id });

let rig: IntakeRig;
beforeEach(async () => {
  rig = await openIntakeRig({}, ingestInThisThread);
});
afterEach(() => rig.close());

/** The texts of an archive's members, by their paths. */
async function membersOf(bytes: Buffer): Promise<Record<string, string>> {
  const archive = await Archive.open(readerOf(bytes), LIMITS);
  const found: Record<string, string> = {};
  for (const member of archive.members.filter(({ folder }) => !folder))
    found[member.name] = (await buffer(archive.read(member))).toString();
  return found;
}

async function graphsOf(bytes: Buffer): Promise<Record<string, JsonObject[]>> {
  const members = await membersOf(bytes);
  return Object.fromEntries(
    Object.entries(members)
      .filter(([path]) => path.endsWith(DESCRIPTOR))
      .map(([path, text]) => [path, (JSON.parse(text) as { "@graph": JsonObject[] })["@graph"]]),
  );
}

const revisions = async (): Promise<Record<string, number>> =>
  Object.fromEntries((await rig.all()).map(({ ark, revision }) => [ark, revision]));

/** One crate of a nesting: what an archive of it holds, and when it is uploaded by itself. */
interface Nested {
  members: Members;
  /** Crates inside it, by folder. */
  inner: Record<string, Nested>;
  when: "never" | "before" | "after";
  /** Who uploads it by itself. */
  by: string;
}

/** A crate with files, people, and crates within it that each come by themselves or not. */
function nestedCrate(
  chance: Dice,
  seed: number,
  path: string,
  depth: number,
  bringer = UPLOADER,
): Nested {
  const when = depth === 0 ? "never" : chance.of(["never", "never", "before", "after"] as const);
  const by = when !== "never" && chance.once(3) ? OTHER : bringer;
  // One that comes later came with the crate around it at first.
  const owner = when === "before" ? by : bringer;
  const id =
    when !== "never" || chance.once(2)
      ? `ark:59852/nest-${seed}${path.replaceAll("/", "-")}`
      : "./";
  const file = (name: string): Entity => ({ "@id": name, "@type": "File", name: `${path}${name}` });
  const parts = ["a.csv", "sp ace.txt"].filter(() => !chance.once(3));
  const members: Members = Object.fromEntries(
    parts.map((name) => [name, chance.once(2) ? "shared" : `${seed}${path}${name}`]),
  );
  const entities: Entity[] = parts.map((name) => file(encodeURI(name)));
  const inner: Record<string, Nested> = {};
  const has: Entity[] = parts.map((name) => reference(encodeURI(name)));
  for (const folder of ["sub/", "in ner/deep/"]) {
    if (depth >= 2 || chance.once(2)) continue;
    const crate = nestedCrate(chance, seed, `${path}${folder.replace(" ", "")}`, depth + 1, owner);
    inner[folder] = crate;
    const root = rootOf(crate);
    const named = root === "./" ? encodeURI(folder) : root;
    has.push(reference(named));
    // Another owner's crate can be named, and not described: that would be a conflict.
    if (crate.when === "before" && crate.by !== owner) continue;
    if (!chance.once(4))
      entities.push({
        "@id": named,
        "@type": TYPE,
        ...chance.of<Entity>([
          { name: "A summary", version: "0.9", hasPart: [] },
          { name: "A summary", "ro-crate-metadata": `${folder}${DESCRIPTOR}` },
          {},
          { subjectOf: reference(`${encodeURI(folder)}${DESCRIPTOR}`) },
        ]),
      });
    for (const [name, content] of Object.entries(crate.members)) members[folder + name] = content;
  }
  // People and tools that several crates describe alike.
  if (chance.once(2))
    entities.push({ "@id": "https://orcid.org/0000-0001", "@type": "Person", name: "Ada Example" });
  if (chance.once(2))
    entities.push({ "@id": "#plan", "@type": "HowTo", name: `Plan ${seed}${path}` });
  if (chance.once(3) && depth > 0)
    entities.push({
      "@id": `ark:59852/tool-${seed}-${owner.slice(-3)}`,
      "@type": "EVI:Software",
      name: "Tool",
    });
  const graph: Entity[] = [
    {
      "@id": DESCRIPTOR,
      "@type": "CreativeWork",
      conformsTo: reference("https://w3id.org/ro/crate/1.2"),
      about: reference(id),
    },
    {
      "@id": id,
      "@type": TYPE,
      name: `Crate ${seed}${path}`,
      description: "A crate of a nesting",
      datePublished: "2026-01-01",
      license: reference("https://creativecommons.org/licenses/by/4.0/"),
      author: reference("https://orcid.org/0000-0001"),
      hasPart: has,
      ...(chance.once(2) ? { version: "1.0" } : {}),
    },
    ...entities,
  ];
  members[DESCRIPTOR] = {
    "@context": chance.of([
      "https://w3id.org/ro/crate/1.2/context",
      ["https://w3id.org/ro/crate/1.2/context", { EVI: "https://w3id.org/EVI#" }],
    ]),
    "@graph": graph,
  };
  return { members, inner, when, by };
}

/** Crates within a crate, the deepest first. */
const within = ({ inner }: Nested): Nested[] =>
  Object.values(inner).flatMap((crate) => [...within(crate), crate]);

/** The root of a crate that is uploaded by itself. */
const rootOf = ({ members }: Nested): string =>
  (members[DESCRIPTOR] as { "@graph": Entity[] })["@graph"][1]!["@id"] as string;

/** Uploads the crates within a crate that are to be there before it. */
async function uploadBefore(crate: Nested): Promise<unknown[]> {
  const failed: unknown[] = [];
  for (const inner of within(crate)) {
    if (inner.when !== "before") continue;
    const { error } = await rig.upload(await zip(inner.members), { user: inner.by });
    if (error) failed.push(error);
  }
  return failed;
}

/**
 * Uploads the others: what the release brought is its owner's. An update by that owner may change
 * the crate itself, which gets an archive; nothing else changes.
 */
async function uploadAfter(crate: Nested): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const inner of within(crate)) {
    if (inner.when !== "after") continue;
    const before = await revisions();
    const root = rootOf(inner);
    for (const update of [false, true]) {
      const { error } = await rig.upload(await zip(inner.members), {
        user: inner.by,
        input: { update },
      });
      const [record] = await rig.records.findMany([root]);
      if (record?.owner !== inner.by && !error) found.push({ root, accepted: "of another owner" });
      const after = await revisions();
      for (const [ark, revision] of Object.entries(before))
        if (after[ark] !== revision && (error || !update || ark !== root))
          found.push({ root, update, ark, revision: after[ark] });
    }
  }
  return found;
}

/** What an export of the crate that is uploaded again is said to change, and changes. */
async function changedBy(ark: string, note: string, user = UPLOADER): Promise<unknown[]> {
  const found: unknown[] = [];
  const before = await revisions();
  const documents = Object.fromEntries(
    (await rig.all()).map(({ ark: each, document }) => [each, Buffer.from(document).toString()]),
  );
  const bytes = await rig.exported(ark, user);
  const plan = await rig.plan(bytes, { user, update: true });
  const counts = plan.changes?.counts;
  if (!plan.conforms || !counts || counts.created + counts.changed + counts.removed > 0)
    found.push({
      note,
      ark,
      plan: counts,
      refused: plan.refused,
      conflicting: plan.conflicting,
      changed: plan.changes?.changed,
    });
  const { error } = await rig.upload(bytes, { user, input: { update: true } });
  if (error) found.push({ note, ark, error });
  const after = await revisions();
  for (const each of new Set([...Object.keys(before), ...Object.keys(after)]))
    if (before[each] !== after[each])
      found.push({ note, each, before: documents[each], revision: after[each] });
  return found;
}

describe.skipIf(!CASES)("an archive of a crate with crates within it", () => {
  const stated = (path: string): JsonObject[] =>
    (JSON.parse(readFileSync(join(CASES!, path), "utf8")) as { "@graph": JsonObject[] })["@graph"];
  const idsOf = (graph: readonly JsonObject[]) => graph.map((entity) => entity["@id"]).toSorted();

  it("states in the nested file what a sub-crate states that was registered before", async () => {
    const [folder, SUB] = ["release-export-wipes-subcrate", "ark:59998/rocrate-sub-a"];
    const sub = stated(`${folder}/sub/${DESCRIPTOR}`);
    await rig.upload(await zipFolder(join(CASES!, folder, "sub")));
    const read = (path: string) => readFileSync(join(CASES!, folder, path));
    const release = await rig.upload(
      await zip({
        [DESCRIPTOR]: read(`release/${DESCRIPTOR}`),
        [`sub/${DESCRIPTOR}`]: read(`sub/${DESCRIPTOR}`),
      }),
    );
    const graphs = await graphsOf(await rig.exported(release.rocrateIdentifier!));
    expect(Object.keys(graphs)).toHaveLength(2);
    const outer = graphs[DESCRIPTOR]!;
    const nested = Object.entries(graphs).find(([path]) => path !== DESCRIPTOR)![1];
    // Each file has its own entities, and the outer one its own words about the sub-crate.
    expect(idsOf(outer)).toEqual(idsOf(stated(`${folder}/release/${DESCRIPTOR}`)));
    expect(idsOf(nested)).toEqual(idsOf(sub));
    const find = (graph: readonly JsonObject[]) => graph.find((entity) => entity["@id"] === SUB);
    expect(find(nested)).toEqual(find(sub));
    expect(find(outer)).toEqual(find(stated(`${folder}/release/${DESCRIPTOR}`)));
    expect(await changedBy(release.rocrateIdentifier!, "release")).toEqual([]);
  });

  it("has no context on an entity for the hash that the registry adds", async () => {
    const { rocrateIdentifier } = await rig.upload(
      await zipFolder(join(CASES!, "entity-context-in-export", "crate")),
    );
    const graph = (await graphsOf(await rig.exported(rocrateIdentifier!)))[DESCRIPTOR]!;
    expect(graph.filter((entity) => Object.hasOwn(entity, "@context"))).toEqual([]);
    expect(graph.find(({ name }) => name === "No hash stated")).not.toHaveProperty("sha256");
    expect(await changedBy(rocrateIdentifier!, "crate")).toEqual([]);
  });

  it("has in each metadata file the entities that came in it", async () => {
    const { rocrateIdentifier } = await rig.upload(
      await zipFolder(join(CASES!, "nested-crate-flattened", "crate")),
    );
    const graphs = await graphsOf(await rig.exported(rocrateIdentifier!));
    const entities = (path: string) =>
      graphs[path]!.map((entity) => [entity["@type"], entity["name"]]).toSorted();
    for (const path of [DESCRIPTOR, `docs/${DESCRIPTOR}`])
      expect(entities(path)).toEqual(
        stated(`nested-crate-flattened/crate/${path}`)
          .map((entity) => [entity["@type"], entity["name"]])
          .toSorted(),
      );
    expect(graphs[`docs/${DESCRIPTOR}`]!.map((entity) => entity["@id"])).toEqual(
      expect.arrayContaining(["./", "b.txt"]),
    );
  });
});

describe("the metadata file of a crate within a crate", () => {
  const written = (name: string, hasPart: readonly string[]): string =>
    `{"@context": "https://w3id.org/ro/crate/1.2/context", "@graph": [
      {"@id": "${DESCRIPTOR}", "@type": "CreativeWork", "about": {"@id": "./"},
       "conformsTo": {"@id": "https://w3id.org/ro/crate/1.2"}},
      {"@id": "./", "@type": "Dataset", "name": "${name}", "version": 3.0,
       "description": "Written by its author", "datePublished": "2026-01-01",
       "license": {"@id": "https://creativecommons.org/licenses/by/4.0/"}, "author": "#me",
       "hasPart": ${JSON.stringify(hasPart.map(reference))}, "mentions": [{"@id": "#plan"}]},
      {"@id": "#plan", "@type": "HowTo", "name": "Plan of ${name}", "agent": {"@id": "#me"}},
      {"@id": "#me", "@type": "Person", "name": "Ada Example"},
      {"@id": "a.csv", "@type": "File", "name": "A of ${name}"}]}`;
  const files = (name: string) => ({ "a.csv": `a,b\n${name},2\n` });
  const inFolder = (folder: string, members: Members): Members =>
    Object.fromEntries(Object.entries(members).map(([path, text]) => [folder + path, text]));
  const entitiesOf = (text: string) =>
    (JSON.parse(text) as { "@graph": JsonObject[] })["@graph"].filter(
      (entity) => entity["@id"] !== DESCRIPTOR && entity["@id"] !== "a.csv",
    );

  it("has its author's own identifiers, texts and numbers, as has that of the crate", async () => {
    const texts = { "": written("Outer", ["a.csv", "sub/"]), "sub/": written("Inner", ["a.csv"]) };
    const { rocrateIdentifier, error } = await rig.upload(
      await zip({
        [DESCRIPTOR]: texts[""],
        ...files("Outer"),
        ...inFolder("sub/", { [DESCRIPTOR]: texts["sub/"], ...files("Inner") }),
      }),
    );
    expect(error).toBeNull();
    const members = await membersOf(await rig.exported(rocrateIdentifier!));
    for (const [folder, text] of Object.entries(texts)) {
      expect(members[`${folder}a.csv`]).toBe(
        folder === "" ? files("Outer")["a.csv"] : files("Inner")["a.csv"],
      );
      expect(members[folder + DESCRIPTOR]).toContain('"version":3.0');
      expect(entitiesOf(members[folder + DESCRIPTOR]!)).toEqual(
        expect.arrayContaining(entitiesOf(text)),
      );
    }
    expect(await changedBy(rocrateIdentifier!, "outer")).toEqual([]);
  });

  it("has them too where the crate was registered before, and names its ARK", async () => {
    const inner = await rig.upload(
      await zip({ [DESCRIPTOR]: written("Inner", ["a.csv"]), ...files("Inner") }),
    );
    const exported = await membersOf(await rig.exported(inner.rocrateIdentifier!));
    const before = await revisions();
    const outer = await rig.upload(
      await zip({
        [DESCRIPTOR]: written("Outer", ["a.csv", inner.rocrateIdentifier!]),
        ...files("Outer"),
        ...inFolder("sub/", exported),
      }),
    );
    expect(outer.error).toBeNull();
    expect(await revisions()).toMatchObject(before);
    expect(await rig.records.usesOf(outer.rocrateIdentifier!)).toContain(inner.rocrateIdentifier);
    const members = await membersOf(await rig.exported(outer.rocrateIdentifier!));
    const nested = Object.keys(members).filter((path) => path.endsWith(`/${DESCRIPTOR}`));
    expect(nested).toHaveLength(1);
    expect(JSON.parse(members[nested[0]!]!)).toEqual(JSON.parse(exported[DESCRIPTOR]!));
    expect(members[nested[0]!]).toContain('"version":3.0');
    expect(await changedBy(outer.rocrateIdentifier!, "outer")).toEqual([]);
  });
});

describe("a crate with crates within it that is exported and uploaded again", () => {
  it.each(Array.from({ length: GENERATED / TOGETHER }, (_, index) => index * TOGETHER))(
    "changes nothing: nestings %i and following",
    async (start) => {
      const found: Record<number, unknown> = {};
      for (let seed = start; seed < start + TOGETHER; seed++) {
        const chance = dice(seed * 7919 + 11);
        const crate = nestedCrate(chance, seed, "/", 0);
        const failed = await uploadBefore(crate);
        const first = await rig.upload(await zip(crate.members));
        if (first.error) failed.push({ first: first.error });
        else {
          const release = first.rocrateIdentifier!;
          failed.push(...(await changedBy(release, "release")));
          failed.push(...(await uploadAfter(crate)));
          failed.push(...(await changedBy(release, "release, after its sub-crates")));
          for (const inner of within(crate))
            if (inner.when === "before" || (inner.when === "after" && inner.by === UPLOADER))
              failed.push(...(await changedBy(rootOf(inner), "sub-crate", inner.by)));
        }
        if (failed.length > 0) found[seed] = failed;
      }
      expect(found).toEqual({});
    },
  );
});
