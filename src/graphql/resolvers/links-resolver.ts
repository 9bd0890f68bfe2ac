import {
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  ObjectType,
  registerEnumType,
  Resolver,
  Root,
} from "type-graphql";
import { CONNECTIONS, connectionsOf } from "../../model/connections.js";
import { authorsOf } from "../../services/records/attribution.js";
import { danglingReferences } from "../../services/records/dangling.js";
import { askedArk } from "../../services/records/find.js";
import { linksFrom, linksTo } from "../../services/records/links.js";
import { landmarksOf } from "../../services/records/list.js";
import { isChangeable } from "../../services/records/read.js";
import type { Context } from "./context.js";
import { followLinks } from "./record-resolver.js";
import {
  ABOUT_PAGE,
  checkedPage,
  NODE_TYPES,
  nodeOf,
  PageArguments,
  PageInfo,
  pageOf,
  RecordConnection,
  RecordNode,
} from "./types/records.js";

/** `usedBy` is `USED_BY`. */
const constant = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toUpperCase();

const RecordRelationEnum = Object.fromEntries(
  Object.keys(CONNECTIONS).map((name) => [constant(name), name]),
);
registerEnumType(RecordRelationEnum, {
  name: "RecordRelation",
  description:
    "A relation between records, by the name of the field that leads along it: USED_BY is usedBy.",
  valuesConfig: Object.fromEntries(
    Object.entries(CONNECTIONS).map(([name, { description }]) => [constant(name), { description }]),
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
class RelatedArguments extends PageArguments {
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
  description: "An entry of a page, with the cursor behind which the next page begins.",
  simpleResolvers: true,
})
class RecordLinkEdge {
  @Field(() => RecordLink, { description: ABOUT_PAGE.node }) node!: RecordLink;
  @Field({ description: ABOUT_PAGE.cursor }) cursor!: string;
}
@ObjectType({
  description: "A page of links; go on with after: pageInfo.endCursor.",
  simpleResolvers: true,
})
class RecordLinkConnection {
  @Field(() => [RecordLinkEdge], { description: ABOUT_PAGE.edges }) edges!: RecordLinkEdge[];
  @Field(() => [RecordLink], { description: ABOUT_PAGE.nodes }) nodes!: RecordLink[];
  @Field(() => PageInfo, { description: ABOUT_PAGE.pageInfo }) pageInfo!: PageInfo;
}

@ObjectType({
  description: "Who made a record: a person or an organization, as the record states it.",
  simpleResolvers: true,
})
class Creator {
  @Field(() => ID, {
    nullable: true,
    description: "ARK, ORCID or another address; null where only a name is stated.",
  })
  id!: string | null;
  @Field(() => String, { nullable: true, description: "Name, where one is known." })
  name!: string | null;
}

/** What a record of any kind is linked with, by relations that all kinds share. */
@Resolver(() => RecordNode)
export class LinksResolver {
  @FieldResolver(() => RecordNode, {
    nullable: true,
    description:
      "Crate that the record came with; null of crates that were uploaded by themselves.",
  })
  crate(@Root() { stored }: RecordNode, @Ctx() { loaders }: Context): Promise<RecordNode> | null {
    return stored?.crate ? loaders.node(stored.crate) : null;
  }

  @FieldResolver(() => [Creator], {
    description: "Who made the record: the authors that it states, with names where known.",
  })
  async creators(@Root() { stored }: RecordNode, @Ctx() context: Context): Promise<Creator[]> {
    if (!stored) return [];
    const landmarks = landmarksOf(stored);
    if (landmarks.authors.length + landmarks.authorNames.length === 0) return [];
    return context.loaders.queued(() => authorsOf(context.deps, landmarks));
  }

  @FieldResolver(() => Boolean, { description: "True when you may change the record." })
  async mayChange(
    @Root() { stored }: RecordNode,
    @Ctx() { deps, caller, loaders }: Context,
  ): Promise<boolean> {
    if (!stored || !caller) return false;
    return loaders.queued(() => isChangeable(deps, stored, caller));
  }

  @FieldResolver(() => RecordConnection, {
    description:
      "Records that a relation leads to, as the field of that name returns them; none where the " +
      "kind of the record has no such relation.",
  })
  async related(
    @Root() node: RecordNode,
    @Args(() => RelatedArguments) { relation, ...page }: RelatedArguments,
    @Ctx() context: Context,
  ): Promise<RecordConnection> {
    const connection = node.stored ? connectionsOf(node.stored.kind)[relation] : undefined;
    if (connection) return followLinks(node, connection, checkedPage(page), context);
    return { ...pageOf<RecordNode>([], [], false, page.after ?? undefined), totalCount: 0 };
  }

  @FieldResolver(() => RecordLinkConnection, {
    description: "Links of the record by any predicate, each with the record at its other end.",
  })
  async links(
    @Root() { stored }: RecordNode,
    @Args(() => LinkArguments) { direction, ...page }: LinkArguments,
    @Ctx() { deps, loaders }: Context,
  ): Promise<RecordLinkConnection> {
    const options = checkedPage(page, "first", 1);
    if (!stored) return pageOf<RecordLink>([], [], false, options.after);
    const [found] = await loaders.queued(() =>
      direction === LinkDirectionEnum.FROM
        ? linksFrom(deps, [stored.ark], options)
        : linksTo(deps, [stored.key], options),
    );
    const { items, next } = found!;
    loaders.spend(items.length);
    const records = await Promise.all(
      items.map(({ source, target }) =>
        loaders.node(direction === LinkDirectionEnum.FROM ? target : source),
      ),
    );
    return pageOf(
      items.map(({ predicate }, index) => ({ predicate, record: records[index]! })),
      items.map(({ position }) => position),
      next !== undefined,
      options.after,
    );
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
    description:
      "JSON pointer to the reference in the record's document; null where it is stated otherwise.",
  })
  pointer!: string | null;
  @Field(() => ID, { description: "The identifier that the reference states." }) target!: string;
  @Field(() => DanglingReasonEnum, { description: "Why it leads nowhere." })
  reason!: DanglingReasonEnum;
  @Field(() => ID, {
    nullable: true,
    description: "Record to use in place of a deleted one, where its tombstone names one.",
  })
  successor!: string | null;
}
@ObjectType({
  description: "An entry of a page, with the cursor behind which the next page begins.",
  simpleResolvers: true,
})
class DanglingReferenceEdge {
  @Field(() => DanglingReference, { description: ABOUT_PAGE.node }) node!: DanglingReference;
  @Field({ description: ABOUT_PAGE.cursor }) cursor!: string;
}
@ObjectType({
  description: "A page of references; go on with after: pageInfo.endCursor.",
  simpleResolvers: true,
})
class DanglingReferenceConnection {
  @Field(() => [DanglingReferenceEdge], { description: ABOUT_PAGE.edges })
  edges!: DanglingReferenceEdge[];
  @Field(() => [DanglingReference], { description: ABOUT_PAGE.nodes }) nodes!: DanglingReference[];
  @Field(() => PageInfo, { description: ABOUT_PAGE.pageInfo }) pageInfo!: PageInfo;
}

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
    @Ctx() { deps, loaders }: Context,
  ): Promise<DanglingReferenceConnection> {
    const checked = checkedPage(page, "first", 1);
    return loaders.queued(async () => {
      const { items, next } = await danglingReferences(deps, askedArk(node.ark), checked);
      loaders.spend(items.length);
      const nodes = new Map(items.map(({ source }) => [source.ark, nodeOf(source)]));
      await loaders.hold([...nodes.values()]);
      return pageOf(
        items.map(({ source, predicate, pointer, target, deleted, successor }) => ({
          record: nodes.get(source.ark)!,
          predicate,
          pointer,
          target,
          reason: deleted ? DanglingReasonEnum.DELETED : DanglingReasonEnum.UNKNOWN,
          successor,
        })),
        items.map(({ position }) => position),
        next !== undefined,
        checked.after,
      );
    });
  }
}
