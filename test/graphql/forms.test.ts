import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedData } from "../support/shared-data.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

// GraphQL multipart requests: operations, map, then the file.

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const QUERY =
  "mutation($file:Upload!){uploadCrate(input:{source:{archive:$file}}){submission{id}}}";
interface Answer {
  status: number;
  body: { errors?: { message: string; extensions: { code: string } }[] };
}
async function send(
  map: string,
  { part = "0", variables = { file: null } }: { part?: string | null; variables?: object } = {},
): Promise<Answer> {
  const form = new FormData();
  form.set("operations", JSON.stringify({ query: QUERY, variables }));
  form.set("map", map);
  if (part !== null) form.set(part, new Blob(["not an archive"]), "a.zip");
  return server.request("POST", "/graphql", {
    token: ada.token,
    headers: { "apollo-require-preflight": "1" },
    body: form,
  });
}
/** A refusal of the form, whose sentence names the entry or the field. */
async function expectRefused(sent: Promise<Answer>, named: string): Promise<void> {
  const { status, body } = await sent;
  expect([status, body.errors?.[0]?.extensions.code]).toEqual([400, "BAD_REQUEST"]);
  expect(body.errors![0]!.message).toContain(named);
  expect(server.faults).toEqual([]);
}

describe("the map of a multipart request", () => {
  it("puts the file where a variable is null", async () => {
    expect((await send('{"0":["variables.file"]}')).status).toBe(200);
    expect((await send('{"x y":["variables.file"]}', { part: "x y" })).status).toBe(200);
  });

  it.each([
    ['{"0":["variables.filez"]}', '"0"'],
    ['{"0":["variables.file.x.y"]}', '"0"'],
    ['{"0":["variables"]}', '"0"'],
    ['{"0":["0.variables.file"]}', '"0"'],
    ['{"0":[]}', '"0"'],
    ['{"0":["query"]}', '"0"'],
    ['{"0":[""]}', '"0"'],
    ['{"0":[5]}', '"0"'],
    ['{"0":["variables.__proto__.x"]}', '"0"'],
    ['{"0":["variables.constructor"]}', '"0"'],
    ['{"0":"variables.file"}', '"0"'],
    ['{"1":["variables.file"]}', '"1"'],
    ["{}", '"0"'],
    ["[]", "map"],
    ["null", "map"],
    ['""', "map"],
    ["", "map"],
    ["{", "map"],
  ])("is refused with its entry named: %s", async (map, named) => {
    if (map === "" || map === "{") {
      const { status, body } = await send(map);
      expect(status).toBe(400);
      expect(JSON.stringify(body.errors)).toContain(named);
    } else await expectRefused(send(map), named);
  });

  it("is refused where its file does not come", () =>
    expectRefused(send('{"0":["variables.file"]}', { part: null }), '"0"'));

  it("never leads to an internal error, whatever it holds", async () => {
    const step = fc.constantFrom("variables", "file", "0", "", "__proto__", "query", "length");
    const place = fc.oneof(
      fc.array(step, { maxLength: 4 }).map((steps) => steps.join(".")),
      fc.jsonValue(),
    );
    const map = fc.oneof(
      fc.dictionary(
        fc.constantFrom("0", "1", "__proto__"),
        fc.oneof(fc.array(place, { maxLength: 3 }), place),
      ),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(map, fc.constantFrom("0", "1", null), async (sent, part) => {
        const { status } = await send(JSON.stringify(sent), { part });
        expect(status).toBeLessThan(500);
        expect(server.faults).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  const CASE = sharedData("cases/public/37-map-that-points-nowhere");
  it.skipIf(!CASE)("is refused as in the case of another server", async () => {
    const line = /for m in (.*?); do/.exec(readFileSync(join(CASE!, "case.md"), "utf8"))![1]!;
    const maps = [...line.matchAll(/'([^']*)'/g)].map(([, map]) => map!);
    expect(maps).toHaveLength(7);
    for (const map of maps) await expectRefused(send(map), /"(\d)"/.exec(map)![0]);
  });
});
