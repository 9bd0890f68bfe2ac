import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  GRAPHQL_PAGE,
  QUESTIONS,
  type QuestionsWorld,
  startQuestionsWorld,
} from "../support/graphql-questions.js";
import type { Json } from "../support/registry-client.js";

const documents = [...GRAPHQL_PAGE.matchAll(/^```graphql\n([\s\S]*?)^```$/gm)].map(
  ([, text]) => text!,
);

let world: QuestionsWorld;
beforeAll(async () => {
  world = await startQuestionsWorld();
});
afterAll(() => world?.registry.stop());

const answer = async (document: string): Promise<Json> => {
  const { registry, variables, token } = world;
  const { body } = await registry.graphql(world.ownDocument(document), variables, token);
  expect(body["errors"]).toBeUndefined();
  return body["data"] as Json;
};

describe("docs/graphql.md", () => {
  it("shows documents, and twenty questions among them", () => {
    expect(documents.length).toBeGreaterThan(15);
    expect(QUESTIONS.map(({ title }) => Number.parseInt(title))).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
  });

  it.each(documents)("shows a document that is answered without an error: %s", async (document) => {
    await answer(document);
  });

  it.each(QUESTIONS)("answers as printed: $title", async ({ document, answer: shown }) => {
    expect(world.printed(await answer(document))).toEqual(shown);
  });

  it("names each condition of a filter", async () => {
    const { __type } = await answer(`{ __type(name: "RecordFilter") { inputFields { name } } }`);
    expect(__type.inputFields.length).toBeGreaterThan(10);
    for (const { name } of __type.inputFields as { name: string }[])
      expect(GRAPHQL_PAGE).toContain(`\`${name}\``);
  });
});
