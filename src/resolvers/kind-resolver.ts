import { Arg, ArgsType, Args, Ctx, Field, ID, InputType, Int, Mutation, Query, Resolver } from "type-graphql";
import type { JsonValue } from "../model/field.js";
import type { KindName } from "../model/kind.js";
import { KINDS } from "../model/kinds/index.js";
import { createRecord } from "../use-cases/records/create.js";
import { findLive } from "../use-cases/records/find.js";
import { listAll, listPage, listRecords, type ListFilter, type ListPage } from "../use-cases/records/list.js";
import { readRecord } from "../use-cases/records/read.js";
import { replaceRecord } from "../use-cases/records/replace.js";
import type { BacklinkPositions, RecordView } from "../use-cases/records/view.js";
import { ServiceError, invalid } from "../errors.js";
import type { Context } from "./context.js";
import { PageArguments, RecordConnection, checkedPage, connectionOf } from "./types/connection.js";
import { INPUT_TYPES, documentOf, type RecordInput } from "./types/input-types.js";
import { NODE_TYPES, nodeOf } from "./types/kind-types.js";
import type { RecordNode } from "./types/record-node.js";
import { countWrite } from "./write-rate.js";

@InputType({ description: "Narrows and orders a list." })
export class RecordFilter {
  @Field(() => String, { nullable: true, description: "Part of the name." }) name?: string;
  @Field(() => ID, { nullable: true }) owner?: string;
  @Field(() => String, { nullable: true }) keyword?: string;
  @Field(() => String, { nullable: true, description: "created, -created or name." }) order?: "created" | "-created" | "name";
}
@ArgsType()
class ListArguments extends PageArguments {
  @Field(() => RecordFilter, { nullable: true }) filter?: RecordFilter;
}

/** The operations every kind has. REST calls these very methods; the GraphQL fields below wrap them. */
export class KindResolver {
  constructor(readonly kind: KindName) {}
  async create(document: JsonValue | undefined, context: Context): Promise<RecordView> {
    countWrite(context, { open: this.kind === "user" });
    return createRecord(context.deps, this.kind, document, context.caller);
  }
  async replace(document: JsonValue | undefined, expectedRevision: number | undefined, context: Context): Promise<RecordView> {
    countWrite(context);
    return replaceRecord(context.deps, this.kind, document, context.caller, expectedRevision);
  }
  read(id: string, context: Context, backlinks?: BacklinkPositions): Promise<RecordView> {
    return readRecord(context.deps, id, context.caller, this.kind, backlinks);
  }
  page(filter: ListFilter, page: { limit: number; after?: string }, context: Context): Promise<ListPage> {
    return listPage(context.deps, this.kind, filter, page, context.caller);
  }
  all(filter: ListFilter, context: Context): AsyncGenerator<RecordView[]> {
    return listAll(context.deps, this.kind, filter, context.caller);
  }
}

/** One resolver a kind. */
export const KIND_RESOLVERS = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, new KindResolver(kind as KindName)])) as Record<KindName, KindResolver>;

/** `evidenceGraph` builds one when asked for; of two fields with one name the schema would silently keep one. */
const STORED_EVIDENCE = "evidenceGraphRecord";
const ORDERS = ["created", "-created", "name"];
const lowerFirst = (name: string): string => (name.startsWith("RO") ? `ro${name.slice(2)}` : name[0]!.toLowerCase() + name.slice(1));

/** GraphQL fields of one kind: `dataset(id)`, `datasets(…)`, `createDataset`, `updateDataset`. */
function graphqlFields(resolver: KindResolver): new () => object {
  const { typeName, plural, name: kind } = KINDS[resolver.kind];
  const type = NODE_TYPES[kind];
  const input = INPUT_TYPES[kind];

  @Resolver()
  class Fields {
    @Query(() => type, { name: kind === "evidencegraph" ? STORED_EVIDENCE : lowerFirst(typeName), nullable: true, description: `${typeName} by identifier; null when there is none.` })
    async one(@Arg("id", () => ID) id: string, @Ctx() context: Context): Promise<RecordNode | null> {
      try {
        return nodeOf(await findLive(context.deps, id, kind));
      } catch (error) {
        if (error instanceof ServiceError && error.code === "NOT_FOUND") return null;
        throw error;
      }
    }

    @Query(() => RecordConnection, { name: plural, description: `All of kind ${typeName}, oldest first unless ordered otherwise.` })
    async many(@Args(() => ListArguments) { filter, ...page }: ListArguments, @Ctx() context: Context): Promise<RecordConnection> {
      const checked = checkedPage(page);
      const wanted = Object.fromEntries(Object.entries(filter ?? {}).filter(([, value]) => value !== null && value !== undefined)) as ListFilter;
      if (wanted.order !== undefined && !ORDERS.includes(wanted.order)) throw invalid(["query", "order"], "Input should be 'created', '-created' or 'name'", "literal_error", { expected: "'created', '-created' or 'name'" });
      const found = await listRecords(context.deps, kind, wanted, checked, context.caller);
      const items = found.items.map((record, index) => ({ node: nodeOf(record), cursor: found.positions[index]! }));
      return connectionOf(items, found.next !== undefined, checked.after, found.count);
    }
  }
  if (!input) return Fields;

  @Resolver()
  class WritableFields extends Fields {
    @Mutation(() => type, { name: `create${typeName}` })
    async create(@Arg("input", () => input as new () => RecordInput) values: RecordInput, @Ctx() context: Context): Promise<RecordNode> {
      return nodeOf((await resolver.create(documentOf(values, context.deps.config.MAX_JSON_DEPTH), context)).record);
    }

    @Mutation(() => type, { name: `update${typeName}`, description: "Replaces the whole record that input.id names." })
    async update(
      @Arg("input", () => input as new () => RecordInput) values: RecordInput, @Ctx() context: Context,
      @Arg("expectedRevision", () => Int, { nullable: true, description: "Refused when the record has changed since." }) expectedRevision?: number,
    ): Promise<RecordNode> {
      return nodeOf((await resolver.replace(documentOf(values, context.deps.config.MAX_JSON_DEPTH), expectedRevision ?? undefined, context)).record);
    }
  }
  return WritableFields;
}

export const KIND_FIELDS = Object.values(KIND_RESOLVERS).map(graphqlFields);
