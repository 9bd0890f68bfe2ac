import { ArgsType, Field, Int, ObjectType } from "type-graphql";
import { invalid } from "../../errors.js";
import { RecordNode } from "./record-node.js";

@ObjectType({ description: "Where a page ends (Relay connections)." })
export class PageInfo {
  @Field() hasNextPage!: boolean;
  @Field() hasPreviousPage!: boolean;
  @Field(() => String, { nullable: true }) startCursor!: string | null;
  @Field(() => String, { nullable: true }) endCursor!: string | null;
}

@ObjectType()
export class RecordEdge {
  @Field(() => RecordNode) node!: RecordNode;
  @Field() cursor!: string;
}

@ObjectType({ description: "A page of records; go on with after: pageInfo.endCursor." })
export class RecordConnection {
  @Field(() => [RecordEdge]) edges!: RecordEdge[];
  @Field(() => [RecordNode]) nodes!: RecordNode[];
  @Field(() => PageInfo) pageInfo!: PageInfo;
  /** Counted only when asked for. */
  readonly count?: () => Promise<number>;
  @Field(() => Int, { nullable: true, description: "Records in all; null for links, which are not counted ahead." })
  totalCount(): Promise<number> | null {
    return this.count ? this.count() : null;
  }
}

/** Most records of one connection page. */
export const MOST_PER_PAGE = 1000;

@ArgsType()
export class PageArguments {
  @Field(() => Int, { nullable: true, defaultValue: 100, description: "At most 1000." }) first!: number;
  @Field(() => String, { nullable: true, description: "endCursor of the page before." }) after?: string | null;
}

/** @throws ValidationError when `first` is out of range */
export function checkedPage(page: PageArguments): { limit: number; after?: string } {
  const first = page.first ?? 100;
  if (first < 1) throw invalid(["query", "first"], "Input should be greater than or equal to 1", "greater_than_equal", { ge: 1 });
  if (first > MOST_PER_PAGE) throw invalid(["query", "first"], `Input should be less than or equal to ${MOST_PER_PAGE}`, "less_than_equal", { le: MOST_PER_PAGE });
  return { limit: first, ...(page.after === undefined || page.after === null ? {} : { after: page.after }) };
}

/** A connection from a page's nodes and their cursors. */
export function connectionOf(items: { node: RecordNode; cursor: string }[], next: boolean, after: string | undefined, count?: () => Promise<number>): RecordConnection {
  const pageInfo = { hasNextPage: next, hasPreviousPage: after !== undefined, startCursor: items[0]?.cursor ?? null, endCursor: items.at(-1)?.cursor ?? null };
  return Object.assign(new RecordConnection(), { edges: items, nodes: items.map((item) => item.node), pageInfo, ...(count ? { count } : {}) });
}
