import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PATHS } from "../../cli/demo/crate-files.js";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { packageRoot } from "../../src/package-root.js";
import { bodyOf } from "../support/bodies.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";

const page = readFileSync(join(packageRoot, "docs/graphql.md"), "utf8");
const documents = [...page.matchAll(/^```graphql\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
/** Each of the ten questions: its heading, its document, and the answer printed below it. */
const questions = page
  .split(/^### (?=\d)/m)
  .slice(1)
  .map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    document: /^```graphql\n([\s\S]*?)^```/m.exec(section)![1]!,
    answer: JSON.parse(/^```json\n([\s\S]*?)^```/m.exec(section)![1]!) as Json,
  }));
const [CRATE, EXPERIMENT, GROUP, PROJECT, USER] = [
  "ark:99999/rocrate-example",
  "ark:99999/experiment-example",
  "ark:99999/group-example",
  "ark:99999/project-example",
  "ark:99999/user-ada",
] as const;

let registry: LiveRegistry;
let ada: User;
/** The records of the page, by the identifiers that it prints. */
const ids: Record<string, string> = {};
/** Variables of the documents that have some. */
const variables: Json = { minSize: 7500 };
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
  ids[USER] = ada.ark;
  const { rocrateIdentifier } = await registry.take(await buildDemoCrate(), ada.token);
  const crate = (ids[CRATE] = rocrateIdentifier as string);
  const stored = await registry.graphql(
    "query ($id: ID!) { record(id: $id) { modifiedAt } experiments { nodes { id } } }",
    { id: crate },
  );
  const { record, experiments } = stored.body["data"] as Json;
  variables["since"] = new Date(Date.parse(record.modifiedAt as string) + 1).toISOString();
  const experiment = (ids[EXPERIMENT] = experiments.nodes[0].id as string);
  const create = async (kind: "group" | "project", more: Json) => {
    const { body, text } = await registry.ask(`/${kind}`, {
      token: ada.token,
      body: bodyOf(kind, ada.ark, more),
    });
    if (typeof body["@id"] !== "string") throw new Error(text);
    return body["@id"];
  };
  ids[GROUP] = await create("group", { name: "Cell laboratory", members: [ada.ark] });
  ids[PROJECT] = await create("project", {
    name: "Cell images",
    datasets: [`${crate}/${PATHS.embeddings}`, `${crate}/${PATHS.clusters}`],
  });
  for (const protocol of ["One field.", "Two fields.", "Three.", "Three fields each."]) {
    const changed = await registry.graphql(
      `mutation ($id: ID!, $patch: JSON!) {
        updateRecord(input: { id: $id, patch: $patch }) { revision }
      }`,
      { id: experiment, patch: { protocol } },
      ada.token,
    );
    if (changed.body["errors"]) throw new Error(changed.text);
  }
  await registry.graphql(`{ aiReadyScore(id: "${crate}") { name } }`, {}, ada.token);
});
afterAll(() => registry?.stop());

const replaceAll = (text: string, pairs: readonly (readonly [string, string])[]): string =>
  pairs.reduce((replaced, [from, to]) => replaced.replaceAll(from, to), text);
const answer = async (document: string): Promise<Json> => {
  const { body } = await registry.graphql(
    replaceAll(document, Object.entries(ids)),
    variables,
    ada.token,
  );
  expect(body["errors"]).toBeUndefined();
  return body["data"] as Json;
};
/** As the page prints it: with its identifiers, and the month in which it was written. */
const printed = (data: Json): Json =>
  JSON.parse(
    replaceAll(JSON.stringify(data), [
      ...Object.entries(ids).map(([shown, own]) => [own, shown] as const),
      [`"${new Date().toISOString().slice(0, 7)}"`, '"2026-01"'],
    ]),
  ) as Json;

describe("docs/graphql.md", () => {
  it("shows documents, and ten questions among them", () => {
    expect(documents.length).toBeGreaterThan(15);
    expect(questions.map(({ title }) => Number.parseInt(title))).toEqual(
      Array.from({ length: 10 }, (_, index) => index + 1),
    );
  });

  it.each(documents)("shows a document that is answered without an error: %s", async (document) => {
    await answer(document);
  });

  it.each(questions)("answers as printed: $title", async ({ document, answer: shown }) => {
    expect(printed(await answer(document))).toEqual(shown);
  });

  it("names each condition of a filter", async () => {
    const { __type } = await answer(`{ __type(name: "RecordFilter") { inputFields { name } } }`);
    expect(__type.inputFields.length).toBeGreaterThan(10);
    for (const { name } of __type.inputFields as { name: string }[])
      expect(page).toContain(`\`${name}\``);
  });
});
