import { Store } from "oxigraph";
import { describe, expect, it } from "vitest";
import { FEATURES, oddCrate } from "../../support/odd-crates.js";
import { ingestHere } from "../../support/intake-here.js";
import { zip } from "../../support/crates.js";

/** Enough for every feature to meet several spellings. */
const CRATES = Number(process.env["ODD_CRATES"] ?? 60);

describe("crates that are valid and unusual", () => {
  it(`are ingested, all ${CRATES} of them: no entity, no statement and no value is lost`, async () => {
    const wrong: string[] = [];
    for (let seed = 0; seed < CRATES; seed++) {
      const { members, marks, entities } = oddCrate(seed);
      const { result, records } = await ingestHere(await zip(members));
      if ("errors" in result) {
        wrong.push(`${seed}: ${JSON.stringify(result.errors).slice(0, 300)}`);
        continue;
      }
      if (records.length < entities + 1)
        wrong.push(`${seed}: ${records.length} records of ${entities + 1} entities`);
      const quads = records.map((record) => record.quads).join("");
      try {
        new Store().load(quads, { format: "application/n-quads" });
      } catch (error) {
        wrong.push(`${seed}: ${(error as Error).message}`);
      }
      const documents = records.map((record) => Buffer.from(record.document).toString()).join("\n");
      const lost = marks.filter((mark) => !quads.includes(mark));
      if (lost.length > 0)
        wrong.push(
          `${seed}: not in the graph: ` +
            lost
              .map((mark) => new RegExp(`.{0,60}${mark}`, "s").exec(documents)?.[0] ?? mark)
              .join(" | "),
        );
      const forgotten = marks.filter((mark) => !documents.includes(mark));
      if (forgotten.length > 0) wrong.push(`${seed}: not in a document: ${forgotten.join(" ")}`);
    }
    expect(wrong).toEqual([]);
  }, 600_000);

  it("contain every feature and more", () => {
    const texts = Array.from({ length: 40 }, (_, seed) => JSON.stringify(oddCrate(seed).members));
    for (const key of [
      "@reverse",
      "@included",
      "@base",
      "exById",
      "@label",
      "strange term",
      "arcp:",
      "deep/er",
    ])
      expect(
        texts.some((text) => text.includes(key)),
        key,
      ).toBe(true);
    expect(Object.keys(FEATURES).length).toBeGreaterThan(30);
  });
});
