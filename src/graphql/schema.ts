/** The schema of all types and resolvers. */
import { type GraphQLField, type GraphQLInputObjectType, type GraphQLSchema } from "graphql";
import { buildSchema, type NonEmptyArray } from "type-graphql";
import { AccessResolver } from "./resolvers/access-resolver.js";
import {
  AccountResolver,
  AdministrationResolver,
  CredentialResolver,
  GroupResolver,
  IdentityResolver,
} from "./resolvers/account-resolver.js";
import { AuditResolver } from "./resolvers/audit-resolver.js";
import { BulkResolver } from "./resolvers/bulk-resolver.js";
import {
  CrateContentsResolver,
  CrateFileResolver,
  PreviewResolver,
} from "./resolvers/crate-contents-resolver.js";
import {
  CratePlanResolver,
  CrateResolver,
  SubmissionResolver,
} from "./resolvers/crate-resolver.js";
import { DoiResolver } from "./resolvers/doi-resolver.js";
import { ReviewResolver } from "./resolvers/review-resolver.js";
import { ContentResolver, DownloadResolver } from "./resolvers/download-resolver.js";
import { EvidenceResolver } from "./resolvers/evidence-resolver.js";
import { DanglingResolver, KIND_FIELDS, LinksResolver } from "./resolvers/kind-resolver.js";
import { HealthResolver, SearchResolver } from "./resolvers/query-resolver.js";
import {
  PublicationResolver,
  RecordResolver,
  RevisionResolver,
} from "./resolvers/record-resolver.js";
import { ComputationResolver, LineageResolver } from "./resolvers/run-resolver.js";
import { ScoreResolver } from "./resolvers/score-resolver.js";
import { ChangeResolver, StatisticsResolver } from "./resolvers/selection-resolver.js";
import { assertScope, neededScope } from "../services/access/scopes.js";
import type { Context } from "./resolvers/context.js";
import { placed } from "./resolvers/types/inputs.js";
import { ONE_OF } from "./resolvers/types/mutations.js";
import { NODE_TYPES, UnresolvedType } from "./resolvers/types/records.js";
import { DateTime } from "./resolvers/types/scalars.js";
import {
  SchemaResolver,
  ShapeReportResolver,
  ValidationResolver,
} from "./resolvers/validation-resolver.js";
import { inSlices } from "./slices.js";

/**
 * The schema of every type and resolver; the model validates inputs itself, with the rules of REST.
 * Apollo checks the schema it gets: type-graphql's own check, an introspection, would delay the
 * start by 40 ms.
 */
export async function graphqlSchema(): Promise<GraphQLSchema> {
  const resolvers = [
    RecordResolver,
    LinksResolver,
    DanglingResolver,
    RevisionResolver,
    AccountResolver,
    AccessResolver,
    CredentialResolver,
    AdministrationResolver,
    AuditResolver,
    BulkResolver,
    CrateResolver,
    SubmissionResolver,
    CrateContentsResolver,
    CrateFileResolver,
    CratePlanResolver,
    DownloadResolver,
    ContentResolver,
    PreviewResolver,
    GroupResolver,
    IdentityResolver,
    PublicationResolver,
    DoiResolver,
    ReviewResolver,
    ComputationResolver,
    EvidenceResolver,
    LineageResolver,
    ValidationResolver,
    ShapeReportResolver,
    HealthResolver,
    ScoreResolver,
    SearchResolver,
    StatisticsResolver,
    SchemaResolver,
    ChangeResolver,
    ...KIND_FIELDS,
  ];
  const schema = await buildSchema({
    resolvers: resolvers as unknown as NonEmptyArray<new () => object>,
    orphanedTypes: [...Object.values(NODE_TYPES), UnresolvedType],
    validate: false,
    skipCheck: true,
    scalarsMap: [{ type: Date, scalar: DateTime }],
    // The library requires one; every subscription here brings its own source.
    pubSub: {
      publish() {},
      subscribe: () => {
        throw new Error("no topics");
      },
    },
  });
  for (const type of Object.values(schema.getTypeMap()))
    type.description ??= ROOTS[type.name] ?? kindOfType(type.name);
  // The library knows no such types yet.
  for (const name of ONE_OF) (schema.getType(name) as GraphQLInputObjectType).isOneOf = true;
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) asWrite(field);
  withScopes(schema);
  return inSlices(schema);
}

/** Each operation asks for its scope before it does anything. */
function withScopes(schema: GraphQLSchema): void {
  for (const type of [schema.getQueryType(), schema.getMutationType()])
    for (const [name, field] of Object.entries(type?.getFields() ?? {})) {
      neededScope(name);
      const { resolve } = field;
      field.resolve = (root, args, context: Context, info) => {
        assertScope(context.caller, name);
        return resolve?.(root, args, context, info);
      };
    }
  for (const [name, field] of Object.entries(schema.getSubscriptionType()?.getFields() ?? {})) {
    neededScope(name);
    const { subscribe } = field;
    field.subscribe = (root, args, context: Context, info) => {
      assertScope(context.caller, name);
      return subscribe?.(root, args, context, info);
    };
  }
}

/**
 * What every mutation has in common: later fields see what it wrote, and its errors name members of
 * its input.
 */
function asWrite(field: GraphQLField<unknown, Context>): void {
  const { resolve } = field;
  field.resolve = (root, args, context, info) =>
    placed(["input"], async () => {
      try {
        return await resolve?.(root, args, context, info);
      } finally {
        context.loaders.forget();
      }
    });
}

/** What the library cannot describe: the types of the operations. */
const ROOTS: Readonly<Record<string, string>> = {
  Query: "Operations that read.",
  Mutation: "Operations that write; most need a token.",
  Subscription: "Operations with many answers, over a WebSocket or server-sent events.",
};

/** Types that every kind or list has describe themselves by their name. */
const kindOfType = (name: string): string | undefined =>
  name.endsWith("Edge")
    ? "An entry of a page, with the cursor behind which the next page begins."
    : undefined;
