import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PASSWORD, startServer, type TestServer } from "../support/server.js";

const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe("the pages of accounts", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    await server.person("ada");
  });
  afterAll(() => server.stop());

  const post = (path: string, fields: Record<string, string>, headers = {}) =>
    fetch(server.url + path, {
      method: "POST",
      redirect: "manual",
      headers: { ...BROWSER, Origin: server.url, ...headers },
      body: new URLSearchParams(fields),
    });
  const signIn = (to = "/my") =>
    post("/signin", { username: "ada@example.org", password: PASSWORD, to });
  const cookieOf = (answer: Response) => answer.headers.get("set-cookie")!.split(";", 1)[0]!;
  const home = async (cookie: string) =>
    (await fetch(`${server.url}/`, { headers: { ...BROWSER, Cookie: cookie } })).text();

  test("signing in sets a cookie, leads on, and shows the name; signing out ends the session", async () => {
    const answer = await signIn("/browse");
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/browse"]);
    expect(answer.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Lax/);
    const cookie = cookieOf(answer);
    const page = await home(cookie);
    expect(page).toContain("Sign out");
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)![1]!;
    const refused = await post("/signout", { csrf: "wrong" }, { Cookie: cookie });
    expect(refused.status).toBe(403);
    expect((await post("/signout", { csrf }, { Cookie: cookie })).status).toBe(303);
    expect(await home(cookie)).toContain("Sign in");
  });

  test.each(["/ark:99999/nothing-here", "/nothing-here", "/rocrate/ark:99999/nothing-here"])(
    "the page that says that nothing is at %s shows who is signed in",
    async (path) => {
      const headers = { ...BROWSER, Cookie: cookieOf(await signIn()) };
      const answer = await fetch(server.url + path, { headers });
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain("Sign out");
    },
  );

  test("says the rule of a password before it is typed, and in plain words when it is broken", async () => {
    const form = await server.request("GET", "/signup", { headers: BROWSER });
    expect(form.text).toContain("At least 8 characters.");
    expect(form.text).toMatch(/type="password"[^>]*minlength="8"/i);
    const answer = await post("/signup", { name: "Eve", email: "eve@example.org", password: "a" });
    const text = await answer.text();
    expect(answer.status).toBe(422);
    expect(text).toContain("Write at least 8 characters.");
    expect(text).not.toMatch(/String should|PASSWORD_MIN_LENGTH|Value error/);
  });

  test("nobody types a password twice because of another field", async () => {
    const typed = { name: "Eve", email: "noaddress", password: "seven cups & <tea> daily" };
    const answer = await post("/signup", typed);
    const text = await answer.text();
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(text).toContain('value="seven cups &amp; &lt;tea> daily"');
    expect(text).toContain('value="Eve"');
    expect(text).toContain("Not a valid email address: it has the form name@host.");
    expect(text).not.toContain("Value error");
  });

  test("the address that a first start prints has the token of its administrator", async () => {
    const { text } = await server.request("GET", "/signup?admin=abc%22%3E", { headers: BROWSER });
    expect(text).toContain('value="abc&quot;>"');
    expect(text).toMatch(/<details class="more" open/);
  });

  test("a wrong password keeps the name that was typed, and says what to check", async () => {
    const answer = await post("/signin", { username: "ada@example.org", password: "wrong" });
    const text = await answer.text();
    expect(answer.status).toBe(401);
    expect(text).toContain('value="ada@example.org"');
    expect(text).toContain("The user name or the password is wrong");
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  test.each(["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"])(
    "signing in never leads to another site: %s",
    async (to) => {
      expect((await signIn(to)).headers.get("location")).toBe("/my");
    },
  );

  test("a form of another site signs nobody in", async () => {
    const answer = await post(
      "/signin",
      { username: "ada@example.org", password: PASSWORD },
      { Origin: "https://evil.example" },
    );
    expect([answer.status, answer.headers.get("set-cookie")]).toEqual([401, null]);
  });

  test("an account is created by a form, whose faults are beside their fields", async () => {
    const short = await post("/signup", {
      name: "Grace",
      email: "grace@example.org",
      password: "x",
    });
    const text = await short.text();
    expect(short.status).toBe(422);
    expect(text).toContain('id="field-password-error"');
    expect(text).toContain('value="grace@example.org"');
    const answer = await post("/signup", {
      name: "Grace",
      email: "grace@example.org",
      password: PASSWORD,
      to: "/upload",
    });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/upload"]);
    expect(await home(cookieOf(answer))).toContain("Grace");
  });
});
