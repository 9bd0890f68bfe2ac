import { Field, ID, Int, ObjectType } from "type-graphql";
import { PageInfo } from "./connection.js";

@ObjectType({ description: "One state of a record.", simpleResolvers: true })
export class Revision {
  @Field(() => Int) revision!: number;
  @Field() at!: Date;
  @Field(() => ID, { nullable: true, description: "Who made it; null for the service itself." }) by!: string | null;
  @Field({ description: "create, update, delete or publish." }) action!: string;
  @Field(() => [String], { description: "JSON pointers of what differs from the state before." }) changed!: string[];
}

@ObjectType({ simpleResolvers: true })
export class RevisionEdge {
  @Field(() => Revision) node!: Revision;
  @Field() cursor!: string;
}

@ObjectType({ description: "A page of revisions; go on with after: pageInfo.endCursor.", simpleResolvers: true })
export class RevisionConnection {
  @Field(() => [RevisionEdge]) edges!: RevisionEdge[];
  @Field(() => [Revision]) nodes!: Revision[];
  @Field(() => PageInfo) pageInfo!: PageInfo;
  @Field(() => Int, { description: "Revisions in all." }) totalCount!: number;
}
