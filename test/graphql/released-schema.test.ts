import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CriticalityLevel, diff } from "@graphql-inspector/core";
import graphqlEslint from "@graphql-eslint/eslint-plugin";
import { Linter } from "eslint";
import { buildSchema } from "graphql";
import { describe, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";

const read = (file: string): string => readFileSync(join(packageRoot, file), "utf8");
const schema = read("graphql/schema.graphql");

/** Names in backticks of the section "Unreleased"; `*` stands for any part of a name. */
function namedInChangelog(): RegExp[] {
  const unreleased = /^## Unreleased\n(.*?)^## /ms.exec(read("CHANGELOG.md"))![1]!;
  return [...unreleased.matchAll(/`([\w.*]+)`/g)].map(
    ([, name]) => new RegExp(`^${name!.replaceAll(".", "\\.").replaceAll("*", "[^.]*")}(?:\\.|$)`),
  );
}

describe("the GraphQL schema", () => {
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

  test("passes the recommended rules of graphql-eslint", () => {
    const recommended = graphqlEslint.configs["flat/schema-recommended"].rules;
    const findings = new Linter().verify(
      schema,
      {
        files: ["**/*.graphql"],
        plugins: { "@graphql-eslint": graphqlEslint as never },
        languageOptions: {
          parser: graphqlEslint.parser as never,
          parserOptions: { graphQLConfig: { schema } },
        },
        rules: recommended as never,
      },
      { filename: "schema.graphql" },
    );
    expect(findings.map(({ ruleId, line, message }) => `${line}: ${ruleId}: ${message}`)).toEqual(
      [],
    );
  });
});
