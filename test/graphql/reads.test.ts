import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countReads } from "../support/count-reads.js";
import { LiveRegistry } from "../support/live-registry.js";
import { provenance } from "../support/provenance-world.js";
import type { Json, User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
  await provenance(registry.deps.records, ada.ark, 100);
});
afterAll(() => registry?.stop());

const page = (first: number) =>
  `{ datasets(first: ${first}) { nodes { id name owner { id name } generatedBy { nodes { id ` +
  "name ... on Computation { usedSoftware { nodes { name } } usedDataset { nodes { id name " +
  "} } } } } } } }";
const reads = async (query: string, token?: string) => {
  const { answer, ...counted } = await countReads(registry.deps.records, () =>
    registry.graphql(query, {}, token),
  );
  expect(answer.body["errors"]).toBeUndefined();
  return { data: answer.body["data"] as Json, ...counted };
};
/** The same with the fewest reads of three: what lasts longer than a slice is read in more parts. */
const fewest = async (query: string) => {
  const tried = [await reads(query), await reads(query), await reads(query)];
  return tried.toSorted((a, b) => a.total - b.total)[0]!;
};
const named = (data: Json, name: string): Json =>
  data["datasets"].nodes.find((node: Json) => node["name"] === name);

describe("the store reads of one query", () => {
  test("for a hundred records with two levels of links are about a dozen, as for twenty records", async () => {
    const hundred = await fewest(page(100));
    expect(hundred.data["datasets"].nodes).toHaveLength(100);
    expect(named(hundred.data, "Dataset 7")).toMatchObject({
      owner: { id: ada.ark, name: "Ada" },
      generatedBy: {
        nodes: [
          {
            name: "Computation 7",
            usedSoftware: { nodes: [{ name: "Program" }] },
            usedDataset: { nodes: [{ name: "Dataset 6" }, { name: "Dataset 5" }] },
          },
        ],
      },
    });
    const twenty = await fewest(page(20));
    expect(hundred.total).toBe(twenty.total);
    expect(hundred.reads).toEqual({
      select: 1,
      linksFrom: 3,
      linksTo: 3,
      findMany: expect.toSatisfy((count: number) => count <= 5),
    });
    expect(hundred.total).toBeLessThanOrEqual(12);
  });

  test("for a list include a count only on request", async () => {
    expect((await reads("{ datasets(first: 1) { nodes { id } } }")).reads).toEqual({ select: 1 });
    expect((await reads("{ datasets(first: 1) { totalCount } }")).reads).toEqual({
      select: 1,
      countSelected: 1,
    });
  });

  test("do not include an evidence graph's nodes unless they are requested", async () => {
    const { reads: few } = await reads(
      `{ evidence(id: "ark:99999/world-dataset-3") { edges { name } } }`,
    );
    const { data } = await reads(
      `{ evidence(id: "ark:99999/world-dataset-3") { nodes { id name } } }`,
    );
    expect(few["findMany"] ?? 0).toBeLessThanOrEqual(1);
    expect(data["evidence"].nodes.map((node: Json) => node["name"])).toContain("Program");
  });
});
