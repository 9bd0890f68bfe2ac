import { addGroupMember, removeGroupMember, type MembershipChange } from "../use-cases/groups/membership.js";
import type { RecordView } from "../use-cases/records/view.js";
import type { Context } from "./context.js";
import { countWrite } from "./write-rate.js";

/** Who is a member of a group. */
export class GroupResolver {
  /** @throws as `addGroupMember` */
  async addMember(change: MembershipChange, context: Context): Promise<RecordView> {
    countWrite(context);
    return addGroupMember(context.deps, change, context.caller);
  }
  /** @throws as `removeGroupMember` */
  async removeMember(change: MembershipChange, context: Context): Promise<RecordView> {
    countWrite(context);
    return removeGroupMember(context.deps, change, context.caller);
  }
}
