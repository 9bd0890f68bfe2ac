import { describe, expect, it } from "vitest";
import { zip } from "../../support/crates.js";
import { ingestHere } from "../../support/intake-here.js";
import { WILD } from "../../support/wild-crates.js";

describe("crates as tools write them", () => {
  it.each(Object.entries(WILD))(
    "are ingested with fitting advice: %s",
    async (_name, { members, advice, stored }) => {
      const { result, records } = await ingestHere(await zip(members));
      expect("errors" in result ? result.errors : []).toEqual([]);
      expect(
        [...new Set(result.warnings.map(({ code }) => code))].toSorted(),
        JSON.stringify(result.warnings, null, 1),
      ).toEqual(advice);
      expect(
        records.filter(({ objects = [] }) => objects.some(({ role }) => role === "content")).length,
      ).toBe(stored);
    },
  );
});
