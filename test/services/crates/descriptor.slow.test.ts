import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { crateArchive } from "../../../src/services/crates/export/archive.js";
import { Archive } from "../../../src/services/crates/zip/archive.js";
import {
  LIMITS,
  crate,
  metadata,
  readerOf,
  zip,
  type Entity,
  type Json,
} from "../../support/crates.js";
import { UPLOADER, openIntakeRig, type IntakeRig } from "../../support/registry.js";
import { AS_CREATED } from "../../../src/services/records/pages.js";

const ROOT = "ark:59852/described";
const DESCRIPTOR = `${ROOT}/ro-crate-metadata.json`;
const CONTEXT = "https://w3id.org/ro/crate/1.1/context";
const PROFILE = { "@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0" };

let rig: IntakeRig;
beforeEach(async () => {
  rig = await openIntakeRig();
});
afterEach(() => rig.close());

const whole = (entities: Entity[], context: Json = CONTEXT) =>
  zip({ "ro-crate-metadata.json": { "@context": context, "@graph": entities } });
const descriptor = (more: Entity = {}): Entity => ({
  "@id": "ro-crate-metadata.json",
  "@type": "CreativeWork",
  conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
  about: { "@id": ROOT },
  ...more,
});
const root: Entity = { "@id": ROOT, "@type": "Dataset", name: "Described" };
const files = async (bytes: Uint8Array) => {
  const archive = await Archive.open(readerOf(bytes), LIMITS);
  return Object.fromEntries(
    await Promise.all(
      archive.members.map(
        async (member) => [member.name, (await buffer(archive.read(member))).toString()] as const,
      ),
    ),
  );
};
const exported = async (ark = ROOT): Promise<Buffer> =>
  buffer(
    (
      await crateArchive(
        { records: rig.records, objects: rig.objects, log: console },
        (await rig.records.findMany([ark]))[0]!,
        { user: UPLOADER, admin: false },
      )
    ).open(),
  );
const metadataOf = async (ark = ROOT) =>
  JSON.parse((await files(await exported(ark)))["ro-crate-metadata.json"]!) as {
    "@context": Json;
    "@graph": Entity[];
  };
const upload = async (archive: Buffer, update = false) => {
  const submission = await rig.upload(archive, update ? { input: { update } } : {});
  expect(submission.error).toBeNull();
  return submission;
};

describe("a crate's metadata descriptor", () => {
  it("is a record of the crate with all its statements, and is exported as it was uploaded", async () => {
    const stated = descriptor({
      conformsTo: [{ "@id": "https://w3id.org/ro/crate/1.1" }, PROFILE],
      sdPublisher: { "@id": "https://ror.org/1" },
      author: { "@type": "Person", name: "Ada" },
    });
    await upload(
      await whole([
        stated,
        root,
        { "@id": "https://ror.org/1", "@type": "Organization", name: "Publisher" },
      ]),
    );
    expect((await rig.records.findMany([DESCRIPTOR]))[0]).toMatchObject({
      kind: "entity",
      crate: ROOT,
      owner: UPLOADER,
      name: null,
    });
    const quads = (await rig.records.quads(DESCRIPTOR))!;
    expect(quads).toContain(
      `<${DESCRIPTOR}> <http://purl.org/dc/terms/conformsTo> <${PROFILE["@id"]}>`,
    );
    expect(quads).toContain(`<${DESCRIPTOR}> <https://schema.org/about> <${ROOT}>`);
    expect(await metadataOf()).toMatchObject({
      "@context": CONTEXT,
      "@graph": [stated, root, { "@id": "https://ror.org/1" }],
    });
  });

  it("preserves the given context, with further definitions after it", async () => {
    const vocabulary = { "@vocab": "https://schema.org/", EVI: "https://w3id.org/EVI#" };
    await upload(await whole([descriptor(), root], vocabulary));
    expect((await metadataOf())["@context"]).toEqual(vocabulary);
    const given = [CONTEXT, { mine: "https://example.org/mine" }];
    await upload(
      await zip({
        "ro-crate-metadata.json": metadata(
          [{ "@id": "a.csv", "@type": "File", mine: "x" }],
          { "@id": "ark:59852/listed" },
          given,
        ),
        "a.csv": "a",
      }),
    );
    expect((await metadataOf("ark:59852/listed"))["@context"]).toEqual([
      ...given,
      { sha256: "https://schema.org/sha256" },
    ]);
  });

  it("preserves a context that is one object as one object", async () => {
    // Without `@vocab` and without a version of RO-Crate: only the descriptor's record has it.
    const given = {
      name: "https://schema.org/name",
      about: { "@id": "https://schema.org/about", "@type": "@id" },
      Dataset: "https://schema.org/Dataset",
    };
    await upload(
      await zip({
        "ro-crate-metadata.json": metadata(
          [{ "@id": "a.csv", "@type": "File", name: "A" }],
          { "@id": ROOT },
          given,
        ),
        "a.csv": "a",
      }),
    );
    const { "@context": context } = await metadataOf();
    expect(context).toMatchObject({ ...given, sha256: "https://schema.org/sha256" });
    expect(Object.keys(context as object).slice(0, 3)).toEqual(Object.keys(given));
  });

  it("gets a revision when an update changes it, and none when it does not", async () => {
    await upload(await whole([descriptor(), root]));
    await upload(
      await whole([
        descriptor({ conformsTo: [{ "@id": "https://w3id.org/ro/crate/1.1" }, PROFILE] }),
        root,
      ]),
      true,
    );
    expect(
      (await rig.records.history(DESCRIPTOR, { limit: 5 })).map(({ action, changed }) => [
        action,
        ...changed,
      ]),
    ).toEqual([["update", "/conformsTo"], ["create"]]);
    const plan = await rig.plan(await whole([descriptor({ name: "Named" }), root]), {
      update: true,
    });
    expect(plan.changes).toMatchObject({ counts: { changed: 2, created: 0, unchanged: 0 } });
    expect(plan.changes!.changed.map(({ identifier }) => identifier)).toContain(DESCRIPTOR);
    await upload(await exported(), true);
    expect((await rig.records.findMany([DESCRIPTOR]))[0]!.revision).toBe(2);
  });

  it(
    "is generated for a crate that has none, as those stored before descriptors were, " +
      "and its upload changes nothing",
    async () => {
      await upload(await whole([descriptor(), root]));
      await rig.records.commit({
        by: UPLOADER,
        at: 5,
        records: [{ op: "delete", ark: DESCRIPTOR, ifRevision: 1 }],
      });
      const {
        "@context": context,
        "@graph": [made],
      } = await metadataOf();
      expect(context).toBe(CONTEXT);
      // The version is that of the context which the crate keeps.
      expect(made).toEqual(descriptor());
      const before = await rig.records.sequence();
      await upload(await exported(), true);
      expect(await rig.records.sequence()).toBe(before);
    },
  );

  it("is the target of references to the metadata file, also from a crate around it", async () => {
    const refers = {
      "@id": "#refers",
      "@type": "Thing",
      subjectOf: [{ "@id": "ro-crate-metadata.json" }, { "@id": "./ro-crate-metadata.json" }],
    };
    const outer = metadata(
      [
        refers,
        { "@id": "sub/", "@type": "Dataset", subjectOf: { "@id": "sub/ro-crate-metadata.json" } },
      ],
      { "@id": ROOT },
    );
    await upload(
      await zip({
        "ro-crate-metadata.json": outer,
        "sub/ro-crate-metadata.json": metadata([], { "@id": "ark:59852/inner" }),
      }),
    );
    const [thing] = (await rig.all()).filter(({ ark }) => ark.includes("/entity/refers"));
    expect((await rig.document(thing!.ark))["subjectOf"]).toEqual([
      { "@id": DESCRIPTOR },
      { "@id": DESCRIPTOR },
    ]);
    expect(await rig.document(`${ROOT}/sub`)).toMatchObject({
      subjectOf: { "@id": "ark:59852/inner/ro-crate-metadata.json" },
    });
    const inside = Object.entries(await files(await exported())).filter(([name]) =>
      name.endsWith("/ro-crate-metadata.json"),
    );
    expect(inside).toHaveLength(1);
    expect((JSON.parse(inside[0]![1]) as { "@graph": Entity[] })["@graph"]).toMatchObject([
      { "@id": "ro-crate-metadata.json", about: { "@id": "ark:59852/inner" } },
      { "@id": "ark:59852/inner", "@type": "Dataset" },
    ]);
    const { "@graph": graph } = await metadataOf();
    expect(graph.find(({ "@id": id }) => id === "sub/")).toMatchObject({
      subjectOf: { "@id": inside[0]![0] },
    });
    expect(graph.find(({ "@id": id }) => id === "#refers")).toMatchObject({
      subjectOf: [{ "@id": "ro-crate-metadata.json" }, { "@id": "ro-crate-metadata.json" }],
    });
  });

  it("is named once in the findings where somebody else has the crate", async () => {
    await upload(await whole([descriptor(), root]));
    const other = await rig.upload(await whole([descriptor(), { ...root, name: "Mine" }]), {
      user: "ark:99999/user-bob",
    });
    expect(other.error).toMatchObject([
      { code: "IDENTIFIER_TAKEN", message: expect.stringContaining(`${ROOT} `) },
    ]);
  });
});

describe("identifiers of a crate", () => {
  it("distinguish the crate and its folder where both are described", async () => {
    for (const id of ["#crate", "https://example.org/crate/", "ark:59852/apart"]) {
      const { rocrateIdentifier: ark } = await upload(
        await whole([
          descriptor({ about: { "@id": id } }),
          { "@id": id, "@type": "Dataset", name: "The crate" },
          { "@id": "./", "@type": "Dataset", name: "The folder", isPartOf: { "@id": id } },
        ]),
      );
      expect(await rig.document(ark!), id).toMatchObject({ name: "The crate" });
      const members = (
        await rig.records.select({
          filter: { crates: [ark!] },
          order: AS_CREATED,
          limit: 10,
          notEndingWith: "/ro-crate-metadata.json",
        })
      ).items.filter((record) => record.ark !== ark);
      expect(
        members.map(({ name, kind }) => [name, kind]),
        id,
      ).toEqual([["The folder", "dataset"]]);
      expect(await rig.document(members[0]!.ark)).toMatchObject({ isPartOf: { "@id": ark } });
    }
  });

  it.each<[string, Json]>([
    ["a reference", { "@id": "https://orcid.org/1" }],
    ["a text", "https://orcid.org/1"],
    ["the first of several", [{ "@id": "https://orcid.org/1" }, "https://example.org/ada"]],
    ["the last of several", ["https://example.org/ada", { "@id": "https://orcid.org/1" }]],
  ])("preserve the URL of an entity that states it as sameAs: %s", async (_form, sameAs) => {
    const person = { "@id": "https://orcid.org/1", "@type": "Person", name: "Ada", sameAs };
    await upload(await crate([person], {}, { "@id": ROOT }));
    expect((await metadataOf())["@graph"]).toContainEqual(person);
  });

  it("write no separate entity when it only occurs inside another one, with a type or without", async () => {
    const sample = {
      "@id": "#sample",
      "@type": "Thing",
      organism: { "@id": "ark:59852/organism", name: "Homo sapiens" },
      tool: { "@id": "ark:59852/tool", "@type": "Thing", name: "Tool" },
    };
    await upload(await crate([sample], {}, { "@id": ROOT }));
    const { "@graph": graph } = await metadataOf();
    const ids = graph.map(({ "@id": id }) => id);
    expect(ids).not.toContain("ark:59852/organism");
    expect(ids).not.toContain("ark:59852/tool");
    expect(graph.find(({ organism }) => organism)).toMatchObject({
      organism: sample.organism,
      tool: sample.tool,
    });
    // Once its own record says more, that is told.
    const [organism] = await rig.records.findMany(["ark:59852/organism"]);
    const document = Buffer.from(
      JSON.stringify({
        ...(JSON.parse(Buffer.from(organism!.document).toString()) as object),
        name: "Human",
      }),
    );
    await rig.records.commit({
      by: UPLOADER,
      at: 5,
      records: [
        {
          op: "replace",
          ark: organism!.ark,
          ifRevision: 1,
          changed: ["/name"],
          kind: "entity",
          name: "Human",
          owner: UPLOADER,
          document,
          quads: "",
          links: [],
          text: { name: "", description: "", keywords: "", other: "" },
          keywords: [],
        },
      ],
    });
    const { "@graph": edited } = await metadataOf();
    expect(edited.find(({ "@id": id }) => id === "ark:59852/organism")).toMatchObject({
      name: "Human",
    });
    expect(edited.find(({ organism: inside }) => inside)).toMatchObject({
      organism: { "@id": "ark:59852/organism" },
    });
    expect(edited.find(({ organism: inside }) => inside)!["organism"]).not.toHaveProperty("name");
  });
});
