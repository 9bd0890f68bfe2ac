import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashPassword } from "../../../src/services/accounts/passwords.js";
import { PASSWORD, startServer, type TestServer } from "../../support/server.js";

interface Refusal {
  detail: { loc: string[]; type: string; msg: string; ctx?: object }[];
}

let server: TestServer;
beforeAll(async () => void (server = await startServer()));
afterAll(() => server.stop());

let people = 0;
const create = (password: string, email = `person-${people++}@example.org`) =>
  server.request<Refusal>("POST", "/user", { json: { email, password } });
const refusal = ({ status, body }: { status: number; body: Refusal }) => [
  status,
  ...(body.detail ?? []).map(({ loc, type }) => `${loc.join(".")} ${type}`),
];

describe("a new password", () => {
  it.each(["x", "hunter2", "1234567", "äöüäöüä", "e\u0301".repeat(7)])(
    "is refused when it has fewer than eight characters: %s",
    async (password) => {
      const answer = await create(password);
      expect(refusal(answer)).toEqual([422, "body.password string_too_short"]);
      expect(answer.body.detail[0]).toMatchObject({
        ctx: { min_length: 8 },
        msg: expect.stringMatching(/at least 8 characters.*PASSWORD_MIN_LENGTH/),
      });
      expect(answer.text).not.toContain(password.length > 1 ? password : '"x"');
    },
  );
  it.each(["12345678", "password", "PASSWORD1", "Jennifer", "qwertyuiop", "ｐａｓｓｗｏｒｄ"])(
    "is refused when it is among the most used: %s",
    async (password) => {
      const answer = await create(password);
      expect(refusal(answer)).toEqual([422, "body.password value_error"]);
      expect(answer.body.detail[0]!.msg).toContain("10,000");
      expect(answer.body.detail[0]!.msg).not.toContain(
        password.length > 8 ? password : `"${password}"`,
      );
    },
  );
  it.each(["eight ch", "ä".repeat(8), " leading and trailing ", "🔑".repeat(8)])(
    "is accepted and never trimmed: %s",
    async (password) => {
      const email = `kept-${people++}@example.org`;
      expect((await create(password, email)).status).toBe(200);
      const token = (given: string) =>
        server.request("POST", "/token", { json: { username: email, password: given } });
      expect((await token(password)).status).toBe(200);
      if (password.trim() !== password) expect((await token(password.trim())).status).toBe(401);
    },
  );
  it("follows the same rules over GraphQL", async () => {
    const { body } = await server.graphql(
      "mutation ($input: UserInput!) { createUser(input: { user: $input }) { user { id } } }",
      { input: { email: "graph@example.org", password: "password" } },
    );
    expect(body.errors![0]!.extensions).toMatchObject({ code: "VALIDATION" });
  });
  it("is refused at login without computing a hash when it is longer than any stored one", async () => {
    const ada = await server.person("ada");
    expect(
      (
        await server.request("POST", "/token", {
          json: { username: ada.email, password: `${PASSWORD}${"x".repeat(10_000)}` },
        })
      ).status,
    ).toBe(401);
  });
});

describe("an account from before the rule", () => {
  it("logs in and can be changed with its short password, and accepts no other short one", async () => {
    const bob = await server.person("bob");
    const account = {
      op: "update" as const,
      user: bob.id,
      passwordHash: await hashPassword("p"),
      tokensValidFrom: 0,
    };
    await server.deps.records.commit({ by: null, at: Date.now(), records: [], account });
    const login = await server.request<{ access_token: string }>("POST", "/token", {
      json: { username: bob.email, password: "p" },
    });
    expect(login.status).toBe(200);
    const put = (password: string) =>
      server.request<Refusal>("PUT", "/user", {
        token: login.body.access_token,
        json: { "@id": bob.id, name: "Bob", email: bob.email, password },
      });
    expect((await put("p")).status).toBe(200);
    expect(refusal(await put("q"))).toEqual([422, "body.password string_too_short"]);
    expect(refusal(await put("12345678"))).toEqual([422, "body.password value_error"]);
    expect(
      (await server.request("POST", "/token", { json: { username: bob.email, password: "p" } }))
        .status,
    ).toBe(200);
  });
});

describe("an e-mail address", () => {
  const invisible = [
    ["a zero-width space", "\u200b"],
    ["a soft hyphen", "\u00ad"],
    ["a right-to-left mark", "\u200f"],
    ["a word joiner", "\u2060"],
    ["a byte order mark", "\ufeff"],
    ["a combining grapheme joiner", "\u034f"],
    ["a Hangul filler", "\u3164"],
    ["a variation selector", "\ufe0f"],
    ["a tag character", "\u{e0061}"],
    ["a control character", "\u0007"],
    ["an unassigned character", "\u0378"],
    ["a blank Braille pattern", "\u2800"],
  ] as const;
  it.each(invisible)("is refused with %s", async (_what, character) => {
    await create(PASSWORD, "victim@example.org");
    for (const email of [
      `vic${character}tim@example.org`,
      `${character}victim@example.org`,
      `victim@example.org${character}`,
    ]) {
      const answer = await create(PASSWORD, email);
      expect(refusal(answer)).toEqual([422, "body.email value_error"]);
      expect(answer.body.detail[0]!.msg).toContain(
        `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`,
      );
    }
  });
  it("is the same one in its compatibility forms and in any case", async () => {
    await create(PASSWORD, "wide@example.org");
    expect((await create(PASSWORD, "ＷＩＤＥ@Example.org")).status).toBe(409);
    expect((await create(PASSWORD, " wide@example.org ")).status).toBe(409);
  });
  it("from before the rule remains the account's", async () => {
    const cyd = await server.person("cyd");
    const email = "c\u200byd@example.org";
    await server.deps.records.commit({
      by: null,
      at: Date.now(),
      records: [],
      account: { op: "update", user: cyd.id, email },
    });
    const put = (to: string) =>
      server.request<Refusal>("PUT", "/user", {
        token: cyd.token,
        json: { "@id": cyd.id, name: "Cyd", email: to, password: PASSWORD },
      });
    expect((await put(email)).status).toBe(200);
    expect(refusal(await put("cy\u200bd@example.org"))).toEqual([422, "body.email value_error"]);
    expect((await put("cyd@example.org")).status).toBe(200);
  });
});
