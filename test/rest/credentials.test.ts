import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPasswordReset, resetPassword } from "../../src/services/administration/accounts.js";
import { createAccessToken } from "../../src/services/accounts/credentials.js";
import { arkFrom } from "../support/arks.js";
import { Browser } from "../support/browser.js";
import { PASSWORD, type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let root: Person;
let ada: Person;
beforeAll(async () => {
  server = await startServer({ MAX_ACCESS_TOKENS: "3" });
  root = await server.person("root", { admin: true });
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const DAY = 86_400_000;
const ask = (query: string, variables: object = {}, token = ada.token) =>
  server.graphql(query, variables, token);
const codeOf = ({ body }: Awaited<ReturnType<typeof ask>>) => body.errors?.[0]?.extensions.code;
const whoIs = async (token: string) => {
  const { status, body } = await server.request("GET", "/me", { token });
  return status === 200 ? body["@id"] : body["code"];
};

describe("an access token", () => {
  const make = async (name: string, token = ada.token) => {
    const { body } = await server.request<{ secret: string; token: { id: string } }>(
      "POST",
      "/me/tokens",
      { token, json: { name } },
    );
    return body;
  };

  it("has the rights of its owner until it is revoked, over both interfaces", async () => {
    const made = await ask(
      'mutation { createAccessToken(input: { name: "laptop", expiresAt: "2026-12-24" }) { secret accessToken { ' +
        "id name usedAt expiresAt } } }",
    );
    const { secret, accessToken: token } = made.body.data["createAccessToken"] as {
      secret: string;
      accessToken: { id: string };
    };
    expect(secret).toMatch(/^arkgraph_[\w-]{43}$/);
    expect(token).toMatchObject({ name: "laptop", usedAt: null });
    expect(await whoIs(secret)).toBe(ada.id);
    const listed = async () =>
      (await server.request<object[]>("GET", "/me/tokens", { token: ada.token })).body;
    await expect
      .poll(listed)
      .toMatchObject([{ id: token.id, name: "laptop", usedAt: expect.any(String) }]);
    expect((await ask("{ accessTokens { id } }")).body.data["accessTokens"]).toEqual([
      { id: token.id },
    ]);
    expect(JSON.stringify(await listed())).not.toContain(secret);
    // Nobody else can.
    const revoke =
      "mutation ($id: ID!) { revokeAccessToken(input: { id: $id }) { accessToken { name } } }";
    expect(codeOf(await ask(revoke, token, root.token))).toBe("NOT_FOUND");
    expect(await whoIs(secret)).toBe(ada.id);
    expect((await ask(revoke, token)).body.data).toEqual({
      revokeAccessToken: { accessToken: { name: "laptop" } },
    });
    expect(await whoIs(secret)).toBe("INVALID_TOKEN");
    expect(await listed()).toEqual([]);
  });

  it("ends at its time, and with a new password", async () => {
    const { deps } = server;
    const eve = await server.person("eve");
    const made = Date.now() - 40 * DAY;
    const until = new Date(made + DAY).toISOString();
    const old = await createAccessToken(deps, { name: "old", expiresAt: until }, eve.caller, made);
    expect(await whoIs(old.secret)).toBe("INVALID_TOKEN");
    const { secret } = await make("new", eve.token);
    expect(await whoIs(secret)).toBe(eve.id);
    await server.request("PUT", "/me/password", {
      token: eve.token,
      json: { currentPassword: PASSWORD, newPassword: "another fine phrase" },
    });
    expect(await whoIs(secret)).toBe("INVALID_TOKEN");
  });

  it("past the most of one account is refused, and one less makes place", async () => {
    const bob = await server.person("bob");
    const made = await Promise.all(["a", "b", "c"].map((name) => make(name, bob.token)));
    const fourth = await server.request("POST", "/me/tokens", {
      token: bob.token,
      json: { name: "d" },
    });
    expect([fourth.status, fourth.body["code"]]).toEqual([429, "TOO_MANY_REQUESTS"]);
    expect(fourth.text).toContain("MAX_ACCESS_TOKENS");
    const gone = await server.request("DELETE", `/me/tokens/${made[0]!.token.id}`, {
      token: bob.token,
    });
    expect(gone.body).toEqual({ revoked: made[0]!.token.id });
    expect((await make("d", bob.token)).secret).toMatch(/^arkgraph_/);
  });

  it.each([
    [{}, "name"],
    [{ name: " " }, "name"],
    [{ name: "x".repeat(101) }, "name"],
    [{ name: 7 }, "name"],
    [{ name: "x", expiresAt: "soon" }, "expiresAt"],
    [{ name: "x", expiresAt: "2020-01-01" }, "expiresAt"],
    [{ name: "x", expiresAt: "2199-01-01" }, "expiresAt"],
    [{ name: "x", expiresAt: 5 }, "expiresAt"],
  ])("asked for with %j is refused at the field", async (json, field) => {
    const { status, body } = await server.request<{ detail: { loc: string[] }[] }>(
      "POST",
      "/me/tokens",
      { token: ada.token, json },
    );
    expect([status, body.detail[0]!.loc]).toEqual([422, ["body", field]]);
  });

  it("needs a caller", async () => {
    for (const [method, path] of [
      ["GET", "/me/tokens"],
      ["POST", "/me/tokens"],
      ["DELETE", "/me/tokens/x"],
      ["PUT", "/me/password"],
    ] as const)
      expect((await server.request(method, path, { json: undefined })).status, path).toBe(401);
  });
});

describe("a new password", () => {
  it("is set by those who know the current one, and ends what was before", async () => {
    const kim = await server.person("kim");
    const browser = await Browser.signIn(server.url, kim);
    const change =
      "mutation ($c: String!, $n: String!) { changePassword(input: { currentPassword: $c, newPassword: $n }) { token { accessToken } } }";
    expect(codeOf(await ask(change, { c: "wrong", n: "another fine phrase" }, kim.token))).toBe(
      "BAD_CREDENTIALS",
    );
    expect(codeOf(await ask(change, { c: PASSWORD, n: "password1" }, kim.token))).toBe(
      "VALIDATION",
    );
    expect(await whoIs(kim.token)).toBe(kim.id);
    const changed = await ask(change, { c: PASSWORD, n: "another fine phrase" }, kim.token);
    const { token } = changed.body.data["changePassword"] as { token: { accessToken: string } };
    const { accessToken } = token;
    expect(await whoIs(kim.token)).toBe("INVALID_TOKEN");
    expect(await whoIs(accessToken)).toBe(kim.id);
    const { status } = await server.request("GET", "/me", { headers: { Cookie: browser.cookie } });
    expect(status).toBe(401);
    const again = { email: kim.email, password: "another fine phrase" };
    expect((await Browser.signIn(server.url, again)).csrf).toMatch(/^[\w-]{43}$/);
  });
});

describe("a password reset", () => {
  it("works once, ends what was before, and is stored by its hash", async () => {
    const jo = await server.person("jo");
    const made = await server.request<{ token: string; user: string }>(
      "POST",
      `/admin/password-reset/${jo.id}`,
      { token: root.token },
    );
    expect(made.body).toMatchObject({ user: jo.id, token: expect.stringMatching(/^[\w-]{43}$/) });
    const { token } = made.body;
    const stored = await server.deps.records.credentialsOf(jo.id, "reset");
    expect(JSON.stringify(stored)).not.toContain(token);
    const reset = (password: string) =>
      server.request("POST", "/password-reset", { json: { token, password } });
    expect((await reset("password1")).status).toBe(422);
    const answers = await Promise.all([reset("a fine new phrase"), reset("a fine new phrase")]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401]);
    expect((await reset("yet another phrase")).body["code"]).toBe("BAD_CREDENTIALS");
    expect(await whoIs(jo.token)).toBe("INVALID_TOKEN");
    const signed = await server.request("POST", "/token", {
      json: { username: jo.email, password: "a fine new phrase" },
    });
    expect(signed.status).toBe(200);
  });

  it("ends at its time, and when another is made", async () => {
    const { deps } = server;
    const lee = await server.person("lee");
    const late = await createPasswordReset(
      deps,
      arkFrom(lee.id),
      root.caller,
      Date.now() - deps.config.RESET_LIFETIME - 1,
    );
    const sent = { password: "a fine new phrase" };
    const refused = { code: "BAD_CREDENTIALS" };
    await expect(resetPassword(deps, { ...sent, token: late.token })).rejects.toMatchObject(
      refused,
    );
    const [first, second] = [
      await createPasswordReset(deps, arkFrom(lee.id), root.caller),
      await createPasswordReset(deps, arkFrom(lee.id), root.caller),
    ];
    await expect(resetPassword(deps, { ...sent, token: first.token })).rejects.toMatchObject(
      refused,
    );
    // It is no token, and no session.
    expect(await whoIs(second.token)).toBe("INVALID_TOKEN");
    expect(await resetPassword(deps, { ...sent, token: second.token })).toBe(lee.id);
  });

  it("is counted like a sign-in", async () => {
    const limited = await startServer({ LOGIN_RATE: "2" });
    try {
      const tries = [];
      for (let count = 0; count < 3; count++)
        tries.push(
          await limited.request("POST", "/password-reset", {
            json: { token: "x", password: "a fine new phrase" },
          }),
        );
      expect(tries.map(({ status }) => status)).toEqual([401, 401, 429]);
    } finally {
      await limited.stop();
    }
  });
});

describe("administration", () => {
  const SET =
    "mutation ($user: ID!, $admin: Boolean, $disabled: Boolean) { " +
    "updateAccount(input: { user: $user, admin: $admin, disabled: $disabled }) { account { id user { id } admin disabled } } }";

  it("is for administrators only, over both interfaces", async () => {
    const calls: [string, string, object?][] = [
      ["GET", "/admin/accounts"],
      ["GET", "/admin/figures"],
      ["PATCH", `/admin/accounts/${ada.id}`, { admin: true }],
      ["POST", `/admin/password-reset/${ada.id}`],
    ];
    for (const [method, path, json] of calls) {
      const sent = json === undefined ? {} : { json };
      expect(
        (await server.request(method, path, { ...sent, token: ada.token })).body,
      ).toMatchObject({ code: "FORBIDDEN" });
      expect((await server.request(method, path, sent)).status, path).toBe(401);
    }
    for (const query of [
      "{ accounts { nodes { email } } }",
      "{ registryFigures { accounts } }",
      `mutation { updateAccount(input: { user: "${ada.id}", admin: true }) { account { admin } } }`,
      `mutation { createPasswordReset(input: { user: "${ada.id}" }) { token } }`,
    ])
      expect(codeOf(await ask(query)), query).toBe("FORBIDDEN");
    expect(await server.deps.records.accountOf(ada.id)).toMatchObject({ admin: false });
  });

  it("lists all accounts in pages, with the last sign-in", async () => {
    await server.person("newest");
    const first = await ask(
      "{ accounts(first: 2) { totalCount nodes { id user { id } name email admin disabled createdAt signedInAt } " +
        "pageInfo { hasNextPage endCursor } } }",
      {},
      root.token,
    );
    const { totalCount, nodes, pageInfo } = first.body.data["accounts"] as {
      totalCount: number;
      nodes: { id: string }[];
      pageInfo: { endCursor: string; hasNextPage: boolean };
    };
    expect(nodes[0]).toMatchObject({
      user: { id: "ark:99999/user-newest" },
      name: "newest",
      email: "newest@example.org",
      admin: false,
      disabled: false,
      signedInAt: expect.stringMatching(/^20/),
    });
    expect(pageInfo.hasNextPage).toBe(true);
    expect(totalCount).toBe(await server.deps.records.countAccounts());
    const again = "query ($id: ID!) { node(id: $id) { id ... on Account { email } } }";
    const { id } = nodes[0]!;
    expect((await ask(again, { id }, root.token)).body.data["node"]).toEqual({
      id,
      email: "newest@example.org",
    });
    expect(codeOf(await ask(again, { id }))).toBe("FORBIDDEN");
    expect(
      (await ask(again, { id: "account:ark:99999/nobody" }, root.token)).body.data["node"],
    ).toBeNull();
    const rest = await server.request<{ user: string }[]>(
      "GET",
      `/admin/accounts?limit=2&cursor=${pageInfo.endCursor}`,
      { token: root.token },
    );
    expect(rest.body).toHaveLength(2);
    expect(rest.headers.get("link")).toMatch(/rel="next"/);
    expect(rest.body.map(({ user }) => user)).not.toContain("ark:99999/user-newest");
  });

  it("disables an account, whose tokens stay ended when it is enabled again", async () => {
    const max = await server.person("max");
    expect(await ask(SET, { user: max.id, disabled: true }, root.token)).toMatchObject({
      body: {
        data: {
          updateAccount: {
            account: {
              id: `account:${max.id}`,
              user: { id: max.id },
              admin: false,
              disabled: true,
            },
          },
        },
      },
    });
    expect(await whoIs(max.token)).toBe("INVALID_TOKEN");
    const signIn = () =>
      server.request("POST", "/token", { json: { username: max.email, password: PASSWORD } });
    expect((await signIn()).body).toMatchObject({ code: "FORBIDDEN" });
    const enabled = await server.request("PATCH", `/admin/accounts/${max.id}`, {
      token: root.token,
      json: { disabled: false },
    });
    expect(enabled.body).toEqual({ disabled: false });
    expect((await signIn()).status).toBe(200);
    expect(await whoIs(max.token)).toBe("INVALID_TOKEN");
  });

  it("gives and takes rights, but nobody locks themselves out", async () => {
    const pat = await server.person("pat");
    await ask(SET, { user: pat.id, admin: true }, root.token);
    expect(codeOf(await ask("{ registryFigures { accounts } }", {}, pat.token))).toBeUndefined();
    await ask(SET, { user: pat.id, admin: false }, root.token);
    expect(codeOf(await ask("{ registryFigures { accounts } }", {}, pat.token))).toBe("FORBIDDEN");
    for (const settings of [{ admin: false }, { disabled: true }])
      expect(codeOf(await ask(SET, { user: root.id, ...settings }, root.token))).toBe("FORBIDDEN");
    expect(codeOf(await ask(SET, { user: "ark:99999/none", admin: true }, root.token))).toBe(
      "NOT_FOUND",
    );
    const unknown = await server.request("PATCH", `/admin/accounts/${pat.id}`, {
      token: root.token,
      json: { role: "admin", admin: "yes" },
    });
    expect(unknown.status).toBe(422);
  });

  it("counts accounts, records and jobs", async () => {
    const { body } = await server.request("GET", "/admin/figures", { token: root.token });
    expect(body).toMatchObject({ queued: 0, running: 0, waitingSince: null });
    expect(body["accounts"]).toBe(await server.deps.records.countAccounts());
    expect(body["records"]).toBeGreaterThanOrEqual(body["accounts"] as number);
  });
});
