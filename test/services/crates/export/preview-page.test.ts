import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import yazl from "yazl";
import { isWrittenPage, previewPage } from "../../../../src/services/crates/upload.js";
import { Archive } from "../../../../src/services/crates/zip/archive.js";
import { crate, type Entity, LIMITS, readerOf } from "../../../support/crates.js";
import { ingestInThisThread } from "../../../support/intake-here.js";
import { type IntakeRig, openIntakeRig } from "../../../support/registry.js";

const PAGE = "ro-crate-preview.html";
const OWN = "<!doctype html><title>A page of the author</title>";
const ROOT = "ark:99999/paged";

let rig: IntakeRig;
beforeEach(async () => {
  rig = await openIntakeRig({}, ingestInThisThread);
});
afterEach(() => rig.close());

const filesOf = async (bytes: Uint8Array): Promise<Record<string, string>> => {
  const archive = await Archive.open(readerOf(Buffer.from(bytes)), LIMITS);
  const found: Record<string, string> = {};
  for (const member of archive.members)
    found[member.name] = (await buffer(archive.read(member))).toString();
  return found;
};
const zipOf = (files: Record<string, string>): Promise<Buffer> => {
  const zip = new yazl.ZipFile();
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  return buffer(zip.outputStream);
};
const make = (entities: Entity[] = [], files: Record<string, string> = {}): Promise<Uint8Array> =>
  crate(
    [{ "@id": "data/a b.csv", "@type": "File", name: "Table" }, ...entities],
    { "data/a b.csv": "x\n1\n", ...files },
    {
      "@id": ROOT,
      name: "Cells <b> & more",
      description: "Two rows.",
      author: "Lovelace, Ada",
      hasPart: [{ "@id": "data/a b.csv" }],
    },
  );
const uploaded = async (archive: Uint8Array, update = false): Promise<void> => {
  const submission = await rig.upload(archive, update ? { input: { update } } : {});
  expect(submission).toMatchObject({ status: "finished", error: null });
};
const revision = async (): Promise<number> => (await rig.records.findMany([ROOT]))[0]!.revision;

describe("the preview page in an export", () => {
  it("describes the crate and links to its files and its metadata", async () => {
    await uploaded(await make());
    const { [PAGE]: page } = await filesOf(await rig.exported(ROOT));
    expect(page).toContain("<h1>Cells &lt;b&gt; &amp; more</h1>");
    expect(page).toContain("Two rows.");
    expect(page).toContain("<dd>Lovelace, Ada</dd>");
    expect(page).toContain('<a href="./data/a%20b.csv">data/a b.csv</a>');
    expect(page).toContain('<a href="./ro-crate-metadata.json">');
    expect(page).not.toContain("<script");
    expect(isWrittenPage(Buffer.from(page!))).toBe(true);
  });

  it("is no file of the crate when the export is uploaded again or elsewhere", async () => {
    await uploaded(await make());
    const exported = await rig.exported(ROOT);
    const before = await revision();
    await uploaded(exported, true);
    expect(await revision()).toBe(before);
    expect(await rig.records.objectsOf(ROOT, { role: "member" })).toEqual([]);
    expect(await rig.exported(ROOT)).toEqual(exported);

    const there = await openIntakeRig({}, ingestInThisThread);
    try {
      expect(await there.upload(exported)).toMatchObject({ status: "finished", error: null });
      expect(await there.records.objectsOf(ROOT, { role: "member" })).toEqual([]);
      // Files, not bytes: the archive has the times at which each registry wrote its members.
      const elsewhere = Object.entries(await filesOf(await there.exported(ROOT)));
      expect(elsewhere).toEqual(Object.entries(await filesOf(exported)));
    } finally {
      await there.close();
    }
  });

  it("is a file of the crate once somebody has changed it", async () => {
    await uploaded(await make());
    const files = await filesOf(await rig.exported(ROOT));
    const changed = files[PAGE]!.replace("Two rows.", "Two good rows.");
    expect(isWrittenPage(Buffer.from(changed))).toBe(false);
    await uploaded(await zipOf({ ...files, [PAGE]: changed }), true);
    expect((await filesOf(await rig.exported(ROOT)))[PAGE]).toBe(changed);
  });

  it.each([
    ["that no entity describes", []],
    [
      "that an entity describes",
      [{ "@id": PAGE, "@type": "CreativeWork", about: { "@id": ROOT } }],
    ],
  ])("is the crate's own where it came with one %s", async (_, entities) => {
    await uploaded(await make(entities, { [PAGE]: OWN }));
    expect((await filesOf(await rig.exported(ROOT)))[PAGE]).toBe(OWN);
    await uploaded(await rig.exported(ROOT), true);
    expect((await filesOf(await rig.exported(ROOT)))[PAGE]).toBe(OWN);
  });

  it("is left out where an entity describes a page that is not stored here", async () => {
    await uploaded(
      await make([
        {
          "@id": PAGE,
          "@type": "CreativeWork",
          about: { "@id": ROOT },
        },
      ]),
    );
    expect(Object.keys(await filesOf(await rig.exported(ROOT)))).not.toContain(PAGE);
  });

  it("is left out where it would be longer than what intake reads", async () => {
    await rig.close();
    rig = await openIntakeRig({ MAX_METADATA_BYTES: 2000 }, ingestInThisThread);
    await uploaded(await make());
    expect(Object.keys(await filesOf(await rig.exported(ROOT)))).not.toContain(PAGE);
  });
});

describe("a signature", () => {
  it("is of the bytes that follow it, and of nothing else", () => {
    const page = previewPage("<html>ü</html>\n");
    expect(isWrittenPage(Buffer.from(page))).toBe(true);
    for (const other of [`${page} `, `\n${page}`, page.replace("ü", "u"), "<html>", ""])
      expect(isWrittenPage(Buffer.from(other))).toBe(false);
  });
});
