import { Arg, Args, Ctx, ID, Int, Mutation, Query, Resolver } from "type-graphql";
import { ServiceError } from "../../errors.js";
import type { Ark } from "../../identifiers/ark.js";
import type { JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { createRecord } from "../../services/records/create.js";
import { askedArk } from "../../services/records/find.js";
import {
  listAll,
  type ListFilter,
  listRecords,
  type RecordPage,
} from "../../services/records/list.js";
import { readRecord } from "../../services/records/read.js";
import { replaceRecord } from "../../services/records/replace.js";
import type { RecordView } from "../../services/records/view.js";
import type { StoredRecord } from "../../storage/records/port.js";
import { type Context, countWrite, type SignedIn, signedIn } from "./context.js";
import { RecordResolver } from "./record-resolver.js";
import { selectedPage } from "./selection-resolver.js";
import { RecordsArguments } from "./types/filters.js";
import {
  documentOf,
  INPUT_TYPES,
  patchOf,
  type RecordInput,
  UPDATE_TYPES,
  type UpdateInput,
} from "./types/input-types.js";
import { CONNECTION_TYPES, NODE_TYPES, nodeOf, type RecordNode } from "./types/records.js";

/**
 * The operations every kind has, reads and writes. REST handlers and the GraphQL fields below call
 * them.
 */
class KindResolver {
  constructor(readonly kind: KindName) {}
  /**
   * Anyone may create an account; a record of another kind needs a token.
   * @throws ServiceError `NOT_AUTHENTICATED`
   */
  assertMayCreate(context: Context): void {
    if (this.kind !== "user") signedIn(context);
  }
  async create(document: JsonValue | undefined, context: Context): Promise<RecordView> {
    await countWrite(context, { open: this.kind === "user" });
    return createRecord(context.deps, this.kind, document, context.caller);
  }
  async replace(
    document: JsonValue | undefined,
    expectedRevision: number | undefined,
    context: SignedIn,
  ): Promise<RecordView> {
    await countWrite(context);
    return replaceRecord(context.deps, this.kind, document, context.caller, expectedRevision);
  }
  read(ark: Ark, { deps }: Context): Promise<StoredRecord> {
    return readRecord(deps, ark, this.kind);
  }
  page(
    filter: ListFilter,
    page: { limit: number; after?: string; bytes?: number },
    { deps, caller }: Context,
  ): Promise<RecordPage> {
    return listRecords(deps, this.kind, filter, page, caller);
  }
  all(filter: ListFilter, context: Context): AsyncGenerator<RecordView[]> {
    return listAll(context.deps, this.kind, filter, context.caller);
  }
}

/** One resolver per kind. */
export const KIND_RESOLVERS = Object.fromEntries(
  Object.keys(KINDS).map((kind) => [kind, new KindResolver(kind as KindName)]),
) as Record<KindName, KindResolver>;

/** `evidenceGraph` is the graph built on request; a stored graph has another name. */
const fieldName = (kind: KindName): string =>
  kind === "evidencegraph" ? "evidenceGraphRecord" : lowerFirst(KINDS[kind].typeName);
/** `ROCrate` → `roCrate`, `MLModel` → `mlModel`. */
const lowerFirst = (name: string): string =>
  name.replace(/^(?:RO|ML|[A-Z])/, (first) => first.toLowerCase());

const records = new RecordResolver();

/**
 * GraphQL fields of one kind: `dataset(id)`, `datasets(…)`, `createDataset`, `updateDataset`,
 * `replaceDataset`.
 */
function graphqlFields(resolver: KindResolver): new () => object {
  const { typeName, plural, name: kind } = KINDS[resolver.kind];
  const type = NODE_TYPES[kind];
  const input = INPUT_TYPES[kind];

  @Resolver()
  class Fields {
    @Query(() => type, {
      name: fieldName(kind),
      nullable: true,
      description: `${typeName} by identifier; null when there is none.`,
    })
    async one(
      @Arg("id", () => ID, { description: "Identifier, in any accepted spelling." }) id: string,
      @Ctx() context: Context,
    ): Promise<RecordNode | null> {
      try {
        return nodeOf(await resolver.read(askedArk(id), context));
      } catch (error) {
        if (error instanceof ServiceError && error.code === "NOT_FOUND") return null;
        throw error;
      }
    }

    @Query(() => CONNECTION_TYPES[kind], {
      name: plural,
      description: `All of kind ${typeName}, oldest first unless ordered otherwise.`,
    })
    async many(
      @Args(() => RecordsArguments) page: RecordsArguments,
      @Ctx() context: Context,
    ): Promise<object> {
      return selectedPage(page, kind, context);
    }
  }
  if (!input) return Fields;

  @Resolver()
  class WritableFields extends Fields {
    @Mutation(() => type, {
      name: `create${typeName}`,
      description: `Creates a record of kind ${typeName}.`,
    })
    async create(
      @Arg("input", () => input as new () => RecordInput, { description: "The record." })
      values: RecordInput,
      @Ctx() context: Context,
    ): Promise<RecordNode> {
      resolver.assertMayCreate(context);
      const { record } = await resolver.create(
        documentOf(kind, values, context.deps.config.MAX_JSON_DEPTH),
        context,
      );
      context.loaders.forget();
      return nodeOf(record);
    }

    @Mutation(() => type, {
      name: `update${typeName}`,
      description: "Changes what the patch names, and leaves the rest of the record.",
    })
    async update(
      @Arg("input", () => UPDATE_TYPES[kind] as new () => UpdateInput, {
        description: "The record, and what changes.",
      })
      values: UpdateInput,
      @Ctx() context: Context,
    ): Promise<RecordNode> {
      const signed = signedIn(context);
      const { record } = await records.update(
        askedArk(values.id),
        patchOf(kind, values.patch, context.deps.config.MAX_JSON_DEPTH),
        { kind, expectedRevision: values.expectedRevision ?? undefined },
        signed,
      );
      context.loaders.forget();
      return nodeOf(record);
    }

    @Mutation(() => type, {
      name: `replace${typeName}`,
      description:
        "Replaces the whole record that input.id names: absent fields get their default or are " +
        "removed.",
    })
    async replace(
      @Arg("input", () => input as new () => RecordInput, { description: "The record." })
      values: RecordInput,
      @Ctx() context: Context,
      @Arg("expectedRevision", () => Int, {
        nullable: true,
        description: "Refused when the record has changed since.",
      })
      expectedRevision?: number,
    ): Promise<RecordNode> {
      const signed = signedIn(context);
      const { record } = await resolver.replace(
        documentOf(kind, values, context.deps.config.MAX_JSON_DEPTH),
        expectedRevision ?? undefined,
        signed,
      );
      context.loaders.forget();
      return nodeOf(record);
    }
  }
  return WritableFields;
}

export const KIND_FIELDS = Object.values(KIND_RESOLVERS).map(graphqlFields);
