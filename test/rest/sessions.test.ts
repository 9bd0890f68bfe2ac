import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { Authenticator } from "../../src/services/accounts/tokens.js";
import { hashOf } from "../../src/services/accounts/credentials.js";
import { createSession, verifySession } from "../../src/services/accounts/sessions.js";
import { bodyOf } from "../support/bodies.js";
import { Browser } from "../support/browser.js";
import { PASSWORD, type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
let page: Browser;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  page = await Browser.signIn(server.url, ada);
});
afterAll(() => server.stop());

const CREDENTIALS = { username: "ada@example.org", password: PASSWORD };
const signIn = (headers: Record<string, string>, json: object = CREDENTIALS, to = server) =>
  to.request("POST", "/session", { json, headers });
const dataset = () => bodyOf("dataset", ada.id);
const ME = "{ me { id } }";
const createdBy = (headers: Record<string, string>) =>
  server.request("POST", "/dataset", { json: dataset(), headers });
const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(page.headers).filter(([name]) => !names.includes(name)));

describe("a browser", () => {
  it("that signs in gets a cookie that scripts cannot read, and a CSRF token", async () => {
    const { status, headers, body } = await signIn({ Origin: server.url });
    expect(status).toBe(200);
    const [cookie, ...more] = headers.getSetCookie();
    expect(more).toEqual([]);
    expect(cookie).toMatch(
      /^arkgraph=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/,
    );
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body).toMatchObject({ user: ada.id, name: "ada", admin: false });
    expect(body["csrf"]).toMatch(/^[\w-]{43}$/);
    expect(Date.parse(body["expiresAt"] as string)).toBeGreaterThan(Date.now() + 86_400_000);
  });

  it("behind TLS gets a cookie for https and this host only", async () => {
    const origin = "https://registry.example.org";
    const other = await startServer({ BASE_URL: origin });
    try {
      const eve = await other.person("eve");
      expect((await signIn({ Origin: other.url }, CREDENTIALS, other)).status).toBe(403);
      const credentials = { username: eve.email, password: PASSWORD };
      const { headers } = await signIn({ Origin: origin }, credentials, other);
      expect(headers.getSetCookie()[0]).toMatch(
        /^__Host-arkgraph=[\w-]{43}; Path=\/; .*; HttpOnly; SameSite=Lax; Secure$/,
      );
      const browser = await Browser.signIn(other.url, eve, origin);
      const asked = await other.request("POST", "/graphql", {
        json: { query: ME },
        headers: browser.headers,
      });
      expect(asked.body["data"]).toEqual({ me: { id: eve.id } });
      // The name without the prefix could be set by a page of another host.
      const tossed = browser.cookie.replace("__Host-", "");
      expect((await other.request("GET", "/me", { headers: { Cookie: tossed } })).status).toBe(401);
    } finally {
      await other.stop();
    }
  });

  it.each([
    ["of another site", { Origin: "https://evil.example" }],
    ["of another port", { Origin: "http://127.0.0.1:1" }],
    ["without an origin", { Origin: "null" }],
    ["that says so itself only", { Referer: "http://127.0.0.1/" }],
    ["on another host of the site", { "Sec-Fetch-Site": "same-site" }],
  ])("cannot be signed in by a page %s", async (_page, headers) => {
    const { status, body, headers: answered } = await signIn(headers);
    expect([status, body["code"]]).toEqual([403, "CSRF_REFUSED"]);
    expect(answered.getSetCookie()).toEqual([]);
  });

  it("with a wrong password gets no cookie", async () => {
    const { status, body, headers } = await signIn(
      { Origin: server.url },
      { ...CREDENTIALS, password: "wrong" },
    );
    expect([status, body["code"]]).toEqual([401, "BAD_CREDENTIALS"]);
    expect(headers.getSetCookie()).toEqual([]);
  });

  it("reads who is signed in, and nobody without a session", async () => {
    const signed = await server.request("GET", "/session", { headers: { Cookie: page.cookie } });
    expect(signed.body).toMatchObject({ user: ada.id, csrf: page.csrf });
    const nobody = { user: null, name: null, admin: false, csrf: null, expiresAt: null };
    expect((await server.request("GET", "/session")).body).toEqual(nobody);
    const ended = { Cookie: `arkgraph=${"x".repeat(43)}` };
    expect((await server.request("GET", "/session", { headers: ended })).body).toEqual(nobody);
  });

  it("downloads an unpublished file by its address alone", async () => {
    const form = new FormData();
    form.set(
      "download",
      JSON.stringify(bodyOf("datadownload", ada.id, { sha256: null, contentSize: null })),
    );
    form.set("file", new Blob(["draft bytes"]), "draft.txt");
    const registered = await server.request("POST", "/register", {
      body: form,
      headers: page.headers,
    });
    expect(registered.status).toBe(200);
    const path = `/datadownload/${registered.body["@id"] as string}/download`;
    const cross = { Cookie: page.cookie, "Sec-Fetch-Site": "cross-site" };
    // A link on another site leads here with the cookie; that page cannot read the answer.
    for (const headers of [{ Cookie: page.cookie }, cross]) {
      const answer = await server.request("GET", path, { headers });
      expect([answer.status, answer.text]).toEqual([200, "draft bytes"]);
      expect(answer.headers.get("cache-control")).toMatch(/private|no-store/);
      expect(answer.headers.get("vary")).toMatch(/\bCookie\b/);
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    }
    expect((await server.request("GET", path)).status).toBe(401);
  });
});

describe("a request that changes something", () => {
  const refused = async (headers: Record<string, string>) => {
    const { status, body } = await createdBy(headers);
    return [status, body["code"]];
  };

  it("is accepted from a page of the registry with the session's token", async () => {
    expect((await createdBy(page.headers)).status).toBe(200);
    expect((await createdBy(without("Origin"))).status).toBe(200);
    expect((await createdBy(without("Sec-Fetch-Site"))).status).toBe(200);
  });

  it("is refused from elsewhere, without the token, and with another's", async () => {
    const other = await Browser.signIn(server.url, ada);
    const evil = "https://evil.example";
    const all = await Promise.all([
      refused(without("X-CSRF-Token")),
      refused({ ...page.headers, "X-CSRF-Token": other.csrf }),
      refused({ ...page.headers, "X-CSRF-Token": `${page.csrf}x` }),
      refused({ ...page.headers, "X-CSRF-Token": "é".repeat(43) }),
      refused(without("Origin", "Sec-Fetch-Site")),
      refused({ ...page.headers, Origin: evil, "Sec-Fetch-Site": "cross-site" }),
      refused({ ...page.headers, Origin: evil, "Sec-Fetch-Site": "same-site" }),
    ]);
    expect(all).toEqual(all.map(() => [403, "CSRF_REFUSED"]));
  });

  it("is refused alike over GraphQL, as JSON and as a form with a file", async () => {
    const json = { query: ME };
    const asked = await server.request("POST", "/graphql", {
      json,
      headers: without("X-CSRF-Token"),
    });
    expect([asked.status, asked.body["errors"]]).toMatchObject([
      403,
      [{ extensions: { code: "CSRF_REFUSED", apolloCode: "FORBIDDEN" } }],
    ]);
    const form = () => {
      const body = new FormData();
      const query =
        "mutation ($file: Upload!) { planCrate(input: { source: { archive: $file } }) { plan { conforms } } }";
      body.set("operations", JSON.stringify({ query, variables: { file: null } }));
      body.set("map", '{"0":["variables.file"]}');
      body.set("0", new Blob(["no zip"]), "crate.zip");
      return body;
    };
    const preflight = { "apollo-require-preflight": "1" };
    const plan = (headers: Record<string, string>) =>
      server.request("POST", "/graphql", { body: form(), headers: { ...headers, ...preflight } });
    expect((await plan(without("X-CSRF-Token"))).status).toBe(403);
    expect((await plan(page.headers)).body["data"]).toEqual({
      planCrate: { plan: { conforms: false } },
    });
  });

  it("with a session that has ended is one of an anonymous caller", async () => {
    const ended = { Cookie: `arkgraph=${"x".repeat(43)}` };
    expect(await refused(ended)).toEqual([401, "NOT_AUTHENTICATED"]);
    const asked = await server.request("POST", "/graphql", { json: { query: ME }, headers: ended });
    expect(asked.body["data"]).toEqual({ me: null });
  });

  it("with a token needs nothing else: the token counts, not the cookie", async () => {
    const bob = await server.person("bob");
    const asked = await server.request("POST", "/graphql", {
      json: { query: ME },
      token: bob.token,
      headers: { Cookie: page.cookie, Origin: "https://app.example" },
    });
    expect(asked.body["data"]).toEqual({ me: { id: bob.id } });
    const wrong = await server.request("GET", "/me", {
      token: "wrong",
      headers: { Cookie: page.cookie },
    });
    expect(wrong.body["code"]).toBe("INVALID_TOKEN");
  });

  it("takes the token of a form's field as well", async () => {
    const authenticator = new Authenticator(server.deps);
    const sent = {
      authorization: undefined,
      session: page.cookie.split("=")[1],
      isFromOwnPage: true,
      needs: "csrf",
      review: undefined,
      address: () => "",
    } as const;
    expect(await authenticator.caller({ ...sent, csrf: page.csrf })).toEqual(ada.caller);
    await expect(authenticator.caller({ ...sent, csrf: undefined })).rejects.toMatchObject({
      code: "CSRF_REFUSED",
    });
  });
});

describe("streams", () => {
  const overSocket = (headers: Record<string, string>, token?: string) =>
    new Promise<unknown>((resolve) => {
      const client = createClient({
        url: `${server.url.replace("http", "ws")}/graphql`,
        webSocketImpl: class extends WebSocket {
          constructor(address: string, protocols: string) {
            super(address, protocols, { headers });
          }
        },
        retryAttempts: 0,
        ...(token === undefined ? {} : { connectionParams: { Authorization: `Bearer ${token}` } }),
      });
      client.subscribe(
        { query: ME },
        {
          next: ({ data }) => resolve(data),
          error: (error) => resolve((error as { code?: number }).code ?? error),
          complete: () => void client.dispose(),
        },
      );
    });

  it("over a WebSocket have the session of a page of the registry only", async () => {
    const me = { me: { id: ada.id } };
    expect(await overSocket({ Cookie: page.cookie, Origin: server.url })).toEqual(me);
    expect(await overSocket({ Cookie: page.cookie, Origin: "https://evil.example" })).toBe(4403);
    expect(await overSocket({ Cookie: page.cookie })).toBe(4403);
    const foreign = { Cookie: page.cookie, Origin: "https://app.example" };
    expect(await overSocket(foreign, ada.token)).toEqual(me);
    expect(await overSocket({ Origin: "https://app.example" })).toEqual({ me: null });
  });

  it("of server-sent events have the session, and POST its CSRF token", async () => {
    const events = async (init: RequestInit) => {
      const path = init.method === "POST" ? "" : `?query=${encodeURIComponent(ME)}`;
      const answer = await fetch(`${server.url}/graphql/stream${path}`, init);
      return [answer.status, await answer.text()];
    };
    const [status, text] = await events({ headers: { Cookie: page.cookie } });
    expect([status, text]).toEqual([200, expect.stringContaining(ada.id)]);
    const body = JSON.stringify({ query: ME });
    const json = { "Content-Type": "application/json" };
    const post = { method: "POST", body };
    expect(await events({ ...post, headers: { ...json, ...page.headers } })).toEqual([
      200,
      expect.stringContaining(ada.id),
    ]);
    expect((await events({ ...post, headers: { ...json, Cookie: page.cookie } }))[0]).toBe(403);
  });
});

describe("a session", () => {
  const isSignedIn = async ({ cookie }: Browser) =>
    (await server.request("GET", "/me", { headers: { Cookie: cookie } })).status === 200;
  const secretOf = ({ cookie }: Browser) => cookie.split("=")[1]!;

  it("ends with a sign-out, everywhere, and only from a page of the registry", async () => {
    const [one, other] = [
      await Browser.signIn(server.url, ada),
      await Browser.signIn(server.url, ada),
    ];
    const foreign = await server.request("DELETE", "/session", { headers: { Cookie: one.cookie } });
    expect(foreign.status).toBe(403);
    expect(await isSignedIn(one)).toBe(true);
    const out = await server.request("DELETE", "/session", { headers: one.headers });
    expect(out.headers.getSetCookie()[0]).toMatch(/^arkgraph=; Path=\/; Max-Age=0;/);
    expect([await isSignedIn(one), await isSignedIn(other)]).toEqual([false, true]);
  });

  it("is replaced when the same browser signs in again", async () => {
    const before = await Browser.signIn(server.url, ada);
    const { headers } = await signIn(before.headers);
    expect(headers.getSetCookie()).toHaveLength(1);
    expect(await isSignedIn(before)).toBe(false);
  });

  it("ends with a new password, with the account's lock, and with its deletion", async () => {
    for (const end of ["password", "disabled", "deleted"]) {
      const jo = await server.person(`jo-${end}`);
      const browser = await Browser.signIn(server.url, jo);
      expect(await isSignedIn(browser)).toBe(true);
      const { email, id } = jo;
      if (end === "password")
        await server.request("PUT", "/user", {
          token: jo.token,
          json: {
            "@id": id,
            name: "jo",
            email,
            password: "another fine phrase",
            currentPassword: jo.password,
          },
        });
      else if (end === "disabled")
        await server.deps.records.commit({
          by: null,
          at: Date.now(),
          records: [],
          account: { op: "update", user: id, disabled: true },
        });
      else await server.request("DELETE", `/user/${id}`, { token: jo.token });
      expect(await isSignedIn(browser), end).toBe(false);
      expect((await server.request("GET", "/me", { token: jo.token })).status, end).toBe(401);
    }
    const locked = { username: "jo-disabled@example.org", password: PASSWORD };
    expect((await signIn({ Origin: server.url }, locked)).body).toMatchObject({
      code: "FORBIDDEN",
      detail: expect.stringContaining("disabled"),
    });
  });

  it("ends after its time without a request, and at last after its whole time", async () => {
    const { deps } = server;
    const { SESSION_IDLE_TIME: idle, SESSION_LIFETIME: lifetime } = deps.config;
    const now = Date.now();
    const { secret } = await createSession(deps, ada.caller, now);
    const isAlive = async (time: number) =>
      (await verifySession(deps, secret, now + time)) !== undefined;
    const noted = async () =>
      ((await deps.records.credential(hashOf(secret)))!.credential.usedAt ?? now) - now;
    expect(await isAlive(idle)).toBe(false);
    // Each use counts as soon as it is noted.
    let time = 0;
    while (time + idle - 1 < lifetime) {
      time += idle - 1;
      expect(await isAlive(time)).toBe(true);
      await expect.poll(noted).toBe(time);
      expect(await isAlive(time + idle)).toBe(false);
    }
    // However lately it was used.
    expect([await isAlive(lifetime - 1), await isAlive(lifetime)]).toEqual([true, false]);
  });

  it("past the most of one account ends the oldest", async () => {
    const { deps } = server;
    const eve = await server.person("eve");
    const browsers: Browser[] = [];
    for (let count = 0; count <= deps.config.MAX_SESSIONS; count++)
      browsers.push(await Browser.signIn(server.url, eve));
    expect(await isSignedIn(browsers[0]!)).toBe(false);
    expect(await isSignedIn(browsers[1]!)).toBe(true);
    expect(await isSignedIn(browsers.at(-1)!)).toBe(true);
    expect(await deps.records.credentialsOf(eve.id, "session")).toHaveLength(
      deps.config.MAX_SESSIONS,
    );
  });

  it("is stored by its hash: what the store has opens none", async () => {
    const browser = await Browser.signIn(server.url, ada);
    const stored = await server.deps.records.credentialsOf(ada.id, "session");
    expect(JSON.stringify(stored)).not.toContain(secretOf(browser));
    for (const { hash, id } of stored.slice(0, 2))
      for (const text of [hash, hash.slice(0, 43), id])
        expect(await isSignedIn(new Browser("", `arkgraph=${text}`, ""))).toBe(false);
  });
});

describe("other sites", () => {
  it("never get an answer with the browser's cookie, whatever they ask", async () => {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const { headers } = await server.request(method, "/graphql", {
        ...(method === "POST" ? { json: { query: ME } } : {}),
        headers: {
          Origin: "https://app.example",
          Cookie: page.cookie,
          "Access-Control-Request-Method": "POST",
          "Access-Control-Request-Headers": "x-csrf-token",
        },
      });
      expect(headers.get("access-control-allow-credentials")).toBeNull();
      expect(headers.get("access-control-allow-headers") ?? "").not.toMatch(/csrf/i);
    }
  });

  it("do not change what caches store: answers with and without a cookie are told apart", async () => {
    const { body } = await createdBy(page.headers);
    const path = `/${body["@id"] as string}`;
    for (const accept of ["application/ld+json", "text/html"]) {
      const headers = { Accept: accept };
      const open = await server.request("GET", path, { headers });
      expect(open.headers.get("vary")).toMatch(/Accept, Authorization, Cookie/);
      const own = await server.request("GET", path, {
        headers: { ...headers, Cookie: page.cookie },
      });
      expect(own.headers.get("cache-control")).toBe("private, no-cache");
      expect(own.headers.get("vary")!.match(/cookie/gi)).toHaveLength(1);
    }
    for (const path of ["/", "/ontology/context.jsonld", "/ark:99999/none", "/nowhere"]) {
      const { headers } = await server.request("GET", path, { headers: { Cookie: page.cookie } });
      expect(headers.get("cache-control"), path).toMatch(/private|no-store/);
      expect(headers.get("vary"), path).toMatch(/\bCookie\b/);
    }
  });
});
