import { createHmac } from "node:crypto";
import jwt from "jsonwebtoken";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.js";
import { login } from "../../../src/services/accounts/accounts.js";
import { hashPassword, verifyPassword } from "../../../src/services/accounts/passwords.js";
import {
  Authenticator,
  issueToken,
  RateLimit,
  type SentCredentials,
} from "../../../src/services/accounts/tokens.js";
import { LocalMemory } from "../../../src/storage/shared/port.js";
import { overlay } from "../../support/overlay.js";
import { PASSWORD, startServer, type TestServer } from "../../support/server.js";

let server: TestServer;
beforeAll(async () => void (server = await startServer()));
afterAll(() => server.stop());

const bearer = (authorization: string | undefined): SentCredentials => ({
  authorization,
  session: undefined,
  isFromOwnPage: false,
  csrf: undefined,
  needs: "csrf",
  review: undefined,
  address: () => "",
});
const authenticator = () => new Authenticator(server.deps);
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: ServiceError) => error.code ?? String(error),
  );
const asks = (token: string, who = authenticator()) =>
  codeOf(who.caller(bearer(`Bearer ${token}`)));
const log = (username: string, password: string) => login(server.deps, { username, password });

describe("a password", () => {
  it("is stored as argon2id only", async () => {
    const hash = await hashPassword("x");
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect([
      await verifyPassword(hash, "x"),
      await verifyPassword(hash, "y"),
      await verifyPassword(undefined, "no account has this password"),
      await verifyPassword("rubbish", "x"),
    ]).toEqual([true, false, false, false]);
  });
  it("that is changed ends all tokens issued before, and only a change does", async () => {
    const ada = await server.person("ada");
    const put = (password: string, more: object = {}) =>
      server.request("PUT", "/user", {
        token: ada.token,
        json: { "@id": ada.id, name: "Ada", email: ada.email, password, ...more },
      });
    expect((await put(PASSWORD, { nick: "a" })).status).toBe(200);
    expect((await put(PASSWORD)).status).toBe(200);
    const changed = await put("another password", { currentPassword: PASSWORD });
    expect(changed.status).toBe(200);
    expect((await put("another password")).status).toBe(401);
    expect(await codeOf(log(ada.email, PASSWORD))).toBe("BAD_CREDENTIALS");
    const again = await log(ada.email, "another password");
    expect(await asks(again.access_token)).toBe("done");
    expect(
      (await server.request("GET", ada.id.replace("ark:", "/ark:") + "/history")).text,
    ).not.toContain("another password");
  });
  it("that is changed during a login with the old one gives no token that outlives it", async () => {
    const bob = await server.person("bob");
    const { records } = server.deps;
    const passwordHash = await hashPassword("new one");
    const accountByEmail = async (email: string) => {
      const read = await records.accountByEmail(email);
      await records.commit({
        by: null,
        at: Date.now(),
        records: [],
        account: { op: "update", user: bob.id, passwordHash, tokensValidFrom: 0 },
      });
      return read;
    };
    const deps = {
      ...server.deps,
      records: overlay(records, { accountByEmail }),
    };
    expect(await codeOf(login(deps, { username: bob.email, password: PASSWORD }))).toBe(
      "BAD_CREDENTIALS",
    );
  });
});

describe("wrong credentials", () => {
  it(
    "are refused with one message whether the user exists, was deleted, or is another " +
      "kind of record",
    async () => {
      const cyd = await server.person("cyd");
      const gone = await server.person("gone");
      await server.request("DELETE", `/user/${gone.id}`, { token: gone.token });
      const names = [
        cyd.email,
        cyd.id,
        gone.email,
        gone.id,
        "nobody@example.org",
        "ark:99999/nobody",
        "",
        "\0",
        "x".repeat(5000),
        "%",
        "ark:99999/user-cyd/../x",
      ];
      const answers = await Promise.all(
        names.flatMap((username) =>
          [true, false].map((json) =>
            server.request(
              "POST",
              "/token",
              json
                ? { json: { username, password: "wrong" } }
                : {
                    headers: { "Content-Type": "application/x-www-form-urlencoded" },
                    body: new URLSearchParams({ username, password: "wrong" }).toString(),
                  },
            ),
          ),
        ),
      );
      const logged = answers.filter(({ status }) => status !== 422);
      expect(new Set(logged.map(({ text }) => text)).size).toBe(1);
      expect(new Set(logged.map(({ status }) => status))).toEqual(new Set([401]));
      expect(logged[0]!.headers.get("www-authenticate")).toBe("Bearer");
      expect(logged.length).toBeGreaterThanOrEqual(names.length * 2 - 2);
    },
  );
  it("take as long for an existing user", async () => {
    const dan = await server.person("dan");
    const timed = async (username: string) => {
      const begun = performance.now();
      await codeOf(log(username, "wrong"));
      return performance.now() - begun;
    };
    // The quickest of many, taken in turn: what else the machine does makes an answer slower, never
    // quicker. On a busy machine a quick one takes more rounds to come.
    let [there, none] = [Infinity, Infinity];
    const ratio = (): number => Math.max(there, none) / Math.min(there, none);
    for (let round = 0; round < 12 || (round < 100 && ratio() >= 2); round++) {
      there = Math.min(there, await timed(dan.email));
      none = Math.min(none, await timed("nobody@example.org"));
    }
    expect(ratio()).toBeLessThan(2);
  });
});

describe("an e-mail address", () => {
  it("is unique whatever its case, width and surrounding spaces", async () => {
    await server.person("eve");
    for (const email of [
      "EVE@example.org",
      " eve@example.org ",
      "ＥＶＥ@example.org",
      "eve@EXAMPLE.org\n",
    ]) {
      const answer = await server.request("POST", "/user", {
        json: { name: "Other", email, password: PASSWORD },
      });
      expect([email, answer.status, answer.body["code"]]).toEqual([email, 409, "EMAIL_TAKEN"]);
    }
    expect((await log(" Eve@Example.ORG ", PASSWORD)).token_type).toBe("bearer");
  });
  it("is given to one of two concurrent accounts, and the other leaves nothing behind", async () => {
    const answers = await Promise.all(
      ["a", "b"].map((name) =>
        server.request("POST", "/user", {
          json: {
            "@id": `ark:99999/user-twin-${name}`,
            email: "twin@example.org",
            password: PASSWORD,
          },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(
      (
        await Promise.all(
          ["a", "b"].map((name) => server.request("GET", `/user/ark:99999/user-twin-${name}`)),
        )
      )
        .map(({ status }) => status)
        .sort(),
    ).toEqual([200, 404]);
  });
  it("may be changed to a free one, not to another user's", async () => {
    const fay = await server.person("fay");
    const put = (email: string) =>
      server.request("PUT", "/user", {
        token: fay.token,
        json: { "@id": fay.id, name: "Fay", email, password: PASSWORD },
      });
    expect((await put("eve@example.org")).body["code"]).toBe("EMAIL_TAKEN");
    expect((await put("fay2@example.org")).status).toBe(200);
    expect([
      await codeOf(log("fay@example.org", PASSWORD)),
      await codeOf(log("fay2@example.org", PASSWORD)),
    ]).toEqual(["BAD_CREDENTIALS", "done"]);
  });
  it.each(["no-at", "a@", "@b", "a b@c", "a@b@c"])(
    "like %j is refused at its place",
    async (email) => {
      const answer = await server.request<{ detail: { loc: string[] }[] }>("POST", "/user", {
        json: { name: "X", email, password: PASSWORD },
      });
      expect([answer.status, answer.body.detail[0]!.loc]).toEqual([422, ["body", "email"]]);
    },
  );
});

describe("a deleted user", () => {
  it("has no token, cannot log in, and frees its address but not its identifier", async () => {
    const gus = await server.person("gus");
    const kept = authenticator();
    expect(await asks(gus.token, kept)).toBe("done");
    expect((await server.request("DELETE", `/user/${gus.id}`, { token: gus.token })).status).toBe(
      200,
    );
    expect([await asks(gus.token), await asks(gus.token, kept)]).toEqual([
      "INVALID_TOKEN",
      "INVALID_TOKEN",
    ]);
    expect((await server.request("GET", "/user", { token: gus.token })).status).toBe(401);
    expect(
      (
        await server.request("POST", "/user", {
          json: { "@id": gus.id, name: "G", email: "other@example.org", password: PASSWORD },
        })
      ).body["code"],
    ).toBe("DUPLICATE");
    expect(
      (
        await server.request("POST", "/user", {
          json: { "@id": `${gus.id}-2`, name: "G", email: gus.email, password: PASSWORD },
        })
      ).status,
    ).toBe(200);
  });
});

describe("a token", () => {
  const now = () => Math.floor(Date.now() / 1000);
  it("states who issued it, for whom, when and until when, and has a unique number", async () => {
    const hal = await server.person("hal");
    const claims = jwt.decode(hal.token, { complete: true })!;
    expect(claims.header).toMatchObject({ alg: "HS256", typ: "JWT" });
    expect(claims.payload).toMatchObject({
      iss: server.deps.installation,
      aud: server.deps.installation,
      sub: hal.id,
      name: "hal",
      email: hal.email,
    });
    const { iat, exp, jti } = claims.payload as jwt.JwtPayload;
    expect(exp! - iat!).toBeCloseTo(86_400, 3);
    expect(Math.abs(iat! - Date.now() / 1000)).toBeLessThan(30);
    const other = jwt.decode((await log(hal.email, PASSWORD)).access_token) as jwt.JwtPayload;
    expect(other.jti).not.toBe(jti);
  });
  it("is refused when it is not signed, signed otherwise, changed, expired or incomplete", async () => {
    const ida = await server.person("ida");
    const key = server.deps.jwtSecret;
    const who = { iss: server.deps.installation, aud: server.deps.installation, sub: ida.id };
    const good = { ...who, iat: now(), exp: now() + 60 };
    const [header, , signature] = ida.token.split(".") as [string, string, string];
    const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const none = `${base64({ alg: "none", typ: "JWT" })}.${base64(good)}.`;
    const hs512 = jwt.sign(good, key, { algorithm: "HS512" });
    const unsignedHeader = `${base64({ alg: "HS256" })}.${base64(good)}.${createHmac("sha256", "")
      .update(`${base64({ alg: "HS256" })}.${base64(good)}`)
      .digest("base64url")}`;
    const bad = [
      none,
      `${none}x`,
      hs512,
      unsignedHeader,
      jwt.sign(good, `${key}x`),
      `${header}.${base64({ ...good, sub: "ark:99999/user-admin" })}.${signature}`,
      `${ida.token}x`,
      ida.token.slice(0, -2),
      "x",
      "a.b.c",
      "..",
      jwt.sign({ ...good, exp: now() - 1 }, key),
      jwt.sign({ ...who, iat: now() }, key),
      jwt.sign({ ...who, sub: undefined, iat: now(), exp: now() + 60 }, key),
      jwt.sign({ ...good, sub: "ark:99999/nobody" }, key),
      jwt.sign({ ...good, sub: "\0" }, key),
      jwt.sign({ ...good, nbf: now() + 60 }, key),
    ];
    for (const token of bad) expect(await asks(token), token).toBe("INVALID_TOKEN");
    expect(await asks(jwt.sign(good, key))).toBe("done");
  });
  it("is refused once it has expired, also when it was accepted before", async () => {
    const jon = await server.person("jon");
    const account = (await server.deps.records.accountOf(jon.id))!;
    const kept = authenticator();
    const { access_token: token } = issueToken(server.deps, account, null);
    expect(await codeOf(kept.caller(bearer(`Bearer ${token}`)))).toBe("done");
    expect(await codeOf(kept.caller(bearer(`Bearer ${token}`), Date.now() + 86_400_001))).toBe(
      "INVALID_TOKEN",
    );
  });
  it("is valid from the millisecond in which others were ended", async () => {
    const kim = await server.person("kim");
    for (let at = Date.now(), to = at + 200; at < to; at++) {
      await server.deps.records.commit({
        by: null,
        at,
        records: [],
        account: { op: "update", user: kim.id, tokensValidFrom: at },
      });
      const account = (await server.deps.records.accountOf(kim.id))!;
      expect(await asks(issueToken(server.deps, account, null, at).access_token)).toBe("done");
      const before = { ...account, tokensValidFrom: at - 1 };
      expect(await asks(issueToken(server.deps, before, null, at).access_token)).toBe(
        "INVALID_TOKEN",
      );
    }
  });
  it.each(["Basic abc", "Bearer", "Bearer ", "Bearer a b", "token"])(
    "sent as %j is refused with the right form",
    async (header) => {
      await expect(authenticator().caller(bearer(header))).rejects.toMatchObject({
        code: "NOT_AUTHENTICATED",
      });
    },
  );
  it("is not needed for anonymous reads", async () =>
    expect([
      await authenticator().caller(bearer(undefined)),
      await authenticator().caller(bearer("")),
    ]).toEqual([null, null]));
});

describe("the one-time admin token", () => {
  it("creates one administrator, however many requests send it at once", async () => {
    const other = await startServer();
    try {
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, round) =>
          other.request("POST", "/user", {
            json: {
              "@id": `ark:99999/user-a${round}`,
              email: `a${round}@example.org`,
              password: PASSWORD,
              adminToken: other.adminToken,
            },
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403]);
      const accounts = await Promise.all(
        answers.map((_, round) => other.deps.records.accountOf(`ark:99999/user-a${round}`)),
      );
      expect(accounts.filter((account) => account?.admin)).toHaveLength(1);
      expect(accounts.filter((account) => account !== undefined)).toHaveLength(1);
      expect(answers.every(({ text }) => !text.includes(other.adminToken))).toBe(true);
    } finally {
      await other.stop();
    }
  });
  it("is not consumed by an account that fails, works in PUT, and then no more", async () => {
    const other = await startServer();
    try {
      const lea = await other.person("lea");
      const wrong = {
        "@id": lea.id,
        email: lea.email,
        password: PASSWORD,
        adminToken: other.adminToken,
      };
      expect((await other.request("POST", "/user", { json: wrong })).status).toBe(409);
      expect(
        (
          await other.request("PUT", "/user", {
            token: lea.token,
            json: { ...wrong, adminToken: "guess" },
          })
        ).status,
      ).toBe(403);
      expect((await other.deps.records.accountOf(lea.id))!.admin).toBe(false);
      const right = await other.request("PUT", "/user", { token: lea.token, json: wrong });
      expect(right.status).toBe(200);
      expect(right.text).not.toContain(other.adminToken);
      expect((await other.deps.records.accountOf(lea.id))!.admin).toBe(true);
      expect(
        (
          await other.request("POST", "/user", {
            json: { email: "late@example.org", password: PASSWORD, adminToken: other.adminToken },
          })
        ).status,
      ).toBe(403);
      expect(
        (
          await other.request("POST", "/user", {
            json: { email: "late@example.org", password: PASSWORD, adminToken: "" },
          })
        ).status,
      ).toBe(403);
    } finally {
      await other.stop();
    }
  });
});

describe("registration by administrators only", () => {
  it("refuses all others", async () => {
    const other = await startServer({ REGISTRATION: "admin" });
    try {
      expect(
        (
          await other.request("POST", "/user", {
            json: { email: "m@example.org", password: PASSWORD },
          })
        ).status,
      ).toBe(401);
      // The first administrator comes in with the printed token.
      const first = await other.request("POST", "/user", {
        json: {
          "@id": "ark:99999/user-root",
          email: "root@example.org",
          password: PASSWORD,
          adminToken: other.adminToken,
        },
      });
      expect(first.status).toBe(200);
      const { body } = await other.request<{ access_token: string }>("POST", "/token", {
        json: { username: "root@example.org", password: PASSWORD },
      });
      expect(
        (
          await other.request("POST", "/user", {
            token: body.access_token,
            json: { "@id": "ark:99999/user-m", email: "m@example.org", password: PASSWORD },
          })
        ).status,
      ).toBe(200);
      const member = await other.request<{ access_token: string }>("POST", "/token", {
        json: { username: "m@example.org", password: PASSWORD },
      });
      expect(
        (
          await other.request("POST", "/user", {
            token: member.body.access_token,
            json: { email: "n@example.org", password: PASSWORD },
          })
        ).status,
      ).toBe(403);
    } finally {
      await other.stop();
    }
  });
});

describe("login attempts", () => {
  it(
    "beyond LOGIN_RATE are refused with a time, per account in any spelling and with any " +
      "password",
    async () => {
      const other = await startServer({ LOGIN_RATE: "5" });
      try {
        await other.request("POST", "/user", {
          json: { "@id": "ark:99999/user-nia", email: "nia@example.org", password: PASSWORD },
        });
        const spellings = [
          "nia@example.org",
          "NIA@example.org",
          "ark:99999/user-nia",
          "ark:/99999/u-s-e-r-nia",
          "https://n2t.net/ark:99999/usernia",
        ];
        const attempt = (username: string, path = "/token") =>
          other.request("POST", path, { json: { username, password: "wrong" } });
        for (const username of spellings) expect((await attempt(username)).status).toBe(401);
        for (const username of spellings) {
          const answer = await attempt(username, "/login");
          expect([answer.status, answer.body["code"]]).toEqual([429, "TOO_MANY_REQUESTS"]);
          expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
          expect(answer.text).toContain("LOGIN_RATE");
        }
        expect(
          (
            await other.request("POST", "/token", {
              json: { username: "nia@example.org", password: PASSWORD },
            })
          ).status,
        ).toBe(429);
        const overGraphql = await other.graphql(
          `mutation { signIn(input: { username: "nia@example.org", password: "x" }) { token { accessToken } } }`,
        );
        expect(overGraphql.body.errors![0]!.extensions.code).toBe("TOO_MANY_REQUESTS");
        expect((await attempt("someone@example.org")).status).toBe(401);
      } finally {
        await other.stop();
      }
    },
  );
  it("are counted in windows of a minute, with bounded memory", async () => {
    let now = 0;
    const memory = new LocalMemory(() => now);
    const limit = new RateLimit(2, "LOGIN_RATE", memory);
    await limit.take("a");
    now = 1;
    await limit.take("a");
    now = 59_999;
    await expect(limit.take("a")).rejects.toThrow(/LOGIN_RATE/);
    now = 60_000;
    await limit.take("a");
    await limit.take("b");
    await limit.take("b");
    now = 60_001;
    for (let other = 0; other < 99_000; other++) await limit.take(String(other));
    now = 60_002;
    await expect(limit.take("b")).rejects.toThrow();
    await new RateLimit(0, "X", memory).take("a");
  });
});
