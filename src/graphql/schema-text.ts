/** The schema in GraphQL's own language: `graphql/schema.graphql` and `/graphql/schema.graphql`. */
import {
  type DefinitionNode,
  type GraphQLSchema,
  lexicographicSortSchema,
  parse,
  print,
  printSchema,
} from "graphql";
import { KINDS } from "../model/kinds.js";

/** Names of types; `.*` stands for any part of one. */
const named = (names: string): RegExp => new RegExp(`^(?:${names.split(" ").join("|")})$`);
const KIND_TYPES = Object.values(KINDS)
  .map(({ typeName }) => typeName)
  .join(" ");

/** The sections of the text, in their order; a type belongs to the first whose names it matches. */
const SECTIONS: readonly (readonly [title: string, names: RegExp])[] = [
  ["Operations", named("Query Mutation Subscription")],
  ["Records", named(`Node Record HasContent ${KIND_TYPES} Unresolved RecordKind`)],
  [
    "What records state",
    named("Reference Creator StatedDate Tombstone PublicationStatus Visibility Doi.*"),
  ],
  [
    "Lists: filters, orders and pages",
    named(
      "PageInfo RecordFilter StringFilter DateTimeRange RecordOrder.* OrderDirection " +
        "RecordRelation LinkDirection RecordLink.* .*Connection .*Edge",
    ),
  ],
  [
    "Search and statistics",
    named("Search.* TextPart ScorePart ScoreReason RecordStatistics.* KindCount OwnerCount"),
  ],
  ["Evidence", named("Evidence.* HiddenEvidence Impact Origin.* SupportPath AssertedBy Direction")],
  [
    "Formats, content and previews",
    named(
      "RecordFormat.* RecordDocument StoredContent ContentState .*Preview.* CellError NotebookCell",
    ),
  ],
  ["History and changes", named("Revision.* Difference.* RecordChange.*")],
  [
    "Crates and submissions",
    named(
      "Crate.* Folder.* Datasheet.* Dangling.* Plan.* ChangeCounts IdentifierConflict " +
        "RemovedRecord Submission(?:Status|Task)? Progress Finding.*",
    ),
  ],
  [
    "Readiness and validation",
    named("AiReady.* CriterionStatus Score(?:Band|Point) Shape.* TableError.*"),
  ],
  [
    "Accounts and service",
    named(
      "User Account AccessToken AccessRequest(?:State)? ReviewLink Token Audit(?:Action|Entry|Filter) Health.* " +
        "RegistryFigures",
    ),
  ],
  [
    "Inputs and payloads of mutations",
    named(".*Input .*Patch .*Payload .*Outcome .*OutcomeError .*Change Warning.*"),
  ],
  ["Scalars", named("BigInt Date DateTime JSON Upload")],
];

const nameOf = (definition: DefinitionNode): string =>
  "name" in definition ? (definition.name?.value ?? "") : "";

/** @throws Error for a type that belongs to no section */
export function schemaText(schema: GraphQLSchema): string {
  const sections = SECTIONS.map(([title, names]) => ({ title, names, texts: [] as string[] }));
  for (const definition of parse(printSchema(lexicographicSortSchema(schema))).definitions) {
    const section = sections.find(({ names }) => names.test(nameOf(definition)));
    if (!section) throw new Error(`${nameOf(definition)} belongs to no section of the schema`);
    section.texts.push(print(definition));
  }
  return sections.map(({ title, texts }) => `# ${title}\n\n${texts.join("\n\n")}\n`).join("\n");
}
