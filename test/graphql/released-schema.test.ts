import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CriticalityLevel, diff } from "@graphql-inspector/core";
import graphqlEslint from "@graphql-eslint/eslint-plugin";
import { Linter } from "eslint";
import {
  buildSchema,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from "graphql";
import { describe, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { GRAPHS, NAMED_LIKE_THEIR_TYPE, SCHEMA_RULES } from "./schema-rules.js";

const read = (file: string): string => readFileSync(join(packageRoot, file), "utf8");
const schema = read("graphql/schema.graphql");

/** Names in backticks of the section "Unreleased"; `*` stands for any part of a name. */
function namedInChangelog(): RegExp[] {
  const unreleased = /^## Unreleased\n(.*?)^## /ms.exec(read("CHANGELOG.md"))![1]!;
  return [...unreleased.matchAll(/`([\w.*]+)`/g)].map(
    ([, name]) => new RegExp(`^${name!.replaceAll(".", "\\.").replaceAll("*", "[^.]*")}(?:\\.|$)`),
  );
}

/** Arguments of every connection: PageInfo, RecordFilter and RecordOrder describe them once. */
const OF_CONNECTIONS = new Set(["first", "after", "last", "before", "filter", "orderBy"]);

/** Names of what a type has that can be described: itself, fields, arguments and values. */
function* describable(
  type: GraphQLNamedType,
): Generator<[name: string, about: string | null | undefined]> {
  yield [type.name, type.description];
  if (isEnumType(type))
    for (const { name, description } of type.getValues())
      yield [`${type.name}.${name}`, description];
  const hasFields = isObjectType(type) || isInterfaceType(type) || isInputObjectType(type);
  for (const field of hasFields ? Object.values(type.getFields()) : []) {
    yield [`${type.name}.${field.name}`, field.description];
    for (const { name, description } of "args" in field ? field.args : [])
      // The type of the input describes it; the arguments of connections are the same everywhere.
      if (name !== "input" && !OF_CONNECTIONS.has(name))
        yield [`${type.name}.${field.name}(${name})`, description];
  }
}

describe("the GraphQL schema", () => {
  test("describes every type, field, argument and enum value", () => {
    const types = Object.values(buildSchema(schema).getTypeMap());
    const silent = types
      .filter(({ name }) => !name.startsWith("__"))
      .flatMap((type) => [...describable(type)])
      .filter(([, description]) => !description?.trim())
      .map(([name]) => name);
    expect(silent).toEqual([]);
  });

  test("breaks nothing of the last release that the changelog does not name", async () => {
    const released = buildSchema(read("test/graphql/released.graphql"));
    const names = namedInChangelog();
    const breaking = (await diff(released, buildSchema(schema))).filter(
      ({ criticality }) => criticality.level === CriticalityLevel.Breaking,
    );
    // Name each by its path (`DatasetInput.type`), or several at once (`*Input.type`).
    expect(
      breaking
        .filter(({ path }) => !names.some((name) => name.test(path ?? "")))
        .map(({ path, message }) => `${path}: ${message}`),
    ).toEqual([]);
  });

  test("passes the rules of graphql-eslint, but for what schema-rules.ts explains", () => {
    const findings = new Linter().verify(
      schema,
      {
        files: ["**/*.graphql"],
        plugins: { "@graphql-eslint": graphqlEslint as never },
        languageOptions: {
          parser: graphqlEslint.parser,
          parserOptions: { graphQLConfig: { schema } },
        },
        rules: SCHEMA_RULES as never,
      },
      { filename: "schema.graphql" },
    );
    const lines = schema.split("\n");
    const isExplained = ({ ruleId, message, line }: Linter.LintMessage): boolean => {
      const [field, type] = [...message.matchAll(/"(\w+)"/g)].map(([, name]) => name);
      const named = /^type (\w+)/.exec(lines[line - 1]!)?.[1];
      return (
        (ruleId === "@graphql-eslint/no-typename-prefix" &&
          NAMED_LIKE_THEIR_TYPE.has(`${type}.${field}`)) ||
        (ruleId === "@graphql-eslint/relay-connection-types" && GRAPHS.has(named ?? ""))
      );
    };
    expect(
      findings
        .filter((finding) => !isExplained(finding))
        .map(({ ruleId, line, message }) => `${line}: ${ruleId}: ${message}`),
    ).toEqual([]);
  });
});
