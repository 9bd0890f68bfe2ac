import { describe, expect, test } from "vitest";
import { FenceLost } from "../../../src/storage/records/refusals.js";
import { commitOf, create, OWNER, remove, type Setting } from "./fixtures.js";
import { arkFrom } from "../../support/arks.js";

const SHA = "a".repeat(64);
const CRATE = "ark:99999/rocrate-1";
const asked = (
  id: string,
  sha256: string | null = SHA,
): {
  id: string;
  type: "crate";
  user: string;
  sha256: string | null;
  input: Record<string, unknown>;
  at: number;
} => ({ id, type: "crate", user: OWNER, sha256, input: { name: "\ud800\0" }, at: 1 });

export function submissionsConform({ store, reopen }: Setting): void {
  describe("a submission", () => {
    test("is queued, runs, reports its stage, and ends; each step is stored", async () => {
      const { submission, existing } = await store().submit(asked("s1"));
      expect(existing).toBe(false);
      expect(submission).toMatchObject({
        id: "s1",
        status: "queued",
        attempt: 0,
        timeCreated: 1,
        timeStarted: null,
        input: { name: "\ud800\0" },
        warnings: [],
        error: null,
        cancelled: false,
      });
      expect(await store().beginAttempt("s1", 2)).toMatchObject({
        status: "running",
        attempt: 1,
        timeStarted: 2,
      });
      expect(await store().setStage("s1", 1, "reading")).toBe(true);
      expect(await (await reopen()).unfinished()).toMatchObject([{ id: "s1", stage: "reading" }]);
      const warnings = [{ file: null, pointer: null, message: "m", code: "C" }];
      expect(
        await store().closeSubmission(
          { id: "s1", attempt: 1, status: "failed", error: warnings, warnings },
          3,
        ),
      ).toBe(true);
      expect(await store().submission("s1")).toMatchObject({
        status: "failed",
        error: warnings,
        warnings,
        timeFinished: 3,
      });
      expect(await store().closeSubmission({ id: "s1", attempt: 1, status: "finished" }, 4)).toBe(
        false,
      );
      expect(await store().beginAttempt("s1", 5)).toBeUndefined();
      expect(await store().submission("none")).toBeUndefined();
    });

    test("that is started again belongs to the later attempt", async () => {
      await store().submit(asked("s1"));
      await store().beginAttempt("s1", 2);
      expect(await store().beginAttempt("s1", 3)).toMatchObject({ attempt: 2, timeStarted: 2 });
      expect(await store().setStage("s1", 1, "late")).toBe(false);
      expect(await store().closeSubmission({ id: "s1", attempt: 1, status: "failed" }, 4)).toBe(
        false,
      );
    });

    test("ends with its commit, in one step, and ends its intents", async () => {
      await store().submit(asked("s1"));
      await store().beginAttempt("s1", 2);
      const object = {
        sha256: "b".repeat(64),
        size: 1,
        mediaType: "text/csv",
        name: "a.csv",
        role: "content",
      } as const;
      await store().intend({ kind: "submission", id: "s1", attempt: 1 }, [object.sha256], 2);
      await store().commit(
        commitOf([create(CRATE, { kind: "rocrate" }, { objects: [object] })], {
          submission: {
            id: "s1",
            attempt: 1,
            status: "finished",
            identifiersMinted: 3,
            rocrateIdentifier: CRATE,
          },
        }),
      );
      expect(await store().submission("s1")).toMatchObject({
        status: "finished",
        identifiersMinted: 3,
        rocrateIdentifier: CRATE,
        timeFinished: expect.any(Number),
      });
      expect(await store().objectsOf(CRATE)).toEqual([object]);
    });

    test("fences its commit: an outdated, a cancelled and an ended attempt change nothing", async () => {
      const commit = (attempt: number): Promise<unknown> =>
        store().commit(
          commitOf([create(CRATE, { kind: "rocrate" })], {
            submission: { id: "s1", attempt, status: "finished" },
          }),
        );
      await expect(commit(1)).rejects.toBeInstanceOf(FenceLost);
      await store().submit(asked("s1"));
      await expect(commit(0)).rejects.toBeInstanceOf(FenceLost);
      await store().beginAttempt("s1", 2);
      await store().beginAttempt("s1", 3);
      await expect(commit(1)).rejects.toMatchObject({
        name: "FenceLost",
        submission: "s1",
        attempt: 1,
        message: expect.stringContaining("attempt 2 is running"),
      });
      await store().cancelSubmission("s1", 4);
      await expect(commit(2)).rejects.toThrow(/cancelled/);
      expect(await store().find(arkFrom(CRATE))).toBeUndefined();
      expect(await store().submission("s1")).toMatchObject({ status: "running", cancelled: true });
    });

    test(
      "for the same archive by the same user is the existing one, until it failed or its " +
        "crate is deleted",
      async () => {
        await store().submit(asked("s1"));
        expect(await store().submit(asked("s2"))).toMatchObject({
          existing: true,
          submission: { id: "s1" },
        });
        expect(await store().submit({ ...asked("s3"), user: "ark:99999/user-bob" })).toMatchObject({
          existing: false,
        });
        expect(await store().submit(asked("s4", null))).toMatchObject({ existing: false });
        expect(await store().submit(asked("s5", null))).toMatchObject({ existing: false });
        await store().beginAttempt("s1", 2);
        await store().commit(
          commitOf([create(CRATE, { kind: "rocrate" })], {
            submission: { id: "s1", attempt: 1, status: "finished", rocrateIdentifier: CRATE },
          }),
        );
        expect(await store().submit(asked("s6"))).toMatchObject({
          existing: true,
          submission: { id: "s1", status: "finished" },
        });
        await store().commit(commitOf([remove(CRATE, 1)]));
        expect(await store().submit(asked("s7"))).toMatchObject({
          existing: false,
          submission: { id: "s7" },
        });
      },
    );

    test("replaces ended ones of its user and type, and no unfinished one", async () => {
      const again = (id: string) => ({
        ...asked(id),
        type: "vectors" as const,
        user: "registry",
        update: true,
        inPlaceOfEnded: true,
      });
      await store().submit({ ...asked("other", null), user: "registry" });
      await store().submit({ ...again("mine"), user: OWNER });
      for (const id of ["other", "mine"]) await store().cancelSubmission(id, 2);
      expect(await store().submit(again("v1"))).toMatchObject({
        existing: false,
        submission: { type: "vectors", user: "registry" },
      });
      expect(await store().submit(again("v2"))).toMatchObject({
        existing: true,
        submission: { id: "v1" },
      });
      await store().beginAttempt("v1", 2);
      expect(await store().submit(again("v3"))).toMatchObject({
        existing: true,
        submission: { id: "v1", status: "running" },
      });
      await store().closeSubmission({ id: "v1", attempt: 1, status: "finished" }, 3);
      expect(await store().submit(again("v4"))).toMatchObject({
        existing: false,
        submission: { id: "v4" },
      });
      expect((await store().submissionsOf(null, { limit: 9 })).items.map(({ id }) => id)).toEqual([
        "v4",
        "mine",
        "other",
      ]);
    });

    test("whose attempt is interrupted by a stop is queued again, and the attempt does not count", async () => {
      await store().submit(asked("s1"));
      await store().beginAttempt("s1", 2);
      expect(await store().yieldAttempt("s1", 7)).toBe(false);
      expect(await store().yieldAttempt("s1", 1)).toBe(true);
      expect(await store().yieldAttempt("s1", 1)).toBe(false);
      expect(await store().submission("s1")).toMatchObject({
        status: "queued",
        attempt: 1,
        interrupted: 1,
      });
      expect(await store().closeSubmission({ id: "s1", attempt: 1, status: "finished" }, 3)).toBe(
        false,
      );
      expect(await store().beginAttempt("s1", 4)).toMatchObject({
        status: "running",
        attempt: 2,
        interrupted: 1,
      });
      expect(await store().yieldAttempt("s1", 2, true)).toBe(true);
      expect(await store().submission("s1")).toMatchObject({
        status: "queued",
        attempt: 2,
        interrupted: 1,
      });
      await store().beginAttempt("s1", 4);
      // Queued and cancelled, nobody would end it.
      await store().cancelSubmission("s1", 5);
      expect(await store().yieldAttempt("s1", 3)).toBe(false);
      expect(await store().submission("s1")).toMatchObject({
        status: "running",
        cancelled: true,
        interrupted: 1,
      });
    });

    test("that is cancelled while queued ends at once", async () => {
      await store().submit(asked("s1"));
      expect(await store().cancelSubmission("s1", 5)).toMatchObject({
        status: "failed",
        cancelled: true,
        timeFinished: 5,
        error: [{ code: "CANCELLED" }],
      });
      expect(await store().cancelSubmission("none", 5)).toBeUndefined();
      expect(await store().unfinished()).toEqual([]);
    });

    test("is listed newest first, for one user or all, in pages", async () => {
      for (let i = 0; i < 5; i++)
        await store().submit({
          ...asked(`s${i}`, null),
          user: i === 2 ? "ark:99999/user-bob" : OWNER,
        });
      const first = await store().submissionsOf(OWNER, { limit: 3 });
      expect(first.items.map(({ id }) => id)).toEqual(["s4", "s3", "s1"]);
      expect(first.next).toBe(first.positions[2]);
      expect(
        (await store().submissionsOf(OWNER, { limit: 3, after: first.next! })).items.map(
          ({ id }) => id,
        ),
      ).toEqual(["s0"]);
      expect(
        (await store().submissionsOf(OWNER, { limit: 1, after: first.positions[0]! })).items.map(
          ({ id }) => id,
        ),
      ).toEqual(["s3"]);
      expect((await store().submissionsOf(null, { limit: 9 })).items).toHaveLength(5);
      expect(
        await Promise.all([OWNER, null, "\0"].map((user) => store().countSubmissions(user))),
      ).toEqual([4, 5, 0]);
      expect((await store().unfinished()).map(({ id }) => id)).toEqual([
        "s0",
        "s1",
        "s2",
        "s3",
        "s4",
      ]);
    });
  });
}
