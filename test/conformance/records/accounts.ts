import { describe, expect, test } from "vitest";
import type { Credential } from "../../../src/storage/records/port.js";
import { commitOf, create, OWNER, type Setting } from "./fixtures.js";
import { arkFrom } from "../../support/arks.js";

const account = {
  op: "create",
  user: OWNER,
  email: "ann@example.org",
  passwordHash: "$argon2id$x",
  admin: false,
} as const;
const user = (ark = OWNER): ReturnType<typeof create> => create(ark, { kind: "user", owner: null });

export function accountsConform({ store, reopen }: Setting): void {
  describe("an account", () => {
    test("is committed together with its record", async () => {
      await store().commit(commitOf([user()], { account }));
      expect(await store().accountByEmail("ann@example.org")).toEqual({
        user: OWNER,
        email: "ann@example.org",
        passwordHash: "$argon2id$x",
        admin: false,
        tokensValidFrom: 0,
        disabled: false,
        deleted: false,
      });
      const bob = "ark:99999/user-bob";
      await expect(
        store().commit(commitOf([user(bob)], { account: { ...account, user: bob } })),
      ).rejects.toMatchObject({ code: "EMAIL_TAKEN" });
      expect(await store().find(arkFrom(bob))).toBeUndefined();
      expect(await store().countAccounts()).toBe(1);
    });

    test("changes the given fields and leaves the rest", async () => {
      await store().commit(commitOf([user()], { account }));
      expect(await store().accountOf(OWNER)).toMatchObject({ admin: false, tokensValidFrom: 0 });
      await store().commit(
        commitOf([], { account: { op: "update", user: OWNER, tokensValidFrom: 5, admin: true } }),
      );
      expect(await store().accountOf(OWNER)).toMatchObject({
        email: "ann@example.org",
        admin: true,
        tokensValidFrom: 5,
      });
      await expect(
        store().commit(
          commitOf([], { account: { op: "update", user: "ark:99999/none", admin: true } }),
        ),
      ).rejects.toMatchObject({ code: "NOT_FOUND" });
      expect(await store().sequence()).toBe(1);
    });

    test("is disabled and enabled by a change that leaves the rest", async () => {
      await store().commit(commitOf([user()], { account }));
      for (const disabled of [true, false]) {
        await store().commit(commitOf([], { account: { op: "update", user: OWNER, disabled } }));
        const expected = { disabled, email: "ann@example.org", passwordHash: "$argon2id$x" };
        expect(await store().accountOf(OWNER)).toMatchObject(expected);
        expect(await store().accountByEmail("ann@example.org")).toMatchObject(expected);
      }
    });

    test("is listed with its last sign-in, the newest first, and not once it is deleted", async () => {
      const arks = ["a", "b", "c"].map((name) => `ark:99999/user-${name}`);
      for (const ark of arks)
        await store().commit(
          commitOf([user(ark)], {
            account: { ...account, user: ark, email: `${ark}@example.org` },
          }),
        );
      await store().noteSignIn(arks[1]!, 1_700_000_000_000);
      await store().commit(
        commitOf([], { account: { op: "update", user: arks[1]!, disabled: true, admin: true } }),
      );
      const first = await store().accounts({ limit: 2 });
      expect(first.items).toMatchObject([
        { user: arks[2], signedInAt: null, disabled: false, admin: false },
        { user: arks[1], signedInAt: 1_700_000_000_000, disabled: true, admin: true },
      ]);
      expect(first.items[1]).toMatchObject({ email: `${arks[1]}@example.org` });
      expect(first.items[1]!.createdAt).toBeGreaterThan(0);
      const second = await store().accounts({ limit: 2, after: first.next! });
      expect(second.items.map(({ user }) => user)).toEqual([arks[0]]);
      expect(second.next).toBeUndefined();
      await store().commit(commitOf([], { account: { op: "delete", user: arks[1]! } }));
      expect((await store().accounts({ limit: 9 })).items.map(({ user }) => user)).toEqual([
        arks[2],
        arks[0],
      ]);
      await expect(store().accounts({ limit: 9, after: "x" })).rejects.toMatchObject({
        code: "BAD_REQUEST",
      });
    });

    test("that is deleted has no private data left and frees its address", async () => {
      await store().commit(commitOf([user()], { account }));
      expect(await store().accountOf(OWNER)).toMatchObject({ deleted: false });
      await store().commit(commitOf([], { account: { op: "delete", user: OWNER } }));
      expect(await store().accountByEmail("ann@example.org")).toBeUndefined();
      expect(await store().accountOf(OWNER)).toMatchObject({
        deleted: true,
        email: "",
        passwordHash: "",
      });
      const bob = "ark:99999/user-bob";
      await store().commit(commitOf([user(bob)], { account: { ...account, user: bob } }));
      expect(await store().countAccounts()).toBe(1);
    });
  });

  test("an identity is linked with one account, until that unlinks it or is deleted", async () => {
    const identity = {
      issuer: "https://login.example",
      subject: "a\u{1F9EC}",
      user: OWNER,
      linkedAt: 5,
    };
    await store().commit(commitOf([user()], { account }));
    expect(await store().linkIdentity(identity)).toBe(true);
    const other = { ...identity, user: "ark:99999/user-eve", linkedAt: 6 };
    expect(await store().linkIdentity(other)).toBe(false);
    expect(await store().identity(identity.issuer, identity.subject)).toEqual(identity);
    expect(await store().identity(identity.issuer, "A\u{1F9EC}")).toBeUndefined();
    expect(await store().identitiesOf(OWNER)).toEqual([identity]);
    await store().unlinkIdentity(OWNER, "https://another.example");
    expect(await store().identitiesOf(OWNER)).toHaveLength(1);
    await store().unlinkIdentity(OWNER, identity.issuer);
    expect(await store().identitiesOf(OWNER)).toEqual([]);
    await store().linkIdentity(identity);
    const eve = other.user;
    const rival = { ...account, user: eve, email: "eve@example.org", identity };
    await expect(store().commit(commitOf([user(eve)], { account: rival }))).rejects.toMatchObject({
      code: "IDENTITY_TAKEN",
    });
    expect(await store().accountOf(eve)).toBeUndefined();
    expect(await store().find(arkFrom(eve))).toBeUndefined();
    await store().commit(commitOf([], { account: { op: "delete", user: OWNER } }));
    expect(await store().identity(identity.issuer, identity.subject)).toBeUndefined();
    await store().commit(commitOf([user(eve)], { account: rival }));
    expect(await store().identitiesOf(eve)).toEqual([{ ...identity, user: eve }]);
  });

  describe("a credential", () => {
    const credential = (more: Partial<Credential> = {}): Credential => ({
      hash: "a".repeat(64),
      id: "one",
      user: OWNER,
      purpose: "token",
      name: "my notebook",
      createdAt: 1_000,
      usedAt: null,
      expiresAt: 9_000,
      scopes: "read write",
      boundTo: "ark:99999/rocrate-one",
      ...more,
    });
    const LIMIT = { most: 2, replaces: false };
    const hashes = async (purpose: Credential["purpose"]) =>
      (await store().credentialsOf(OWNER, purpose)).map(({ hash }) => hash);
    const withAccount = () => store().commit(commitOf([user()], { account }));

    test("is read with its account, by its hash", async () => {
      await withAccount();
      expect(await store().storeCredential(credential(), LIMIT)).toBe(true);
      expect(await store().credential("a".repeat(64))).toEqual({
        credential: credential(),
        account: await store().accountOf(OWNER),
      });
      expect(await store().credential("b".repeat(64))).toBeUndefined();
      await reopen();
      expect(await store().credential("a".repeat(64))).toMatchObject({
        credential: { name: "my notebook" },
      });
    });

    test("notes its last use", async () => {
      await withAccount();
      await store().storeCredential(credential(), LIMIT);
      await store().useCredential("a".repeat(64), 2_000);
      await store().useCredential("b".repeat(64), 2_000);
      expect(await store().credentialsOf(OWNER, "token")).toEqual([credential({ usedAt: 2_000 })]);
    });

    test("is removed once, by its hash or by its id and account", async () => {
      await withAccount();
      await store().storeCredential(credential(), LIMIT);
      await store().storeCredential(credential({ hash: "b", id: "two", createdAt: 2_000 }), LIMIT);
      expect(await hashes("token")).toEqual(["b", "a".repeat(64)]);
      const two = { user: OWNER, purpose: "token", id: "two" } as const;
      expect(await store().removeCredential({ ...two, user: "ark:99999/other" })).toBe(false);
      expect(await store().removeCredential({ ...two, purpose: "session" })).toBe(false);
      const both = [1, 2].map(() => store().removeCredential({ hash: "a".repeat(64) }));
      expect((await Promise.all(both)).toSorted()).toEqual([false, true]);
      expect(await store().removeCredential(two)).toBe(true);
      expect(await store().removeCredential(two)).toBe(false);
      expect(await hashes("token")).toEqual([]);
    });

    test("past the limit of its purpose is refused, or replaces the oldest", async () => {
      await withAccount();
      const stored = await Promise.all(
        ["a", "b", "c", "d"].map((hash) => store().storeCredential(credential({ hash }), LIMIT)),
      );
      expect(stored.filter(Boolean)).toHaveLength(2);
      const sessions = { most: 2, replaces: true };
      for (const [at, hash] of ["s1", "s2", "s3"].entries())
        await store().storeCredential(
          credential({ hash, purpose: "session", name: null, createdAt: 1_000 + at }),
          sessions,
        );
      expect(await hashes("session")).toEqual(["s3", "s2"]);
      // One that has expired makes place.
      expect(
        await store().storeCredential(credential({ hash: "late", createdAt: 9_000 }), LIMIT),
      ).toBe(true);
      expect(await hashes("token")).toEqual(["late"]);
    });

    test("is deleted with its account, and only with that", async () => {
      await withAccount();
      const bob = "ark:99999/user-bob";
      await store().commit(
        commitOf([user(bob)], { account: { ...account, user: bob, email: "bob@example.org" } }),
      );
      await store().storeCredential(credential(), LIMIT);
      await store().storeCredential(credential({ hash: "b", user: bob }), LIMIT);
      await store().commit(commitOf([], { account: { op: "delete", user: OWNER } }));
      expect(await store().credential("a".repeat(64))).toBeUndefined();
      expect(await store().credential("b")).toMatchObject({ account: { user: bob } });
    });
  });

  test("a setting is consumed by one of several accounts that name it, and by none that fails", async () => {
    await store().setSetting("once", "v");
    const spends = { name: "once", value: "v" };
    const arks = ["a", "b", "c"].map((name) => `ark:99999/user-${name}`);
    await store().commit(commitOf([user()], { account }));
    await expect(
      store().commit(
        commitOf([user("ark:99999/user-d")], {
          account: { ...account, user: "ark:99999/user-d", spends },
        }),
      ),
    ).rejects.toMatchObject({ code: "EMAIL_TAKEN" });
    const ended = await Promise.allSettled(
      arks.map((ark) =>
        store().commit(
          commitOf([user(ark)], {
            account: { ...account, user: ark, email: `${ark}@x`, admin: true, spends },
          }),
        ),
      ),
    );
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(
      (await Promise.all(arks.map((ark) => store().find(arkFrom(ark))))).filter(
        (found) => found !== undefined,
      ),
    ).toHaveLength(1);
    await expect(
      store().commit(commitOf([], { account: { op: "update", user: OWNER, admin: true, spends } })),
    ).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await store().accountOf(OWNER)).toMatchObject({ admin: false });
  });

  test("a setting is stored, replaced, preserved where it exists, and removed", async () => {
    expect(await store().setting("n")).toBeUndefined();
    expect(await store().setSetting("n", "1", { ifAbsent: true })).toBe("1");
    expect(await store().setSetting("n", "2", { ifAbsent: true })).toBe("1");
    expect(await store().setSetting("n", "3")).toBe("3");
    expect(await (await reopen()).setting("n")).toBe("3");
    expect(await store().setSetting("n", null)).toBeUndefined();
    expect(await store().setting("n")).toBeUndefined();
  });
}
