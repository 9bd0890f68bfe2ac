import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { issueToken } from "../../src/services/accounts/tokens.js";
import { Browser } from "../support/browser.js";
import { PASSWORD, type Person, startServer, type TestServer } from "../support/server.js";

// One rule for every way to write an account: REST, GraphQL and the page.

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const NEW = "another fine phrase";
interface Sent {
  password: string;
  currentPassword?: string;
}
interface Outcome {
  status: number;
  code: string;
}
type Way = (person: Person, token: string, sent: Sent) => Promise<Outcome>;

/** A refusal has the same code in REST and GraphQL. */
async function rest(
  method: string,
  path: string,
  token: string,
  json: unknown,
  type = "application/json",
): Promise<Outcome> {
  const { status, body } = await server.request(method, path, {
    token,
    headers: { "Content-Type": type },
    body: JSON.stringify(json),
  });
  return { status, code: String(body["code"] ?? (status === 422 ? "VALIDATION" : "")) };
}
async function graphql(query: string, variables: object, token: string): Promise<Outcome> {
  const { status, body } = await server.graphql(query, variables, token);
  return { status, code: body.errors?.[0]?.extensions.code ?? "" };
}

const WAYS: Readonly<Record<string, Way>> = {
  "PUT /user": ({ id, email }, token, sent) =>
    rest("PUT", "/user", token, { "@id": id, name: "Ada", email, ...sent }),
  "PATCH /ark:…": ({ id }, token, sent) =>
    rest("PATCH", `/${id}`, token, sent, "application/merge-patch+json"),
  "PATCH /user/ark:… with a merge patch": ({ id }, token, sent) =>
    rest("PATCH", `/user/${id}`, token, sent, "application/merge-patch+json"),
  "PATCH /user/ark:… with a JSON patch": ({ id }, token, sent) =>
    rest(
      "PATCH",
      `/user/${id}`,
      token,
      Object.entries(sent).map(([name, value]) => ({ op: "add", path: `/${name}`, value })),
      "application/json-patch+json",
    ),
  updateUser: ({ id }, token, patch) =>
    graphql(
      "mutation ($id: ID!, $patch: UserPatch!) { updateUser(input: {id: $id, patch: $patch}) { revision } }",
      { id, patch },
      token,
    ),
  replaceUser: ({ id, email }, token, sent) =>
    graphql(
      "mutation ($id: ID!, $user: UserInput!) { replaceUser(input: { id: $id, user: $user }) { revision } }",
      { id, user: { name: "Ada", email, ...sent } },
      token,
    ),
};

const signsIn = async ({ email }: Person, password: string): Promise<boolean> =>
  (
    await server.request("POST", "/token", {
      body: new URLSearchParams({ username: email, password }),
    })
  ).status === 200;

let people = 0;
async function somebody(): Promise<{ person: Person; accessToken: string }> {
  const person = await server.person(`somebody-${++people}`);
  const { body } = await server.request<{ secret: string }>("POST", "/me/tokens", {
    token: person.token,
    json: { name: "a program" },
  });
  return { person, accessToken: body.secret };
}

describe.each(Object.entries(WAYS))("%s", (_name, way) => {
  it("leaves the password with the current one, by an access token too", async () => {
    const { person, accessToken } = await somebody();
    for (const token of [accessToken, person.token])
      expect(await way(person, token, { password: PASSWORD })).toEqual({ status: 200, code: "" });
    expect(await signsIn(person, PASSWORD)).toBe(true);
  });

  it("refuses another password by an access token, with the current one too", async () => {
    const { person, accessToken } = await somebody();
    for (const sent of [{ password: NEW }, { password: NEW, currentPassword: PASSWORD }])
      expect((await way(person, accessToken, sent)).code).toBe("FORBIDDEN");
    expect([await signsIn(person, PASSWORD), await signsIn(person, NEW)]).toEqual([true, false]);
  });

  it("replaces the password by a sign-in with the current one only", async () => {
    const { person, accessToken } = await somebody();
    expect((await way(person, person.token, { password: NEW })).code).toBe("VALIDATION");
    const wrong = { password: NEW, currentPassword: "not the current one" };
    expect((await way(person, person.token, wrong)).code).toBe("BAD_CREDENTIALS");
    expect(await signsIn(person, PASSWORD)).toBe(true);
    const right = { password: NEW, currentPassword: PASSWORD };
    expect(await way(person, person.token, right)).toEqual({ status: 200, code: "" });
    expect([await signsIn(person, PASSWORD), await signsIn(person, NEW)]).toEqual([false, true]);
    for (const token of [person.token, accessToken])
      expect((await server.request("GET", "/me", { token })).status).toBe(401);
  });
});

describe("an access token", () => {
  it("makes no tokens and sets no password", async () => {
    const { person, accessToken } = await somebody();
    const asked: Record<string, Outcome> = {
      "POST /me/tokens": await rest("POST", "/me/tokens", accessToken, { name: "another" }),
      "PUT /me/password": await rest("PUT", "/me/password", accessToken, {
        currentPassword: PASSWORD,
        newPassword: NEW,
      }),
      createAccessToken: await graphql(
        'mutation { createAccessToken(input: { name: "another" }) { secret } }',
        {},
        accessToken,
      ),
      changePassword: await graphql(
        "mutation ($c: String!, $n: String!) { changePassword(input: { currentPassword: $c, newPassword: $n }) { token { tokenType } } }",
        { c: PASSWORD, n: NEW },
        accessToken,
      ),
    };
    expect(Object.values(asked).map(({ code }) => code)).toEqual(Array(4).fill("FORBIDDEN"));
    expect(await signsIn(person, PASSWORD)).toBe(true);
  });

  it("of an administrator makes no token to reset a password", async () => {
    const root = await server.person("root", { admin: true });
    const { body } = await server.request<{ secret: string }>("POST", "/me/tokens", {
      token: root.token,
      json: { name: "a program" },
    });
    const reset = (token: string) =>
      rest("POST", `/admin/password-reset/${root.id}`, token, undefined);
    expect((await reset(body.secret)).code).toBe("FORBIDDEN");
    expect((await reset(root.token)).status).toBe(200);
  });
});

describe("the page of the profile", () => {
  it("changes the password with the current one only", async () => {
    const { person } = await somebody();
    const browser = await Browser.signIn(server.url, person);
    const send = (current: string) =>
      server.request("POST", "/my/profile", {
        headers: { ...browser.headers, Accept: "text/html" },
        redirect: "manual",
        body: new URLSearchParams({
          csrf: browser.csrf,
          action: "password",
          current,
          password: NEW,
        }),
      });
    expect((await send("not the current one")).status).toBe(422);
    expect(await signsIn(person, PASSWORD)).toBe(true);
    expect((await send(PASSWORD)).status).toBe(303);
    expect(await signsIn(person, NEW)).toBe(true);
  });
});

describe("a token that a node with a faster clock issued", () => {
  it("ends with a new password", async () => {
    const { person } = await somebody();
    const account = (await server.deps.records.accountOf(person.id))!;
    const ahead = Date.now() + 60_000;
    const { access_token: token } = issueToken(server.deps, account, null, ahead);
    const session = await Browser.signIn(server.url, person);
    expect((await server.request("GET", "/me", { token })).status).toBe(200);
    await rest("PUT", "/me/password", person.token, {
      currentPassword: PASSWORD,
      newPassword: NEW,
    });
    expect((await server.request("GET", "/me", { token })).status).toBe(401);
    expect(
      (await server.request("GET", "/session", { headers: session.headers })).body["user"],
    ).toBeNull();
  });
});

describe("guesses of the administrator's token", () => {
  it("count together, whichever way they come", async () => {
    const guarded = await startServer({ LOGIN_RATE: "6", SIGNUP_RATE: "off" });
    try {
      const eve = await guarded.person("eve");
      const guess = { adminToken: "a guess" };
      const account = (): object => ({
        name: "Eve",
        email: `eve-${++people}@example.org`,
        password: PASSWORD,
      });
      const put = { "@id": eve.id, name: "Eve", email: eve.email, password: PASSWORD };
      const send = (method: string, path: string, json: object, token?: string) =>
        guarded
          .request(method, path, {
            ...(token === undefined ? {} : { token }),
            headers: {
              "Content-Type":
                method === "PATCH" ? "application/merge-patch+json" : "application/json",
            },
            body: JSON.stringify(json),
          })
          .then(({ body }) => String(body["code"]));
      const query = (document: string, variables: object, token?: string) =>
        guarded
          .graphql(document, variables, token)
          .then(({ body }) => body.errors?.[0]?.extensions.code);
      const guesses = [
        () => send("POST", "/user", { ...account(), ...guess }),
        () => send("POST", "/user", { ...account(), ...guess }, eve.token),
        () => send("PATCH", `/user/${eve.id}`, guess, eve.token),
        () => send("PUT", "/user", { ...put, ...guess }, eve.token),
        () =>
          query("mutation ($i: UserInput!) { createUser(input: { user: $i }) { revision } }", {
            i: { ...account(), ...guess },
          }),
        () =>
          query(
            "mutation ($i: UpdateUserInput!) { updateUser(input: $i) { revision } }",
            { i: { id: eve.id, patch: guess } },
            eve.token,
          ),
      ];
      for (const next of guesses) expect(await next()).toBe("FORBIDDEN");
      for (const next of guesses) expect(await next()).toBe("TOO_MANY_REQUESTS");
    } finally {
      await guarded.stop();
    }
  });
});
