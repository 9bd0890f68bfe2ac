import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { zip } from "../support/crates.js";
import { ingestHere, type Taken } from "../support/intake-here.js";
import { LiveRegistry } from "../support/live-registry.js";
import { sharedData } from "../support/shared-data.js";

const FOLDER = sharedData("judges/croissant");
const DOCUMENTS = FOLDER
  ? ["1.0", "1.1"].flatMap((version) =>
      readdirSync(join(FOLDER, version)).map((name) => `${version}/${name}`),
    )
  : [];
const textOf = (name: string): string => readFileSync(join(FOLDER!, name, "metadata.json"), "utf8");

/** The records of a converted document, by kind. */
function byKind({ records }: Taken): Map<string, object[]> {
  const found = new Map<string, object[]>();
  for (const { kind, document } of records) {
    const parsed = JSON.parse(Buffer.from(document).toString("utf8")) as object;
    found.set(kind, [...(found.get(kind) ?? []), parsed]);
  }
  return found;
}

describe.skipIf(!FOLDER)("each document of mlcommons/croissant that its tests call valid", () => {
  it("is here", () => expect(DOCUMENTS).toHaveLength(46));

  it.each(DOCUMENTS)("%s becomes a crate", async (name) => {
    const text = textOf(name);
    const document = JSON.parse(text) as {
      name?: string;
      distribution: { "@type": string }[];
      recordSet: object[];
    };
    const taken = await ingestHere(Buffer.from(text), { format: "metadata" });
    expect(taken.result).not.toHaveProperty("errors");
    const kinds = byKind(taken);
    const isFile = ({ "@type": type }: { "@type": string }): boolean => type === "cr:FileObject";
    expect(kinds.get("datadownload") ?? []).toHaveLength(
      document.distribution.filter(isFile).length,
    );
    expect(kinds.get("dataset") ?? []).toHaveLength(
      document.distribution.filter((one) => !isFile(one)).length,
    );
    expect(kinds.get("schema")).toHaveLength(document.recordSet.length);
    expect(kinds.get("rocrate")).toMatchObject([document.name ? { name: document.name } : {}]);
    // Further terms of the document keep their meaning.
    expect(
      "warnings" in taken.result &&
        taken.result.warnings
          .filter(({ code }) => code === "LOST_TERM")
          .map(({ message }) => message),
    ).toEqual([]);
  });

  it("is stored by a registry, and its crate is read again", async () => {
    const registry = await LiveRegistry.start();
    try {
      const ada = await registry.user("Ada");
      for (const name of DOCUMENTS) {
        const stored = await registry.ask("/rocrate/metadata", {
          token: ada.token,
          body: textOf(name),
        });
        expect(stored.status, `${name}: ${stored.text}`).toBe(200);
        const exported = await registry.ask(`/rocrate/${stored.body["@id"] as string}`);
        expect(exported.status, name).toBe(200);
        const again = await ingestHere(Buffer.from(exported.text), { format: "metadata" });
        expect(again.result, name).not.toHaveProperty("errors");
      }
    } finally {
      await registry.stop();
    }
  }, 240_000);

  it("becomes one in an archive as well, with its files", async () => {
    const bytes = Buffer.from("title,by\nOne,ada@example.org\n");
    const text = textOf("1.0/simple-join").replace(
      "d1bd4b903d5de29e6d455f28a68aff7095d3393a19a7cdfdeea3b9ad799e1ce1",
      "",
    );
    const taken = await ingestHere(
      await zip({ "simple/metadata.json": text, "simple/data/publications.csv": bytes }),
    );
    expect(taken.result).not.toHaveProperty("errors");
    const [file] = byKind(taken).get("datadownload")!;
    expect(file).toMatchObject({ name: "publications", contentSize: String(bytes.length) });
    const [root] = taken.records;
    expect(root!.objects!.map(({ name, role }) => [role, name])).toContainEqual([
      "member",
      "metadata.json",
    ]);
    const kept = await ingestHere(
      await zip({ "metadata.json": textOf("1.0/simple-join"), "data/publications.csv": bytes }),
    );
    expect(kept.result).toMatchObject({
      errors: [{ code: "DIGEST_MISMATCH", file: "metadata.json", pointer: "/distribution/0" }],
    });
  });
});
