import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bodyOf } from "../../support/bodies.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";
import { ask, ENDLESS } from "../../support/sparql.js";

const OTHERS = 20;
const SHORT = "SELECT (COUNT(*) AS ?n) { ?s <https://schema.org/name> ?name }";
const bearer = ({ token }: Pick<Person, "token">) => ({ Authorization: `Bearer ${token}` });

describe("one caller who sends endless queries back to back", () => {
  let server: TestServer;
  let mallory: Person;
  let others: Person[];
  beforeEach(async () => {
    server = await startServer({ SPARQL_SLICE: "1s", TRUSTED_PROXIES: "127.0.0.1" });
    mallory = await server.person("mallory");
    others = await Promise.all(
      Array.from({ length: OTHERS }, (_, i) => server.person(`other-${i}`)),
    );
    await server.request("POST", "/dataset", {
      token: mallory.token,
      json: bodyOf("dataset", mallory.id),
    });
  });
  afterEach(() => server.stop());

  /** Until the server stops. */
  const attack = async (headers: Record<string, string>) => {
    for (let status = 0; ;) {
      ({ status } = await ask(server, ENDLESS, headers));
      if (status === 429) await pause(100);
    }
  };

  it.each<[string, (index: number) => Record<string, string>, Record<string, string> | undefined]>([
    ["20 others with tokens", (index) => bearer(others[index]!), undefined],
    [
      "20 others at addresses of their own",
      (index) => ({ "X-Forwarded-For": `198.51.100.${index}` }),
      { "X-Forwarded-For": "203.0.113.1" },
    ],
    ["20 others behind the same address", () => ({}), {}],
  ])(
    "leaves answers to %s",
    async (_who, headers, attacker) => {
      for (let i = 0; i < 8; i++) attack(attacker ?? bearer(mallory)).catch(() => {});
      await pause(500);
      const began = performance.now();
      const answers = await Promise.all(
        others.map((_, index) => ask(server, SHORT, headers(index))),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(performance.now() - began).toBeLessThan(20_000);
    },
    90_000,
  );
});

describe("one caller who sends 300 queries at once", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer();
  });
  afterEach(() => server.stop());

  it("leaves answers to the 20 queries that another sends meanwhile", async () => {
    const [mallory, ada] = [await server.person("mallory"), await server.person("ada")];
    // Each text is another one: it has to be read. Long ones, so that reading takes a while.
    const long = (number: number) =>
      `SELECT ?s { ${`?s <urn:p${number}> ?o . `.repeat(300)} } LIMIT ${number + 1}`;
    let ended = false;
    const flood = async () => {
      while (!ended)
        await Promise.all(
          Array.from({ length: 300 }, (_, i) => ask(server, long(i), bearer(mallory))),
        );
    };
    expect((await ask(server, SHORT, bearer(ada))).status).toBe(200);
    const flooding = flood();
    await pause(100);
    const answers: string[] = [];
    for (let i = 0; i < 20; i++) {
      const { status, body } = await ask(server, `${SHORT} LIMIT ${i + 1}`, bearer(ada));
      answers.push(status === 200 ? "answered" : JSON.stringify(body));
    }
    ended = true;
    await flooding;
    expect(answers).toEqual(answers.map(() => "answered"));
  }, 120_000);
});

describe("a penalty by address", () => {
  const query = async (settings: Record<string, string>, headers: Record<string, string>) => {
    const server = await startServer({ SPARQL_TIMEOUT: "1s", SPARQL_PENALTY: "1m", ...settings });
    try {
      const ada = await server.person("ada");
      await server.request("POST", "/dataset", {
        token: ada.token,
        json: bodyOf("dataset", ada.id),
      });
      for (let i = 0; i < 2; i++) expect((await ask(server, ENDLESS, headers)).status).toBe(503);
      return (await ask(server, "ASK {}", headers)).status;
    } finally {
      await server.stop();
    }
  };
  it("is given to a client that a trusted proxy names", async () => {
    expect(
      await query({ TRUSTED_PROXIES: "127.0.0.1" }, { "X-Forwarded-For": "198.51.100.7" }),
    ).toBe(429);
  }, 30_000);
  it("is not given to all clients behind an untrusted proxy, or behind one that names nobody", async () => {
    expect(await query({}, { "X-Forwarded-For": "198.51.100.7" })).toBe(200);
    expect(await query({}, {})).toBe(200);
    expect(await query({ TRUSTED_PROXIES: "127.0.0.1" }, {})).toBe(200);
  }, 60_000);
});
