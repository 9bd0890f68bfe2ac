import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { packageRoot } from "../../../src/package-root.js";
import { Browser } from "../../support/browser.js";
import { type Person, startServer, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

interface Codes {
  device_code: string;
  user_code: string;
}
interface Tokens {
  access_token?: string;
  refresh_token?: string;
  pending?: true;
  code?: string;
}
const begin = async (url = server.url) =>
  (await (await fetch(`${url}/token/device`, { method: "POST" })).json()) as Codes;
const poll = (device_code: string) =>
  server.request<Tokens>("POST", "/token/device/exchange", { json: { device_code } });
const enter = async (url: string, person: Person, code: string) => {
  const { headers, csrf } = await Browser.signIn(url, person);
  return fetch(`${url}/device`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ csrf, code }),
  });
};

it("gives a program tokens once its user has entered the code, and once only", async () => {
  const { device_code, user_code } = await begin();
  expect((await poll(device_code)).body).toEqual({ pending: true });
  expect((await enter(server.url, ada, user_code.toLowerCase().replace("-", " "))).status).toBe(
    200,
  );
  const { body } = await poll(device_code);
  expect(body).toMatchObject({ token_type: "bearer", refresh_token: expect.any(String) });
  const me = await server.request("GET", "/me", { token: body.access_token! });
  expect(me.body["@id"]).toBe(ada.id);
  expect((await poll(device_code)).body).toEqual({ pending: true });
});

it("gives nothing for a code that nobody entered, an unknown one, or another program's", async () => {
  const [one, two] = [await begin(), await begin()];
  await enter(server.url, ada, one.user_code);
  expect((await poll(two.device_code)).body).toEqual({ pending: true });
  expect((await poll("no-code")).body.code).toBe("INVALID_TOKEN");
  expect((await poll(ada.token)).body.code).toBe("INVALID_TOKEN");
  expect((await enter(server.url, ada, "BCDF")).status).toBe(422);
});

it("lets no access token enter a code, and asks a reader without a session to sign in", async () => {
  const { body } = await server.request<{ secret: string }>("POST", "/me/tokens", {
    token: ada.token,
    json: { name: "t" },
  });
  const { user_code, device_code } = await begin();
  await server.request("POST", "/device", {
    token: body.secret,
    headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: "text/html" },
    body: `code=${user_code}`,
  });
  expect((await poll(device_code)).body).toEqual({ pending: true });
  const page = await server.request("GET", `/device?code=${user_code}`, {
    headers: { Accept: "text/html" },
  });
  expect([page.status, page.headers.get("location")]).toEqual([
    302,
    `/signin?to=${encodeURIComponent(`/device?code=${user_code}`)}`,
  ]);
});

it("signs the command line in: arkgraph login --web", async () => {
  const folder = await mkdtemp(join(tmpdir(), "arkgraph-device-"));
  const env = { PATH: process.env["PATH"]!, XDG_CONFIG_HOME: folder, ARKGRAPH_SERVER: server.url };
  const tool = join(packageRoot, "bin", "arkgraph.js");
  const child = spawn(process.execPath, [tool, "login", "--web"], { env });
  try {
    const [shown, ended] = [{ err: "", out: "" }, once(child, "close")];
    child.stderr.on("data", (part: Buffer) => (shown.err += part.toString()));
    child.stdout.on("data", (part: Buffer) => (shown.out += part.toString()));
    await expect
      .poll(() => /code=([A-Z-]{9})/.exec(shown.err)?.[1], { timeout: 30_000 })
      .toBeTruthy();
    await enter(server.url, ada, /code=([A-Z-]{9})/.exec(shown.err)![1]!);
    expect((await ended)[0]).toBe(0);
    expect(shown.out).toContain(`Logged in to ${server.url} as ${ada.id}`);
  } finally {
    child.kill();
    await rm(folder, { recursive: true });
  }
}, 60_000);
