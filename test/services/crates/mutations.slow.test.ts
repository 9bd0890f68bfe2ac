import { getActiveResourcesInfo } from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sweepObjects } from "../../../src/services/objects/damage.js";
import { FINDING_CODES } from "../../../src/services/crates/findings.js";
import { crate, metadata, zip, type Entity } from "../../support/crates.js";
import { dice } from "../../support/dice.js";
import { illFormed, ingestHere } from "../../support/intake-here.js";
import { spoilBytes, spoilJson } from "../../support/mutations.js";
import { openIntakeRig, type IntakeRig } from "../../support/registry.js";

/**
 * More of it: `CRATE_MUTATIONS=20 npx vitest run test/services/crates/mutations.slow.test.ts` runs
 * twenty times as many.
 */
const TIMES = Number(process.env["CRATE_MUTATIONS"] ?? 1);
/**
 * Another seed finds other things; the one that found something goes here, with the number of the
 * mutation.
 */
const SEED = Number(process.env["CRATE_SEED"] ?? 1);

const ENTITIES: Entity[] = [
  {
    "@id": "data/a.csv",
    "@type": "File",
    name: "A",
    contentSize: "4",
    author: { "@id": "https://orcid.org/1" },
  },
  {
    "@id": "https://orcid.org/1",
    "@type": "Person",
    name: "Ada",
    affiliation: { "@type": "Organization", name: "Lab" },
  },
  {
    "@id": "#run",
    "@type": "CreateAction",
    object: [{ "@id": "data/a.csv" }],
    result: { "@id": "ark:59852/out" },
    agent: { "@id": "https://orcid.org/1" },
  },
  {
    "@id": "ark:59852/out",
    "@type": ["evi:Dataset", "Dataset"],
    contentUrl: "file:///b.bin",
    keywords: ["x", "y"],
    "@reverse": { about: { "@id": "#run" } },
  },
];
const ROOT: Entity = { hasPart: [{ "@id": "data/a.csv" }, { "@id": "sub/" }] };
const DOCUMENT = metadata(ENTITIES, ROOT);
const nested = (compress: boolean) =>
  zip(
    {
      "top/": null,
      "top/ro-crate-metadata.json": DOCUMENT,
      "top/data/a.csv": "1,2\n",
      "top/b.bin": Buffer.alloc(2 ** 20 + 7, "xyz"),
      "top/sub/ro-crate-metadata.json": metadata([{ "@id": "c.txt", "@type": "File" }]),
      "top/sub/c.txt": "c",
    },
    { compress },
  );

describe("damaged crates", () => {
  let whole: Buffer[];
  beforeAll(async () => {
    whole = [
      await nested(true),
      await crate(ENTITIES, { "data/a.csv": "1,2\n", "b.bin": "b", "ünï/x y.txt": "" }, ROOT),
      await zip({ "ro-crate-metadata.json": DOCUMENT, "data/a.csv": "1,2\n" }, { compress: false }),
    ];
  });

  it("are valid before they are damaged", async () => {
    expect(whole).not.toEqual([]);
    for (const archive of whole) expect((await ingestHere(archive)).result).toHaveProperty("root");
  });

  it("are ingested or refused with findings, whatever bytes of the archive change", async () => {
    const refused = new Map<string, number>();
    for (let at = 0; at < 2000 * TIMES; at++) {
      const chance = dice(SEED * 1_000_003 + at);
      const spoilt = spoilBytes(chance.of(whole), chance);
      const taken = await ingestHere(spoilt).catch((error: unknown) => {
        throw new Error(`mutation ${at} of seed ${SEED} ended in a fault`, { cause: error });
      });
      expect(illFormed(taken), `mutation ${at} of seed ${SEED}`).toBeUndefined();
      if ("errors" in taken.result)
        for (const { code } of taken.result.errors) refused.set(code, (refused.get(code) ?? 0) + 1);
    }
    // The mutations reach every layer.
    expect([...refused.keys()]).toEqual(
      expect.arrayContaining([
        "NOT_A_ZIP",
        "CORRUPT_ARCHIVE",
        "CORRUPT_MEMBER",
        "MEMBER_OVERLAP",
        "MEMBER_SIZE_MISMATCH",
        "BAD_MEMBER_NAME",
        "MEMBER_ENCRYPTED",
        "NO_METADATA",
      ]),
    );
  }, 600_000);

  it("are ingested or refused with findings, whatever changes in the metadata", async () => {
    const found = new Set<string>();
    let went = 0;
    for (let at = 0; at < 500 * TIMES; at++) {
      const chance = dice(SEED * 2_000_003 + at);
      const taken = await ingestHere(Buffer.from(spoilJson(DOCUMENT, chance)), {
        format: "metadata",
      }).catch((error: unknown) => {
        throw new Error(`mutation ${at} of seed ${SEED} ended in a fault`, { cause: error });
      });
      expect(illFormed(taken), `mutation ${at} of seed ${SEED}`).toBeUndefined();
      for (const { code } of "errors" in taken.result ? taken.result.errors : taken.result.warnings)
        found.add(code);
      if ("root" in taken.result) went++;
      for (const { document } of taken.records) JSON.parse(Buffer.from(document).toString());
    }
    expect([...found]).toEqual(
      expect.arrayContaining([
        "json_invalid",
        "NO_ROOT",
        "INVALID_ID",
        "JSONLD_INVALID",
        "LOST_TERM",
        "CONTEXT_INVALID",
      ]),
    );
    expect(went).toBeGreaterThan(100);
  }, 600_000);
});

describe("damaged crates, uploaded", () => {
  let rig: IntakeRig;
  beforeAll(async () => {
    rig = await openIntakeRig();
  });
  afterAll(() => rig.close());
  const objects = async () => {
    const found: string[] = [];
    for await (const key of rig.objects.list()) found.push(key);
    return found;
  };

  it(
    "end as submissions with a reason, without records, objects or threads, as a dry run " +
      "predicts",
    async () => {
      const whole = await nested(true);
      let failed = 0;
      for (let at = 0; failed < 8 * TIMES; at++) {
        const spoilt = spoilBytes(whole, dice(SEED * 3_000_017 + at));
        const plan = await rig.plan(spoilt);
        if (plan.conforms) continue;
        const submission = await rig.upload(spoilt);
        expect(submission, `mutation ${at}`).toMatchObject({
          status: "failed",
          rocrateIdentifier: null,
          identifiersMinted: 0,
        });
        const stated = new Set(plan.refused.map(({ code, file }) => `${code} ${file}`));
        for (const { code, file } of submission.error!) {
          expect(FINDING_CODES).toHaveProperty(code);
          expect(stated, `mutation ${at}`).toContain(`${code} ${file}`);
        }
        failed++;
      }
      expect(await rig.all()).toEqual([]);
      await sweepObjects({
        objects: rig.objects,
        records: rig.records,
        intentLifetime: 86_400_000,
      });
      expect(await objects()).toEqual([]);
      // One thread writes records; those of intakes are gone.
      expect(
        getActiveResourcesInfo().filter((name) => name === "Worker" || name === "MessagePort")
          .length,
      ).toBeLessThan(4);
      // And the next good one goes in.
      expect(await rig.upload(whole)).toMatchObject({ status: "finished" });
    },
    600_000,
  );
});
