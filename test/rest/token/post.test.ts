import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PASSWORD, startServer, type Person, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer({ TOKEN_LIFETIME: "90s" });
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const FORM = "application/x-www-form-urlencoded";
interface Logged {
  access_token: string;
  token_type: string;
  expires_in: number;
  detail: { loc: string[]; type: string }[];
}
const form = (path: string, fields: Record<string, string>) =>
  server.request<Logged>("POST", path, {
    headers: { "Content-Type": FORM },
    body: new URLSearchParams(fields).toString(),
  });

describe.each(["/token", "/api/login/"])("POST %s", (path) => {
  it(
    "returns a token for the address or the identifier, from a form or JSON, and no " +
      "cache stores it",
    async () => {
      for (const username of [ada.email, ada.id, ada.id.replace("ark:", "https://n2t.net/ark:/")]) {
        for (const answer of [
          await form(path, {
            grant_type: "password",
            username,
            password: PASSWORD,
            scope: "",
            client_id: "x",
          }),
          await server.request<Logged>("POST", path, {
            json: { username, password: PASSWORD, grant_type: null },
          }),
        ]) {
          expect([answer.status, answer.body.token_type, answer.body.expires_in]).toEqual([
            200,
            "bearer",
            90,
          ]);
          expect([answer.headers.get("cache-control"), answer.headers.get("pragma")]).toEqual([
            "no-store",
            "no-cache",
          ]);
          expect(
            (await server.request("GET", "/user", { token: answer.body.access_token })).status,
          ).toBe(200);
        }
      }
    },
  );
  it("reports missing or invalid fields", async () => {
    const cases: [Record<string, string>, string[]][] = [
      [{}, ["body.username missing", "body.password missing"]],
      [{ username: "a" }, ["body.password missing"]],
      [
        { username: "a", password: "b", grant_type: "code" },
        ["body.grant_type string_pattern_mismatch"],
      ],
    ];
    for (const [fields, wrong] of cases) {
      const answer = await form(path, fields);
      expect([
        answer.status,
        answer.body.detail.map(({ loc, type }) => `${loc.join(".")} ${type}`),
      ]).toEqual([422, wrong]);
    }
    for (const json of [{ username: 1, password: [] }, [], "x", null])
      expect((await server.request("POST", path, { json })).status).toBe(422);
    expect((await server.request("POST", path)).status).toBe(422);
  });
  it("refuses other media types, and text that no account can have", async () => {
    expect(
      (
        await server.request("POST", path, {
          body: "a=b",
          headers: { "Content-Type": "text/plain" },
        })
      ).status,
    ).toBe(415);
    expect((await form(path, { username: "a\0", password: "b" })).status).toBe(422);
    expect((await form(path, { username: "a", password: "b\0" })).status).toBe(422);
    const twice = await server.request<Logged>("POST", path, {
      headers: { "Content-Type": FORM },
      body: `username=${ada.email}&username=x&password=${PASSWORD}`,
    });
    expect([twice.status, twice.body.detail]).toMatchObject([
      422,
      [{ loc: ["body", "username"], type: "value_error" }],
    ]);
  });
});
it("each path gives a token", async () => {
  for (const path of ["/token/", "/login", "/api/token"])
    expect((await form(path, { username: ada.email, password: PASSWORD })).status).toBe(200);
});
it("GET /token is not a method", async () =>
  expect((await server.request("GET", "/token")).status).toBe(405));
