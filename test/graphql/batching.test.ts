import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RecordStore } from "../../src/storage/records/port.js";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
const RECORDS = 100;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  const organization = bodyOf("organization", ada.id);
  await server.request("POST", "/organization", { token: ada.token, json: organization });
  for (let round = 0; round < RECORDS; round++) {
    const dataset = bodyOf("dataset", round % 3 === 0 ? ada.id : String(organization["@id"]), {
      derivedFrom: Array.from({ length: round % 4 }, (_, one) => `ark:99999/source-${one}`),
    });
    await server.request("POST", "/dataset", { token: ada.token, json: dataset });
    for (let run = 0; run < round % 3; run++)
      await server.request("POST", "/computation", {
        token: ada.token,
        json: bodyOf("computation", ada.id, { usedDataset: dataset["@id"]! }),
      });
  }
});
afterAll(() => server.stop());

/** Counts the reads of the truth while `work` goes on. */
async function reads(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  const { records } = server.deps;
  const names = [
    "find",
    "findMany",
    "select",
    "countSelected",
    "linksFrom",
    "linksTo",
    "countLinks",
    "history",
    "quads",
    "atRevision",
    "objectsOf",
  ] as const satisfies readonly (keyof RecordStore)[];
  const own = new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(records, name)]));
  for (const name of names) {
    const read = records[name] as (...given: unknown[]) => unknown;
    Object.defineProperty(records, name, {
      configurable: true,
      writable: true,
      value: (...given: unknown[]) => {
        counted[name] = (counted[name] ?? 0) + 1;
        return read.apply(records, given);
      },
    });
  }
  try {
    await work();
  } finally {
    for (const [name, descriptor] of own) {
      if (descriptor) Object.defineProperty(records, name, descriptor);
      else delete (records as unknown as Record<string, unknown>)[name];
    }
  }
  return counted;
}
const ask = async (selection: string) => {
  let nodes = 0;
  const counted = await reads(async () => {
    const { body } = await server.graphql<{ datasets: { nodes: unknown[] } }>(
      `{ datasets(first: ${RECORDS}) { nodes { ${selection} } } }`,
    );
    expect(body).not.toHaveProperty("errors");
    nodes = body.data.datasets.nodes.length;
  });
  expect(nodes).toBe(RECORDS);
  return counted;
};

describe("a page of a hundred records costs as many reads as one of a single record", () => {
  it("with its owners", async () =>
    expect((await ask("id owner { id name }"))["findMany"]).toBe(1));
  it("with what they state and what is stated about them", async () => {
    const counted = await ask(
      "id owner { name } ... on Dataset { usedBy(first: 5) { nodes { id name owner { id } } " +
        "} derivedFrom(first: 2) { nodes { id } } }",
    );
    expect(counted).toMatchObject({ select: 1, linksFrom: 2, linksTo: 2 });
    expect(counted["countSelected"]).toBeUndefined();
    expect(counted["findMany"]).toBeLessThanOrEqual(6);
  });
  it("with how many records their links lead to", async () => {
    const counted = await ask(
      "id ... on Dataset { usedBy(first: 0) { totalCount } derivedFrom(first: 0) { totalCount } }",
    );
    expect(counted["select"]).toBe(1);
    // Pages that need a second read for their other side end later, and are counted together.
    expect(counted["countLinks"]).toBeGreaterThan(0);
    expect(counted["countLinks"]).toBeLessThanOrEqual(4);
  });
  it("with their whole documents", async () => {
    const counted = await ask("document");
    expect(counted["linksTo"]).toBeLessThanOrEqual(2);
    expect(Object.values(counted).reduce((sum, count) => sum + count)).toBeLessThanOrEqual(6);
  });
});
