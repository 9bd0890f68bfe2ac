import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FINDING_CODES, statusOfFindings } from "../../../src/services/crates/findings.js";
import { sweepObjects } from "../../../src/services/objects/damage.js";
import { crate, zip } from "../../support/crates.js";
import { HOSTILE, largeMetadata, manyEntities } from "../../support/hostile-crates.js";
import { illFormed, ingestHere } from "../../support/intake-here.js";
import { type IntakeRig, openIntakeRig } from "../../support/registry.js";

describe("a hostile crate", () => {
  it.each(HOSTILE.map((each) => [each.does, each] as const))(
    "is refused with a code, a place and a fix: it %s",
    async (_does, { make, code, limits = {}, alone }) => {
      const bytes = await make();
      const taken = await ingestHere(bytes, { limits, format: alone ? "metadata" : "zip" });
      expect(illFormed(taken)).toBeUndefined();
      const { errors } = taken.result as { errors: { code: string; message: string }[] };
      expect(errors.map((error) => error.code)).toContain(code);
      const { message } = errors.find((error) => error.code === code)!;
      // A message shows such characters by their numbers.
      expect(JSON.stringify(errors)).not.toMatch(
        // eslint-disable-next-line no-control-regex
        /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]|\\u00|\\n/,
      );
      if (_does.startsWith("turns the direction")) expect(message).toContain("U+202E");
      const { status, fix } = FINDING_CODES[code];
      expect(fix).not.toBe("");
      // A limit names its setting.
      if (status === 413) expect(message).toMatch(/MAX_[A-Z_]+=\d+/);
    },
  );
});

describe("hostile crates, uploaded", () => {
  let rig: IntakeRig;
  beforeAll(async () => {
    rig = await openIntakeRig();
  });
  afterAll(() => rig.close());
  const left = async () => {
    await sweepObjects({ objects: rig.objects, records: rig.records, intentLifetime: 86_400_000 });
    const keys: string[] = [];
    for await (const key of rig.objects.list()) keys.push(key);
    return { keys, records: (await rig.all()).length };
  };

  it("leave neither a record nor an object, and the next valid crate is ingested", async () => {
    for (const does of [
      "leads out of the archive",
      "says a member is larger than it is",
      "is a bomb",
      "nests 10,000 arrays",
      "has names equal after case folding",
    ]) {
      const { make, code } = HOSTILE.find((each) => each.does === does)!;
      const submission = await rig.upload(await make());
      expect(submission).toMatchObject({ status: "failed", rocrateIdentifier: null });
      expect(submission.error!.map((error) => error.code)).toContain(code);
    }
    expect(await left()).toEqual({ keys: [], records: 0 });
    expect(await rig.upload(await crate([]))).toMatchObject({ status: "finished" });
  }, 60_000);

  it(
    "may have a million entities or a metadata file of 100 MB: each ends with an answer, " +
      "within its memory",
    async () => {
      const before = (await rig.all()).length;
      const many = await rig.upload(manyEntities(1_000_000), { input: { format: "metadata" } });
      expect(many).toMatchObject({
        status: "failed",
        error: [
          {
            code: "TOO_MANY_ENTITIES",
            message: expect.stringContaining("MAX_CRATE_ENTITIES=100000"),
          },
        ],
      });
      expect(statusOfFindings(many.error!)).toBe(413);
      // One text of a hundred megabytes is within the limit on metadata, and beyond what one value
      // of a record may be.
      const large = await rig.upload(
        await zip(
          { "ro-crate-metadata.json": await largeMetadata(100 * 2 ** 20) },
          { compress: false },
        ),
      );
      expect(
        large.status === "finished" || statusOfFindings(large.error!) === 413,
        JSON.stringify(large.error),
      ).toBe(true);
      expect((await rig.all()).length).toBe(
        before + (large.status === "finished" ? large.identifiersMinted : 0),
      );
      expect(await rig.upload(await crate([], {}, { name: "after" }))).toMatchObject({
        status: "finished",
      });
    },
    240_000,
  );
});
