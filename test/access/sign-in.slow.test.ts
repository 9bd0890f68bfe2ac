/** Sign-in by OpenID Connect, at oidc-provider and at an issuer that lies. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CLIENT, lyingIssuer, type LyingIssuer } from "../support/lying-issuer.js";
import { PASSWORD, type Person, startServer, type TestServer } from "../support/server.js";

/** A browser: cookies of each origin, no redirect followed by itself. */
class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  async go(address: string, form?: Record<string, string>, accept = "text/html"): Promise<Shown> {
    const url = new URL(address);
    const jar = this.#cookies.get(url.host) ?? new Map<string, string>();
    this.#cookies.set(url.host, jar);
    const answer = await fetch(url, {
      method: form ? "POST" : "GET",
      redirect: "manual",
      headers: {
        Accept: accept,
        Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(form ? { Origin: url.origin, "Sec-Fetch-Site": "same-origin" } : {}),
      },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [name, value] = cookie.split(";", 1)[0]!.split("=") as [string, string];
      if (/Max-Age=0|expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    const location = answer.headers.get("location");
    return {
      status: answer.status,
      text: await answer.text(),
      to: location === null ? undefined : new URL(location, url).href,
    };
  }

  copy(): Browser {
    const other = new Browser();
    for (const [host, jar] of this.#cookies) other.#cookies.set(host, new Map(jar));
    return other;
  }
}
interface Shown {
  status: number;
  text: string;
  to: string | undefined;
}

/** People of the honest issuer, by their login there. */
const PEOPLE: Record<string, object> = {
  grace: { name: "Grace", email: "grace@example.org", groups: ["lab", "other"] },
  swap: { name: "Swap", email: "ada@example.org", groups: [] },
  twice: { name: "Twice", email: "twice@example.org" },
  linus: { name: "Linus", email: "linus@example.org" },
};

let provider: Server;
let liar: LyingIssuer;
let server: TestServer;
let ada: Person;
let group: string;
let nonce = "";
const GROUP = "ark:99999/organization-lab";

async function listening(): Promise<[Server, string]> {
  const made = createServer();
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  return [made, `http://localhost:${(made.address() as AddressInfo).port}`];
}

beforeAll(async () => {
  let issuer: string;
  [provider, issuer] = await listening();
  liar = await lyingIssuer(() => nonce);
  const client = { clientId: CLIENT.id, clientSecret: CLIENT.secret };
  server = await startServer({
    OIDC_ISSUERS: JSON.stringify([
      {
        name: "university",
        label: "Example University",
        issuer,
        ...client,
        scope: "openid email profile groups",
        groups: { lab: GROUP },
      },
      { name: "liar", label: "Liar", issuer: liar.url, ...client },
    ]),
  });
  const oidc = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${server.url}/signin/with/university/done`],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    claims: { email: ["email"], profile: ["name"], groups: ["groups"], openid: ["sub"] },
    scopes: ["openid", "email", "profile", "groups"],
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...PEOPLE[id] }),
    }),
    cookies: { keys: ["a key of the test"] },
  });
  provider.on("request", oidc.callback());
  ada = await server.person("ada");
  const root = await server.person("root", { admin: true });
  const made = await server.request("POST", "/group", {
    token: root.token,
    json: {
      "@id": GROUP,
      "@type": "Organization",
      name: "Lab",
      description: "The group of the lab.",
      owner: root.id,
      members: [],
    },
  });
  group = made.body["@id"] as string;
});
afterAll(async () => {
  await server.stop();
  provider.closeAllConnections();
  provider.close();
  await liar.stop();
});

/** Signs in at the honest issuer; @returns the address with which the browser comes back */
async function atUniversity(browser: Browser, start: string, login: string): Promise<string> {
  let { to } = await browser.go(start);
  for (let step = 0; step < 12; step++) {
    if (to!.startsWith(`${server.url}/signin/with/`)) return to!;
    const shown = await browser.go(to!);
    if (shown.to !== undefined) to = shown.to;
    else {
      const action = /action="([^"]+)"/.exec(shown.text)![1]!;
      const prompt = /name="prompt" value="(\w+)"/.exec(shown.text)![1]!;
      to = (await browser.go(new URL(action, to).href, { prompt, login, password: "x" })).to;
    }
  }
  throw new Error(`the issuer leads nowhere: ${to}`);
}
const page = (path: string) => `${server.url}${path}`;
const START = () => page("/signin/with/university?to=/my");
const formOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/<input[^>]*type="hidden"[^>]*name="(\w+)"[^>]*value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!],
    ),
  );
const whoIs = async (browser: Browser) =>
  JSON.parse((await browser.go(page("/session"), undefined, "application/json")).text) as {
    user: string | null;
    csrf: string;
  };

describe("a person whom an issuer vouches for", () => {
  it("makes an account, comes back to it, and is a member of the mapped groups", async () => {
    const browser = new Browser();
    const form = await browser.go(await atUniversity(browser, START(), "grace"));
    expect([form.status, form.text]).toEqual([200, expect.stringContaining("grace@example.org")]);
    expect((await whoIs(browser)).user).toBeNull();
    const done = await browser.go(page("/signin/new"), {
      ...formOf(form.text),
      name: "Grace",
      email: "grace@example.org",
    });
    expect(done.to, done.text).toBe(page("/my"));
    const { user } = await whoIs(browser);
    expect(user).toMatch(/^ark:99999\/user-/);
    const members = async () =>
      (await server.request("GET", `/group/${group}`)).body["members"] as string[];
    expect(await members()).toContain(user);

    PEOPLE["grace"] = { ...PEOPLE["grace"], groups: [] };
    const again = new Browser();
    const back = await again.go(await atUniversity(again, START(), "grace"));
    expect(back.to).toBe(page("/my"));
    expect((await whoIs(again)).user).toBe(user);
    expect(await members()).not.toContain(user);

    const filter = { actor: user! };
    const { items } = await server.deps.records.auditEntries({ filter, limit: 99 });
    const acts = items.filter(({ action }) => action !== "TOKEN_USED").toReversed();
    const way = { way: "issuer", issuer: "university" };
    expect(acts).toMatchObject([
      { action: "ACCOUNT_CREATED", subject: user, address: "127.0.0.1" },
      { action: "IDENTITY_LINKED", subject: user, detail: { issuer: "university" } },
      { action: "MEMBERS_CHANGED", subject: group },
      { action: "SIGNED_IN", address: "127.0.0.1", detail: way },
      { action: "MEMBERS_CHANGED", subject: group },
      { action: "SIGNED_IN", detail: way },
    ]);
  });

  it("gets into no account by the e-mail address that the issuer states", async () => {
    const browser = new Browser();
    const form = await browser.go(await atUniversity(browser, START(), "swap"));
    expect(form.text).toContain("link the two");
    const taken = await browser.go(page("/signin/new"), {
      ...formOf(form.text),
      name: "Ada",
      email: "ADA@example.org",
    });
    expect(taken.status).toBe(422);
    expect((await whoIs(browser)).user).toBeNull();
  });

  it("makes one account, whatever addresses two browsers send at one time", async () => {
    const emails = ["twice@example.org", "again@example.org"];
    const answers = await Promise.all(
      emails.map(async (email) => {
        const browser = new Browser();
        const form = await browser.go(await atUniversity(browser, START(), "twice"));
        return { browser, fields: { ...formOf(form.text), name: "Twice", email } };
      }),
    ).then((ready) =>
      Promise.all(ready.map(({ browser, fields }) => browser.go(page("/signin/new"), fields))),
    );
    expect(answers.filter(({ to }) => to === page("/my"))).toHaveLength(1);
    const made = await Promise.all(
      emails.map((email) => server.deps.records.accountByEmail(email)),
    );
    expect(made.filter((account) => account !== undefined)).toHaveLength(1);
  });

  it("links an account with the session of the one and the sign-in of the other", async () => {
    const browser = new Browser();
    await browser.go(page("/signin"), { username: ada.email, password: PASSWORD, to: "/my" });
    const { csrf, user } = await whoIs(browser);
    expect(user).toBe(ada.id);
    const fields = { csrf, action: "link", issuer: "university" };
    const next = await browser.go(page("/my/profile"), fields);
    const address = /class="button" href="([^"]+)"/.exec(next.text)![1]!.replaceAll("&amp;", "&");
    const back = await atUniversity(browser, address, "linus");
    // Somebody else's browser does not end it.
    const thief = await new Browser().go(back);
    expect(thief.status).toBe(401);
    expect((await browser.go(back)).to).toBe(page("/my/profile?done=linked"));
    const later = new Browser();
    await later.go(await atUniversity(later, START(), "linus"));
    expect((await whoIs(later)).user).toBe(ada.id);
    await browser.go(page("/my/profile"), { csrf, action: "unlink", issuer: "university" });
    const unlinked = new Browser();
    const shown = await unlinked.go(await atUniversity(unlinked, START(), "linus"));
    expect(shown.text).toContain("No account here is linked");
  });

  it("is refused when code or state is sent again, changed, or from another browser", async () => {
    const browser = new Browser();
    const back = await atUniversity(browser, START(), "grace");
    const [before, other] = [browser.copy(), browser.copy()];
    const changed = new URL(back);
    changed.searchParams.set("state", "another");
    expect((await new Browser().go(back)).status).toBe(401);
    expect((await browser.go(back)).to).toBe(page("/my"));
    expect((await browser.go(back)).status).toBe(401);
    // Also with the cookies of then.
    expect((await before.go(back)).status).toBe(401);
    expect((await other.go(changed.href)).status).toBe(401);
    expect((await whoIs(other)).user).toBeNull();
  });
});

describe("an issuer that lies", () => {
  beforeEach(() => {
    liar.claims = () => ({});
    liar.signedBy = undefined;
    liar.padding = 0;
  });
  const signIn = async () => {
    const browser = new Browser();
    const { to, text } = await browser.go(page("/signin/with/liar"));
    if (to === undefined) return { status: 401, text };
    const asked = new URL(to).searchParams;
    nonce = asked.get("nonce")!;
    expect(asked.get("code_challenge_method")).toBe("S256");
    const state = encodeURIComponent(asked.get("state")!);
    return browser.go(page(`/signin/with/liar/done?code=c&state=${state}`));
  };

  it("is believed while it says what the protocol asks for", async () => {
    expect((await signIn()).status).toBe(200);
  });

  const hour = 3600;
  const now = () => Math.floor(Date.now() / 1000);
  it.each<[string, () => object]>([
    ["an audience of others", () => ({ aud: "another-client" })],
    ["a token that has expired", () => ({ iat: now() - 2 * hour, exp: now() - hour })],
    ["a nonce of another sign-in", () => ({ nonce: "another" })],
    ["another issuer's name", () => ({ iss: "https://orcid.org" })],
    ["no subject", () => ({ sub: undefined })],
  ])("is refused with %s", async (_what, claims) => {
    liar.claims = claims;
    const { status, text } = await signIn();
    expect([status, text]).toEqual([401, expect.stringContaining("did not confirm the sign-in")]);
  });

  it("is refused with a token that a former key signed", async () => {
    liar.signedBy = liar.formerKey;
    expect((await signIn()).status).toBe(401);
  });

  it("is refused with an endless answer", async () => {
    liar.padding = 2_000_000;
    expect((await signIn()).text).toContain("more than 1048576 bytes");
  });

  it("lets the registry connect to no address that the setting does not name", async () => {
    const elsewhere = await lyingIssuer(() => nonce);
    const other = await lyingIssuer(() => nonce);
    elsewhere.metadata = { token_endpoint: `${other.url}/token` };
    const { OidcIssuer } = await import("../../src/adapters/sign-in/oidc.js");
    const issuer = new OidcIssuer({
      name: "elsewhere",
      label: "Elsewhere",
      issuer: elsewhere.url,
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      scope: "openid",
      origins: [],
      register: true,
      groupsClaim: "groups",
      groups: {},
    });
    const callback = "http://localhost/done";
    const { challenge } = await issuer.begin(callback);
    const back = new URL(`${callback}?code=c&state=${challenge.state}`);
    await expect(issuer.finish(back, challenge)).rejects.toThrow("which OIDC_ISSUERS does not");
    expect(other.asked).toEqual([]);
    await elsewhere.stop();
    await other.stop();
  });
});

it("shows an ORCID iD that was proved at ORCID, and no other", async () => {
  const { records } = server.deps;
  const orcid = "0000-0002-1825-0097";
  const link = (issuer: string, subject: string) =>
    records.linkIdentity({ issuer, subject, user: ada.id, linkedAt: 1 });
  const shown = async () =>
    (await server.graphql("query ($id: ID!) { user(id: $id) { orcid } }", { id: ada.id })).body
      .data;
  await link("https://orcid.org.example.org", orcid);
  expect(await shown()).toEqual({ user: { orcid: null } });
  await link("https://orcid.org", orcid);
  expect(await shown()).toEqual({ user: { orcid: `https://orcid.org/${orcid}` } });
  const html = await server.request("GET", `/${ada.id}`, { headers: { Accept: "text/html" } });
  expect(html.text).toContain(`https://orcid.org/${orcid}`);
});

describe("a registry without passwords", () => {
  let closed: TestServer;
  let root: Person;
  beforeAll(async () => {
    const settings = { OIDC_ISSUERS: JSON.stringify([issuerOfLiar()]), PASSWORD_SIGN_IN: "off" };
    closed = await startServer(settings);
    root = { email: "root@example.org", password: PASSWORD } as Person;
  });
  afterAll(() => closed.stop());
  const issuerOfLiar = () => ({
    name: "liar",
    issuer: liar.url,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
  });

  it("refuses them in every interface, and starts only where people can sign in", async () => {
    const credentials = { username: root.email, password: root.password };
    for (const path of ["/token", "/login", "/session"]) {
      const { body } = await closed.request<{ code: string }>("POST", path, {
        json: credentials,
        headers: { Origin: closed.url },
      });
      expect(body.code, path).toBe("FORBIDDEN");
    }
    const { text } = await closed.request("GET", "/signin", { headers: { Accept: "text/html" } });
    expect(text).not.toContain('type="password"');
    expect(text).toContain("Sign in with liar");
    await expect(startServer({ PASSWORD_SIGN_IN: "off" })).rejects.toThrow("nobody could sign in");
  });
});
