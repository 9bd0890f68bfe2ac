import { setTimeout as sleep } from "node:timers/promises";
import {
  execute,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLNamedType,
  GraphQLObjectType,
  type GraphQLSchema,
  isCompositeType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  validate,
} from "graphql";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { contextOf } from "../../src/graphql/resolvers/context.js";
import { graphqlSchema } from "../../src/graphql/schema.js";
import { provenance, recordOf } from "../support/provenance-world.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

/** More than the entries of a list that are completed together. */
const MANY = 120;
const SUBJECT = "ark:99999/unfinished-subject";

let server: TestServer;
let ada: Person;
let schema: GraphQLSchema;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  await provenance(server.deps.records, ada.id, 40);
  const authors = Array.from({ length: 2 * MANY }, (_, index) => `Author ${index}`);
  const subject = await recordOf(
    "computation",
    {
      "@id": SUBJECT,
      name: "Dataset",
      author: authors,
      keywords: ["one", "two"],
      "evi:usedDataset": Array.from({ length: MANY }, (_, index) => ({
        "@id": `ark:99999/world-dataset-${index}`,
      })),
    },
    ada.id,
  );
  const long = await Promise.all(
    Array.from({ length: MANY }, (_, index) =>
      recordOf(
        "dataset",
        {
          "@id": `ark:99999/unfinished-${index}`,
          name: "Dataset",
          keywords: ["word ".repeat(80)],
        },
        ada.id,
      ),
    ),
  );
  await server.deps.records.commit({ by: ada.id, at: Date.now(), records: [subject, ...long] });
  schema = await graphqlSchema();
}, 120_000);
afterAll(() => server.stop());

/** Rejections that nobody handled: without a handler, Node ends the process for one. */
let unhandled: unknown[];
const note = (reason: unknown): void => void unhandled.push((reason as Error).message);
beforeEach(() => {
  unhandled = [];
  process.on("unhandledRejection", note);
});
afterEach(() => void process.off("unhandledRejection", note));

/** How the arguments that fields require are given. */
const GIVEN: Readonly<Record<string, string>> = {
  id: `id: "${SUBJECT}"`,
  from: `from: "${SUBJECT}"`,
  to: 'to: "ark:99999/world-dataset-0"',
  ids: `ids: [${Array.from({ length: MANY }, (_, index) => `"ark:99999/unfinished-${index}"`).join(",")}]`,
  query: 'query: "dataset"',
  by: "by: [KIND, OWNER]",
  first: `first: ${MANY}`,
  relation: "relation: USED_DATASET",
};

function argumentsOf(field: GraphQLField<unknown, unknown>): string | undefined {
  const given: string[] = [];
  for (const { name, type, defaultValue } of field.args) {
    if (name === "first" || (isNonNullType(type) && defaultValue === undefined)) {
      if (!(name in GIVEN)) return undefined;
      // Pages within pages stay small.
      given.push(GIVEN[name]!);
    }
  }
  return given.length === 0 ? "" : `(${given.join(", ")})`;
}

/** All values of a type, and everything that it leads to, so many levels deep. */
function selection(type: GraphQLNamedType, levels: number): string {
  if (!isCompositeType(type)) return "";
  const parts = ["__typename"];
  if (isObjectType(type) || isInterfaceType(type))
    for (const field of Object.values(type.getFields())) {
      const inner = getNamedType(field.type);
      const given = argumentsOf(field);
      if (given === undefined) continue;
      if (isLeafType(inner)) parts.push(`${field.name}${given}`);
      else if (levels > 0 && (levels > 1 || isSmall(field)))
        parts.push(`${field.name}${given} { ${selection(inner, levels - 1)} }`);
    }
  if (isInterfaceType(type) && levels > 0)
    parts.push(
      "... on Computation { creators { id name } usedDataset(first: 3) { nodes { id document } } }",
    );
  return parts.join(" ");
}
const isSmall = (field: GraphQLField<unknown, unknown>): boolean => field.args.length === 0;

/** A document for every field of the query type whose answer holds a list of objects. */
function documents(): [string, string][] {
  return Object.values(schema.getQueryType()!.getFields()).flatMap((field): [string, string][] => {
    const given = argumentsOf(field);
    if (given === undefined) return [];
    const inner = getNamedType(field.type);
    return [[field.name, `{ a: ${field.name}${given} { ${selection(inner, 1)} } }`]];
  });
}

/**
 * Fields that are never null: where one fails its entry fails. They have more characters than the
 * documents that they are read from, which count as well.
 */
const TEXTS = "name keywords a: keywords b: keywords c: keywords";
/**
 * Lists of values that are there at once, so that an entry may fail while the list is begun: alone,
 * and behind entries that are still awaited.
 */
const AT_ONCE: readonly [string, string][] = [
  ["values", `{ datasets(first: ${2 * MANY}) { nodes { ${TEXTS} } } }`],
  ["edges", `{ datasets(first: ${2 * MANY}) { edges { node { ${TEXTS} } } } }`],
  [
    "links",
    `{ computation(id: "${SUBJECT}") { usedDataset(first: ${MANY}) { nodes { ... on Dataset { ${TEXTS} } } } } }`,
  ],
  [
    "authors",
    `{ computation(id: "${SUBJECT}") { creators { name a: name b: name c: name d: name } } }`,
  ],
  [
    "promises and values",
    `{ records(first: ${3 * MANY}) { nodes { ... on Computation { document } ... on Dataset { ${TEXTS} } } } }`,
  ],
];

const holdsList = (type: GraphQLNamedType): boolean =>
  type instanceof GraphQLObjectType &&
  Object.values(type.getFields()).some(
    (field) => isListType(getNullableType(field.type)) && isCompositeType(getNamedType(field.type)),
  );

interface Limits {
  bytes?: number;
  time?: number;
  leaves?: number;
}
async function answer(query: string, { bytes, time, leaves = Infinity }: Limits): Promise<number> {
  const config = {
    ...server.deps.config,
    ...(bytes === undefined ? {} : { GRAPHQL_MAX_BYTES: bytes }),
    ...(time === undefined ? {} : { GRAPHQL_ANONYMOUS_TIME: time }),
  };
  let asked = 0;
  const contextValue = contextOf(
    { ...server.deps, config },
    time === undefined ? ada.caller : null,
    "127.0.0.1",
    undefined,
    false,
    () => ++asked > leaves,
  );
  const result = await execute({ schema, document: parse(query), contextValue });
  // What was begun goes on while nobody waits for it.
  await sleep(5);
  expect(JSON.stringify(result)).not.toContain("Cannot return null");
  return contextValue.budget.weight;
}

test("every list of the schema is in one of the documents below", () => {
  for (const [, query] of documents()) expect(validate(schema, parse(query))).toEqual([]);
  const asked = documents().join(" ");
  const lists = Object.values(schema.getTypeMap()).filter(
    (type) => !type.name.startsWith("__") && holdsList(type),
  );
  expect(lists.length).toBeGreaterThan(20);
  expect(asked).toContain("creators");
});

describe("an answer that ends early leaves no promise behind that nobody handles", () => {
  test("when it passes GRAPHQL_MAX_BYTES at any place", async () => {
    for (const [parts, queries] of [
      [5, documents()],
      [20, AT_ONCE],
    ] as const)
      for (const [, query] of queries) {
        const whole = await answer(query, {});
        for (let part = 1; part < parts; part++)
          await answer(query, { bytes: Math.floor((whole * part) / parts) });
      }
    expect(unhandled).toEqual([]);
  }, 300_000);

  test("when it takes longer than GRAPHQL_ANONYMOUS_TIME", async () => {
    for (const [, query] of [...documents(), ...AT_ONCE])
      for (const time of [-1, 3, 30]) await answer(query, { time });
    expect(unhandled).toEqual([]);
  }, 300_000);

  test("when the client leaves at any time", async () => {
    for (const [, query] of [...documents(), ...AT_ONCE])
      for (const leaves of [1, 20, 101, 300]) await answer(query, { leaves });
    expect(unhandled).toEqual([]);
  }, 300_000);
});
