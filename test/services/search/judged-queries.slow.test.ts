import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../../src/config/config.js";
import { find } from "../../../src/services/search/search.js";
import { realCrates } from "../../support/crates.js";
import { ingestInThisThread } from "../../support/intake-here.js";
import { type IntakeRig, openIntakeRig } from "../../support/registry.js";
import { sharedData } from "../../support/shared-data.js";

interface Judged {
  language: string;
  query: string;
  right: string[];
}

const { queries } = JSON.parse(
  readFileSync(new URL("judged-queries.json", import.meta.url), "utf8"),
) as { queries: Judged[] };

const CRATES = [
  "fs-cm4ai-release",
  "fs-mds-reasoning",
  "fs-mds-zip-test-crate.zip",
  "fs-nf-fanout",
  "py-crate_with_subcrates",
  "rb-crate-spec1.3",
  "rb-zip-biobb_hpc_workflows-condapack.zip",
  "eln-kadi4mat-records.eln",
  "run-profile-ex-process",
  "run-profile-ex-provenance",
];
const LOOKED_AT = 10;

/** Whether a name is one of the right ones, or begins as one that ends with a star. */
const isRight = (name: string, right: readonly string[]): boolean =>
  right.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : name === one));

const gain = (hits: readonly boolean[]): number =>
  hits.reduce((sum, hit, place) => sum + (hit ? 1 / Math.log2(place + 2) : 0), 0);

describe.skipIf(sharedData("crates") === undefined)("keyword search over crates by others", () => {
  let rig: IntakeRig;
  const config = readConfig({});
  let names: Map<string, string>;

  beforeAll(async () => {
    rig = await openIntakeRig({}, ingestInThisThread);
    for (const archive of (await realCrates(CRATES)).values()) await rig.upload(archive);
    names = new Map((await rig.all()).map(({ ark, name }) => [ark, (name ?? "").trim()]));
  });
  afterAll(() => rig.close());

  it("answers 100 of 120 queries among the first three", async () => {
    expect(queries).toHaveLength(120);
    const judged = [];
    for (const { language, query, right } of queries) {
      const known = [...names.values()].filter((name) => isRight(name, right)).length;
      const { found } = await find(
        { config, records: rig.records },
        { query, mode: "basic", limit: LOOKED_AT, offset: 0 },
      );
      const shown = found.map(({ ark }) => names.get(ark) ?? "");
      const hits = shown.map((name) => isRight(name, right));
      const best = gain(Array.from({ length: Math.min(known, LOOKED_AT) }, () => true));
      judged.push({
        language,
        query,
        known,
        ndcg: best === 0 ? 0 : gain(hits) / best,
        answered: hits.slice(0, 3).includes(true),
        shown: shown.slice(0, 3),
      });
    }
    const unanswered = judged.filter(({ answered }) => !answered);
    const ndcg = judged.reduce((sum, one) => sum + one.ndcg, 0) / judged.length;
    process.stdout.write(
      `\nKeyword search: nDCG@${LOOKED_AT} ${ndcg.toFixed(3)}, ` +
        `${judged.length - unanswered.length} of ${judged.length} queries answered by the first three.\n` +
        unanswered
          .map(({ language, query, shown }) => `  ${language} ${query}: ${shown.join("; ")}\n`)
          .join(""),
    );
    // A query is judged by records that are there.
    expect(judged.filter(({ known }) => known === 0).map(({ query }) => query)).toEqual([]);
    expect(judged.length - unanswered.length).toBeGreaterThanOrEqual(100);
  });
});
