import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import jsonld from "jsonld";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { looksLikeArk } from "../../../../src/identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../../../src/model/field.js";
import { isObject } from "../../../../src/model/field.js";
import { bundledLoader } from "../../../../src/rdf/contexts.js";
import { keepContext } from "../../../../src/rdf/graph.js";
import { FALLBACK_VOCABULARY, oneSpelling } from "../../../../src/rdf/terms.js";
import { crateMetadata, surveyCrate } from "../../../../src/services/crates/export/metadata.js";
import { Findings } from "../../../../src/services/crates/findings.js";
import { identify } from "../../../../src/services/crates/identifiers/identify.js";
import {
  type CrateDescription,
  DESCRIPTOR,
  descriptorArk,
  readLayout,
} from "../../../../src/services/crates/layout.js";
import { locateMetadata } from "../../../../src/services/crates/read.js";
import { Archive } from "../../../../src/services/crates/zip/archive.js";
import { LIMITS, metadata, readerOf, realCrate, zip, zipFolder } from "../../../support/crates.js";
import { sharedData } from "../../../support/shared-data.js";
import { ingestInThisThread } from "../../../support/intake-here.js";
import { type IntakeRig, openIntakeRig } from "../../../support/registry.js";
import { variedCrate } from "../../../support/varied-crates.js";

const REAL = sharedData("crates");
const QUERIES = sharedData("judges/workflow-run-queries");
/** Generated crates, and how many go into one registry together. */
const GENERATED = 200;
const TOGETHER = 20;

/**
 * What the registry adds to a file that it stores.
 */
const ADDED = /(?:\/|#)(?:sha256|contentSize|contentUrl|sourceContentUrl)$/;

let rig: IntakeRig;
beforeEach(async () => {
  rig = await openIntakeRig({}, ingestInThisThread);
});
afterEach(() => rig.close());

const exportedMetadata = async (ark: string): Promise<Buffer> => {
  const [root] = await rig.records.findMany([ark]);
  const survey = await surveyCrate({ records: rig.records }, root!);
  let text = "";
  for await (const chunk of crateMetadata({ records: rig.records }, root!, survey, {
    context: survey.context,
    known: survey.known,
    paths: new Map([[descriptorArk(ark), DESCRIPTOR]]),
  }))
    text += chunk;
  return Buffer.from(text);
};
const revisions = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all(
      (await rig.all()).map(
        async ({ ark, kind, revision }) =>
          [
            ark,
            `${kind} ${revision} ` +
              (revision > 1
                ? (await rig.records.history(ark, { limit: 1 }))[0]!.changed.join()
                : ""),
          ] as const,
      ),
    ),
  );

/**
 * Uploads, exports and uploads again; answers what of it is not as it was.
 * @param metadata uploaded in place of the archive
 */
async function differences(archive: Buffer, metadata?: Buffer): Promise<object> {
  const first = await rig.upload(
    metadata ?? archive,
    metadata ? { input: { format: "metadata" } } : {},
  );
  if (first.status !== "finished") return { refused: first.error };
  const root = first.rocrateIdentifier!;
  const before = await revisions();
  const back = await rig.exported(root);
  const found: Record<string, unknown> = {};
  for (const [form, bytes, format] of [
    ["archive", back, "zip"],
    ["metadata", await exportedMetadata(root), "metadata"],
  ] as const) {
    const again = await rig.upload(bytes, { input: { update: true, format } });
    const after = await revisions();
    const revised = Object.keys({ ...before, ...after })
      .filter((ark) => before[ark] !== after[ark])
      .map((ark) => `${ark}: ${before[ark]} -> ${after[ark]}`);
    if (again.error !== null || again.rocrateIdentifier !== root || revised.length > 0)
      found[form] = { error: again.error, root: again.rocrateIdentifier, revised };
  }
  const [given, written] = [await statementsOf(archive, root), await statementsOf(back, root)];
  const lost = [...given].filter((statement) => !written.has(statement));
  // Of a crate without a descriptor one is made.
  const isDescribed = [...given].some((statement) =>
    statement.startsWith(`${descriptorArk(root)} `),
  );
  const added = [...written].filter(
    (statement) =>
      !given.has(statement) &&
      (isDescribed || !statement.startsWith(`${descriptorArk(root)} `)) &&
      !ADDED.test(statement.split(" ", 2)[1]!) &&
      // By which the registry recognises the crate.
      !statement.startsWith(`${descriptorArk(root)} https://schema.org/identifier `),
  );
  if (lost.length > 0) found["lost"] = lost;
  if (added.length > 0) found["added"] = added;
  return found;
}

/**
 * All that the metadata files of an archive state, one text each: subject, property, value, with
 * the identifiers that the entities have in the registry. What stands in a node without an
 * identifier is part of the value.
 */
async function statementsOf(bytes: Buffer, root: string): Promise<Set<string>> {
  const archive = await Archive.open(readerOf(bytes), LIMITS);
  const findings = new Findings();
  const located = locateMetadata(
    archive.members.filter(({ folder }) => !folder).map(({ name }) => name),
    findings,
  );
  const found = [];
  for (const file of [located.root, ...located.nested]) {
    const metadata = JSON.parse(
      (await buffer(archive.read(archive.members.find(({ name }) => name === file.file)!)))
        .toString()
        .replace(/^\ufeff/, ""),
    ) as JsonObject;
    found.push(readLayout(metadata, file, findings)!);
  }
  const descriptions = found as [CrateDescription, ...CrateDescription[]];
  const statements = new Set<string>();
  const scopes = new Map(
    identify(descriptions, { naan: "99999", acceptedNaans: "*" }, findings).flatMap(({ parts }) =>
      parts.map(({ scope }) => [scope.description, scope] as const),
    ),
  );
  const [crate] = descriptions;
  const minted = scopes.get(crate)!.of(crate.root.id);
  const here = (id: string, description: typeof crate) => {
    const scope = scopes.get(description)!;
    const found = scope.reference(id);
    return minted.rule !== "refused" && found.startsWith(minted.ark)
      ? root + found.slice(minted.ark.length)
      : found;
  };
  for (const description of descriptions) {
    const named = (value: JsonValue, key: string): JsonValue => {
      if (Array.isArray(value)) return value.map((item) => named(item, key));
      if (isObject(value))
        return Object.fromEntries(
          Object.entries(value).map(([name, inner]) => [
            name,
            name === "@context" ? readable(inner) : name === "@value" ? inner : named(inner, name),
          ]),
        );
      if (typeof value !== "string") return value;
      return key === "@id"
        ? here(value, description)
        : key !== "@type" && looksLikeArk(value)
          ? scopes.get(description)!.textReference(value)
          : value;
    };
    const graph = description.entities
      .filter(({ embedded }) => !embedded)
      .map(({ value }) => named(value, ""));
    const expanded = await jsonld.expand(
      {
        "@context": [{ "@vocab": FALLBACK_VOCABULARY }, readable(description.context ?? {})].flat(),
        "@graph": graph,
      } as never,
      { documentLoader: bundledLoader as never, base: "https://base.invalid/" },
    );
    for (const node of expanded) state(node as JsonObject, statements);
  }
  return statements;
}

/** Without what moves paths; of terms that a context takes the meaning from nothing is dropped. */
const readable = (context: JsonValue): JsonValue => keepContext(withoutBase(context));

function withoutBase(context: JsonValue): JsonValue {
  if (Array.isArray(context)) return context.map(withoutBase);
  if (!isObject(context)) return context;
  const { "@base": _base, ...rest } = context;
  return rest;
}

/** Adds what an expanded node states; answers what stands for it where it is a value. */
function state(node: JsonObject, into: Set<string>): string {
  const id = node["@id"] as string | undefined;
  const stated: [string, string][] = [];
  for (const [property, values] of Object.entries(node)) {
    if (property === "@graph" || property === "@included")
      for (const inner of values as JsonObject[]) stated.push([property, state(inner, into)]);
    if (property === "@reverse") {
      for (const [name, subjects] of Object.entries(values as Record<string, JsonObject[]>))
        for (const subject of subjects)
          into.add(`${state(subject, into)} ${oneSpelling(name)} ${id ?? ""}`);
    } else if (property === "@type")
      for (const type of values as string[]) stated.push(["type", oneSpelling(type)]);
    else if (!property.startsWith("@"))
      for (const value of values as JsonObject[])
        stated.push([oneSpelling(property), valueOf(value, into)]);
  }
  for (const [property, value] of stated)
    if (id !== undefined) into.add(`${id} ${property} ${value}`);
  return (
    id ??
    `[${stated
      .map((pair) => pair.join(" "))
      .toSorted()
      .join("; ")}]`
  );
}

function valueOf(value: JsonObject, into: Set<string>): string {
  if ("@list" in value)
    return `(${(value["@list"] as JsonObject[]).map((item) => valueOf(item, into)).join(" ")})`;
  return "@value" in value ? JSON.stringify(value) : state(value, into);
}

describe("a crate that is exported and uploaded again", () => {
  const real = REAL
    ? readdirSync(REAL).filter((name) => name !== "README.md" && !name.startsWith("BROKEN"))
    : [];
  it.skipIf(!REAL).each(real)("has no new revision and has lost no statement: %s", async (name) => {
    expect(await differences((await realCrate(name))!)).toEqual({});
  });

  const evaluated = QUERIES
    ? readdirSync(QUERIES, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
    : [];
  it.skipIf(!QUERIES).each(evaluated)(
    "has no new revision and has lost no statement: %s of the workflow run queries",
    async (name) => {
      const folder = join(QUERIES!, name);
      expect(
        await differences(
          await zipFolder(folder),
          readFileSync(join(folder, "ro-crate-metadata.json")),
        ),
      ).toEqual({});
    },
  );

  it.each(Array.from({ length: GENERATED / TOGETHER }, (_, index) => index * TOGETHER))(
    "has no new revision and has lost no statement: generated crates %i and following",
    async (start) => {
      const found: Record<number, object> = {};
      for (let seed = start; seed < start + TOGETHER; seed++) {
        const different = await differences(await zip(variedCrate(seed)));
        if (Object.keys(different).length > 0) found[seed] = different;
      }
      expect(found).toEqual({});
    },
    600_000,
  );
});

describe("a crate within a crate that the outer metadata file contradicts", () => {
  const [RELEASE, SUB] = ["ark:99999/release", "ark:99999/sub"];
  const TYPE = ["Dataset", "https://w3id.org/EVI#ROCrate"];
  const release = () =>
    zip({
      "ro-crate-metadata.json": metadata(
        [
          {
            "@id": SUB,
            "@type": TYPE,
            version: "1.0",
            keywords: ["a"],
            hasPart: [],
            author: { "@id": "ark:99999/author" },
            license: "MIT",
          },
        ],
        { "@id": RELEASE, hasPart: [{ "@id": SUB }] },
      ),
      "sub/ro-crate-metadata.json": metadata(
        [
          { "@id": "a.csv", "@type": "File", name: "A" },
          { "@id": "#own", "@type": "Person", name: "Own" },
        ],
        {
          "@id": SUB,
          "@type": TYPE,
          version: "1.5",
          keywords: ["a", "b"],
          hasPart: [{ "@id": "a.csv" }],
          author: { "@id": "#own" },
          license: "MIT",
        },
      ),
      "sub/a.csv": "1,2\n",
    });
  const documentOf = async (ark: string): Promise<JsonObject> => {
    const [record] = await rig.records.findMany([ark]);
    return JSON.parse(Buffer.from(record!.document).toString()) as JsonObject;
  };
  const SUMMARIZES = "urn:arkgraph:summarizes";
  const OUTER = { version: "1.0", keywords: ["a"], hasPart: [] };
  const OWN = {
    version: "1.5",
    keywords: ["a", "b"],
    hasPart: [{ "@id": `${RELEASE}/sub/a.csv` }],
  };

  it("has no new revision and has lost no statement", async () => {
    expect(await differences(await release())).toEqual({});
  });

  it("stores the values of the inner file, and the others with the outer descriptor", async () => {
    await rig.upload(await release());
    const inner = await documentOf(SUB);
    expect(inner).toMatchObject({ ...OWN, license: "MIT" });
    // Both references are links that somebody follows.
    expect(inner["author"]).toHaveLength(2);
    expect(await documentOf(descriptorArk(RELEASE))).toMatchObject({
      [SUMMARIZES]: [{ "@id": SUB, ...OUTER }],
    });
    expect(await documentOf(descriptorArk(SUB))).not.toHaveProperty([SUMMARIZES]);
  });

  it("is exported as each of the two files described it", async () => {
    await rig.upload(await release());
    const archive = await Archive.open(readerOf(await rig.exported(RELEASE)), LIMITS);
    const described = [];
    for (const member of archive.members.filter(({ name }) => name.endsWith(DESCRIPTOR))) {
      const { "@graph": graph } = JSON.parse(
        (await buffer(archive.read(member))).toString(),
      ) as JsonObject;
      described.push((graph as JsonObject[]).find((entity) => entity["@id"] === SUB));
      expect(JSON.stringify(graph)).not.toContain("urn:arkgraph:");
    }
    expect(described).toMatchObject([OUTER, { ...OWN, hasPart: [{ "@id": "a.csv" }] }]);
  });

  it("has in a document the values of the outer file, and the inner file's with the descriptor", async () => {
    await rig.upload(await release());
    const { "@graph": graph } = JSON.parse(
      (await exportedMetadata(RELEASE)).toString(),
    ) as JsonObject;
    const entity = (id: string) =>
      (graph as JsonObject[]).find((candidate) => candidate["@id"] === id);
    expect(entity(SUB)).toMatchObject(OUTER);
    expect(entity(DESCRIPTOR)).toMatchObject({
      "urn:arkgraph:ownStatements": { "@type": "@json", "@value": { [SUB]: OWN } },
    });
    expect(entity(DESCRIPTOR)).not.toHaveProperty([SUMMARIZES]);
  });
});
