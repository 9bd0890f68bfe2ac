import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sweepObjects } from "../../../src/services/objects/damage.js";
import { crate, type Entity, type Members, withoutDescriptors } from "../../support/crates.js";
import { ingestInThisThread } from "../../support/intake-here.js";
import { UPLOADER, openIntakeRig, type IntakeRig } from "../../support/registry.js";

const ROOT = "ark:99999/crate-one";
const OTHER = "ark:99999/user-bob";
const person: Entity = { "@id": "ark:99999/person-grace", "@type": "Person", name: "Grace" };
const file = (name: string, says = name): Entity => ({ "@id": name, "@type": "File", name: says });
const of = (entities: Entity[], files: Members = {}, root: Entity = {}) =>
  crate(entities, files, { "@id": ROOT, name: "One", ...root });

describe("a crate that is uploaded again", () => {
  let rig: IntakeRig;
  /** Crates are ingested in threads of their own, as in the service. */
  const inThreads = async () => {
    await rig.close();
    rig = await openIntakeRig();
  };
  beforeEach(async () => {
    rig = await openIntakeRig({}, ingestInThisThread);
  });
  afterEach(() => rig.close());

  const update = (archive: Buffer, user = UPLOADER) =>
    rig.upload(archive, { user, input: { update: true } });
  const revisions = async () =>
    Object.fromEntries(
      withoutDescriptors(await rig.all()).map(({ ark, revision }) => [
        ark.replace(`${ROOT}/`, ""),
        revision,
      ]),
    );
  const objects = async () => {
    await sweepObjects({
      objects: rig.objects,
      records: rig.records,
      intentLifetime: 0,
      now: () => Date.now() + 1e9,
    });
    const found: string[] = [];
    for await (const key of rig.objects.list()) found.push(key);
    return found.length;
  };

  it("revises changed records, creates new ones, and deletes missing ones, in one commit", async () => {
    await inThreads();
    await rig.upload(
      await of([file("a.csv"), file("b.csv"), file("c.csv")], {
        "a.csv": "a",
        "b.csv": "b",
        "c.csv": "c",
      }),
    );
    const before = await rig.records.sequence();
    const submission = await update(
      await of([file("a.csv"), file("b.csv", "B, better"), file("d.csv")], {
        "a.csv": "a",
        "b.csv": "b",
        "d.csv": "d",
      }),
    );
    expect(submission).toMatchObject({
      status: "finished",
      error: null,
      identifiersMinted: 1,
      rocrateIdentifier: ROOT,
    });
    expect(await rig.records.sequence()).toBe(before + 1);
    expect(await revisions()).toEqual({ [ROOT]: 2, "a.csv": 1, "b.csv": 2, "d.csv": 1 });
    const [gone] = await rig.records.findMany([`${ROOT}/c.csv`]);
    expect(gone).toMatchObject({ tombstone: { by: UPLOADER }, revision: 2 });
    expect((await rig.records.history(`${ROOT}/b.csv`, { limit: 1 }))[0]).toMatchObject({
      action: "update",
      changed: ["/name"],
    });
    expect((await rig.records.objectsOf(ROOT, { role: "archive" }))[0]!.sha256).toBe(
      submission.sha256,
    );
  });

  it("frees the bytes of deleted records, and preserves those of earlier revisions", async () => {
    await rig.upload(await of([file("a.csv"), file("b.csv")], { "a.csv": "one", "b.csv": "two" }));
    expect(await objects()).toBe(4);
    await update(await of([file("a.csv")], { "a.csv": "three" }));
    // Metadata and a.csv in both states, the new archive, and nothing of b.csv: the first archive
    // held it too.
    expect(await objects()).toBe(5);
    const [then] = await rig.records.objectsOf(`${ROOT}/a.csv`, { revision: 1 });
    expect(Buffer.concat(await (await rig.objects.open(then!.sha256)).toArray()).toString()).toBe(
      "one",
    );
    expect(await rig.records.contentWasDeleted(`${ROOT}/b.csv`)).toBe(true);
  });

  it("may contain a file whose name differs from an earlier one in hyphens only", async () => {
    await rig.upload(await of([file("a-b.csv")], { "a-b.csv": "a" }));
    expect(
      await update(await of([file("a-b.csv"), file("ab.csv")], { "a-b.csv": "a", "ab.csv": "b" })),
    ).toMatchObject({ error: null, identifiersMinted: 1 });
    expect(await update(await of([file("ab.csv")], { "ab.csv": "b" }))).toMatchObject({
      error: null,
      identifiersMinted: 0,
    });
    expect(await revisions()).toEqual({ [ROOT]: 3, "ab.csv": 1 });
  });

  it("changes nothing when it is the same", async () => {
    await inThreads();
    const archive = await of([file("a.csv"), person], { "a.csv": "a", "more.txt": "m" });
    await rig.upload(archive);
    const before = await rig.records.sequence();
    const again = await rig.upload(archive, { input: { update: true, name: "renamed.zip" } });
    expect(again).toMatchObject({
      status: "finished",
      identifiersMinted: 0,
      rocrateIdentifier: ROOT,
    });
    expect(await rig.records.sequence()).toBe(before);
    expect(Object.values(await revisions())).toEqual([1, 1, 1]);
  });

  it("is compared anew each time, so that an earlier archive restores the earlier state", async () => {
    const [one, two] = [
      await of([file("a.csv", "one")], { "a.csv": "a" }),
      await of([file("a.csv", "two")], { "a.csv": "a" }),
    ];
    await rig.upload(one);
    await update(two);
    await update(one);
    expect(await rig.document(`${ROOT}/a.csv`)).toMatchObject({ name: "one" });
    expect(await revisions()).toEqual({ [ROOT]: 3, "a.csv": 3 });
  });

  it("revives records that its uploader deleted, the crate itself too", async () => {
    const archive = await of([file("a.csv"), person], { "a.csv": "a" });
    await rig.upload(archive);
    for (const ark of [ROOT, `${ROOT}/a.csv`, person["@id"] as string])
      await rig.records.commit({
        by: UPLOADER,
        at: 5,
        records: [{ op: "delete", ark, ifRevision: 1, dropObjects: true }],
      });
    expect((await rig.upload(archive)).error).toMatchObject([
      { code: "CRATE_EXISTS", message: expect.stringContaining("?update=true to restore") },
      { code: "IDENTIFIER_TAKEN" },
      { code: "IDENTIFIER_TAKEN" },
    ]);
    expect(await update(archive)).toMatchObject({ status: "finished", error: null });
    expect(await revisions()).toEqual({ [ROOT]: 3, "a.csv": 3, [person["@id"] as string]: 3 });
    expect(await rig.records.objectsOf(`${ROOT}/a.csv`)).toHaveLength(1);
    expect(
      await rig.records.countSelected({
        filter: { crates: [ROOT] },
        notEndingWith: "/ro-crate-metadata.json",
      }),
    ).toBe(2);
  });

  it("never changes another owner's record, and reveals only its kind", async () => {
    await inThreads();
    await rig.upload(await crate([person], {}, { "@id": "ark:99999/crate-bob" }), { user: OTHER });
    await rig.upload(await of([file("a.csv")], { "a.csv": "a" }));
    const refused = await update(await of([{ ...person, name: "Mine now" }], {}));
    expect(refused).toMatchObject({
      status: "failed",
      error: [
        {
          code: "IDENTIFIER_TAKEN",
          message: expect.stringContaining("ark:99999/person-grace is the identifier of an Entity"),
        },
      ],
    });
    expect(refused.error![0]!.message).not.toContain(OTHER);
    const otherUser = await update(await of([], {}), OTHER);
    expect(otherUser).toMatchObject({ status: "failed", error: [{ code: "IDENTIFIER_TAKEN" }] });
    expect(await revisions()).toMatchObject({ [ROOT]: 1, "a.csv": 1, "ark:99999/person-grace": 1 });
    expect(await rig.document("ark:99999/person-grace")).toMatchObject({ name: "Grace" });
  });

  it(
    "leaves a record unchanged that another crate of the uploader states differently, " +
      "and names it",
    async () => {
      await rig.upload(await crate([person], {}, { "@id": "ark:99999/crate-two" }));
      await rig.upload(await of([person], {}));
      expect(await rig.records.usesOf(ROOT)).toEqual([person["@id"]]);
      expect((await update(await of([{ ...person, name: "Hopper" }], {}))).error).toMatchObject([
        { code: "IDENTIFIER_TAKEN", message: expect.stringContaining("ark:99999/crate-two") },
      ]);
    },
  );

  it("hands over records that another crate uses instead of deleting them", async () => {
    await rig.upload(await of([person, file("a.csv")], { "a.csv": "a" }));
    await rig.upload(await crate([person], {}, { "@id": "ark:99999/crate-two" }));
    await update(await of([file("a.csv")], { "a.csv": "a" }));
    const [grace] = await rig.records.findMany([person["@id"] as string]);
    expect(grace).toMatchObject({ tombstone: null, crate: "ark:99999/crate-two", revision: 1 });
    expect(await rig.records.usesOf("ark:99999/crate-two")).toEqual([]);
  });

  it("does not overwrite a change that somebody made during the ingest", async () => {
    await rig.upload(await of([file("a.csv"), file("b.csv")], { "a.csv": "a", "b.csv": "b" }));
    for (const touched of ["a.csv", "b.csv"]) {
      const ark = `${ROOT}/${touched}`;
      const [before] = await rig.records.findMany([ark]);
      const original = rig.records.intend;
      // Files are announced after the identifiers were looked up, and before the commit.
      rig.records.intend = async (...args) => {
        rig.records.intend = original;
        await rig.records.commit({
          by: UPLOADER,
          at: 9,
          records: [
            {
              op: "publish",
              ark,
              ifRevision: before!.revision,
              status: touched === "a.csv" ? "PUBLISHED" : "ARCHIVED",
              embargoedUntil: null,
            },
          ],
        });
        return original(...args);
      };
      const submission = await update(
        await of([file("a.csv", `A, not ${touched}`)], { "a.csv": `other ${touched}` }),
      );
      expect(submission).toMatchObject({
        status: "failed",
        error: [{ code: "CHANGED_MEANWHILE", message: expect.stringContaining(ark) }],
      });
      expect((await rig.records.findMany([ark]))[0]).toMatchObject({
        revision: before!.revision + 1,
        tombstone: null,
      });
    }
  });

  it("is refused by the commit when a change occurs between the last comparison and the commit", async () => {
    await rig.upload(await of([file("a.csv")], { "a.csv": "a" }));
    const original = rig.records.commit;
    rig.records.commit = async (commit) => {
      rig.records.commit = original;
      await original({
        by: UPLOADER,
        at: 9,
        records: [
          { op: "publish", ark: `${ROOT}/a.csv`, status: "PUBLISHED", embargoedUntil: null },
        ],
      });
      return original(commit);
    };
    expect(await update(await of([file("a.csv", "A")], { "a.csv": "a" }))).toMatchObject({
      status: "failed",
      error: [{ code: "CHANGED_MEANWHILE" }],
    });
  });

  it("stops when a later attempt has started", async () => {
    await rig.upload(await of([file("a.csv")], { "a.csv": "a" }));
    const original = rig.records.commit;
    rig.records.commit = async (commit) => {
      rig.records.commit = original;
      await rig.records.beginAttempt(commit.submission!.id, 9);
      await original(commit).catch(async (error: Error) => {
        expect(error.name).toBe("FenceLost");
        await rig.records.closeSubmission(
          { id: commit.submission!.id, attempt: commit.submission!.attempt + 1, status: "failed" },
          10,
        );
        throw error;
      });
      throw new Error("a late twin has committed");
    };
    expect(await update(await of([], {}))).toMatchObject({ status: "failed" });
    expect(await revisions()).toEqual({ [ROOT]: 1, "a.csv": 1 });
  });

  it("becomes a new crate, with a warning, when its root names none", async () => {
    const submission = await update(await crate([], {}));
    expect(submission).toMatchObject({ status: "finished", identifiersMinted: 1 });
    expect(submission.warnings.map(({ code }) => code)).toContain("ROOT_WITHOUT_ARK");
  });

  it("updates the crate that the upload names, whatever name its root has, and no other one", async () => {
    const archive = (text: string, root: Entity = {}) =>
      crate([file("a.csv")], { "a.csv": text }, { name: "Anonymous", ...root });
    const { rocrateIdentifier: ark } = await rig.upload(await archive("a"));
    expect(
      await rig.upload(await archive("b"), { input: { update: true, crate: ark! } }),
    ).toMatchObject({
      status: "finished",
      error: null,
      rocrateIdentifier: ark,
      identifiersMinted: 0,
    });
    expect(await revisions()).toEqual({ [ark!]: 2, [`${ark!}/a.csv`]: 2 });
    const other = await rig.upload(await archive("c", { "@id": ROOT }), {
      input: { update: true, crate: ark! },
    });
    expect(other.error).toMatchObject([
      { code: "CRATE_MISMATCH", pointer: "/@graph/1", message: expect.stringContaining(ROOT) },
    ]);
    expect(
      (await rig.upload(await archive("d"), { user: OTHER, input: { update: true, crate: ark! } }))
        .error,
    ).toMatchObject([{ code: "IDENTIFIER_TAKEN" }, { code: "IDENTIFIER_TAKEN" }]);
    expect(await revisions()).toEqual({ [ark!]: 2, [`${ark!}/a.csv`]: 2 });
  });

  it(
    "is distinguished from a crate of the uploader with the same name, and a warning " +
      "names that crate",
    async () => {
      const archive = (text: string, root: Entity = {}) =>
        crate([file("a.csv")], { "a.csv": text }, { name: "Anonymous", ...root });
      const logged = ({ warnings }: { warnings: { code: string; message: string }[] }) =>
        warnings.filter(({ code }) => code === "CRATE_ALIKE").map(({ message }) => message);
      const { rocrateIdentifier: ark } = await rig.upload(await archive("a"));
      expect((await rig.plan(await archive("b"))).warned.map(({ code }) => code)).toContain(
        "CRATE_ALIKE",
      );
      expect(logged(await rig.upload(await archive("b")))).toEqual([
        expect.stringContaining(`crate=${ark!}`),
      ]);
      expect(logged(await rig.upload(await archive("c", { name: "Another" })))).toEqual([]);
      expect(logged(await rig.upload(await archive("d", { "@id": ROOT })))).toEqual([]);
      expect(logged(await rig.upload(await archive("e"), { user: OTHER }))).toEqual([]);
    },
  );

  it("embargoes an entity that states an embargo now", async () => {
    const dataset: Entity = { "@id": "ark:99999/data", "@type": "evi:Dataset", name: "D" };
    await rig.upload(await of([dataset]));
    await update(await of([{ ...dataset, contentUrl: "Embargoed" }]));
    expect((await rig.records.findMany(["ark:99999/data"]))[0]).toMatchObject({
      publicationStatus: "EMBARGOED",
    });
  });
});
