/**
 * The rules of graphql-eslint that the schema passes: the recommended ones and Relay's. What is
 * loosened is explained here, each with its reason.
 */
import graphqlEslint from "@graphql-eslint/eslint-plugin";

export const SCHEMA_RULES = {
  ...graphqlEslint.configs["flat/schema-recommended"].rules,
  ...graphqlEslint.configs["flat/schema-relay"].rules,
  // Pages, findings and scores are values, not objects with an identity. What has an identifier
  // implements Node, whose `id: ID!` the schema demands of it.
  "@graphql-eslint/strict-id-in-types": "off",
  // Lists of values need no cursor, and a connection has `nodes` beside its edges. A page may hold
  // values: links between records, files of a crate.
  "@graphql-eslint/relay-edge-types": [
    "error",
    { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
  ],
  // A list that is read forward only, such as a walk through evidence, has no `last` and `before`.
  "@graphql-eslint/relay-arguments": ["error", { includeBoth: false }],
} as const;

/** Fields that begin with the name of their type: OAuth's word, and a property of EVI. */
export const NAMED_LIKE_THEIR_TYPE = new Set(["Token.tokenType", "Experiment.experimentType"]);

/** An evidence graph has `nodes`, `edges` and `pageInfo` too, and is no page of a list. */
export const GRAPHS = new Set(["Evidence"]);
