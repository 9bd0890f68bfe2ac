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
import { invalid, ServiceError } from "../../errors.js";
import { type Ark, referencedArk } from "../../identifiers/ark.js";
import { type Connection, connectionsOf } from "../../model/connections.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { readRecord } from "../../services/evidence/stored/build.js";
import type { RecordFormat } from "../../services/formats/format.js";
import { readDocument } from "../../services/formats/read.js";
import { formatAddress } from "../../services/formats/signposting.js";
import { formatsOf } from "../../services/formats/table.js";
import { listAccessTokens } from "../../services/accounts/credentials.js";
import { readSubmission } from "../../services/crates/submissions.js";
import { publishRecord } from "../../services/publication/publish.js";
import { kernelMetadata } from "../../services/formats/attribution.js";
import { askedArk, orNull } from "../../services/records/find.js";
import {
  type Difference,
  differencesBetween,
  historyOf,
  readHistory,
  readRevision,
} from "../../services/records/read.js";
import { type RemoveOptions, removeRecord } from "../../services/records/remove.js";
import { replaceRecordAt } from "../../services/records/write.js";
import { stateAfter } from "../../services/records/select.js";
import type { RecordPatch } from "../../services/records/patch.js";
import { updateRecord } from "../../services/records/write.js";
import { parseDocument, type RecordView, viewOf } from "../../services/records/view.js";
import type {
  FoundLink,
  Page,
  Revision as StoredRevision,
  StoredRecord,
} from "../../storage/records/port.js";
import { eventLoop } from "../../event-loop-budget.js";
import { attemptsFrom, type Context, countWrite, type SignedIn, signedIn } from "./context.js";
import { readAccessNode } from "./access-resolver.js";
import { accountIn, readAccountNode } from "./account-resolver.js";
import { selectedPage } from "./selection-resolver.js";
import { assertStorable, checkedRange, placed, RecordsArguments } from "./types/inputs.js";
import {
  expectedRevision,
  idOf,
  inputOf,
  optional,
  recordPayload,
  required,
  statedPayload,
  withdrawal,
  writtenAs,
} from "./types/mutations.js";
import {
  checkedPage,
  connectionTo,
  MAX_PER_PAGE,
  PageArguments,
  pageOf,
  type CheckedPage,
} from "./types/pages.js";
import {
  DifferenceKind,
  ERC,
  NODE_TYPES,
  Node,
  nodeOf,
  PublicationStatusEnum,
  RecordConnection,
  RecordFormatEnum,
  RecordNode,
  Reference,
  referenceOf,
  RevisionActionEnum,
} from "./types/records.js";

/**
 * A page of a record's revisions, newest first; the cursor is the revision.
 * @throws ServiceError `BAD_REQUEST` for another cursor
 */
async function revisionsOf(
  record: StoredRecord | null,
  { limit, after }: CheckedPage,
  { deps, caller }: Context,
): Promise<RevisionConnection> {
  if (after !== undefined && !/^[1-9]\d{0,8}$/.test(after))
    throw new ServiceError(
      "BAD_REQUEST",
      "The cursor in after is not from a history: pass pageInfo.endCursor of the page before.",
    );
  if (!record) return { ...pageOf([], [], false, after), totalCount: 0 };
  const found = await historyOf(
    deps,
    record,
    { limit, ...(after === undefined ? {} : { before: Number(after) }) },
    caller,
  );
  const last = found.at(-1)?.revision ?? (limit === 0 ? Number(after ?? Infinity) : 1);
  return {
    ...pageOf(
      found.map((revision) => revisionOf(record.ark, revision)),
      found.map(({ revision }) => String(revision)),
      last > 1,
      after,
    ),
    totalCount: record.revision,
  };
}

function revisionOf(ark: string, { at, by, revision: number, ...rest }: StoredRevision): Revision {
  const made = { by: referenceOf(by), at: new Date(at) };
  return Object.assign(new Revision(), { ...rest, ...made, number, ark });
}

/**
 * Cursor of a link: which record states it (this one: `o`, the other one: `i`), and its position.
 * First come the links that the record states, then those that others state of it.
 */
const CURSOR = /^(o|i)(\d.*)$/;

interface LinkCursor {
  side: string;
  position: string;
}

function linkCursor(cursor: string | undefined): LinkCursor | undefined {
  if (cursor === undefined) return undefined;
  const [, side, position] = CURSOR.exec(cursor) ?? [];
  if (side === undefined || position === undefined)
    throw new ServiceError(
      "BAD_REQUEST",
      "The cursor is not from these links: pass startCursor or endCursor of one of their pages, " +
        "with the same filter and order.",
    );
  return { side, position };
}

/**
 * One page of the records a connection leads to: in the order of the links, each record once; or by
 * filter and order, which leave out references without a record.
 */
export async function followLinks(
  node: RecordNode,
  connection: Connection,
  page: RecordsArguments,
  context: Context,
): Promise<RecordConnection> {
  const range = checkedRange(page);
  const { after, before, backward = false } = range;
  if (!node.stored) return { ...pageOf<RecordNode>([], [], false, after), totalCount: 0 };
  if (page.filter || page.orderBy)
    return selectedPage(page, { linked: { key: node.stored.key, connection } }, context);
  const { found, more } = await readLinks(node.stored, connection, range, context);
  // A page of none says whether there are any.
  const shown = range.limit === 0 ? [] : found;
  context.budget.spend(shown.length);
  const isMore = more || found.length > shown.length;
  return {
    ...pageOf(
      await Promise.all(shown.map(({ ark }) => context.loaders.node(ark))),
      shown.map(({ cursor }) => cursor),
      backward ? before !== undefined : isMore,
      after,
      backward ? isMore : after !== undefined,
    ),
    totalCount: () => context.loaders.linkCount(node.ark, connection),
  };
}

/**
 * A page of at least one link. Every record of a page is read with the same limit, so that one read
 * per side covers all of them.
 */
async function readLinks(
  record: StoredRecord,
  connection: Connection,
  range: ReturnType<typeof checkedRange>,
  { loaders }: Context,
): Promise<{ found: { ark: string; cursor: string }[]; more: boolean }> {
  const { backward = false } = range;
  const [after, before] = [linkCursor(range.after), linkCursor(range.before)];
  const limit = Math.max(1, range.limit);
  let found: { ark: string; cursor: string }[] = [];
  let more = false;
  for (const side of backward ? ["i", "o"] : ["o", "i"]) {
    const isOutside = side === "o" ? after?.side === "i" : before?.side === "o";
    if (more || isOutside) continue;
    const { items, next } = await readSide(side, record, connection, loaders, {
      limit,
      backward,
      ...(after?.side === side ? { after: after.position } : {}),
      ...(before?.side === side ? { before: before.position } : {}),
    });
    const space = limit - found.length;
    const links = items
      .slice(backward ? Math.max(0, items.length - space) : 0, backward ? undefined : space)
      .map(({ source, target, position }) => ({
        ark: side === "o" ? target : source,
        cursor: side + position,
      }));
    found = backward ? [...links, ...found] : [...found, ...links];
    more = items.length > space || next !== undefined;
  }
  return { found, more };
}

/** A page of the links that the record states (`o`), or of those that others state of it. */
function readSide(
  side: string,
  { ark, key }: StoredRecord,
  { out, in: back, inKinds }: Connection,
  loaders: Context["loaders"],
  page: Omit<Parameters<Context["loaders"]["linksFrom"]>[1], "predicates">,
): Promise<Page<FoundLink>> | Page<FoundLink> {
  if (side === "o") return loaders.linksFrom(ark, { ...page, predicates: out });
  if (back.length === 0) return { items: [] };
  const kinds = inKinds ? { kinds: inKinds } : {};
  return loaders.linksTo(key, { ...page, predicates: back, unlessBack: out, ...kinds });
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
      value(this: RecordNode, page: RecordsArguments, context: Context) {
        return followLinks(this, connection, page, context);
      },
    });
    Reflect.defineMetadata("design:paramtypes", [RecordsArguments, Object], prototype, name);
    Args(() => RecordsArguments)(prototype, name, 0);
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
  /** Identifier of the record. */ ark!: string;
  @Field(() => Int, { description: "The first one has 1." }) number!: number;
  @Field({ description: "When it was made." }) at!: Date;
  @Field(() => Reference, {
    nullable: true,
    description: "Who made it; null for the service itself.",
  })
  by!: Reference | null;
  @Field(() => RevisionActionEnum, { description: "What made this state." })
  action!: StoredRevision["action"];
  @Field(() => [String], { description: "JSON pointers of what differs from the state before." })
  changed!: string[];
}

@ObjectType("Difference", {
  description: "A member of the document that differs between two states.",
  simpleResolvers: true,
})
class DifferenceType {
  @Field({ description: "JSON pointer (RFC 6901) of the member." }) pointer!: string;
  @Field(() => DifferenceKind, { description: "How it differs." }) kind!: Difference["kind"];
  @Field(() => GraphQLJSON, {
    nullable: true,
    description: "Value in the earlier state; null also where it was added.",
  })
  before!: JsonValue;
  @Field(() => GraphQLJSON, {
    nullable: true,
    description: "Value in the later state; null also where it was removed.",
  })
  after!: JsonValue;
}

const NAME = "Its name in `?format=`.";
const MEDIA_TYPE = "Media type.";
const PROFILE = "Profile that tells it from other formats of the media type.";

@ObjectType("RecordDocument", {
  description: "A record as text in one format.",
  simpleResolvers: true,
})
class RecordDocumentType {
  @Field({ description: NAME }) name!: string;
  @Field({ description: MEDIA_TYPE }) mediaType!: string;
  @Field(() => String, { nullable: true, description: PROFILE }) profile!: string | null;
  @Field({ description: "The document." }) text!: string;
}

@ObjectType("RecordFormatDescription", {
  description: "A format that a record has.",
  simpleResolvers: true,
})
class RecordFormatType {
  @Field({ description: NAME }) name!: string;
  @Field({ description: MEDIA_TYPE }) mediaType!: string;
  @Field(() => String, { nullable: true, description: PROFILE }) profile!: string | null;
  @Field({ description: "What people call it." }) label!: string;
  @Field({ description: "What it is for." }) description!: string;
  @Field({ description: "Where the record is answered in it." }) address!: string;
}

const describedFormat = ({
  name,
  mediaType,
  profile,
}: RecordFormat): Pick<RecordFormatType, "name" | "mediaType" | "profile"> => ({
  name,
  mediaType,
  profile: profile ?? null,
});

@ObjectType({
  description: "A page of revisions; go on with after: pageInfo.endCursor.",
  simpleResolvers: true,
})
class RevisionConnection extends connectionTo("Revision", Revision) {}

const UpdateRecordInput = inputOf("updateRecord", {
  id: idOf(),
  patch: required<JsonValue>(
    GraphQLJSON,
    "JSON Merge Patch (RFC 7396) of the document: null removes a member.",
  ),
  expectedRevision,
});
const DeleteRecordInput = inputOf("deleteRecord", {
  id: idOf(),
  expectedRevision,
  ...withdrawal(""),
});
const DeleteRecordPayload = recordPayload("deleteRecord", "record", RecordNode);
/** Identifiers of what is no record. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** What {@link PublicationResolver} sets, of one record or of many. */
export const STATUS_MEMBERS = {
  publicationStatus: required<PublicationStatusEnum>(PublicationStatusEnum, "The new status."),
  embargoedUntil: optional<string>(String, "Date or date-time; with EMBARGOED only."),
  ...withdrawal(" With ARCHIVED only."),
};
const PublishRecordInput = inputOf("publishRecord", {
  id: idOf(),
  expectedRevision,
  ...STATUS_MEMBERS,
});
const PublishRecordPayload = recordPayload("publishRecord", "record", RecordNode);
/** Members that the client left out are null, as the use case has them. */
export const statusOf = ({
  publicationStatus,
  embargoedUntil = null,
  reason = null,
  successor = null,
}: Omit<InstanceType<typeof PublishRecordInput>, "id" | "expectedRevision">): JsonObject => ({
  publicationStatus,
  embargoedUntil,
  reason,
  successor,
});
const UpdateRecordPayload = statedPayload("updateRecord", "record", RecordNode);

/**
 * Records of any kind by identifier. REST calls the methods that take an options object as well.
 */
@Resolver(() => RecordNode)
export class RecordResolver {
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
    const attempts = attemptsFrom(context);
    return replaceRecordAt(context.deps, ark, document, context.caller, { ...options, attempts });
  }
  /**
   * Changes parts of a record, of any kind or of the kind that the caller names.
   * @throws as {@link updateRecord}
   */
  async update(
    ark: Ark,
    patch: RecordPatch,
    options: { kind?: KindName | undefined; expectedRevision?: number | undefined },
    context: SignedIn,
  ): Promise<RecordView> {
    await countWrite(context);
    const attempts = attemptsFrom(context);
    return updateRecord(context.deps, ark, patch, context.caller, { ...options, attempts });
  }
  /** @throws ServiceError as {@link removeRecord} */
  async remove(ark: Ark, options: RemoveOptions, context: SignedIn): Promise<RecordView> {
    await countWrite(context);
    return removeRecord(context.deps, ark, context.caller, options);
  }

  @Query(() => RecordNode, {
    nullable: true,
    description: "A record by its identifier, in any spelling; null where there is none.",
  })
  async record(
    @Arg("id", () => ID, { description: "Identifier, in any accepted spelling." }) id: string,
    @Ctx() context: Context,
  ): Promise<RecordNode | null> {
    const found = await orNull(readRecord(context.deps, askedArk(id)));
    return found && nodeOf(found);
  }

  @Query(() => Node, {
    nullable: true,
    description:
      "A record; a submission, access token or request of yours; an account for administrators. " +
      "Null when nothing has the identifier.",
  })
  async node(
    @Arg("id", () => ID, {
      description: "ARK of a record in any accepted spelling, or the id of another node.",
    })
    id: string,
    @Ctx() context: Context,
  ): Promise<object | null> {
    const account = accountIn(id);
    if (account) return orNull(readAccountNode(account, signedIn(context)));
    if (!UUID.test(id)) return this.record(id, context);
    const signed = signedIn(context);
    const { deps, caller } = signed;
    return (
      (await orNull(readSubmission(deps, id, caller))) ??
      (await listAccessTokens(deps, caller)).find((token) => token.id === id) ??
      orNull(readAccessNode(id, signed))
    );
  }

  @Query(() => Revision, {
    description: "One state of a record; of a deleted one for owner and administrators.",
  })
  async revision(
    @Arg("id", () => ID, { description: "Identifier, in any accepted spelling." }) id: string,
    @Arg("number", () => Int, { description: "Number of the revision." }) number: number,
    @Ctx() context: Context,
  ): Promise<Revision> {
    const ark = askedArk(id);
    const { record } = await readRevision(context.deps, ark, number, context.caller);
    const [found] = await historyOf(
      context.deps,
      record,
      { limit: 1, before: number + 1 },
      context.caller,
    );
    return revisionOf(record.ark, found!);
  }

  @Query(() => RevisionConnection, {
    name: "revisions",
    description: "Its states, newest first; of a deleted one for its owner.",
  })
  async history(
    @Arg("id", () => ID, { description: "Identifier, in any accepted spelling." }) id: string,
    @Args(() => PageArguments) page: PageArguments,
    @Ctx() context: Context,
  ): Promise<RevisionConnection> {
    const { deps, caller } = context;
    const { record } = await readHistory(deps, askedArk(id), { limit: 1 }, caller);
    return revisionsOf(record, checkedPage(page), context);
  }

  @Mutation(() => UpdateRecordPayload, {
    name: "updateRecord",
    description:
      "Changes what the patch names, and leaves the rest. For kinds that crates bring; the " +
      "others have an update of their own, with typed fields.",
  })
  updateAny(
    @Arg("input", () => UpdateRecordInput) input: InstanceType<typeof UpdateRecordInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const signed = signedIn(context);
    const { patch } = input;
    return placed(["input", "patch"], async () => {
      assertStorable(patch, context.deps.config.MAX_JSON_DEPTH);
      const options = { expectedRevision: input.expectedRevision ?? undefined };
      const { record } = await this.update(askedArk(input.id), { merge: patch }, options, signed);
      return writtenAs("record", record, context);
    });
  }

  /** One error does not take the other records with it: it stands in the place of its record. */
  @Query(() => [Node], {
    nullable: "items",
    description:
      "Records by their identifiers, in the requested order; null where nothing is stored. " +
      `At most ${MAX_PER_PAGE}.`,
  })
  async nodes(
    @Arg("ids", () => [ID], { description: "Identifiers, in any accepted spelling." })
    ids: string[],
    @Ctx() context: Context,
  ): Promise<(object | null)[]> {
    if (ids.length > MAX_PER_PAGE)
      throw invalid(
        ["query", "ids"],
        `List should have at most ${MAX_PER_PAGE} items, not ${ids.length}`,
        "too_long",
        { max_length: MAX_PER_PAGE },
      );
    context.budget.spend(ids.length);
    const found = await context.budget.queued(() =>
      Promise.all(ids.map((id) => this.node(id, context).catch((error: Error) => error))),
    );
    await context.budget.hold(found.filter((node) => node instanceof RecordNode));
    return found;
  }

  @Query(() => RecordConnection, {
    description: "Records of all kinds by filter; users only for callers with a token.",
  })
  async records(
    @Args(() => RecordsArguments) page: RecordsArguments,
    @Ctx() context: Context,
  ): Promise<object> {
    return selectedPage(page, {}, context);
  }

  @Mutation(() => DeleteRecordPayload, {
    description:
      "Deletes a record of any kind: its tombstone remains. Of a file record the content is " +
      "deleted, and the record remains.",
  })
  async deleteRecord(
    @Arg("input", () => DeleteRecordInput) input: InstanceType<typeof DeleteRecordInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const signed = signedIn(context);
    const { id, expectedRevision: expected, reason, successor } = input;
    const ark = askedArk(id);
    const options = {
      ...(expected == null ? {} : { expectedRevision: expected }),
      reason,
      successor,
    };
    await this.remove(ark, options, signed);
    return writtenAs("record", await stateAfter(context.deps, ark), context);
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
    context.budget.count(node.stored.document.length);
    const { bytes } = await context.loaders.view(node.stored);
    await eventLoop.pause();
    return parseDocument(bytes);
  }

  @FieldResolver(() => RecordDocumentType, {
    nullable: true,
    description: "The record in another format, as REST's `?format=` answers it.",
  })
  async as(
    @Root() node: RecordNode,
    @Arg("format", () => RecordFormatEnum, { description: "The format." }) name: string,
    @Ctx() { budget, deps, caller }: Context,
  ): Promise<RecordDocumentType | null> {
    const { stored } = node;
    if (!stored) return null;
    if (name === ERC) {
      const text = await budget.queued(() => kernelMetadata(deps, stored));
      budget.count(text.length);
      return { name, mediaType: "text/plain", profile: null, text };
    }
    const { format, text } = await budget.queued(async () =>
      readDocument(deps, await viewOf(deps, stored, caller), name, caller),
    );
    budget.count(text.length);
    return { ...describedFormat(format), text };
  }

  @FieldResolver(() => [RecordFormatType], {
    description: "The formats that the record has, web page and archives among them.",
  })
  formats(@Root() { stored }: RecordNode, @Ctx() { deps }: Context): RecordFormatType[] {
    if (!stored) return [];
    return formatsOf(stored.kind).map((format) => ({
      ...describedFormat(format),
      label: format.label,
      description: format.description,
      address: formatAddress(deps.baseUrl(), stored.ark, format),
    }));
  }

  @FieldResolver(() => RevisionConnection, { description: "Its states, newest first." })
  revisions(
    @Root() node: RecordNode,
    @Args(() => PageArguments) page: PageArguments,
    @Ctx() context: Context,
  ): Promise<RevisionConnection> {
    return revisionsOf(node.stored, checkedPage(page), context);
  }
}

/** One state of a record. */
@Resolver(() => Revision)
export class RevisionResolver {
  @FieldResolver(() => GraphQLJSON, { description: "The whole document of this state." })
  async document(@Root() { ark, number }: Revision, @Ctx() context: Context): Promise<JsonObject> {
    const { bytes } = await context.budget.queued(() =>
      readRevision(context.deps, askedArk(ark), number, context.caller),
    );
    context.budget.count(bytes.length);
    return parseDocument(bytes);
  }

  @FieldResolver(() => [DifferenceType], {
    description: "What differs from an earlier state, member by member.",
  })
  async differences(
    @Root() { ark, number }: Revision,
    @Ctx() context: Context,
    @Arg("since", () => Int, {
      nullable: true,
      description: "The earlier revision; the one before when absent.",
    })
    since?: number | null,
  ): Promise<DifferenceType[]> {
    const from = since ?? number - 1;
    if (from >= number)
      throw invalid(
        ["query", "since"],
        `Input should be less than ${number}, the revision that it is compared with`,
        "less_than",
        { lt: number },
      );
    if (from < 1 && since == null) return [];
    const found = await context.budget.queued(() =>
      differencesBetween(context.deps, askedArk(ark), [from, number], context.caller),
    );
    for (const { before, after } of found)
      context.budget.count(JSON.stringify([before, after]).length);
    return found.map((difference) => ({
      pointer: difference.pointer,
      kind: difference.kind,
      before: difference.before ?? null,
      after: difference.after ?? null,
    }));
  }
}

/** Whether the content of records is public. */
@Resolver()
export class PublicationResolver {
  /**
   * @param request `{"@id", "publicationStatus", "embargoedUntil"?, "reason"?, "successor"?}`;
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

  @Mutation(() => PublishRecordPayload, {
    name: "publishRecord",
    description:
      "Sets the publication status of a record; every change of status is allowed. " +
      "Publishing or embargoing a crate does the same to its DRAFT members with the same owner. " +
      "A record whose embargo has ended is PUBLISHED.",
  })
  async setStatus(
    @Arg("input", () => PublishRecordInput) input: InstanceType<typeof PublishRecordInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const { id, expectedRevision: expected, ...request } = input;
    const { ark } = await this.publish(
      { "@id": id, ...statusOf(request) },
      expected ?? undefined,
      signedIn(context),
    );
    return writtenAs("record", await stateAfter(context.deps, askedArk(ark)), context);
  }
}
