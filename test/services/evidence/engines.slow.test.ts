import { afterEach, describe, expect, it } from "vitest";
import { PROVENANCE, type ProvenanceName } from "../../../src/model/provenance.js";
import { impactOf, supportPath } from "../../../src/services/evidence/analysis.js";
import type { EvidenceRequest } from "../../../src/services/evidence/types.js";
import { arkFrom } from "../../support/arks.js";
import { type Dice, dice } from "../../support/dice.js";
import { EvidenceWorld, type Planned } from "../../support/evidence-world.js";
import { ark } from "../../support/quads.js";

const NAMES = Object.keys(PROVENANCE) as ProvenanceName[];
const RECORDS = 14;
const URL_OF = (name: string): string => `https://example.org/crate/${name}`;

/** Any number of relations among a few records, elsewhere, in a circle, and of a record to itself. */
function planned({ roll, of, once }: Dice): Planned {
  const name = (): string => `r${roll(RECORDS)}`;
  const target = (): string =>
    of([name, name, name, () => URL_OF(name()), () => "missing", () => `${name()}#genid-1`])();
  const edges: Partial<Record<ProvenanceName, string[]>> = {};
  for (let count = roll(4); count > 0; count--) {
    const property = of(NAMES);
    edges[property] = [...(edges[property] ?? []), target()];
  }
  return {
    edges,
    type: of(["evi:Dataset", "evi:Computation", "evi:Software"]),
    name: of(["plain", 'with "quotes", \\ and\ttabs', "ünïcode 𝛼", "line\nbreak"]),
    owner: of(["ada", "grace"]),
    ...(once(2) && { description: 'é"\\\n𝛼x'.repeat(roll(80)) }),
    ...(once(5) && { names: ["another", "<not an IRI>"], descriptions: ["zz", "aa"] }),
    ...(once(5) && { hasPart: [name(), name()], kind: "rocrate" }),
    ...(once(5) && { subject: URL_OF(name()), crate: ark(name()) }),
  };
}

describe("evidence of random records", () => {
  const worlds: EvidenceWorld[] = [];
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.engine.close();
  });

  it.each([1, 2, 3, 4, 5, 6])(
    "is the same from the index of evidence as from SPARQL, through changes and deletions (%i)",
    async (seed) => {
      const random = dice(seed);
      const { roll, of, once } = random;
      const world = new EvidenceWorld();
      worlds.push(world);
      world.write(
        Object.fromEntries(Array.from({ length: RECORDS }, (_, i) => [`r${i}`, planned(random)])),
      );
      await world.open();
      for (let round = 0; round < 12; round++) {
        const change = `r${roll(RECORDS)}`;
        if (once(3)) world.delete(change);
        else world.write({ [change]: planned(random), [`r${roll(RECORDS)}`]: planned(random) });
        for (let asked = 0; asked < 4; asked++) {
          const request: Partial<EvidenceRequest> = {
            direction: of(["upstream", "downstream", "both"]),
            ...(once(3) && { depth: 1 + roll(3) }),
            ...(once(3) && { collapse: 2 }),
            ...(once(3) && { kinds: ["dataset"] }),
            ...(once(3) && { assertedBy: "owner" as const }),
            ...(once(3) && { limit: 1 + roll(5) }),
            ...(once(3) && { statements: true }),
          };
          // It compares the two itself; a deleted record is refused by both.
          await world.ask(`r${roll(RECORDS)}`, request).catch((error: { code?: string }) => {
            if (error.code !== "GONE") throw error;
          });
        }
        const [one, other] = [`r${roll(RECORDS)}`, `r${roll(RECORDS)}`].map((name) =>
          arkFrom(ark(name)),
        );
        const settled = (queries: typeof world.engine | typeof world.evidence) =>
          Promise.allSettled([
            impactOf(one!, { records: world.records, queries }),
            supportPath(one!, other!, { records: world.records, queries }),
          ]);
        expect(await settled(world.evidence)).toEqual(await settled(world.engine));
      }
    },
  );
});
