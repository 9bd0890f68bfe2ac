import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientAddress, ownsAddress } from "../src/config/client.js";
import { readConfig } from "../src/config/config.js";
import { startServer, type TestServer } from "./support/server.js";

const request = (remoteAddress: string | undefined, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  }) as unknown as IncomingMessage;

describe("the address of a client", () => {
  const behind = clientAddress("10.0.0.0/24, 192.0.2.7,fd00:1::/32");
  test.each<[string, string | undefined, string | undefined, string]>([
    ["comes directly", "203.0.113.9", undefined, "203.0.113.9"],
    ["comes directly and writes the header itself", "203.0.113.9", "198.51.100.1", "203.0.113.9"],
    ["comes through one proxy", "10.0.0.3", "198.51.100.1", "198.51.100.1"],
    [
      "writes an address before the proxy adds its own",
      "10.0.0.3",
      "1.1.1.1, 198.51.100.1",
      "198.51.100.1",
    ],
    ["comes through two proxies", "10.0.0.3", "1.1.1.1, 198.51.100.1, 192.0.2.7", "198.51.100.1"],
    ["comes from inside the network of the proxies", "10.0.0.3", "10.0.0.9", "10.0.0.9"],
    ["comes over IPv6", "fd00:1::5", "2001:db8::1", "2001:db8::1"],
    [
      "comes over IPv4 on a socket of IPv6",
      "::ffff:10.0.0.3",
      "::ffff:198.51.100.1",
      "198.51.100.1",
    ],
    ["is written with its port", "10.0.0.3", "198.51.100.1:4711", "198.51.100.1"],
    ["is written with its port, in brackets", "10.0.0.3", "[2001:db8::1]:4711", "2001:db8::1"],
    ["is not known to the proxy", "10.0.0.3", "unknown", "10.0.0.3"],
    ["sends nonsense through the proxy", "10.0.0.3", "<script>, ,", "10.0.0.3"],
    ["comes without the header", "10.0.0.3", undefined, "10.0.0.3"],
    ["has gone", undefined, "198.51.100.1", ""],
  ])("who %s", (_, remote, forwarded, expected) =>
    expect(behind(request(remote, forwarded))).toBe(expected),
  );

  test("is that of the connection when no proxy is trusted", () => {
    expect(clientAddress(null)(request("127.0.0.1", "198.51.100.1"))).toBe("127.0.0.1");
    expect(clientAddress(null)(request("::ffff:127.0.0.1"))).toBe("127.0.0.1");
  });

  test("takes bounded time, however long the header is", () => {
    expect(behind(request("10.0.0.3", "10.0.0.4, ".repeat(5000) + "10.0.0.5"))).toBe("10.0.0.4");
  });
});

test.each([
  "10.0.0.0/33",
  "proxy.example.org",
  "10.0.0.1/8/8",
  "fd00::/129",
  "10.0.0.1,,10.0.0.2",
  "10.0.0.1/",
  "*",
])("TRUSTED_PROXIES=%s stops the start", (value) => {
  expect(() => readConfig({ TRUSTED_PROXIES: value })).toThrow(
    /TRUSTED_PROXIES .* expected IP addresses and networks/,
  );
});

describe("the limit of logins", () => {
  let trusting: TestServer;
  let strict: TestServer;
  beforeAll(async () => {
    [trusting, strict] = await Promise.all([
      startServer({ LOGIN_RATE: "2", TRUSTED_PROXIES: "127.0.0.0/8" }),
      startServer({ LOGIN_RATE: "2" }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([trusting.stop(), strict.stop()]);
  });
  const attempt = async (server: TestServer, from: string) =>
    (
      await server.request("POST", "/token", {
        json: { username: "nobody@example.org", password: "wrong" },
        headers: { "X-Forwarded-For": from },
      })
    ).status;

  test("counts for each client behind a trusted proxy", async () => {
    expect([
      await attempt(trusting, "198.51.100.1"),
      await attempt(trusting, "198.51.100.1"),
      await attempt(trusting, "198.51.100.1"),
    ]).toEqual([401, 401, 429]);
    expect(await attempt(trusting, "198.51.100.2")).toBe(401);
  });

  test("is not evaded by a header when no proxy is trusted", async () => {
    expect([
      await attempt(strict, "198.51.100.1"),
      await attempt(strict, "198.51.100.2"),
      await attempt(strict, "198.51.100.3"),
    ]).toEqual([401, 401, 429]);
  });
});

describe("an address is the client's own", () => {
  const own = (trusted: string | null, remote: string, forwarded?: Record<string, string>) => {
    const req = {
      socket: { remoteAddress: remote },
      headers: { ...forwarded },
    } as unknown as IncomingMessage;
    return ownsAddress(trusted)(req, clientAddress(trusted)(req));
  };
  const via = (address: string) => ({ "x-forwarded-for": address });
  test.each<[string, boolean, string | null, string, Record<string, string>?]>([
    ["when it is a public one that comes directly", true, null, "203.0.113.9"],
    ["when it is a public one over IPv6", true, null, "2001:db8::1"],
    ["when a trusted proxy names it", true, "10.0.0.3", "10.0.0.3", via("198.51.100.1")],
    ["when a trusted proxy names a private one", true, "10.0.0.3", "10.0.0.3", via("192.168.7.8")],
    ["when proxies are trusted and it comes past them", true, "10.0.0.3", "192.168.7.8"],
  ])("%s", (_, expected, ...rest) => expect(own(...rest)).toBe(expected));
  test.each<[string, string | null, string, Record<string, string>?]>([
    ["when it is that of this host", null, "127.0.0.1"],
    ["when it is that of this host over IPv6", null, "::1"],
    ["when it is a private one", null, "10.0.0.3"],
    ["when it is mapped", null, "::ffff:192.168.1.1"],
    ["when it is shared by a carrier", null, "100.64.0.9"],
    ["when it is a local one", null, "fd00::1"],
    [
      "when a proxy that nobody trusts wrote for whom it asks",
      null,
      "203.0.113.9",
      via("198.51.100.1"),
    ],
    [
      "when a proxy said so as RFC 7239 has it",
      null,
      "203.0.113.9",
      { forwarded: "for=198.51.100.1" },
    ],
    ["when a proxy added itself", null, "203.0.113.9", { via: "1.1 proxy" }],
    ["when it is the trusted proxy's", "10.0.0.3", "10.0.0.3"],
    ["when the connection has gone", null, ""],
  ])("not %s", (_, ...rest) => expect(own(...rest)).toBe(false));
});
