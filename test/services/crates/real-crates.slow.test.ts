import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realCrate, withoutDescriptors } from "../../support/crates.js";
import { sharedData } from "../../support/shared-data.js";
import { openIntakeRig, type IntakeRig } from "../../support/registry.js";

const present = sharedData("crates") !== undefined;

describe.skipIf(!present)("real crates by others", () => {
  let rig: IntakeRig;
  beforeEach(async () => {
    rig = await openIntakeRig();
  });
  afterEach(() => rig.close());

  const upload = async (name: string) => rig.upload((await realCrate(name))!);
  const counts = async () => {
    const byKind: Record<string, number> = {};
    for (const { kind } of withoutDescriptors(await rig.all()))
      byKind[kind] = (byKind[kind] ?? 0) + 1;
    return byKind;
  };

  const expected: [string, Record<string, number>, string[]][] = [
    [
      "fs-cm4ai-release",
      {
        rocrate: 4,
        dataset: 23,
        computation: 10,
        experiment: 9,
        schema: 12,
        software: 8,
        sample: 1,
        instrument: 1,
        entity: 5,
      },
      [
        "CONTEXT_VERSION",
        "NESTED_WITHOUT_ID",
        "NOT_FLATTENED",
        "NOT_PART",
        "REFERENCE_NOWHERE",
        "ROOT_INCOMPLETE",
      ],
    ],
    ["fs-nf-fanout", { rocrate: 1, dataset: 10, computation: 9, software: 2 }, ["CONTEXT_VERSION"]],
    [
      "fs-mds-reasoning",
      { rocrate: 1, dataset: 107, computation: 1, software: 1, entity: 2 },
      [
        "DUPLICATE_ENTITY",
        "FILE_NOT_IN_ARCHIVE",
        "NESTED_WITHOUT_ID",
        "NOT_FLATTENED",
        "OLDER_LAYOUT",
        "ROOT_INCOMPLETE",
        "TEXT_AS_REFERENCE",
      ],
    ],
    [
      "fs-mds-zip-test-crate.zip",
      { rocrate: 1, dataset: 3, computation: 1 },
      [
        "DUPLICATE_ENTITY",
        "FILE_NOT_IN_ARCHIVE",
        "OLDER_LAYOUT",
        "ROOT_INCOMPLETE",
        "TEXT_AS_REFERENCE",
      ],
    ],
    ["py-crate_with_subcrates", { rocrate: 4, datadownload: 4 }, ["ROOT_INCOMPLETE"]],
    [
      "run-profile-ex-process",
      { rocrate: 1, software: 1, computation: 1, datadownload: 2, entity: 3 },
      ["ROOT_INCOMPLETE"],
    ],
    [
      "run-profile-ex-provenance",
      { rocrate: 1, software: 4, computation: 6, datadownload: 3, entity: 18 },
      ["ROOT_INCOMPLETE"],
    ],
    ["rb-crate-spec1.3", { rocrate: 1, datadownload: 2, entity: 1 }, ["ROOT_INCOMPLETE"]],
    [
      "rb-zip-biobb_hpc_workflows-condapack.zip",
      { rocrate: 1, software: 17, datadownload: 5, dataset: 3, entity: 58 },
      ["NOT_PART", "TEXT_AS_REFERENCE"],
    ],
    [
      "eln-kadi4mat-records.eln",
      { rocrate: 1, dataset: 1, datadownload: 4, entity: 10 },
      ["LOST_TERM"],
    ],
  ];
  for (const [name, kinds, warned] of expected) {
    it(`${name} is ingested, every entity under its kind, as its dry run predicted`, async () => {
      const plan = await rig.plan((await realCrate(name))!);
      expect(plan).toMatchObject({ conforms: true, refused: [], conflicting: [] });
      expect(
        Object.fromEntries(plan.records.map(({ kind, count }) => [kind.toLowerCase(), count])),
      ).toEqual(kinds);
      const submission = await upload(name);
      expect(plan.warned.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual(
        submission.warnings.map(({ code, pointer }) => `${code} ${pointer}`),
      );
      expect(submission.error).toBeNull();
      expect(submission).toMatchObject({
        status: "finished",
        identifiersMinted: Object.values(kinds).reduce((sum, count) => sum + count, 0),
      });
      expect(await counts()).toEqual(kinds);
      const codes = new Set(submission.warnings.map(({ code }) => code));
      expect([...codes].toSorted()).toEqual(warned);
    });
  }

  it("preserves the provenance links of the run crate of the older layout, in every spelling", async () => {
    await upload("fs-mds-reasoning");
    const [links] = await rig.records.linksFrom(["ark:59852/computation-IF-Image-Loader-xDirGcr"], {
      limit: 1000,
    });
    const targets = new Set(
      links!.items
        .filter(({ predicate }) => predicate === "evi:generated")
        .map(({ target }) => target),
    );
    expect(targets).toContain("ark:59852/dataset-cellmaps_imagedownloader-output-file-9LUEb5Y");
    const found = await rig.records.findMany([...targets]);
    expect(found.every((record) => record !== undefined)).toBe(true);
  });

  for (const [name, code] of [
    ["BROKEN-rb-missing_file", "FILE_MISSING"],
    ["BROKEN-rb-not_json", "json_invalid"],
    ["BROKEN-rb-zipslip-relative0.zip", "BAD_MEMBER_NAME"],
  ] as const) {
    it(`${name} is refused with a reason, and leaves no record`, async () => {
      const plan = await rig.plan((await realCrate(name))!);
      expect(plan).toMatchObject({ conforms: false, refused: [{ code, severity: "REQUIRED" }] });
      const submission = await upload(name);
      expect(submission.status).toBe("failed");
      expect(submission.error!.map((error) => error.code)).toEqual([code]);
      expect(await rig.all()).toEqual([]);
    });
  }
});
