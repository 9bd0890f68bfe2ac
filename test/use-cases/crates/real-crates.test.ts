import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { REAL_CRATES, realCrate } from "../../support/crates.js";
import { openIntakeRig, type IntakeRig } from "../../support/registry.js";

const present = existsSync(REAL_CRATES);
if (!present) console.warn(`SKIPPED: the collection of real crates is not at ${REAL_CRATES}`);

describe.skipIf(!present)("real crates by others", () => {
  let rig: IntakeRig;
  beforeEach(async () => {
    rig = await openIntakeRig();
  });
  afterEach(() => rig.close());

  const upload = async (name: string) => rig.upload((await realCrate(name))!);
  const counts = async () => {
    const byKind: Record<string, number> = {};
    for (const { kind } of await rig.all()) byKind[kind] = (byKind[kind] ?? 0) + 1;
    return byKind;
  };

  for (const name of ["fs-cm4ai-release", "fs-nf-fanout", "fs-mds-reasoning", "fs-mds-zip-test-crate.zip", "py-crate_with_subcrates", "run-profile-ex-process", "run-profile-ex-provenance", "rb-crate-spec1.3", "rb-zip-biobb_hpc_workflows-condapack.zip", "eln-kadi4mat-records.eln"]) {
    it(`${name} goes in`, async () => {
      const submission = await upload(name);
      expect(submission.error).toBeNull();
      expect(submission.status).toBe("finished");
      const by: Record<string, number> = {};
      for (const { code } of submission.warnings) by[code] = (by[code] ?? 0) + 1;
      console.log(name, await counts(), by, submission.warnings.filter((w) => w.code !== "FIELD_MISSING" && w.code !== "FILE_NOT_IN_ARCHIVE").slice(0, 8));
    });
  }

  for (const [name, code] of [["BROKEN-rb-missing_file", "FILE_MISSING"], ["BROKEN-rb-not_json", "json_invalid"], ["BROKEN-rb-zipslip-relative0.zip", "BAD_MEMBER_NAME"]] as const) {
    it(`${name} is refused, says why, and leaves no record`, async () => {
      const submission = await upload(name);
      expect(submission.status).toBe("failed");
      expect(submission.error!.map((error) => error.code)).toEqual([code]);
      expect(await rig.all()).toEqual([]);
    });
  }
});
