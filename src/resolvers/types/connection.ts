import { ArgsType, Field, Int, ObjectType } from "type-graphql";
import { invalid } from "../../errors.js";
import { RecordNode } from "./record-node.js";

@ObjectType({ description: "Where a page ends (Relay connections).", simpleResolvers: true })
export class PageInfo {
  @Field() hasNextPage!: boolean;
  @Field() hasPreviousPage!: boolean;
  @Field(() => String, { nullable: true }) startCursor!: string | null;
  @Field(() => String, { nullable: true, description: "Pass it as after for the next page." }) endCursor!: string | null;
}

@ObjectType({ simpleResolvers: true })
export class RecordEdge {
  @Field(() => RecordNode) node!: RecordNode;
  @Field() cursor!: string;
}

@ObjectType({ description: "A page of records; go on with after: pageInfo.endCursor.", simpleResolvers: true })
export class RecordConnection {
  @Field(() => [RecordEdge]) edges!: RecordEdge[];
  @Field(() => [RecordNode]) nodes!: RecordNode[];
  @Field(() => PageInfo) pageInfo!: PageInfo;
  @Field(() => Int, { nullable: true, description: "Null: links are not counted ahead." })
  totalCount?: null;
}

/** Most items of one connection page. */
export const MOST_PER_PAGE = 1000;

@ArgsType()
export class PageArguments {
  @Field(() => Int, { nullable: true, defaultValue: 100, description: `At most ${MOST_PER_PAGE}.` }) first!: number;
  @Field(() => String, { nullable: true, description: "endCursor of the page before." }) after?: string | null;
}

export interface CheckedPage { limit: number; after?: string }

/** @throws ValidationError when `first` is out of range */
export function checkedPage({ first, after }: PageArguments): CheckedPage {
  const limit = first ?? 100;
  if (limit < 1) throw invalid(["query", "first"], "Input should be greater than or equal to 1", "greater_than_equal", { ge: 1 });
  if (limit > MOST_PER_PAGE) throw invalid(["query", "first"], `Input should be less than or equal to ${MOST_PER_PAGE}`, "less_than_equal", { le: MOST_PER_PAGE });
  return { limit, ...(after === undefined || after === null ? {} : { after }) };
}

/** What every connection has, from the items of a page and their cursors. */
export function pageOf<T>(nodes: T[], cursors: readonly string[], next: boolean, after: string | undefined): { edges: { node: T; cursor: string }[]; nodes: T[]; pageInfo: PageInfo } {
  const edges = nodes.map((node, index) => ({ node, cursor: cursors[index]! }));
  return { edges, nodes, pageInfo: { hasNextPage: next, hasPreviousPage: after !== undefined, startCursor: cursors[0] ?? null, endCursor: cursors.at(-1) ?? null } };
}
