import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildSchema, parse, validate } from "graphql";
import { expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";

const read = (file: string): string => readFileSync(join(packageRoot, file), "utf8");
const page = read("docs/graphql-clients.md");
const schema = buildSchema(read("graphql/schema.graphql"));

test("the documents on the page for authors of GraphQL clients, and those of the clients, fit the schema", () => {
  const documents = [...page.matchAll(/```graphql\n(.*?)```/gs)].map((match) => match[1]!);
  expect(documents.length).toBeGreaterThan(0);
  for (const document of [...documents, read("docs/clients/operations.graphql")])
    expect(validate(schema, parse(document)), document).toEqual([]);
});

test("the settings and codes that the page for authors of GraphQL clients names exist", () => {
  const known = read("docs/settings.md") + read("docs/errors.md");
  const names = new Set(page.match(/`[A-Z]+(?:_[A-Z]+)+`/g));
  expect([...names].filter((name) => !known.includes(name))).toEqual([]);
});
