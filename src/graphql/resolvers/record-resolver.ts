import { GraphQLJSON } from "graphql-scalars";
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from "type-graphql";
import { ServiceError } from "../../errors.js";
import { type Ark, referencedArk } from "../../identifiers/ark.js";
import { type Connection, connectionsOf } from "../../model/connections.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { publishRecord, readPublication } from "../../services/publication/publish.js";
import { askedArk } from "../../services/records/find.js";
import {
  type History,
  historyOf,
  type HistoryPage,
  readHistory,
  readRecord,
  readRevision,
} from "../../services/records/read.js";
import { type RemoveOptions, removeRecord } from "../../services/records/remove.js";
import { replaceRecordAt } from "../../services/records/replace.js";
import { parseDocument, type RecordView } from "../../services/records/view.js";
import type { StoredRecord } from "../../storage/records/port.js";
import { type Context, countWrite, type SignedIn, signedIn } from "./context.js";
import {
  type CheckedPage,
  checkedPage,
  Node,
  NODE_TYPES,
  nodeOf,
  PageArguments,
  PageInfo,
  pageOf,
  PublicationStatusEnum,
  RecordConnection,
  RecordNode,
} from "./types/records.js";

/**
 * A page of a record's revisions, newest first; the cursor is the revision.
 * @throws ServiceError `BAD_REQUEST` for another cursor
 */
async function revisionsOf(
  node: RecordNode,
  { limit, after }: CheckedPage,
  { deps, caller }: Context,
): Promise<RevisionConnection> {
  if (after !== undefined && !/^[1-9]\d{0,8}$/.test(after))
    throw new ServiceError(
      "BAD_REQUEST",
      "The cursor in after is not from a history: pass pageInfo.endCursor of the page before.",
    );
  if (!node.stored) return { ...pageOf([], [], false, after), totalCount: 0 };
  const found = await historyOf(
    deps,
    node.stored,
    { limit, ...(after === undefined ? {} : { before: Number(after) }) },
    caller,
  );
  const revisions = found.map((revision) => ({ ...revision, at: new Date(revision.at) }));
  const last = found.at(-1)?.revision ?? 1;
  return {
    ...pageOf(
      revisions,
      found.map(({ revision }) => String(revision)),
      last > 1,
      after,
    ),
    totalCount: node.stored.revision,
  };
}

/**
 * Part of the cursor: which record states the link (this one: `o`, the other one: `i`), and its
 * position.
 */
const CURSOR = /^(o|i)(\d.*)$/;

/**
 * One page of the records a connection leads to: first the links that the record itself states,
 * then the links that others state of it, each record once. Every record of a page is read with the
 * same limit, so that one read per side covers all of them.
 */
async function followLinks(
  node: RecordNode,
  connection: Connection,
  page: CheckedPage,
  context: Context,
): Promise<RecordConnection> {
  const [, side, after] = page.after === undefined ? [] : (CURSOR.exec(page.after) ?? badCursor());
  if (!node.stored) return pageOf<RecordNode>([], [], false, page.after);
  const { limit } = page;
  const targets: string[] = [];
  const cursors: string[] = [];
  let more = false;
  if (side !== "i") {
    const out = await context.loaders.linksFrom(node.ark, {
      predicates: connection.out,
      limit,
      ...(after ? { after } : {}),
    });
    for (const link of out.items) {
      targets.push(link.target);
      cursors.push(`o${link.position}`);
    }
    more = out.next !== undefined;
  }
  if (!more && connection.in.length > 0) {
    const space = limit - targets.length;
    const back = await context.loaders.linksTo(node.stored.key, {
      predicates: connection.in,
      unlessBack: connection.out,
      limit,
      ...(connection.inKinds ? { kinds: connection.inKinds } : {}),
      ...(side === "i" && after ? { after } : {}),
    });
    for (const link of back.items.slice(0, space)) {
      targets.push(link.source);
      cursors.push(`i${link.position}`);
    }
    more = back.items.length > space || back.next !== undefined;
  }
  context.loaders.spend(targets.length);
  return pageOf(
    await Promise.all(targets.map((target) => context.loaders.node(target))),
    cursors,
    more,
    page.after,
  );
}

function badCursor(): never {
  throw new ServiceError(
    "BAD_REQUEST",
    "The cursor in after is not from a page of links: pass pageInfo.endCursor of the page before.",
  );
}

/**
 * Adds the connections of a kind to its GraphQL type; type-graphql's decorators are called as
 * functions.
 */
function addConnections(kind: KindName): void {
  const prototype = NODE_TYPES[kind].prototype as unknown as Record<string, unknown>;
  for (const [name, connection] of Object.entries(connectionsOf(kind))) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      value(this: RecordNode, page: PageArguments, context: Context) {
        return followLinks(this, connection, checkedPage(page), context);
      },
    });
    Reflect.defineMetadata("design:paramtypes", [PageArguments, Object], prototype, name);
    Args(() => PageArguments)(prototype, name, 0);
    Ctx()(prototype, name, 1);
    Field(() => RecordConnection, { description: connection.description })(
      prototype,
      name,
      Object.getOwnPropertyDescriptor(prototype, name)!,
    );
  }
}
for (const kind of Object.keys(NODE_TYPES) as KindName[]) addConnections(kind);

/** The owner, for every type: a user, group, organization or project. */
async function ownerOf(node: RecordNode, context: Context): Promise<RecordNode | null> {
  const owner =
    node.stored?.owner ??
    (typeof node.shown["owner"] === "string"
      ? referencedArk(node.shown["owner"])?.stored
      : undefined);
  return owner ? context.loaders.node(owner) : null;
}

@ObjectType({ description: "One state of a record.", simpleResolvers: true })
class Revision {
  @Field(() => Int) revision!: number;
  @Field() at!: Date;
  @Field(() => ID, { nullable: true, description: "Who made it; null for the service itself." })
  by!: string | null;
  @Field({ description: "create, update, delete or publish." }) action!: string;
  @Field(() => [String], { description: "JSON pointers of what differs from the state before." })
  changed!: string[];
}

@ObjectType({ simpleResolvers: true })
class RevisionEdge {
  @Field(() => Revision) node!: Revision;
  @Field() cursor!: string;
}

@ObjectType({
  description: "A page of revisions; go on with after: pageInfo.endCursor.",
  simpleResolvers: true,
})
class RevisionConnection {
  @Field(() => [RevisionEdge]) edges!: RevisionEdge[];
  @Field(() => [Revision]) nodes!: Revision[];
  @Field(() => PageInfo) pageInfo!: PageInfo;
  @Field(() => Int, { description: "Revisions in all." }) totalCount!: number;
}

/**
 * Records of any kind by identifier. REST calls the methods that take an options object as well.
 */
@Resolver(() => RecordNode)
export class RecordResolver {
  /** @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE` */
  read(ark: Ark, { deps }: Context): Promise<StoredRecord> {
    return readRecord(deps, ark);
  }
  readRevision(ark: Ark, revision: number, context: Context, kind?: KindName): Promise<RecordView> {
    return readRevision(context.deps, ark, revision, context.caller, kind);
  }
  readHistory(ark: Ark, page: HistoryPage, context: Context, kind?: KindName): Promise<History> {
    return readHistory(context.deps, ark, page, context.caller, kind);
  }
  /**
   * Replaces the record that the path names, as its own kind or as the kind that the caller names.
   * @throws as `replaceRecordAt`
   */
  async replaceAt(
    ark: Ark,
    document: JsonValue | undefined,
    options: { kind?: KindName; expectedRevision?: number | undefined },
    context: SignedIn,
  ): Promise<RecordView> {
    await countWrite(context);
    return replaceRecordAt(context.deps, ark, document, context.caller, options);
  }
  /** @throws ServiceError as {@link removeRecord} */
  async remove(ark: Ark, options: RemoveOptions, context: SignedIn): Promise<RecordView> {
    await countWrite(context);
    return removeRecord(context.deps, ark, context.caller, options);
  }

  @Query(() => RecordNode, {
    nullable: true,
    description:
      "A record by its identifier, in any accepted spelling; null when nothing is stored under it.",
  })
  async record(
    @Arg("id", () => ID) id: string,
    @Ctx() context: Context,
  ): Promise<RecordNode | null> {
    try {
      return nodeOf(await this.read(askedArk(id), context));
    } catch (error) {
      if (error instanceof ServiceError && error.code === "NOT_FOUND") return null;
      throw error;
    }
  }

  @Query(() => Node, { nullable: true, description: "The same, by the name Relay expects." })
  node(@Arg("id", () => ID) id: string, @Ctx() context: Context): Promise<RecordNode | null> {
    return this.record(id, context);
  }

  @Mutation(() => RecordNode, {
    description: "Deletes a record of any kind and returns its last state. A tombstone remains.",
  })
  async deleteRecord(
    @Arg("id", () => ID) id: string,
    @Ctx() context: Context,
    @Arg("expectedRevision", () => Int, { nullable: true }) expectedRevision?: number,
    @Arg("reason", () => String, { nullable: true }) reason?: string,
    @Arg("successor", () => ID, { nullable: true }) successor?: string,
  ): Promise<RecordNode> {
    const signed = signedIn(context);
    const options = {
      ...(expectedRevision == null ? {} : { expectedRevision }),
      ...(reason == null ? {} : { reason }),
      ...(successor == null ? {} : { successor }),
    };
    const { record } = await this.remove(askedArk(id), options, signed);
    context.loaders.forget();
    return nodeOf(record);
  }

  @FieldResolver(() => RecordNode, {
    nullable: true,
    description: "User, group, organization or project that owns the record.",
  })
  owner(@Root() node: RecordNode, @Ctx() context: Context): Promise<RecordNode | null> {
    return ownerOf(node, context);
  }

  @FieldResolver(() => GraphQLJSON, {
    nullable: true,
    description: "The whole document, as REST answers it.",
  })
  async document(@Root() node: RecordNode, @Ctx() context: Context): Promise<JsonObject | null> {
    if (!node.stored) return null;
    await context.loaders.hold([node]);
    return parseDocument((await context.loaders.view(node.stored)).bytes);
  }

  @FieldResolver(() => RevisionConnection, { description: "States of the record, newest first." })
  history(
    @Root() node: RecordNode,
    @Args(() => PageArguments) page: PageArguments,
    @Ctx() context: Context,
  ): Promise<RevisionConnection> {
    return revisionsOf(node, checkedPage(page), context);
  }
}

/** Whether the content of records is public. */
@Resolver()
export class PublicationResolver {
  /**
   * @param request `{"@id", "publicationStatus", "embargoedUntil"?}`;
   * @throws as `publishRecord`
   */
  async publish(
    request: JsonValue | undefined,
    expectedRevision: number | undefined,
    context: SignedIn,
  ): Promise<StoredRecord> {
    await countWrite(context);
    return publishRecord(context.deps, request, context.caller, expectedRevision);
  }
  /** @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE` */
  status(ark: Ark, context: Context): Promise<StoredRecord> {
    return readPublication(context.deps, ark);
  }

  @Mutation(() => RecordNode, {
    name: "publish",
    description:
      "Sets the publication status of a record; every change of status is allowed. " +
      "Publishing a crate publishes its members that are DRAFT.",
  })
  async publishRecord(
    @Arg("id", () => ID) id: string,
    @Arg("publicationStatus", () => PublicationStatusEnum) publicationStatus: PublicationStatusEnum,
    @Ctx() context: Context,
    @Arg("embargoedUntil", () => String, {
      nullable: true,
      description: "Date or date-time; with EMBARGOED only.",
    })
    embargoedUntil?: string | null,
    @Arg("expectedRevision", () => Int, {
      nullable: true,
      description: "Refused when the record has changed since.",
    })
    expectedRevision?: number | null,
  ): Promise<RecordNode> {
    const record = await this.publish(
      { "@id": id, publicationStatus, ...(embargoedUntil == null ? {} : { embargoedUntil }) },
      expectedRevision ?? undefined,
      signedIn(context),
    );
    context.loaders.forget();
    return context.loaders.node(record.ark);
  }
}
