/** Pages of lists, as connections of Relay. */
import "reflect-metadata";
import { ArgsType, Field, Int, ObjectType } from "type-graphql";
import { invalid } from "../../../errors.js";
import { pairs } from "../../../pairs.js";

/** Most items of one connection page. */
export const MAX_PER_PAGE = 1000;
/** Items of one where the caller names no number. */
export const USUAL_PAGE = 100;

/** Descriptions of what every page has. */
export const ABOUT_PAGE = {
  edges: "Entries of the page, each with its cursor.",
  nodes: "The same without cursors.",
  totalCount: "Entries in all; counted only when asked for.",
  pageInfo: "Where the page ends, and whether there are more.",
  node: "The entry itself.",
  cursor: "Place of the entry in the list.",
} as const;

@ObjectType({
  description:
    "Where a page ends (Relay connections). The first records, or those after the cursor of " +
    "after; with last those before the cursor of before, or the last ones. A page has at most " +
    `${MAX_PER_PAGE}. A cursor belongs to its filter and order.`,
  simpleResolvers: true,
})
export class PageInfo {
  @Field({ description: "There are more behind this page." }) hasNextPage!: boolean;
  @Field({ description: "There are more before this page." }) hasPreviousPage!: boolean;
  @Field(() => String, { nullable: true, description: "Pass it as before for the page behind." })
  startCursor!: string | null;
  @Field(() => String, { nullable: true, description: "Pass it as after for the next page." })
  endCursor!: string | null;
}

/** A class that describes a GraphQL type. */
type TypeClass<T> = abstract new (...args: never[]) => T;

/** The type of an entry of a page. @param name of the type of the node */
function edgeTo<T extends object>(name: string, node: TypeClass<T>) {
  @ObjectType(`${name}Edge`, { simpleResolvers: true })
  class Edge {
    @Field(() => node, { description: ABOUT_PAGE.node }) node!: T;
    @Field(() => String, { description: ABOUT_PAGE.cursor }) cursor!: string;
  }
  return Edge;
}

/** The base class of a page's type. @param name of the type of the nodes */
export function connectionTo<T extends object>(name: string, node: TypeClass<T>) {
  const edge = edgeTo(name, node);
  @ObjectType({ simpleResolvers: true })
  abstract class Connection {
    @Field(() => [edge], { description: ABOUT_PAGE.edges }) edges!: InstanceType<typeof edge>[];
    @Field(() => [node], { description: ABOUT_PAGE.nodes }) nodes!: T[];
    @Field(() => PageInfo, { description: ABOUT_PAGE.pageInfo }) pageInfo!: PageInfo;
    @Field(() => Int, { description: ABOUT_PAGE.totalCount })
    totalCount!: number | (() => Promise<number>);
  }
  return Connection;
}

/** Of every connection, so they are described once, at {@link PageInfo}. */
@ArgsType()
export class PageArguments {
  @Field(() => Int, { nullable: true, defaultValue: USUAL_PAGE }) first!: number;
  @Field(() => String, { nullable: true }) after?: string | null;
}

export interface CheckedPage {
  limit: number;
  after?: string;
}

/** @throws ValidationError when `first`, or the argument of that name, is out of range */
export function checkedPage(
  { first, after }: Partial<PageArguments>,
  name: "first" | "last" = "first",
  least = 0,
): CheckedPage {
  const limit = first ?? USUAL_PAGE;
  if (limit < least)
    throw invalid(
      ["query", name],
      `Input should be greater than or equal to ${least}`,
      "greater_than_equal",
      { ge: least },
    );
  if (limit > MAX_PER_PAGE)
    throw invalid(
      ["query", name],
      `Input should be less than or equal to ${MAX_PER_PAGE}`,
      "less_than_equal",
      { le: MAX_PER_PAGE },
    );
  return { limit, ...(after === undefined || after === null ? {} : { after }) };
}

/** What every connection has, from the items of a page and their cursors. */
export function pageOf<T>(
  nodes: T[],
  cursors: readonly string[],
  next: boolean,
  after: string | undefined,
  previous = after !== undefined,
): { edges: { node: T; cursor: string }[]; nodes: T[]; pageInfo: PageInfo } {
  const edges = pairs(nodes, cursors).map(([node, cursor]) => ({ node, cursor }));
  return {
    edges,
    nodes,
    pageInfo: {
      hasNextPage: next,
      hasPreviousPage: previous,
      startCursor: cursors[0] ?? null,
      endCursor: cursors.at(-1) ?? null,
    },
  };
}
