import { Args, ArgsType, Ctx, Field, ID, Int, Mutation, Resolver } from "type-graphql";
import { addGroupMember, removeGroupMember, type MembershipChange } from "../use-cases/groups/membership.js";
import type { RecordView } from "../use-cases/records/view.js";
import type { Context } from "./context.js";
import { NODE_TYPES, nodeOf } from "./types/kind-types.js";
import type { RecordNode } from "./types/record-node.js";
import { countWrite } from "./write-rate.js";

@ArgsType()
class MembershipArguments {
  @Field(() => ID) group!: string;
  @Field(() => ID) user!: string;
  @Field(() => Int, { nullable: true, description: "Refused when the group has changed since." }) expectedRevision?: number | null;
}

const changeOf = ({ group, user, expectedRevision }: MembershipArguments): MembershipChange => ({ group, user, at: ["body", "user"], expectedRevision: expectedRevision ?? undefined });

/** Who is a member of a group. The methods that take a change are called by REST as well. */
@Resolver()
export class GroupResolver {
  /** @throws as `addGroupMember` */
  async addMember(change: MembershipChange, context: Context): Promise<RecordView> {
    await countWrite(context);
    return addGroupMember(context.deps, change, context.caller);
  }
  /** @throws as `removeGroupMember` */
  async removeMember(change: MembershipChange, context: Context): Promise<RecordView> {
    await countWrite(context);
    return removeGroupMember(context.deps, change, context.caller);
  }

  @Mutation(() => NODE_TYPES.group, { description: "Makes a user a member of a group; one who is a member already leaves it unchanged." })
  async addGroupMember(@Args(() => MembershipArguments) change: MembershipArguments, @Ctx() context: Context): Promise<RecordNode> {
    const { record } = await this.addMember(changeOf(change), context);
    context.loaders.forget();
    return nodeOf(record);
  }

  @Mutation(() => NODE_TYPES.group, { description: "Ends a membership; who never was a member leaves the group unchanged." })
  async removeGroupMember(@Args(() => MembershipArguments) change: MembershipArguments, @Ctx() context: Context): Promise<RecordNode> {
    const { record } = await this.removeMember(changeOf(change), context);
    context.loaders.forget();
    return nodeOf(record);
  }
}
