import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { metadata, realCrate, zip, zipFolder } from "../../support/crates.js";
import {
  alone,
  CRATE_TYPE,
  emptiedRelease,
  RELEASE,
  release,
  SUB,
  sub,
} from "../../support/linked-crate.js";
import { sharedData } from "../../support/shared-data.js";
import { descriptorArk } from "../../../src/services/crates/layout.js";
import { UPLOADER, openIntakeRig, type IntakeRig } from "../../support/registry.js";

const REAL = sharedData("crates");
const OTHER = "ark:99999/user-bob";

describe("a release after its sub-crates", () => {
  let rig: IntakeRig;
  beforeEach(async () => {
    rig = await openIntakeRig();
  });
  afterEach(() => rig.close());

  const revisions = async () =>
    Object.fromEntries((await rig.all()).map(({ ark, revision }) => [ark, revision]));
  const ONCE = {
    [SUB]: 1,
    [descriptorArk(SUB)]: 1,
    "ark:99999/tool": 1,
    [`${SUB}/a.csv`]: 1,
  };
  const RELEASED = { [RELEASE]: 1, [descriptorArk(RELEASE)]: 1 };

  it(
    "links a crate with equal statements, its records and its files, and names differing " +
      "statements",
    async () => {
      await rig.upload(await alone());
      const plan = await rig.plan(await release());
      expect(plan).toMatchObject({
        conforms: true,
        conflicting: [],
        counts: { kept: 1, known: 3 },
      });
      const submission = await rig.upload(await release());
      expect(submission).toMatchObject({
        status: "finished",
        error: null,
        rocrateIdentifier: RELEASE,
        identifiersMinted: 1,
      });
      const linked = submission.warnings.filter(({ code }) => code === "CRATE_LINKED");
      expect(linked).toMatchObject([
        {
          file: "ro-crate-metadata.json",
          pointer: "/@graph/2",
          message: expect.stringContaining("version"),
        },
      ]);
      expect(await revisions()).toEqual({ ...ONCE, ...RELEASED });
      expect((await rig.records.usesOf(RELEASE)).toSorted()).toEqual(Object.keys(ONCE).toSorted());
      expect(
        (await rig.records.findMany([SUB, `${SUB}/a.csv`])).map((record) => record!.crate),
      ).toEqual([null, SUB]);
      expect(await rig.records.objectsOf(SUB, { role: "archive" })).toHaveLength(1);
    },
  );

  it("links a crate that it only names", async () => {
    await rig.upload(await alone());
    const naming = await zip({
      "ro-crate-metadata.json": metadata(
        [{ "@id": SUB, "@type": "Dataset", name: "Another name" }],
        { "@id": RELEASE, hasPart: [{ "@id": SUB }] },
      ),
    });
    expect(await rig.plan(naming)).toMatchObject({ conforms: true, counts: { kept: 1, known: 1 } });
    expect(await rig.upload(naming)).toMatchObject({
      status: "finished",
      error: null,
      warnings: expect.arrayContaining([
        expect.objectContaining({ code: "CRATE_LINKED", pointer: "/@graph/2" }),
      ]),
    });
    expect(await revisions()).toEqual({ ...ONCE, ...RELEASED });
    expect(await rig.records.usesOf(RELEASE)).toEqual([SUB]);
    // The release again, as an update: the crate stays linked.
    expect(await rig.plan(naming, { update: true })).toMatchObject({
      conforms: true,
      changes: { counts: { created: 0, changed: 0, unchanged: 2, removed: 0 } },
    });
    expect(await rig.upload(naming, { input: { update: true } })).toMatchObject({
      status: "finished",
      error: null,
    });
    expect(await revisions()).toEqual({ ...ONCE, ...RELEASED });
    expect(await rig.records.usesOf(RELEASE)).toEqual([SUB]);
  });

  it("conflicts when the statements of the crate differ, and updates it with update", async () => {
    await rig.upload(await alone());
    const changed = await release(
      sub({ name: "Sub, second edition" }, [
        { "@id": "ark:99999/new", "@type": "Dataset", name: "New" },
      ]),
    );
    expect((await rig.upload(changed)).error).toMatchObject([
      { code: "IDENTIFIER_TAKEN", message: expect.stringContaining("?update=true") },
    ]);
    expect(await revisions()).toEqual(ONCE);
    const plan = await rig.plan(changed, { update: true });
    expect(plan).toMatchObject({
      conforms: true,
      changes: {
        counts: { created: 2, changed: 1, unchanged: 2, removed: 0 },
        changed: [{ identifier: SUB }],
      },
    });
    expect(await rig.upload(changed, { input: { update: true } })).toMatchObject({
      status: "finished",
      error: null,
    });
    expect(await revisions()).toEqual({ ...ONCE, [SUB]: 2, ...RELEASED, "ark:99999/new": 1 });
    expect(await rig.document(SUB)).toMatchObject({ name: "Sub, second edition" });
    const [added] = await rig.records.findMany(["ark:99999/new"]);
    expect(added!.crate).toBe(SUB);
    // The archive of the nested crate is still the one that was uploaded.
    expect(await rig.records.objectsOf(SUB, { role: "archive" })).toHaveLength(1);
    expect((await rig.records.usesOf(RELEASE)).toSorted()).toEqual(
      [...Object.keys(ONCE), "ark:99999/new"].toSorted(),
    );
    // And again: no revision.
    await rig.upload(changed, { input: { update: true } });
    expect(await revisions()).toEqual({ ...ONCE, [SUB]: 2, ...RELEASED, "ark:99999/new": 1 });
  });

  it("never removes all statements of a linked crate unless the upload asks for it", async () => {
    await rig.upload(await alone());
    await rig.upload(await release());
    // Such a stub was in earlier exports of this registry.
    const stub = await emptiedRelease();
    const before = await revisions();
    expect(await rig.plan(stub, { update: true })).toMatchObject({
      conforms: false,
      conflicting: [
        { identifier: SUB, code: "CRATE_EMPTIED", message: expect.stringContaining('("Sub")') },
      ],
    });
    expect(await rig.upload(stub, { input: { update: true } })).toMatchObject({
      status: "failed",
      error: [{ code: "CRATE_EMPTIED", message: expect.stringContaining(SUB) }],
    });
    expect(await revisions()).toEqual(before);
    const asked = { update: true, emptyLinked: true };
    expect(await rig.plan(stub, asked)).toMatchObject({
      conforms: true,
      changes: { changed: expect.arrayContaining([expect.objectContaining({ identifier: SUB })]) },
    });
    expect(await rig.upload(stub, { input: asked })).toMatchObject({ error: null });
    expect(await rig.document(SUB)).not.toHaveProperty("name");
  });

  it("conflicts with another owner's crate, which is unchanged", async () => {
    await rig.upload(await alone(), { user: OTHER });
    const before = await revisions();
    for (const update of [false, true]) {
      const refused = await rig.upload(await release(), { user: UPLOADER, input: { update } });
      expect(refused.error!.find(({ message }) => message.includes(SUB))).toMatchObject({
        code: "IDENTIFIER_TAKEN",
      });
      expect(JSON.stringify(refused.error)).not.toContain(OTHER);
    }
    expect(await revisions()).toEqual(before);
  });

  it("never changes a crate that came with another release", async () => {
    expect(await rig.upload(await release())).toMatchObject({ error: null });
    const second = zip({
      "ro-crate-metadata.json": metadata([], {
        "@id": "ark:99999/release-two",
        name: "Two",
        hasPart: [{ "@id": SUB }],
      }),
      "sub/ro-crate-metadata.json": metadata([], {
        "@id": SUB,
        "@type": CRATE_TYPE,
        name: "Changed",
      }),
    });
    expect((await rig.upload(await second, { input: { update: true } })).error).toMatchObject([
      { code: "IDENTIFIER_TAKEN", message: expect.stringContaining(RELEASE) },
    ]);
    expect(await rig.document(SUB)).toMatchObject({ name: "Sub" });
  });

  it("updates its own nested crate without treating it as a registered one", async () => {
    await rig.upload(await release());
    const update = await rig.upload(await release(sub({ description: "More" })), {
      input: { update: true },
    });
    expect(update).toMatchObject({ status: "finished", error: null });
    expect(update.warnings.map(({ code }) => code)).not.toContain("CRATE_LINKED");
    expect((await rig.records.findMany([SUB]))[0]).toMatchObject({ revision: 2, crate: RELEASE });
  });

  it("resolves references to the descriptor of a registered crate", async () => {
    await rig.upload(await alone());
    await rig.upload(
      await zip({
        "ro-crate-metadata.json": metadata([], {
          "@id": RELEASE,
          name: "Release",
          hasPart: [{ "@id": SUB }],
          subjectOf: { "@id": "sub/ro-crate-metadata.json" },
        }),
        "sub/ro-crate-metadata.json": sub(),
        "sub/a.csv": "1,2\n",
      }),
    );
    expect(await rig.document(RELEASE)).toMatchObject({ subjectOf: { "@id": descriptorArk(SUB) } });
  });

  it.skipIf(!REAL)(
    "is ingested after the real ones, and again as an update, without a revision",
    async () => {
      const folder = join(REAL!, "fs-cm4ai-release");
      for (const inner of ["mass-spec/cancer-cells", "Perturb-Seq/cell-atlas"])
        expect(await rig.upload(await zipFolder(join(folder, inner))), inner).toMatchObject({
          status: "finished",
          error: null,
        });
      const before = Object.keys(await revisions());
      const whole = (await realCrate("fs-cm4ai-release"))!;
      const submission = await rig.upload(whole);
      expect(submission).toMatchObject({
        status: "finished",
        error: null,
        rocrateIdentifier: "ark:59852/cm4ai-june-2025-release",
      });
      expect(submission.warnings.filter(({ code }) => code === "CRATE_LINKED")).toHaveLength(2);
      const update = await rig.upload(whole, { input: { update: true } });
      expect(update).toMatchObject({ status: "finished", error: null, identifiersMinted: 0 });
      const after = await revisions();
      expect(Object.values(after).every((revision) => revision === 1)).toBe(true);
      expect(before.every((ark) => after[ark] === 1)).toBe(true);
    },
  );
});
