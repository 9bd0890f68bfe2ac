import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../../support/bodies.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";
import { ENDLESS, ask } from "../../support/sparql.js";

const many = (length: number, text: string, joint = " ") =>
  Array.from({ length }).fill(text).join(joint);
const RECORD = "ark:99999/survivor";
const ALIVE = `ASK { GRAPH <${RECORD}> { <${RECORD}> ?p ?o } }`;

let server: TestServer;
let ada: Person;
let elsewhere: Server;
let port: number;
let connections = 0;
beforeAll(async () => {
  server = await startServer({
    SPARQL_TIMEOUT: "1500ms",
    SPARQL_PENALTY: "1ms",
    SPARQL_QUEUE_WAIT: "20s",
  });
  ada = await server.person("ada");
  await server.request("POST", "/dataset", {
    token: ada.token,
    json: { ...bodyOf("dataset", ada.id), "@id": RECORD },
  });
  elsewhere = createServer((_req, res) => res.end("<a:a> <a:b> <a:c> ."));
  elsewhere.on("connection", () => connections++);
  elsewhere.listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
  ({ port } = elsewhere.address() as AddressInfo);
});
afterAll(async () => {
  elsewhere.close();
  await server.stop();
});

describe("a harmful query", () => {
  it.each<[string, () => string | Uint8Array<ArrayBuffer>, number, string | RegExp]>([
    [
      "nested braces that end an engine",
      () => `SELECT * ${"{".repeat(1000)}${"}".repeat(1000)}`,
      400,
      "QUERY_REFUSED",
    ],
    [
      "arms of a union that end an engine",
      () => `SELECT * {${many(5000, "{}", "UNION")}}`,
      400,
      "QUERY_REFUSED",
    ],
    [
      "brackets of a filter",
      () => `SELECT * { FILTER(${"(".repeat(5000)}1${")".repeat(5000)}) }`,
      400,
      "QUERY_REFUSED",
    ],
    [
      "sub-queries",
      () => `SELECT * {${"{SELECT * {".repeat(500)}${"}}".repeat(500)}}`,
      400,
      "QUERY_REFUSED",
    ],
    [
      "paths",
      () => `SELECT * { ?s ${"(".repeat(2000)}<a:b>${")*".repeat(2000)} ?o }`,
      400,
      "QUERY_REFUSED",
    ],
    ["values", () => `SELECT * { VALUES ?x { ${"1 ".repeat(10_000)} } }`, 400, "QUERY_REFUSED"],
    [
      "lists",
      () => `SELECT * { ?s ?p ?o FILTER(?o IN (${many(10_000, "1", ",")})) }`,
      400,
      "QUERY_REFUSED",
    ],
    ["ten megabytes", () => "x".repeat(10 * 2 ** 20), 413, "TOO_LARGE"],
    ["more than a body may hold", () => "x".repeat(11 * 2 ** 20), 413, "TOO_LARGE"],
    [
      "bytes that are no UTF-8",
      () => new Uint8Array([0x41, 0x53, 0x4b, 0xff, 0xfe, 0x7b]),
      400,
      "QUERY_SYNTAX",
    ],
    [
      "an encoded surrogate",
      () =>
        new Uint8Array([...Buffer.from('ASK { ?s ?p "'), 0xed, 0xa0, 0x80, ...Buffer.from('" }')]),
      400,
      "QUERY_SYNTAX",
    ],
    ["NUL", () => 'ASK { ?s ?p "\0" }', 400, "QUERY_SYNTAX"],
    [
      "an expression that no backtracking engine ends",
      () =>
        "SELECT * { ?s ?p ?o FILTER " +
        'REGEX("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "^(((a+)+)+)+$") }',
      200,
      /"bindings":\[\]/,
    ],
    [
      "an expression that is large when compiled",
      () => 'SELECT * { ?s ?p ?o FILTER REGEX(STR(?o), "((((a{100}){100}){100}){100})") }',
      200,
      /"bindings":\[\]/,
    ],
    ["pairs of pairs of pairs", () => ENDLESS, 503, "QUERY_TIMEOUT"],
    [
      "a sum of everything",
      () =>
        "SELECT (GROUP_CONCAT(?x) AS ?y) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m " +
        "?n ?o . ?p ?q ?r . ?s ?t ?u . ?v ?w ?z BIND(CONCAT(STR(?a), STR(?d), STR(?g)) AS " +
        "?x) }",
      503,
      /QUERY_TIMEOUT|QUERY_MEMORY/,
    ],
  ])("is refused or ended, by what it is: %s", async (_what, query, status, logged) => {
    const answer = await ask(server, query());
    expect(answer.status, answer.text.slice(0, 300)).toBe(status);
    if (typeof logged === "string") expect(answer.body["code"]).toBe(logged);
    else expect(answer.text).toMatch(logged);
    if (status === 503) expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await ask(server, ALIVE)).body.boolean).toBe(true);
  });

  it("reaches no other address", async () => {
    const there = `<http://127.0.0.1:${port}/data>`;
    for (const query of [
      `SELECT * { SERVICE ${there} { ?s ?p ?o } }`,
      `SELECT * { SERVICE SILENT ${there} { ?s ?p ?o } }`,
      `PREFIX x: <http://127.0.0.1:${port}/> SELECT * { \\u0053ERVICE x:data { ?s ?p ?o } }`,
      `SELECT * FROM ${there} { ?s ?p ?o }`,
      `SELECT * FROM NAMED ${there} { GRAPH ?g { ?s ?p ?o } }`,
      `LOAD ${there}`,
      `LOAD SILENT ${there} INTO GRAPH <a:b>`,
    ])
      expect(await ask(server, query)).toMatchObject({
        status: 400,
        body: { code: expect.stringMatching(/^(QUERY|UPDATE)_REFUSED$/) as string },
      });
    for (const name of ["default-graph-uri", "named-graph-uri"])
      expect(
        (
          await ask(
            server,
            "SELECT * { ?s ?p ?o }",
            {},
            `/sparql?${name}=${encodeURIComponent(there.slice(1, -1))}`,
          )
        ).status,
      ).toBe(400);
    expect(
      (await ask(server, `SELECT * { GRAPH ${there} { ?s ?p ?o } }`)).body.results!.bindings,
    ).toEqual([]);
    expect(connections).toBe(0);
  });

  it("delays nobody else", async () => {
    const guilty = ask(server, ENDLESS);
    const others = await Promise.all([
      server.request("GET", `/${RECORD}`),
      server.request("GET", `/evidencegraph/query/${RECORD}`),
      server.request("POST", "/dataset", { token: ada.token, json: bodyOf("dataset", ada.id) }),
      ask(server, ALIVE),
      ask(server, "SELECT * {"),
    ]);
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400]);
    expect((await guilty).body["code"]).toBe("QUERY_TIMEOUT");
  });

  it("is dropped when its sender disconnects while it waits", async () => {
    await ask(server, ALIVE);
    const guilty = ask(server, ENDLESS);
    const sockets = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
        await once(socket, "connect");
        socket.write(`GET /sparql?query=${encodeURIComponent(ALIVE)} HTTP/1.1\r\nHost: x\r\n\r\n`);
        return socket;
      }),
    );
    while (server.deps.openQueries.state().waiting < 5) await new Promise(setImmediate);
    for (const socket of sockets) socket.destroy();
    while (server.deps.openQueries.state().waiting > 0) await new Promise(setImmediate);
    expect((await guilty).status).toBe(503);
  });

  it("causes no fault in the log", () => expect(server.faults).toEqual([]));
});

it("delays a caller who exceeds limits repeatedly, and no other", async () => {
  const strict = await startServer({ SPARQL_TIMEOUT: "1s" });
  try {
    const [mallory, eve] = [await strict.person("mallory"), await strict.person("eve")];
    for (let i = 0; i < 20; i++)
      await strict.request("POST", "/dataset", {
        token: eve.token,
        json: bodyOf("dataset", eve.id),
      });
    const as = ({ token }: Person, query: string) =>
      strict.request("POST", "/sparql", {
        token,
        headers: { "Content-Type": "application/sparql-query" },
        body: query,
      });
    expect((await as(mallory, ENDLESS)).status).toBe(503);
    expect((await as(mallory, "ASK {}")).status).toBe(200);
    expect((await as(mallory, ENDLESS)).status).toBe(503);
    const refused = await as(mallory, "ASK {}");
    expect([refused.status, refused.body["code"]]).toEqual([429, "TOO_MANY_REQUESTS"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
    expect((await as(eve, "ASK {}")).status).toBe(200);
    expect((await ask(strict, "ASK {}")).status).toBe(200);
  } finally {
    await strict.stop();
  }
});
