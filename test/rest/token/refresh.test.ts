import { afterAll, beforeAll, expect, it } from "vitest";
import { refresh } from "../../../src/services/accounts/refresh.js";
import { PASSWORD, type Person, startServer, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer({ REFRESH_LIFETIME: "1h" });
  ada = await server.person("ada");
});
afterAll(() => server.stop());

interface Tokens {
  access_token: string;
  refresh_token?: string;
  code?: string;
}
const post = (path: string, fields: Record<string, string>) =>
  server.request<Tokens>("POST", path, {
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields).toString(),
  });
const login = async (scope: string) =>
  (await post("/token", { username: ada.email, password: PASSWORD, scope })).body;
const renew = (refresh_token: string) => post("/token/refresh", { refresh_token });

it("returns a refresh token only where it is asked for", async () => {
  expect(await login("")).not.toHaveProperty("refresh_token");
  expect(await login("openid offline_access")).toHaveProperty("refresh_token");
});

it("exchanges a refresh token once, also of two requests at the same time", async () => {
  const { refresh_token: first } = await login("offline_access");
  const both = await Promise.all([renew(first!), renew(first!)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
  const next = both.find(({ status }) => status === 200)!.body;
  const me = await server.request("GET", "/me", { token: next.access_token });
  expect(me.body["@id"]).toBe(ada.id);
  expect((await renew(next.refresh_token!)).status).toBe(200);
});

it("ends at its time, when it is revoked, and with a new password", async () => {
  const old = (await login("offline_access")).refresh_token!;
  await expect(refresh(server.deps, old, Date.now() + 3_600_001)).rejects.toMatchObject({
    code: "INVALID_TOKEN",
  });
  expect((await post("/token/revoke", { refresh_token: old })).status).toBe(200);
  expect((await renew(old)).body.code).toBe("INVALID_TOKEN");
  expect((await post("/token/revoke", { refresh_token: old })).status).toBe(200);
  const { refresh_token: last } = await login("offline_access");
  await server.request("PUT", "/me/password", {
    token: ada.token,
    json: { currentPassword: PASSWORD, newPassword: "another fine phrase" },
  });
  expect((await renew(last!)).status).toBe(401);
});

it("is no access token, nor is an access token one", async () => {
  const bob = await server.person("bob");
  const { body } = await post("/token", {
    username: bob.email,
    password: PASSWORD,
    scope: "offline_access",
  });
  expect((await server.request("GET", "/me", { token: body.refresh_token! })).status).toBe(401);
  expect((await renew(body.access_token)).status).toBe(401);
});
