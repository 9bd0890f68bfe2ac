import { describe, expect, test } from "vitest";
import type { AuditEntry, AuditFilter, NewAuditEntry } from "../../../src/storage/records/port.js";
import { commitOf, create, OWNER, remove, replace, type Setting } from "./fixtures.js";

const A = "ark:99999/a";
const B = "ark:99999/b";
const account = {
  op: "create",
  user: OWNER,
  email: "ann@example.org",
  passwordHash: "$argon2id$x",
  admin: true,
} as const;
const user = create(OWNER, { kind: "user", owner: null });

const entry = (more: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  at: 1_700_000_000_000,
  action: "SIGNED_IN",
  actor: OWNER,
  name: null,
  address: "192.0.2.1",
  subject: null,
  detail: {},
  ...more,
});

export function auditConforms({ store, reopen }: Setting): void {
  const all = async (filter: AuditFilter = {}): Promise<AuditEntry[]> =>
    (await store().auditEntries({ filter, limit: 100 })).items;
  /** Oldest first, as [action, subject, detail]. */
  const acts = async (): Promise<unknown[]> =>
    (await all()).toReversed().map(({ action, subject, detail }) => [action, subject, detail]);
  const publish = (ark: string, ifRevision: number, status: "PUBLISHED" | "ARCHIVED" | "DRAFT") =>
    ({ op: "publish", ark, ifRevision, status, embargoedUntil: null }) as const;

  describe("the audit log", () => {
    test("has the entries that were appended, the newest first, in pages", async () => {
      const sent = [
        entry({ detail: { way: "password", times: 3, first: true } }),
        entry({ action: "SIGN_IN_REFUSED", actor: null, name: "ann\u0000 \ud800\u{1F9EC}" }),
        entry({ action: "TOKEN_CREATED", at: 1_700_000_000_009, subject: A, address: null }),
      ];
      for (const each of sent) await store().appendAudit(each);
      await reopen();
      const first = await store().auditEntries({ filter: {}, limit: 2 });
      expect(first.items).toMatchObject([sent[2]!, { ...sent[1]!, name: "ann  \ufffd\u{1F9EC}" }]);
      expect(first.next).toBe(String(first.items[1]!.number));
      const second = await store().auditEntries({ filter: {}, limit: 2, after: first.next! });
      expect(second).toEqual({ items: [{ ...sent[0], number: second.items[0]!.number }] });
      expect(second.items[0]!.number).toBeLessThan(first.items[1]!.number);
      await expect(
        store().auditEntries({ filter: {}, limit: 2, after: "x" }),
      ).rejects.toMatchObject({ code: "BAD_REQUEST" });
    });

    test("is filtered by each part of an entry, and counted", async () => {
      for (const [at, action, subject] of [
        [10, "SIGNED_IN", null],
        [20, "DELETED", A],
        [30, "DELETED", B],
      ] as const)
        await store().appendAudit(entry({ at, action, subject }));
      await store().appendAudit(entry({ at: 40, actor: null, action: "SIGN_IN_REFUSED" }));
      for (const [filter, times] of [
        [{}, [40, 30, 20, 10]],
        [{ action: "DELETED" }, [30, 20]],
        [{ actor: OWNER }, [30, 20, 10]],
        [{ subject: A }, [20]],
        [{ from: 20, to: 40 }, [30, 20]],
        [{ from: 20, action: "DELETED", actor: OWNER, subject: B }, [30]],
        [{ actor: "' OR 1=1 --\u0000" }, []],
      ] as const) {
        expect((await all(filter)).map(({ at }) => at)).toEqual(times);
        expect(await store().countAudit(filter)).toBe(times.length);
      }
    });

    test("loses its oldest entries, so many at a time", async () => {
      for (const at of [30, 10, 20, 40]) await store().appendAudit(entry({ at }));
      expect(await store().removeAudit(40, 2)).toBe(2);
      expect((await all()).map(({ at }) => at)).toEqual([40, 30]);
      expect(await store().removeAudit(40, 2)).toBe(1);
      expect(await store().removeAudit(40, 2)).toBe(0);
    });

    test("has who, when and from where of each act of a commit", async () => {
      await store().commit(commitOf([user], { account, by: OWNER, at: 77, from: "2001:db8::7" }));
      expect(await all()).toMatchObject([
        {
          at: 77,
          action: "ACCOUNT_CREATED",
          actor: OWNER,
          name: null,
          address: "2001:db8::7",
          subject: OWNER,
          detail: { admin: true },
        },
      ]);
    });

    test("has one entry for each act upon an account", async () => {
      const update = (more: object) =>
        store().commit(commitOf([], { account: { op: "update", user: OWNER, ...more } }));
      await store().commit(commitOf([user], { account }));
      await update({ tokensValidFrom: 5 });
      await update({ passwordHash: "$argon2id$y", tokensValidFrom: 6 });
      await update({ email: "ann@example.com" });
      await update({ admin: false });
      await update({ disabled: true });
      await update({ admin: true, disabled: false });
      await store().commit(
        commitOf([remove(OWNER, 1)], { account: { op: "delete", user: OWNER } }),
      );
      expect(await acts()).toEqual([
        ["ACCOUNT_CREATED", OWNER, { admin: true }],
        ["PASSWORD_CHANGED", OWNER, {}],
        ["EMAIL_CHANGED", OWNER, {}],
        ["ADMIN_REMOVED", OWNER, {}],
        ["ACCOUNT_DISABLED", OWNER, {}],
        ["ADMIN_GRANTED", OWNER, {}],
        ["ACCOUNT_ENABLED", OWNER, {}],
        ["DELETED", OWNER, {}],
      ]);
    });

    test("has one entry for each act upon records, and none where nothing changed", async () => {
      await store().commit(commitOf([create(A), create(B, { kind: "group" })]));
      await store().commit(commitOf([replace(A, 1)]));
      expect(await acts()).toEqual([]);
      const owner = "ark:99999/user-eve";
      await store().commit(commitOf([replace(A, 2, { owner }, { changed: ["/owner"] })]));
      await store().commit(
        commitOf([replace(B, 1, { kind: "group" }, { changed: ["/members/1", "/name"] })]),
      );
      await store().commit(commitOf([replace(A, 3, { owner }, { dropObjects: true })]));
      await store().commit(commitOf([publish(A, 4, "PUBLISHED")]));
      await store().commit(commitOf([publish(A, 5, "PUBLISHED")]));
      await store().commit(commitOf([publish(A, 5, "ARCHIVED")]));
      await store().commit(commitOf([publish(A, 6, "DRAFT")]));
      await store().commit(commitOf([remove(A, 7)]));
      expect(await acts()).toEqual([
        ["OWNER_CHANGED", A, { owner }],
        ["MEMBERS_CHANGED", B, { revision: 2 }],
        ["CONTENT_DELETED", A, {}],
        ["PUBLISHED", A, { status: "PUBLISHED" }],
        ["WITHDRAWN", A, { status: "ARCHIVED" }],
        ["WITHDRAWN", A, { status: "DRAFT" }],
        ["DELETED", A, {}],
      ]);
    });

    test("has one entry for an act upon a crate and its members", async () => {
      const crate = "ark:99999/rocrate-x";
      await store().commit(
        commitOf([create(crate, { kind: "rocrate" }), create(A), create(B)], {
          uses: { crate, arks: [] },
        }),
      );
      await store().commit(commitOf([crate, A, B].map((ark) => publish(ark, 1, "PUBLISHED"))));
      await store().commit(commitOf([remove(A, 2), remove(B, 2)], { uses: { crate, arks: [] } }));
      expect(await acts()).toEqual([
        ["PUBLISHED", crate, { status: "PUBLISHED", records: 3 }],
        ["DELETED", A, { records: 2, crate }],
      ]);
    });

    test("has no entry of a commit that was refused", async () => {
      await store().commit(commitOf([create(A)]));
      const all = [
        store().commit(commitOf([publish(A, 9, "PUBLISHED")])),
        store().commit(commitOf([publish(A, 1, "PUBLISHED")])),
        store().commit(commitOf([remove("ark:99999/none", 1)])),
      ];
      await Promise.allSettled(all);
      expect(await acts()).toEqual([["PUBLISHED", A, { status: "PUBLISHED" }]]);
    });
  });
}
