import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../cli/demo/build-crate.js";
import { packageRoot } from "../../src/package-root.js";
import { bodyOf } from "../support/bodies.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";

const page = readFileSync(join(packageRoot, "docs/graphql.md"), "utf8");
const documents = [...page.matchAll(/^```graphql\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);

let registry: LiveRegistry;
let ada: User;
/** The records of the page, by the identifiers that it prints. */
const ids: Record<string, string> = {};
/** Score of the crate. */
let percent: number;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
  ids["ark:99999/user-ada"] = ada.ark;
  const { rocrateIdentifier } = await registry.take(await buildDemoCrate(), ada.token);
  ids["ark:99999/rocrate-example"] = rocrateIdentifier as string;
  const create = async (
    kind: "group" | "project" | "software" | "computation" | "dataset",
    more: Json = {},
  ) => {
    const { body, text } = await registry.ask(`/${kind}`, {
      token: ada.token,
      body: bodyOf(kind, ada.ark, more),
    });
    if (typeof body["@id"] !== "string") throw new Error(text);
    return body["@id"];
  };
  const bob = await registry.user("Bob");
  const group = (ids["ark:99999/group-example"] = await create("group", { members: [bob.ark] }));
  await registry.ask("/software", {
    token: bob.token,
    body: bodyOf("software", bob.ark, { name: "Of Bob" }),
  });
  const score = await registry.graphql(
    `{ aiReadyScore(id: "${rocrateIdentifier as string}") { score { percent } } }`,
    {},
    ada.token,
  );
  percent = (score.body["data"] as Json).aiReadyScore.score.percent as number;
  const dataset = (ids["ark:99999/dataset-example"] = await create("dataset", {
    name: "one",
    owner: group,
  }));
  ids["ark:99999/project-example"] = await create("project", { datasets: [dataset] });
  const software = await create("software", {
    name: "Segment",
    version: "2.1",
    keywords: ["cell images"],
  });
  await create("computation", {
    name: "Made it",
    dateFinished: "2026-03-01T00:00:00Z",
    usedSoftware: software,
    generated: [dataset],
  });
  await create("computation", { name: "Used it", usedDataset: dataset });
  const { body } = await registry.ask(`/${dataset}`);
  for (const name of ["two", "three", "four", "five"])
    await registry.ask(`/${dataset}`, { method: "PUT", token: ada.token, body: { ...body, name } });
});
afterAll(() => registry?.stop());

const answer = async (document: string): Promise<Json> => {
  const asked = Object.entries(ids).reduce((text, [id, own]) => text.replaceAll(id, own), document);
  const { body } = await registry.graphql(asked, {}, ada.token);
  expect(body["errors"]).toBeUndefined();
  return body["data"] as Json;
};
/** The answer to the document below the question that begins so. */
const answerTo = (question: string): Promise<Json> =>
  answer(/```graphql\n([\s\S]*?)```/.exec(page.slice(page.indexOf(question)))![1]!);
const namesOf = (nodes: Json[]): unknown[] => nodes.map(({ name }) => name as unknown);

describe("docs/graphql.md", () => {
  it("shows documents", () => expect(documents.length).toBeGreaterThan(10));

  it.each(documents)("is answered without an error: %s", async (document) => {
    await answer(document);
  });

  it("answers what is asked for", async () => {
    const { project } = await answerTo("Which datasets does a project have");
    expect(project.datasets.nodes).toMatchObject([
      {
        name: "five",
        generatedBy: {
          nodes: [{ usedSoftware: { nodes: [{ name: "Segment", version: "2.1" }] } }],
        },
      },
    ]);
    const used = await answerTo("Who used this dataset");
    expect(namesOf(used["direct"].nodes)).toEqual(["Used it"]);
    expect(namesOf(used["atAnyDistance"].nodes)).toContain("Used it");
    const since = await answerTo("Which computations since 2026");
    expect(namesOf(since["evidenceGraph"].nodes)).toEqual(["Made it"]);
    const drafts = await answerTo("Which drafts does my group have");
    expect(namesOf(drafts["records"].nodes)).toEqual(["Of Bob", "five"]);
    expect(drafts["ownedByTheGroup"]).toEqual({ totalCount: 1 });
    const low = await answerTo("Which crates have a score below 60 %");
    expect(percent).toBeLessThan(60);
    expect(low["records"]).toMatchObject({
      totalCount: 1,
      nodes: [{ id: ids["ark:99999/rocrate-example"], score: { score: { percent } } }],
    });
    const { revision } = await answerTo("What differs between revisions 2 and 5");
    expect(revision.differences).toEqual([
      { pointer: "/name", kind: "CHANGED", before: "two", after: "five" },
    ]);
  });

  it("counts what a search finds by keyword and owner", async () => {
    const { search } = await answerTo("Which records are about these words");
    const own = search.nodes.find(({ name }: Json) => name === "Segment");
    expect(own).toBeDefined();
    const [keywords, owners] = search.facets as { by: string; values: Json[] }[];
    expect([keywords!.by, owners!.by]).toEqual(["KEYWORD", "OWNER"]);
    expect(keywords!.values).toContainEqual({
      value: "cell images",
      label: "cell images",
      count: 1,
    });
    expect(owners!.values.map(({ label }) => label as unknown)).toContain("Ada");
    expect(owners!.values.reduce((sum, { count }) => sum + Number(count), 0)).toBe(
      search.totalCount,
    );
  });

  it("names each condition of a filter", async () => {
    const { __type } = await answer(`{ __type(name: "RecordFilter") { inputFields { name } } }`);
    for (const { name } of __type.inputFields as { name: string }[])
      expect(page).toContain(`\`${name}\``);
  });
});
