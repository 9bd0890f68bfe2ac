import { expect, test } from "vitest";
import type { JsonValue } from "../../src/model/field.js";
import { KINDS } from "../../src/model/kinds.js";
import { statedPublication } from "../../src/model/publication-date.js";

const NOW = Date.UTC(2026, 10, 28, 12);
const day = (datePublished: JsonValue): string | null => {
  const at = statedPublication(KINDS.dataset, { datePublished }, NOW);
  return at === null ? null : new Date(at).toISOString();
};

test.each<[JsonValue, string]>([
  ["2024-05-03", "2024-05-03"],
  ["2024-05-03T23:30:00-02:00", "2024-05-04"],
  ["1959-12-31T18:00:00Z", "1959-12-31"],
  ["2024-05", "2024-05-01"],
  ["2024", "2024-01-01"],
  [2024, "2024-01-01"],
  ["3 May 2024", "2024-01-01"],
  [{ "@value": "2024-05-03" }, "2024-05-03"],
  [["soon", "0000", "2024-05-03", "2023-01-01"], "2024-05-03"],
  ["2026-11-28", "2026-11-28"],
])("%j is the day %s", (stated, expected) => {
  expect(day(stated)).toBe(`${expected}T00:00:00.000Z`);
});

test.each<[JsonValue]>([
  ["soon"],
  [""],
  ["0000-01-01"],
  ["0999-12-31"],
  ["99999-01-01"],
  ["+99999-01-01T00:00:00Z"],
  ["9999-12-31T23:59:00-12:00"],
  ["9999"],
  ["2026-11-29"],
  [null],
  [{}],
  [[]],
  [true],
])("%j is no date on which anything was published", (stated) => {
  expect(day(stated)).toBeNull();
});
