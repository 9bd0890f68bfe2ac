import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { Sweeper } from "../../src/app/upkeep.js";
import type { JsonObject } from "../../src/model/field.js";
import type { AuditEntry, AuditFilter } from "../../src/storage/records/port.js";
import { bodyOf } from "../support/bodies.js";
import { crate } from "../support/crates.js";
import { Reader } from "../support/reader.js";
import { PASSWORD, type Person, startServer, type TestServer } from "../support/server.js";

const FROM = "192.0.2.7";
const FORWARDED = { "X-Forwarded-For": FROM };
/** Words that no entry may have. */
const PLANTED = "planted-Secret-9f";
const DAY = 86_400_000;

let server: TestServer;
let root: Person;
let ada: Person;
let eve: Person;
let page: Reader;
let office: Reader;
beforeAll(async () => {
  server = await startServer({ TRUSTED_PROXIES: "127.0.0.1", PASSWORD_MIN_LENGTH: "8" });
  root = await server.person("root", { admin: true });
  ada = await server.person("ada");
  eve = await server.person("eve");
  page = new Reader(server);
  await page.signIn(ada.email);
  office = new Reader(server);
  await office.signIn(root.email);
});
afterAll(() => server?.stop());

const all = async (filter: AuditFilter = {}): Promise<AuditEntry[]> =>
  (await server.deps.records.auditEntries({ filter, limit: 1000 })).items;

/** The entries of an act but for uses of tokens, oldest first. */
async function entriesOf(act: () => Promise<unknown>): Promise<AuditEntry[]> {
  const last = (await all())[0]?.number ?? 0;
  await act();
  return (await all())
    .filter(({ number, action }) => number > last && action !== "TOKEN_USED")
    .toReversed();
}

const rest = async (method: string, path: string, json?: object, who: Person | null = ada) => {
  const answer = await server.request(method, path, {
    headers: FORWARDED,
    ...(json === undefined ? {} : { json }),
    ...(who === null ? {} : { token: who.token }),
  });
  return answer.body;
};
const graphql = async (query: string, variables: object = {}, who: Person | null = ada) => {
  const { body } = await server.request<{ data: JsonObject; errors?: unknown[] }>(
    "POST",
    "/graphql",
    {
      headers: FORWARDED,
      json: { query, variables },
      ...(who === null ? {} : { token: who.token }),
    },
  );
  return body;
};
const made = async (kind: "dataset" | "group" = "dataset"): Promise<string> =>
  (await rest("POST", `/${kind}`, bodyOf(kind, ada.id)))["@id"] as string;

type Act = (() => Promise<unknown>)[];
/** The same act over each entry point has the same entries. */
async function expectEach(acts: Act, expected: (Partial<AuditEntry> | undefined)[]) {
  for (const [at, act] of acts.entries())
    expect(await entriesOf(act), `entry point ${at}`).toMatchObject(expected);
}

describe("the audit log has one entry", () => {
  it("of a sign-in", async () => {
    const sent = { username: ada.email, password: PASSWORD };
    const session = { headers: { ...FORWARDED, Origin: server.url }, json: sent };
    await expectEach(
      [
        () => rest("POST", "/token", sent, null),
        () => rest("POST", "/login", sent, null),
        () => server.request("POST", "/session", session),
        () =>
          graphql(
            "mutation ($username: String!, $password: String!) { signIn(input: { username: $username, password: $password }) { token { tokenType } } }",
            sent,
            null,
          ),
      ],
      [
        {
          action: "SIGNED_IN",
          actor: ada.id,
          name: null,
          address: FROM,
          subject: null,
          detail: { way: "password" },
        },
      ],
    );
    await expectEach(
      [() => new Reader(server).signIn(ada.email)],
      [{ action: "SIGNED_IN", actor: ada.id, address: "127.0.0.1" }],
    );
  });

  it("of a refused sign-in, with the name that was tried and the account that has it", async () => {
    const sent = { username: "Ada@Example.org ", password: PLANTED };
    const session = { headers: { ...FORWARDED, Origin: server.url }, json: sent };
    const mutation = `mutation { signIn(input: { username: "${sent.username}", password: "${PLANTED}" }) { token { tokenType } } }`;
    await expectEach(
      [
        () => rest("POST", "/token", sent, null),
        () => server.request("POST", "/session", session),
        () => graphql(mutation, {}, null),
      ],
      [
        {
          action: "SIGN_IN_REFUSED",
          actor: null,
          name: "Ada@Example.org",
          address: FROM,
          subject: ada.id,
          detail: { way: "password" },
        },
      ],
    );
    await expectEach(
      [() => new Reader(server).signIn("nobody@example.org", PLANTED)],
      [{ action: "SIGN_IN_REFUSED", name: "nobody@example.org", subject: null }],
    );
  });

  it("of each other refused secret, and never the secret", async () => {
    const refused = (way: string, subject: string | null = null) => [
      { action: "SIGN_IN_REFUSED" as const, address: FROM, name: null, subject, detail: { way } },
    ];
    // A password in the field of the name.
    await expectEach(
      [() => rest("POST", "/token", { username: PLANTED, password: "x" }, null)],
      refused("password"),
    );
    const change = { currentPassword: PLANTED, newPassword: PLANTED };
    await expectEach([() => rest("PUT", "/me/password", change)], refused("change", ada.id));
    await expectEach(
      [() => rest("POST", "/password-reset", { token: PLANTED, password: PASSWORD }, null)],
      refused("reset"),
    );
    const user = { name: "M", email: "m@example.org", password: PASSWORD, adminToken: PLANTED };
    await expectEach([() => rest("POST", "/user", user, null)], refused("adminToken"));
    await expectEach(
      [() => rest("POST", "/token/refresh", { refresh_token: `arkrefresh_${PLANTED}` }, null)],
      refused("refreshToken"),
    );
    // Requests with a token do not wait for their entry.
    const refusals = async () =>
      (await all({ action: "SIGN_IN_REFUSED" })).map(({ detail }) => detail["way"]);
    const before = await refusals();
    await rest("GET", "/dataset", undefined, { ...ada, token: `arkgraph_${PLANTED}` });
    await expect.poll(refusals).toEqual(["token", ...before]);
    await rest("GET", "/dataset", undefined, { ...ada, token: `${ada.token.slice(0, -4)}AAAA` });
    await expect.poll(refusals).toEqual(["token", "token", ...before]);
    await rest("GET", "/dataset", undefined, { ...ada, token: `arkreview_${PLANTED}` });
    await expect.poll(refusals).toEqual(["reviewLink", "token", "token", ...before]);
  });

  it("of a token that is made, and of one that is revoked", async () => {
    const ids: string[] = [];
    const idIn = (body: JsonObject): void => void ids.push((body["token"] as { id: string }).id);
    const create = `mutation { createAccessToken(input: { name: "t", scopes: ["write"] }) { accessToken { id } } }`;
    await expectEach(
      [
        async () => idIn(await rest("POST", "/me/tokens", { name: "t", scopes: ["write"] })),
        async () => {
          const { data } = await graphql(create);
          ids.push((data["createAccessToken"] as { accessToken: { id: string } }).accessToken.id);
        },
      ],
      [
        {
          action: "TOKEN_CREATED",
          actor: ada.id,
          address: FROM,
          detail: { token: expect.any(String), name: "t", scopes: "read write" },
        },
      ],
    );
    await expectEach(
      [() => page.send("/my/profile", { action: "token", token: "t" })],
      [{ action: "TOKEN_CREATED", actor: ada.id, address: "127.0.0.1" }],
    );
    const revoked = (token: string) => [
      { action: "TOKEN_REVOKED" as const, actor: ada.id, detail: { token, name: "t" } },
    ];
    await expectEach([() => rest("DELETE", `/me/tokens/${ids[0]}`)], revoked(ids[0]!));
    await expectEach(
      [() => page.send("/my/profile", { action: "revoke", id: ids[1]! })],
      revoked(ids[1]!),
    );
    expect(await entriesOf(() => rest("DELETE", `/me/tokens/${ids[0]}`))).toEqual([]);
  });

  it("of a publication, a withdrawal and a deletion", async () => {
    const ids = [await made(), await made(), await made()];
    const expected = (action: AuditEntry["action"], detail: object) => [
      { action, actor: ada.id, name: null, subject: expect.any(String) as string, detail } as never,
    ];
    const status = (id: string, publicationStatus: string) => ({
      "@id": id,
      publicationStatus,
    });
    await expectEach(
      [
        () => rest("PUT", "/publish", status(ids[0]!, "PUBLISHED")),
        () =>
          graphql(
            `mutation { publishRecord(input: { id: "${ids[1]}", publicationStatus: PUBLISHED }) { revision } }`,
          ),
        () => page.send("/my/records", { action: "publish", id: ids[2]! }),
      ],
      expected("PUBLISHED", { status: "PUBLISHED" }),
    );
    expect(await entriesOf(() => rest("PUT", "/publish", status(ids[0]!, "PUBLISHED")))).toEqual(
      [],
    );
    await expectEach(
      [() => rest("PUT", "/publish", status(ids[0]!, "ARCHIVED"))],
      expected("WITHDRAWN", { status: "ARCHIVED" }),
    );
    await expectEach(
      [
        () => rest("DELETE", `/dataset/${ids[0]}`),
        () => graphql(`mutation { deleteRecord(input: { id: "${ids[1]}" }) { revision } }`),
        () => page.send("/my/records", { action: "withdraw", id: ids[2]!, reason: PLANTED }),
      ],
      expected("DELETED", {}),
    );
    expect((await all({ subject: ids[1]! })).map(({ action }) => action)).toEqual([
      "DELETED",
      "PUBLISHED",
    ]);
  });

  it("of another owner, and of other members", async () => {
    const [group, id] = [await made("group"), await made()];
    await expectEach(
      [
        () => rest("PUT", `/group/${group}/addUser/?userID=${eve.id}`),
        () =>
          graphql(
            `mutation { removeGroupMember(input: { group: "${group}", user: "${eve.id}" }) { revision } }`,
          ),
      ],
      [{ action: "MEMBERS_CHANGED", actor: ada.id, address: FROM, subject: group }],
    );
    const patch = { owner: group };
    await expectEach(
      [
        () =>
          server.request("PATCH", `/dataset/${id}`, {
            token: ada.token,
            body: JSON.stringify(patch),
            headers: { ...FORWARDED, "Content-Type": "application/merge-patch+json" },
          }),
      ],
      [{ action: "OWNER_CHANGED", actor: ada.id, address: FROM, subject: id, detail: patch }],
    );
  });

  it("of a review link, and of access that is granted and ended", async () => {
    const id = await made();
    const about = (action: AuditEntry["action"]) => [
      { action, actor: ada.id, address: FROM, subject: id },
    ];
    const links: string[] = [];
    const created = await entriesOf(async () => {
      const { link } = (await rest("POST", `/review-links/${id}`, {})) as { link: { id: string } };
      links.push(link.id);
    });
    expect(created).toMatchObject(about("REVIEW_LINK_CREATED"));
    const mutation = `mutation { createReviewLink(input: { id: "${id}" }) { reviewLink { link } } }`;
    const again = await entriesOf(async () => {
      const { data } = await graphql(mutation);
      links.push((data["createReviewLink"] as { reviewLink: { link: string } }).reviewLink.link);
    });
    expect(again).toMatchObject(about("REVIEW_LINK_CREATED"));
    expect(JSON.stringify(await all())).not.toContain("arkreview_");
    await expectEach(
      [
        () => rest("DELETE", `/review-links/${id}?link=${links[0]}`),
        () =>
          graphql(
            `mutation { revokeReviewLink(input: { id: "${id}", link: "${links[1]}" }) { reviewLink { link } } }`,
          ),
      ],
      about("REVIEW_LINK_REVOKED"),
    );
    const form = new FormData();
    form.set("file", new Blob(["a\n"]), "a.csv");
    form.set("download", JSON.stringify(bodyOf("datadownload", ada.id)));
    const file = await server.request("POST", "/register", { token: ada.token, body: form });
    const record = (JSON.parse(file.text) as { "@id": string })["@id"];
    const asked = await rest("POST", "/access-requests", { record, reason: PLANTED }, eve);
    for (const [grant, action] of [
      [true, "ACCESS_GRANTED"],
      [false, "ACCESS_ENDED"],
    ] as const)
      await expectEach(
        [() => rest("PUT", `/access-requests/${asked["id"] as string}`, { grant })],
        [{ action, actor: ada.id, address: FROM, subject: record, detail: { requester: eve.id } }],
      );
  });

  it("of each act of administration", async () => {
    const max = await server.person("max");
    const act = (action: AuditEntry["action"], actor = root.id) => [
      { action, actor, subject: max.id },
    ];
    const set = (json: object) => () => rest("PATCH", `/admin/accounts/${max.id}`, json, root);
    const desk = (action: string) => () => office.send("/admin", { action, user: max.id });
    await expectEach([set({ admin: true })], act("ADMIN_GRANTED"));
    await expectEach([desk("demote")], act("ADMIN_REMOVED"));
    const mutation = `mutation { updateAccount(input: { user: "${max.id}", disabled: true }) { account { disabled } } }`;
    await expectEach([() => graphql(mutation, {}, root)], act("ACCOUNT_DISABLED"));
    await expectEach([desk("enable")], act("ACCOUNT_ENABLED"));
    expect(await entriesOf(set({ admin: false, disabled: false }))).toEqual([]);
    let token = "";
    await expectEach(
      [
        async () =>
          (token = (await rest("POST", `/admin/password-reset/${max.id}`, undefined, root))[
            "token"
          ] as string),
      ],
      act("PASSWORD_RESET_CREATED"),
    );
    await expectEach(
      [() => rest("POST", "/password-reset", { token, password: `${PLANTED} one` }, null)],
      act("PASSWORD_CHANGED", max.id),
    );
    expect(JSON.stringify(await all())).not.toContain(token);
  });

  it("of a new account, of a new address, and of a new password", async () => {
    const lee = `ark:99999/user-lee`;
    const user = { "@id": lee, name: "Lee", email: "lee@example.org", password: PLANTED };
    await expectEach(
      [() => rest("POST", "/user", user, null)],
      [{ action: "ACCOUNT_CREATED", actor: lee, subject: lee, address: FROM, detail: {} }],
    );
    const { access_token: token } = await rest(
      "POST",
      "/token",
      { username: lee, password: PLANTED },
      null,
    );
    const put = (json: object) => rest("PUT", "/user", json, { ...eve, token: token as string });
    await expectEach(
      [() => put({ ...user, email: "lee@example.com" })],
      [{ action: "EMAIL_CHANGED", actor: lee, subject: lee }],
    );
    await expectEach(
      [
        () =>
          put({
            ...user,
            email: "lee@example.com",
            password: `${PLANTED} two`,
            currentPassword: PLANTED,
          }),
      ],
      [{ action: "PASSWORD_CHANGED", actor: lee, subject: lee }],
    );
  });

  it("of an update of a crate that deletes records, from where it was uploaded", async () => {
    const upload = async (names: string[], query = "") => {
      const form = new FormData();
      const files = Object.fromEntries(names.map((name) => [name, name]));
      const entities = names.map((name) => ({ "@id": name, "@type": "File", name }));
      form.append("file", new Blob([Uint8Array.from(await crate(entities, files))]), "crate.zip");
      return server.request("POST", `/rocrate/upload${query}`, {
        token: ada.token,
        body: form,
        headers: FORWARDED,
      });
    };
    const { status, body } = await upload(["a.txt", "b.txt"]);
    expect(status).toBe(200);
    const id = body["@id"] as string;
    const entries = await entriesOf(() => upload(["a.txt"], `?crate=${id}`));
    expect(entries).toMatchObject([
      { action: "DELETED", actor: ada.id, address: FROM, detail: { crate: id } },
    ]);
  });

  it("of the first use of a token from an address in an hour", async () => {
    const { secret, token } = (await rest("POST", "/me/tokens", { name: "used" })) as unknown as {
      secret: string;
      token: { id: string };
    };
    const use = (address: string) =>
      server.request("GET", "/me", { token: secret, headers: { "X-Forwarded-For": address } });
    const uses = async () =>
      (await all({ action: "TOKEN_USED" })).filter(({ detail }) => detail["token"] === token.id);
    for (let time = 0; time < 3; time++) await use("192.0.2.1");
    await use("192.0.2.2");
    await server.request("POST", "/graphql", {
      token: secret,
      json: { query: "{ me { id } }" },
      headers: { "X-Forwarded-For": "192.0.2.2" },
    });
    await expect.poll(uses).toHaveLength(2);
    expect((await uses()).map(({ address }) => address).toSorted()).toEqual([
      "192.0.2.1",
      "192.0.2.2",
    ]);
    expect((await uses())[0]).toMatchObject({ actor: ada.id, detail: { kind: "access" } });
  });
});

describe("refused sign-ins", () => {
  it("are counted past the first twenty in an hour, and each doubling has one entry", async () => {
    const address = "2001:db8::1";
    for (let time = 0; time < 45; time++)
      await server.request("POST", "/token", {
        json: { username: `n${time}@example.org`, password: PLANTED },
        // Of one network, as a single client may have.
        headers: { "X-Forwarded-For": `2001:db8::${time + 1}` },
      });
    const entries = (await all({ action: "SIGN_IN_REFUSED" })).filter((entry) =>
      entry.address?.startsWith("2001:db8::"),
    );
    expect(entries).toHaveLength(21);
    expect(entries[0]).toMatchObject({ name: null, detail: { attempts: 40 } });
    expect(entries.at(-1)).toMatchObject({ name: "n0@example.org", address });
  });
});

describe("the audit log is read", () => {
  const read = (query = "", who: Person | null = root, headers: Record<string, string> = {}) =>
    server.request<JsonObject[]>("GET", `/admin/audit${query}`, {
      headers,
      ...(who === null ? {} : { token: who.token }),
    });
  const QUERY = "{ auditEntries(first: 2) { totalCount nodes { at } } }";

  it("by administrators only, over REST, GraphQL and pages", async () => {
    for (const query of ["", "?format=csv", "?format=ndjson"]) {
      expect((await read(query, null)).status).toBe(401);
      const refused = await read(query, ada);
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("FORBIDDEN")]);
      expect((await read(query)).status).toBe(200);
    }
    const codes = async (who: Person | null) =>
      (await server.graphql(QUERY, {}, who?.token)).body.errors?.[0]?.extensions.code;
    expect([await codes(null), await codes(ada), await codes(root)]).toEqual([
      "NOT_AUTHENTICATED",
      "FORBIDDEN",
      undefined,
    ]);
    expect((await new Reader(server).get("/admin/audit")).status).toBe(302);
    expect((await page.get("/admin/audit")).status).toBe(403);
    expect((await office.get("/admin/audit")).text).toContain("Sign-in, or a secret");
  });

  it("not with an access token of an administrator that lacks the scope", async () => {
    const { secret } = await rest("POST", "/me/tokens", { name: "r", scopes: ["read"] }, root);
    const token = secret as string;
    expect((await server.request("GET", "/admin/audit", { token })).status).toBe(403);
    expect((await server.graphql(QUERY, {}, token)).body.errors).toHaveLength(1);
  });

  it("in pages that have every entry once, the same over REST and GraphQL", async () => {
    const seen: JsonObject[] = [];
    let path: string | undefined = "?limit=7&actor=ada@example.org";
    while (path !== undefined) {
      const answer = await read(path);
      expect(answer.headers.get("cache-control")).toContain("no-store");
      seen.push(...answer.body);
      path = /\/admin\/audit(\?[^>]*)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
    }
    const stored = await all({ actor: ada.id });
    expect(seen).toHaveLength(stored.length);
    expect(seen.map(({ at }) => at)).toEqual(stored.map(({ at }) => new Date(at).toISOString()));
    const query =
      '{ auditEntries(first: 1000, filter: { actor: "ada@example.org" }) { totalCount nodes { at action actor name address subject detail } } }';
    const { body } = await server.graphql<{ auditEntries: JsonObject }>(query, {}, root.token);
    expect(body.data.auditEntries).toEqual({ totalCount: seen.length, nodes: seen });
  });

  it("by action, actor, subject and time, over each entry point", async () => {
    const [newest] = await all({ action: "ADMIN_GRANTED" });
    const at = new Date(newest!.at).toISOString();
    const before = new Date(newest!.at + 1).toISOString();
    const filter = `?action=ADMIN_GRANTED&actor=${root.id}&subject=max@example.org&since=${at}&before=${before}`;
    expect((await read(filter)).body).toMatchObject([{ at, action: "ADMIN_GRANTED" }]);
    expect((await read(`${filter}&action=x`)).status).toBe(200);
    for (const wrong of ["?action=NONE", "?since=yesterday", "?limit=0", "?format=pdf"])
      expect((await read(wrong)).status, wrong).toBe(422);
    expect((await read("?cursor=x")).status).toBe(400);
    expect((await read("", root, { Accept: "image/png" })).status).toBe(406);
    const { text } = await office.get(
      "/admin/audit?action=ADMIN_GRANTED&subject=ark:99999/user-max",
    );
    expect(text).toContain("1 entry");
    expect(text).toContain('href="/ark:99999/user-max"');
    expect(text).toContain("format=csv");
    const none = await office.get("/admin/audit?action=NONE&since=2999-01-01&before=x");
    expect([none.status, none.text.includes("No entries.")]).toEqual([200, true]);
  });

  it("as NDJSON and CSV with every entry, and no cell that a spreadsheet would compute", async () => {
    const at = Date.UTC(2001, 0, 1);
    const names = ["=1+1@example.org", "+a", "-a", "@a", '=a"b,c\r\nd', "\tx", "plain"];
    for (const name of names)
      await server.deps.records.appendAudit({
        at,
        action: "SIGN_IN_REFUSED",
        actor: null,
        name,
        address: FROM,
        subject: null,
        detail: { way: "password" },
      });
    const range = "since=2001-01-01&before=2001-01-02";
    const lines = await read(`?${range}`, root, { Accept: "application/x-ndjson" });
    expect(lines.headers.get("content-type")).toContain("application/x-ndjson");
    const parsed = lines.text
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { name: string }).name);
    expect(parsed).toEqual(names.toReversed());
    const csv = await read(`?${range}&format=csv`);
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(csv.headers.get("content-disposition")).toContain("audit.csv");
    const rows = parse<Record<string, string>>(csv.text, { columns: true });
    expect(rows.toReversed().map(({ name }) => name)).toEqual(
      names.map((name) => (name === "plain" ? name : `'${name}`)),
    );
    expect(rows[0]).toMatchObject({
      at: "2001-01-01T00:00:00.000Z",
      action: "SIGN_IN_REFUSED",
      actor: "",
      address: FROM,
      detail: '{"way":"password"}',
    });
    const whole = parse<Record<string, string>>((await read("?format=csv")).text, {
      columns: true,
    });
    expect(whole).toHaveLength(await server.deps.records.countAudit({}));
  });
});

test("no entry has a password or a token", async () => {
  const text = JSON.stringify(await all());
  for (const secret of [PLANTED, PASSWORD, "arkgraph_", "eyJ", ada.token, server.adminToken])
    expect(text).not.toContain(secret);
});

test("entries that are older than AUDIT_DAYS are removed by the sweep", async () => {
  const { deps } = server;
  const config = { ...deps.config, AUDIT_DAYS: 30, SWEEP_INTERVAL: 50 };
  const entry = { action: "DELETED", actor: null, name: null, address: null } as const;
  const marks = [31, 29].map((days) => ({ days, subject: `ark:99999/old-${days}` }));
  for (const { days, subject } of marks)
    await deps.records.appendAudit({
      ...entry,
      at: Date.now() - days * DAY,
      subject,
      detail: {},
    });
  const sweeper = new Sweeper({ ...deps, config });
  sweeper.start();
  try {
    await expect.poll(() => all({ subject: marks[0]!.subject })).toEqual([]);
  } finally {
    await sweeper.close();
  }
  expect(await all({ subject: marks[1]!.subject })).toHaveLength(1);
});

test("an entry that cannot be stored is logged, and the sign-in goes on", async () => {
  const { records } = server.deps;
  const { appendAudit } = records;
  records.appendAudit = () => Promise.reject(new Error("no space left"));
  try {
    const sent = { username: ada.email, password: PASSWORD };
    expect((await server.request("POST", "/token", { json: sent })).status).toBe(200);
  } finally {
    records.appendAudit = appendAudit;
  }
  expect(server.faults.splice(0)).toMatchObject([
    { message: "an act was not recorded", fields: { action: "SIGNED_IN", actor: ada.id } },
  ]);
});
