import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dateProblem } from "../../src/model/dates.js";
import { DATE_PATTERN } from "../../src/model/json-schema.js";

const EXTRA = "unexpected extra characters at the end of the input";

describe("a date field", () => {
  it.each([
    "2024-02-29",
    "2000-02-29",
    "20240229",
    "2024-05-01T10:20:30Z",
    "2024-05-01t10:20:30z",
    "2024-05-01 10:20",
    "2024-05-01T10:20:30.123456789+05:30",
    "2024-05-01T10:20:30,5-0800",
    "20240501T102030Z",
    "2024-05-01T10:20:30+02",
    "2024-05-01T24:00:00",
    "2016-12-31T23:59:60Z",
    "2016-12-31T18:59:60-05:00",
  ])("accepts %s", (text) => {
    expect(dateProblem(text)).toBeUndefined();
    expect(text).toMatch(new RegExp(DATE_PATTERN, "u"));
  });

  it.each([
    ["2023-02-29", "day value is outside expected range"],
    ["1900-02-29", "day value is outside expected range"],
    ["20230229", "day value is outside expected range"],
    ["2024-04-31", "day value is outside expected range"],
    ["2024-00-10", "month value is outside expected range of 1-12"],
    ["2024-1-010", "invalid character in month"],
    ["2024/01/01", "invalid date separator, expected `-`"],
    ["2024-01-1x", "invalid character in day"],
    ["2024", "input is too short"],
    ["1700000000", "invalid date separator, expected `-`"],
    ["2024-05-01T", EXTRA],
    ["2024-05-01T10:60", EXTRA],
    ["2024-05-01T24:00:01", EXTRA],
    ["2024-05-01T10:20:60Z", EXTRA],
    ["2024-05-01T10:20:30+24:00", EXTRA],
    ["2024-05-01Z", EXTRA],
    ["2024-05-01\n", EXTRA],
    ["２０２４-05-01", "invalid character in year"],
  ])("refuses %s: %s", (text, problem) => {
    expect(dateProblem(text)).toBe(problem);
  });

  it("matches the published pattern whenever it is accepted", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(
          /^[0-9]{4}-?[0-9]{2}-?[0-9]{2}([Tt ][0-9]{2}:?[0-9]{2}(:?[0-9]{2}([.,][0-9]{1,3})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$/,
        ),
        (text) => {
          if (dateProblem(text) === undefined) expect(text).toMatch(new RegExp(DATE_PATTERN, "u"));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("accepts every date that JavaScript prints, and no day that does not exist", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true }),
        (moment) => {
          expect(dateProblem(moment.toISOString())).toBeUndefined();
          expect(dateProblem(moment.toISOString().slice(0, 10))).toBeUndefined();
        },
      ),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 9999 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 29, max: 31 }),
        (year, month, day) => {
          const text = `${year}-${String(month).padStart(2, "0")}-${day}`;
          expect(dateProblem(text) === undefined).toBe(
            new Date(`${text}T00:00:00Z`).getUTCDate() === day,
          );
        },
      ),
    );
  });
});
