/**
 * What each kind of record has alike: its queries and mutations, and the fields that lead to other
 * records.
 */
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  registerEnumType,
} from "type-graphql";
import { CONNECTIONS, relationOf } from "../../model/connections.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { constantOf, KINDS } from "../../model/kinds.js";
import { countDangling, danglingReferences } from "../../services/crates/dangling.js";
import { readRecord } from "../../services/evidence/stored/build.js";
import { recordsNamed } from "../../services/formats/agents.js";
import { authorsOf, partsForAuthors } from "../../services/formats/attribution.js";
import { mayBePrivate, type Visibility } from "../../services/access/visibility.js";
import { createRecord } from "../../services/records/write.js";
import { askedArk, orNull } from "../../services/records/find.js";
import { countAllLinks, linksFrom, linksTo } from "../../services/records/links.js";
import { landmarksOf } from "../../services/records/list.js";
import { isChangeable } from "../../services/records/read.js";
import { replaceRecord } from "../../services/records/write.js";
import type { RecordView } from "../../services/records/view.js";
import { type Context, countWrite, type SignedIn, signedIn, attemptsFrom } from "./context.js";
import { followLinks, RecordResolver } from "./record-resolver.js";
import { selectedPage } from "./selection-resolver.js";
import {
  checkedRange,
  DOCUMENT_TYPES,
  documentOf,
  PATCH_TYPES,
  patchOf,
  placed,
  type RecordInput,
  RecordsArguments,
} from "./types/inputs.js";
import {
  expectedRevision,
  idOf,
  inputOf,
  nounOf,
  optional,
  visibility,
  statedPayload,
  required,
  writtenAs,
} from "./types/mutations.js";
import { checkedPage, connectionTo, PageArguments, pageOf } from "./types/pages.js";
import {
  CONNECTION_TYPES,
  Creator,
  creatorOf,
  NODE_TYPES,
  nodeOf,
  RecordConnection,
  RecordNode,
  Reference,
  referenceOf,
} from "./types/records.js";
import { getOrInsert } from "../../get-or-insert.js";

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
  async create(
    document: JsonValue | undefined,
    context: Context,
    visibility?: Visibility,
  ): Promise<RecordView> {
    await countWrite(context, { open: this.kind === "user" });
    const attempts = attemptsFrom(context);
    return createRecord(context.deps, this.kind, document, context.caller, {
      attempts,
      visibility,
    });
  }
  async replace(
    document: JsonValue | undefined,
    expectedRevision: number | undefined,
    context: SignedIn,
  ): Promise<RecordView> {
    await countWrite(context);
    const options = { expectedRevision, attempts: attemptsFrom(context) };
    return replaceRecord(context.deps, this.kind, document, context.caller, options);
  }
}

/** One resolver per kind. */
export const KIND_RESOLVERS = Object.fromEntries(
  Object.keys(KINDS).map((kind) => [kind, new KindResolver(kind as KindName)]),
) as Record<KindName, KindResolver>;

const fieldName = (kind: KindName): string => nounOf(KINDS[kind].typeName);

const records = new RecordResolver();

/** The queries of one kind, `dataset(id)` and `datasets(…)`, and its mutations where it has some. */
function graphqlFields(resolver: KindResolver): new () => object {
  const { typeName, plural, name: kind } = KINDS[resolver.kind];
  const type = NODE_TYPES[kind];
  const document = DOCUMENT_TYPES[kind];

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
      const found = await orNull(readRecord(context.deps, askedArk(id), kind));
      return found && nodeOf(found);
    }

    @Query(() => CONNECTION_TYPES[kind], {
      name: plural,
      description: `All of kind ${typeName}, oldest first unless ordered otherwise.`,
    })
    async many(
      @Args(() => RecordsArguments) page: RecordsArguments,
      @Ctx() context: Context,
    ): Promise<object> {
      return selectedPage(page, { kind }, context);
    }
  }
  return document ? writable(Fields, resolver, document) : Fields;
}

/** The mutations of one kind: `createDataset`, `updateDataset`, `replaceDataset`. */
function writable(
  Fields: new () => object,
  resolver: KindResolver,
  documentType: new () => RecordInput,
): new () => object {
  const { typeName, name: kind } = KINDS[resolver.kind];
  const noun = nounOf(typeName);
  const document = required<RecordInput>(documentType, "The record.");
  const CreateInput = inputOf(`create${typeName}`, {
    id: optional<string>(ID, "Identifier; minted when absent."),
    [noun]: document,
    ...(mayBePrivate(kind) && { visibility }),
  });
  const UpdateInput = inputOf(`update${typeName}`, {
    id: idOf(),
    patch: required<RecordInput>(PATCH_TYPES[kind], "What changes."),
    expectedRevision,
  });
  const ReplaceInput = inputOf(`replace${typeName}`, {
    id: idOf(),
    [noun]: document,
    expectedRevision,
  });
  const payload = (verb: string) => statedPayload(`${verb}${typeName}`, noun, NODE_TYPES[kind]);
  const [Created, Updated, Replaced] = [payload("create"), payload("update"), payload("replace")];
  const documentIn = (input: Record<string, unknown>, { deps }: Context): JsonObject =>
    documentOf(
      kind,
      { id: input["id"] as string | null, document: input[noun] as RecordInput },
      deps.config.MAX_JSON_DEPTH,
    );

  @Resolver()
  class WritableFields extends Fields {
    @Mutation(() => Created, {
      name: `create${typeName}`,
      description: `Creates a record of kind ${typeName}.`,
    })
    create(
      @Arg("input", () => CreateInput) input: Record<string, unknown>,
      @Ctx() context: Context,
    ): Promise<object> {
      resolver.assertMayCreate(context);
      const seen = (input["visibility"] as Visibility | null | undefined) ?? undefined;
      const write = () => resolver.create(documentIn(input, context), context, seen);
      return written(write, ["input", noun], context);
    }

    @Mutation(() => Updated, {
      name: `update${typeName}`,
      description: "Changes what the patch names, and leaves the rest of the record.",
    })
    update(
      @Arg("input", () => UpdateInput) input: InstanceType<typeof UpdateInput>,
      @Ctx() context: Context,
    ): Promise<object> {
      const signed = signedIn(context);
      const ark = askedArk(input.id);
      const options = { kind, expectedRevision: input.expectedRevision ?? undefined };
      const write = async () => {
        const patch = patchOf(kind, input.patch, context.deps.config.MAX_JSON_DEPTH);
        return records.update(ark, patch, options, signed);
      };
      return written(write, ["input", "patch"], context);
    }

    @Mutation(() => Replaced, {
      name: `replace${typeName}`,
      description: "Replaces the record: absent fields get defaults or are removed.",
    })
    replace(
      @Arg("input", () => ReplaceInput) input: Record<string, unknown>,
      @Ctx() context: Context,
    ): Promise<object> {
      const signed = signedIn(context);
      const revision = (input["expectedRevision"] as number | null) ?? undefined;
      const write = () => resolver.replace(documentIn(input, context), revision, signed);
      return written(write, ["input", noun], context);
    }
  }
  /** The payload of a write, whose errors name members of the argument `at`. */
  async function written(
    write: () => Promise<RecordView>,
    at: string[],
    context: Context,
  ): Promise<object> {
    return writtenAs(noun, (await placed(at, write, kind)).record, context);
  }
  return WritableFields;
}

export const KIND_FIELDS = Object.values(KIND_RESOLVERS).map(graphqlFields);

const RecordRelationEnum = Object.fromEntries(
  Object.keys(CONNECTIONS).map((name) => [constantOf(name), name]),
);
registerEnumType(RecordRelationEnum, {
  name: "RecordRelation",
  description: "A relation, by the field that leads along it: USED_BY is usedBy.",
  valuesConfig: Object.fromEntries(
    Object.entries(CONNECTIONS).map(([name, { description }]) => [
      constantOf(name),
      { description },
    ]),
  ),
});

enum LinkDirectionEnum {
  FROM = "FROM",
  TO = "TO",
}
registerEnumType(LinkDirectionEnum, {
  name: "LinkDirection",
  description: "Which of two linked records states the link.",
  valuesConfig: {
    FROM: { description: "The record itself." },
    TO: { description: "The other record." },
  },
});

@ArgsType()
class RelatedArguments extends RecordsArguments {
  @Field(() => RecordRelationEnum as object, { description: "Which relation." })
  relation!: string;
}

@ArgsType()
class LinkArguments extends PageArguments {
  @Field(() => LinkDirectionEnum, {
    defaultValue: LinkDirectionEnum.FROM,
    description: "Links that the record states, or those that lead to it.",
  })
  direction!: LinkDirectionEnum;
}

@ObjectType({ description: "A link between two records.", simpleResolvers: true })
class RecordLink {
  @Field({ description: "CURIE of the predicate where one fits, else its IRI." })
  predicate!: string;
  @Field(() => RecordNode, { description: "The record at the other end." })
  record!: RecordNode;
}
@ObjectType({
  description: "A page of links; go on with after: pageInfo.endCursor.",
  simpleResolvers: true,
})
class RecordLinkConnection extends connectionTo("RecordLink", RecordLink) {}

/** What a record of any kind is linked with, by relations that all kinds share. */
@Resolver(() => RecordNode)
export class LinksResolver {
  @FieldResolver(() => RecordNode, {
    nullable: true,
    description: "Crate that the record came with; null of a crate uploaded by itself.",
  })
  crate(@Root() { stored }: RecordNode, @Ctx() { loaders }: Context): Promise<RecordNode> | null {
    return stored?.crate ? loaders.node(stored.crate) : null;
  }

  @FieldResolver(() => [Creator], {
    description: "Its authors, else those of its parts and runs; never its uploader.",
  })
  async creators(@Root() { stored }: RecordNode, @Ctx() context: Context): Promise<Creator[]> {
    if (!stored) return [];
    const landmarks = landmarksOf(stored);
    context.budget.spend(partsForAuthors(landmarks));
    const found = await context.budget.queued(() => authorsOf(context.deps, landmarks));
    const named = recordsNamed(stored);
    return found.map((author) =>
      creatorOf(author, author.id === null ? undefined : named(author.id)),
    );
  }

  @FieldResolver(() => Boolean, { description: "True when you may change the record." })
  async mayChange(
    @Root() { stored }: RecordNode,
    @Ctx() { deps, caller, budget }: Context,
  ): Promise<boolean> {
    if (!stored || !caller) return false;
    return budget.queued(() => isChangeable(deps, stored, caller));
  }

  @FieldResolver(() => RecordConnection, {
    description: "Records that a relation leads to, also one without a field here.",
  })
  async related(
    @Root() node: RecordNode,
    @Args(() => RelatedArguments) { relation, ...page }: RelatedArguments,
    @Ctx() context: Context,
  ): Promise<RecordConnection> {
    const connection = node.stored && relationOf(node.stored.kind, relation);
    if (connection) return followLinks(node, connection, page, context);
    return { ...pageOf<RecordNode>([], [], false, checkedRange(page).after), totalCount: 0 };
  }

  @FieldResolver(() => RecordLinkConnection, {
    description: "Links by any predicate, each with the record at its other end.",
  })
  async links(
    @Root() { stored }: RecordNode,
    @Args(() => LinkArguments) { direction, ...page }: LinkArguments,
    @Ctx() { deps, budget, loaders }: Context,
  ): Promise<RecordLinkConnection> {
    const options = checkedPage(page, "first", 1);
    if (!stored) return { ...pageOf<RecordLink>([], [], false, options.after), totalCount: 0 };
    const [found] = await budget.queued(() =>
      direction === LinkDirectionEnum.FROM
        ? linksFrom(deps, [stored.ark], options)
        : linksTo(deps, [stored.key], options),
    );
    const { items = [], next } = found ?? {};
    budget.spend(items.length);
    const links = await Promise.all(
      items.map(async ({ predicate, source, target }) => ({
        predicate,
        record: await loaders.node(direction === LinkDirectionEnum.FROM ? target : source),
      })),
    );
    return {
      ...pageOf(
        links,
        items.map(({ position }) => position),
        next !== undefined,
        options.after,
      ),
      totalCount: () =>
        budget.queued(() =>
          countAllLinks(deps, stored.ark, direction === LinkDirectionEnum.FROM ? "from" : "to"),
        ),
    };
  }
}

enum DanglingReasonEnum {
  DELETED = "DELETED",
  UNKNOWN = "UNKNOWN",
}
registerEnumType(DanglingReasonEnum, {
  name: "DanglingReason",
  description: "Why a reference leads to no record.",
  valuesConfig: {
    DELETED: { description: "The record was deleted." },
    UNKNOWN: { description: "No record here has the identifier." },
  },
});

@ObjectType({
  description: "A reference that leads to no record, and the record that states it.",
  simpleResolvers: true,
})
class DanglingReference {
  @Field(() => RecordNode, { description: "The record that states the reference." })
  record!: RecordNode;
  @Field({ description: "CURIE of the property where one fits, else its IRI." })
  predicate!: string;
  @Field(() => String, {
    nullable: true,
    description: "JSON pointer to the reference in the document, where it has one.",
  })
  pointer!: string | null;
  @Field(() => Reference, { description: "What the reference states." }) target!: Reference;
  @Field(() => DanglingReasonEnum, { description: "Why it leads nowhere." })
  reason!: DanglingReasonEnum;
  @Field(() => Reference, {
    nullable: true,
    description: "Record to use in place of a deleted one, where its tombstone says so.",
  })
  successor!: Reference | null;
}
@ObjectType({
  description: "A page of references; go on with after: pageInfo.endCursor.",
  simpleResolvers: true,
})
class DanglingReferenceConnection extends connectionTo("DanglingReference", DanglingReference) {}

/** References of a crate's records that lead nowhere. */
@Resolver(() => NODE_TYPES.rocrate)
export class DanglingResolver {
  @FieldResolver(() => DanglingReferenceConnection, {
    description:
      "References of the crate and its records to identifiers that no record here has, or whose " +
      "record was deleted, in the order of the records.",
  })
  danglingReferences(
    @Root() node: RecordNode,
    @Args(() => PageArguments) page: PageArguments,
    @Ctx() { deps, budget }: Context,
  ): Promise<DanglingReferenceConnection> {
    const checked = checkedPage(page, "first", 1);
    return budget.queued(async () => {
      const { items, next } = await danglingReferences(deps, askedArk(node.ark), checked);
      budget.spend(items.length);
      const nodes = new Map<string, RecordNode>();
      const references = items.map(({ source, ...reference }) => ({
        ...reference,
        record: getOrInsert(nodes, source.ark, () => nodeOf(source)),
      }));
      await budget.hold([...nodes.values()]);
      return {
        ...pageOf(
          references.map(({ record, predicate, pointer, target, deleted, successor }) => ({
            record,
            predicate,
            pointer,
            target: referenceOf(target)!,
            reason: deleted ? DanglingReasonEnum.DELETED : DanglingReasonEnum.UNKNOWN,
            successor: referenceOf(successor),
          })),
          items.map(({ position }) => position),
          next !== undefined,
          checked.after,
        ),
        totalCount: () => budget.queued(() => countDangling(deps, askedArk(node.ark))),
      };
    });
  }
}
