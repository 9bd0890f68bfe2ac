import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import jwt from "jsonwebtoken";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { overlay } from "../../support/overlay.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";

const JWT_SECRET = "one key that two registries were given by mistake";
let here: TestServer;
let elsewhere: TestServer;
let ada: Person;
beforeAll(async () => {
  [here, elsewhere] = await Promise.all([startServer({ JWT_SECRET }), startServer({ JWT_SECRET })]);
  ada = await here.person("ada");
  await elsewhere.person("ada");
});
afterAll(() => Promise.all([here.stop(), elsewhere.stop()]));

const claimsOf = (token: string) => jwt.decode(token) as jwt.JwtPayload;
const asks = async (server: TestServer, token: string) =>
  (await server.request<{ code?: string }>("GET", "/user", { token })).body.code ?? "done";

describe("a token", () => {
  it("names the registry that issued it and its audience", () => {
    const { iss, aud } = claimsOf(ada.token);
    expect(iss).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
    expect(aud).toBe(iss);
  });
  it("is refused by another registry with the same key and user", async () => {
    expect([await asks(here, ada.token), await asks(elsewhere, ada.token)]).toEqual([
      "done",
      "INVALID_TOKEN",
    ]);
  });
  it.each(["iss", "aud"])("is refused without %s, or with another one", async (claim) => {
    const { [claim]: own, ...claims } = claimsOf(ada.token);
    const signed = (value: object) => jwt.sign(value, JWT_SECRET, { algorithm: "HS256" });
    expect(await asks(here, signed({ ...claims, [claim]: own }))).toBe("done");
    expect(await asks(here, signed(claims))).toBe("INVALID_TOKEN");
    for (const other of ["https://elsewhere.example", "", here.url])
      expect(await asks(here, signed({ ...claims, [claim]: other }))).toBe("INVALID_TOKEN");
  });
});

describe("the issuer", () => {
  it("stays the same over a restart on another port and with another address", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-issuer-"));
    try {
      const first = await startServer({ DATA_DIR: folder });
      const bob = await first.person("bob");
      await first.stop();
      const second = await startServer({ DATA_DIR: folder, BASE_URL: "https://registry.example" });
      expect(await asks(second, bob.token)).toBe("done");
      await second.stop();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
  it("is one for two nodes that begin an installation together", async () => {
    const { installation } = await import("../../../src/services/accounts/tokens.js");
    const { records } = here.deps;
    const fresh = overlay(records, {
      setting: (name: string) => records.setting(`test ${name}`),
      setSetting: (name: string, value: string, options: { ifAbsent?: boolean }) =>
        records.setSetting(`test ${name}`, value, options),
    });
    const names = await Promise.all([
      installation(fresh),
      installation(fresh),
      installation(fresh),
    ]);
    expect(new Set(names).size).toBe(1);
  });
});
