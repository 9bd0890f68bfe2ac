import { describe, expect, it } from "vitest";
import { DOCUMENTED, ROW_OF, seersOf, STATES } from "./who-sees.js";
import { matrixTests } from "./matrix.js";

describe("the table of docs/access.md", () => {
  it("has a state of the matrix for each row", () => {
    expect([...new Set<string>(Object.values(ROW_OF))].toSorted()).toEqual(DOCUMENTED.toSorted());
  });
  it("hides what is private, and shows all what is published", () => {
    for (const state of STATES) {
      const { exists, content } = seersOf(state);
      expect([state, exists.has("other")]).toEqual([
        state,
        ROW_OF[state] !== "private" && state !== "privateWithdrawn",
      ]);
      expect([state, content.has("anonymous")]).toEqual([state, state === "published"]);
    }
  });
});

// One state, and each operation in one form: matrix-*.slow.test.ts have all.
matrixTests({
  callers: ["admin", "other"],
  states: ["private"],
  reads: ({ name, plain }) => plain === undefined && !/=.*=/.test(name),
});
