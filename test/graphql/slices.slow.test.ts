import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/model/field.js";
import { LiveRegistry } from "../support/live-registry.js";
import { recordOf } from "../support/provenance-world.js";
import type { Json } from "../support/registry-client.js";

const RUNS = 500;
const USED = 100;
const LONG = "ark:99999/sliced-long";
/** Where Linux says how many ns this thread has had a core; time beside other processes says little. */
const SCHEDULED = `/proc/self/task/${process.pid}/schedstat`;

let registry: LiveRegistry;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  const { ark: owner } = await registry.user();
  const id = (kind: string, index: number): string => `ark:99999/sliced-${kind}-${index % RUNS}`;
  const record = (kind: "dataset" | "computation", document: JsonObject & { "@id": string }) =>
    recordOf(kind, { keywords: ["one", "two"], description: "Some words.", ...document }, owner);
  const writes = [await record("dataset", { "@id": LONG, name: "n".repeat(8_000) })];
  for (let index = 0; index < RUNS; index++) {
    const used = Array.from({ length: USED }, (_, next) => ({ "@id": id("data", index + next) }));
    writes.push(
      await record("dataset", { "@id": id("data", index), name: `Data ${index}` }),
      await record("computation", {
        "@id": id("run", index),
        name: `Run ${index}`,
        usedDataset: used,
        usedSoftware: { "@id": LONG },
      }),
    );
  }
  for (let start = 0; start < writes.length; start += 250)
    await registry.deps.records.commit({
      by: owner,
      at: Date.now(),
      records: writes.slice(start, start + 250),
    });
}, 600_000);
afterAll(() => registry?.stop());

const ask = (query: string): Promise<Response> =>
  fetch(`${registry.url}/graphql`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query }),
  });

describe.skipIf(!existsSync(SCHEDULED))("a costly operation without a token", () => {
  const onCore = (): number => Number(readFileSync(SCHEDULED, "utf8").split(" ")[0]) / 1e6;
  /** The most ms of a core that one turn of the event loop took, and all of them together. */
  const measured = async (query: string): Promise<{ most: number; all: number; text: string }> => {
    const start = onCore();
    let [most, last, done] = [0, start, false];
    const tick = (): void => {
      const now = onCore();
      most = Math.max(most, now - last);
      last = now;
      if (!done) setImmediate(tick);
    };
    tick();
    const response = await ask(query);
    let text = "";
    // Read in pieces: reading belongs to the client.
    for await (const chunk of response.body!) text ||= Buffer.from(chunk).toString();
    done = true;
    return { most, all: onCore() - start, text };
  };

  // Many short fields: the work is in their number, and the answer stays below its limit.
  const value =
    "id kind name keywords description createdAt ... on Record { modifiedAt tombstone { reason } " +
    "doi embargoEndsAt mayChange revision types } " +
    "... on Dataset { license url dateCreated { text } dateModified { text } creators { name } }";
  test.each([
    ["a page of a thousand", `{ records(first: 1000) { nodes { ${value} } } }`],
    ["documents", `{ datasets(first: ${RUNS}) { nodes { document } } }`],
    [
      "links to records that are known",
      `{ computations(first: 400) { nodes { usedDataset(first: ${USED}) { nodes { id } } } } }`,
    ],
    [
      "edges",
      `{ computations(first: 200) { edges { node { usedDataset(first: ${USED}) {
        edges { cursor node { id name keywords } } } } } } }`,
    ],
    [
      "owners of linked records",
      `{ computations(first: 200) { nodes { usedDataset(first: ${USED}) { nodes { owner { id } } } } } }`,
    ],
  ])(
    "leaves the thread after at most 50 ms: %s",
    async (_name, query) => {
      const runs = [];
      // The first run compiles, and the collector of garbage runs whenever it likes.
      for (let round = 0; round < 4; round++) runs.push(await measured(query));
      for (const { text } of runs) expect(text).toMatch(/^\{"data":\{"\w+":\{/);
      expect(Math.min(...runs.map(({ most }) => most))).toBeLessThan(50);
      expect(Math.max(...runs.map(({ all }) => all))).toBeGreaterThan(50);
    },
    60_000,
  );
});

describe("an answer", () => {
  test("is the same in slices as at once", async () => {
    const query = "{ datasets(first: 1000) { nodes { id name keywords document } } }";
    const { data } = (await (await ask(query)).json()) as Json;
    const nodes = data.datasets.nodes as Json[];
    expect(new Set(nodes.map(({ id }) => id as string)).size).toBe(RUNS + 1);
    for (const { id, name, keywords, document } of nodes)
      expect([document["@id"], document.name, document.keywords]).toEqual([id, name, keywords]);
  });

  test("that repeats one long text is refused past GRAPHQL_MAX_BYTES", async () => {
    const query = (first: number): string =>
      `{ computations(first: ${first}) { nodes { usedSoftware { nodes { name same: name again: name } } } } }`;
    expect(((await (await ask(query(100))).json()) as Json).errors).toBeUndefined();
    const { errors } = (await (await ask(query(RUNS))).json()) as Json;
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining("GRAPHQL_MAX_BYTES"),
      extensions: { code: "QUERY_TOO_COSTLY" },
    });
  });

  test("of records by identifier has an error in the place of each past the limit", async () => {
    const ids = JSON.stringify(Array.from({ length: 400 }, () => LONG));
    const { data, errors } = (await (
      await ask(`{ nodes(ids: ${ids}) { id ... on Dataset { name same: name } } }`)
    ).json()) as Json;
    expect(data.nodes).toHaveLength(400);
    expect(data.nodes[0]).toMatchObject({ id: LONG });
    expect(data.nodes.at(-1)).toBeNull();
    expect(errors[0].extensions.code).toBe("QUERY_TOO_COSTLY");
  });
});
