import { describe, expect, test } from "vitest";
import { arkKey } from "../../../src/identifiers/ark.js";
import type { AccessRequest, AccessRequestQuery } from "../../../src/storage/records/port.js";
import { commitOf, create, linkTo, OWNER, remove, type Setting, write } from "./fixtures.js";

const [BOB, CAT] = ["ark:99999/user-bob", "ark:99999/user-cat"] as const;
const GROUP = "ark:99999/group-lab";
const [A, B, C] = ["ark:99999/a", "ark:99999/b", "ark:99999/c"] as const;
const NOW = Date.UTC(2026, 10, 27);
const DAY = 86_400_000;
const LIMIT = { most: 10, decidedBefore: NOW - DAY };

export function accessRequestsConform({ store, reopen }: Setting): void {
  const world = async (): Promise<void> => {
    for (const user of [OWNER, BOB, CAT])
      await store().commit(
        commitOf([create(user, { kind: "user", name: user, owner: null })], {
          account: {
            op: "create",
            user,
            email: `${user}@example.org`,
            passwordHash: "$argon2id$x",
            admin: false,
          },
        }),
      );
    await write(
      store(),
      create(GROUP, { kind: "group", name: "Lab", links: [linkTo(BOB, "schema:member")] }),
      create(A),
      create(B, { owner: GROUP }),
      create(C, { owner: CAT }),
    );
  };
  let count = 0;
  const ask = async (
    record: string,
    requester: string = CAT,
    { at = NOW + ++count, limit = LIMIT }: { at?: number; limit?: typeof LIMIT } = {},
  ): Promise<string | undefined> => {
    const id = `00000000-0000-4000-8000-${String(++count).padStart(12, "0")}`;
    const request = { id, record, requester, reason: "Tö \u{1F9EC}\n\"read\" 'it'", askedAt: at };
    return (await store().askForAccess(request, limit)) ? id : undefined;
  };
  const decide = (
    id: string,
    state: AccessRequest["state"],
    { until = null, at = NOW }: { until?: number | null; at?: number } = {},
  ) =>
    store().decideAccess({
      id,
      state,
      until,
      message: "As agreed.",
      decidedAt: at,
      decidedBy: OWNER,
    });
  const recordsOf = async (query: Omit<AccessRequestQuery, "now">, now = NOW) => {
    const { items } = await store().accessRequests({ ...query, now, limit: 100 });
    expect(await store().countAccessRequests({ ...query, now })).toBe(items.length);
    return items.map(({ record }) => record);
  };

  describe("a request for access", () => {
    test("is stored with what was asked and decided, and is there after a restart", async () => {
      await world();
      const id = (await ask(A, CAT, { at: NOW }))!;
      const asked = {
        id,
        record: A,
        requester: CAT,
        reason: "Tö \u{1F9EC}\n\"read\" 'it'",
        state: "asked",
        askedAt: NOW,
        until: null,
        message: null,
        decidedAt: null,
        decidedBy: null,
      };
      expect(await store().accessRequest({ id })).toEqual(asked);
      expect(await store().accessGrants(CAT, [A])).toEqual([]);
      expect(await decide(id, "granted", { until: NOW + DAY })).toBe(true);
      await reopen();
      const granted = {
        ...asked,
        state: "granted",
        until: NOW + DAY,
        message: "As agreed.",
        decidedAt: NOW,
        decidedBy: OWNER,
      };
      expect(await store().accessRequest({ record: A, requester: CAT })).toEqual(granted);
      expect(await store().accessRequest({ id: "none" })).toBeUndefined();
      expect(await store().accessRequest({ record: "\0", requester: CAT })).toBeUndefined();
      expect(await decide("none", "granted")).toBe(false);
    });

    test("grants only what it is for, and only to the one who asked", async () => {
      await world();
      await decide((await ask(A))!, "granted");
      await decide((await ask(B))!, "granted", { until: NOW - 1 });
      await decide((await ask(C, BOB))!, "declined");
      const grants = await store().accessGrants(CAT, [A, B, C, "\0", "ark:99999/none"]);
      expect(grants.toSorted((a, b) => (a.record < b.record ? -1 : 1))).toEqual([
        { record: A, until: null },
        { record: B, until: NOW - 1 },
      ]);
      expect(await store().accessGrants(CAT, [B])).toEqual([{ record: B, until: NOW - 1 }]);
      expect(await store().accessGrants(BOB, [A, B, C])).toEqual([]);
      expect(await store().accessGrants(CAT, [])).toEqual([]);
    });

    test("is one for a record and a user, until it is decided and some time has passed", async () => {
      await world();
      const first = (await ask(A))!;
      expect(await ask(A)).toBeUndefined();
      expect(await ask(A, BOB)).toBeDefined();
      for (const state of ["declined", "revoked"] as const) {
        const id = (await store().accessRequest({ record: A, requester: CAT }))!.id;
        await decide(id, state, { at: LIMIT.decidedBefore + 1 });
        expect(await ask(A)).toBeUndefined();
        await decide(id, state, { at: LIMIT.decidedBefore });
        expect(await ask(A)).toBeDefined();
        expect(await store().accessRequest({ id })).toBeUndefined();
      }
      const { id } = (await store().accessRequest({ record: A, requester: CAT }))!;
      expect(id).not.toBe(first);
      for (const until of [null, NOW + 1]) {
        await decide(id, "granted", { until });
        expect(await ask(A, CAT, { at: NOW })).toBeUndefined();
      }
      await decide(id, "granted", { until: NOW });
      expect(await ask(A, CAT, { at: NOW })).toBeDefined();
      expect(await store().accessRequest({ record: A, requester: CAT })).toMatchObject({
        state: "asked",
        until: null,
        message: null,
        decidedBy: null,
      });
    });

    test("is refused to a user who has too many that are not decided", async () => {
      await world();
      const limit = { ...LIMIT, most: 2 };
      const first = (await ask(A, CAT, { limit }))!;
      // At the same time: one of them is stored.
      const both = await Promise.all([ask(B, CAT, { limit }), ask(C, CAT, { limit })]);
      expect(both.filter((id) => id !== undefined)).toHaveLength(1);
      await decide(first, "granted");
      expect(await ask(both[0] === undefined ? B : C, CAT, { limit })).toBeDefined();
      expect(await ask(A, BOB, { limit })).toBeDefined();
    });

    test("is listed for its record, its user, and those who act for the owner", async () => {
      await world();
      await ask(A);
      await ask(B);
      await ask(C, BOB);
      const as = (user: string) => ({ actingFor: { user: arkKey(user) } });
      expect(await recordsOf({ record: A })).toEqual([A]);
      expect(await recordsOf({ requester: CAT })).toEqual([B, A]);
      expect(await recordsOf({ requester: CAT, record: B })).toEqual([B]);
      expect(await recordsOf(as(OWNER))).toEqual([B, A]);
      expect(await recordsOf(as(BOB))).toEqual([B]);
      expect(await recordsOf(as(CAT))).toEqual([C]);
      expect(await recordsOf({ actingFor: { user: null } })).toEqual([]);
      expect(await recordsOf({ record: "\0" })).toEqual([]);
    });

    test("is listed by its state, which an expired grant leaves", async () => {
      await world();
      const of = (state: AccessRequestQuery["state"], now?: number) =>
        recordsOf({ requester: CAT, state }, now);
      await decide((await ask(A))!, "granted", { until: NOW + DAY });
      await decide((await ask(B))!, "declined");
      await ask(C);
      expect(await of(undefined)).toEqual([C, B, A]);
      expect(await of("asked")).toEqual([C]);
      expect(await of("declined")).toEqual([B]);
      expect(await of("revoked")).toEqual([]);
      expect([await of("granted"), await of("expired")]).toEqual([[A], []]);
      expect([await of("granted", NOW + DAY), await of("expired", NOW + DAY)]).toEqual([[], [A]]);
    });

    test("is on one page of several, the newest first, also of the same time", async () => {
      await world();
      const records = [A, B, C, GROUP, BOB];
      for (const record of records) await ask(record, CAT, { at: NOW });
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await store().accessRequests({ requester: CAT, now: NOW, after, limit: 2 });
        expect(page.positions).toHaveLength(page.items.length);
        found.push(...page.items.map(({ record }) => record));
        after = page.next;
      } while (after !== undefined);
      expect(found).toEqual(records.toReversed());
      for (const position of ["", "7", "7.", "x.y", "7.\0", `${"9".repeat(16)}.a`])
        await expect(async () =>
          store().accessRequests({ requester: CAT, now: NOW, after: position, limit: 2 }),
        ).rejects.toMatchObject({ code: "BAD_REQUEST" });
    });

    test("ends with its record, and with the account of its user", async () => {
      await world();
      for (const record of [A, B]) for (const user of [BOB, CAT]) await ask(record, user);
      await write(store(), remove(A, 1));
      expect(await recordsOf({ record: A })).toEqual([]);
      await store().commit(commitOf([remove(CAT, 1)], { account: { op: "delete", user: CAT } }));
      expect(await recordsOf({ requester: CAT })).toEqual([]);
      expect(await recordsOf({ record: B })).toEqual([B]);
      await expect(
        store().commit(commitOf([], { account: { op: "delete", user: "ark:99999/none" } })),
      ).rejects.toMatchObject({ code: "NOT_FOUND" });
      expect(await recordsOf({ requester: BOB })).toEqual([B]);
    });
  });
}
