import { describe, expect, test } from "vitest";
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
