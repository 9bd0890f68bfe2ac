/** Requests of readers for content that is not public. REST calls the methods that take a `SignedIn`. */
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  ID,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import {
  type AccessRequest,
  type AccessRequestFilter,
  type AccessState,
  countAccessRequests,
  decideAccess,
  listAccessRequests,
  readAccessRequest,
  requestAccess,
} from "../../services/publication/access-requests.js";
import { askedArk } from "../../services/records/find.js";
import { type Context, countWrite, type SignedIn, signedIn } from "./context.js";
import { idOf, inputOf, optional, payloadOf, required } from "./types/mutations.js";
import { checkedPage, connectionTo, PageArguments, pageOf } from "./types/pages.js";
import { describedEnum, Node, RecordNode } from "./types/records.js";
import { DateTime } from "./types/scalars.js";

const StateEnum = describedEnum<AccessState>(
  "AccessRequestState",
  "What was decided about a request for access.",
  {
    ASKED: ["asked", "Nothing yet."],
    GRANTED: ["granted", "The requester may read the content."],
    DECLINED: ["declined", "It was declined."],
    REVOKED: ["revoked", "It was granted, and the grant was taken back."],
    EXPIRED: ["expired", "It was granted, and the grant has ended."],
  },
);

@ObjectType("AccessRequest", {
  implements: Node,
  description: "A request to read content that is not public, and its decision.",
  simpleResolvers: true,
})
class AccessRequestType {
  @Field(() => ID, { description: "Decides it." }) id!: string;
  @Field(() => RecordNode, { description: "Whose content is requested." })
  record!: () => Promise<RecordNode>;
  @Field(() => RecordNode, { description: "The user who asks." })
  requester!: () => Promise<RecordNode>;
  @Field({ description: "Why; plain text." }) reason!: string;
  @Field(() => StateEnum as object, { description: "What was decided." }) state!: AccessState;
  @Field(() => DateTime, { description: "When it was made." }) askedAt!: Date;
  @Field(() => DateTime, { nullable: true, description: "When the grant ends; null: never." })
  until!: Date | null;
  @Field(() => String, { nullable: true, description: "To the requester; plain text." })
  message!: string | null;
  @Field(() => DateTime, { nullable: true, description: "When it was decided." })
  decidedAt!: Date | null;
  @Field(() => RecordNode, { nullable: true, description: "The user who decided." })
  decidedBy!: (() => Promise<RecordNode>) | null;
}

@ObjectType({
  description: "A page of requests for access.",
  simpleResolvers: true,
})
class AccessRequestConnection extends connectionTo("AccessRequest", AccessRequestType) {}

@ArgsType()
class AccessRequestArguments extends PageArguments {
  @Field(() => ID, { nullable: true, description: "Those for this record." })
  record?: string | null;
  @Field(() => Boolean, { defaultValue: false, description: "Those that you made." })
  made!: boolean;
  @Field(() => StateEnum as object, { nullable: true, description: "Those in this state." })
  state?: AccessState | null;
}

const accessRequest = required<object>(AccessRequestType, "The request after the change.");
const RequestAccessInput = inputOf("requestAccess", {
  record: idOf("The record, or the crate with its files."),
  reason: required<string>(String, "What you need it for; at most 2,000 characters."),
});
const RequestAccessPayload = payloadOf("requestAccess", { accessRequest });
const DecideAccessInput = inputOf("decideAccessRequest", {
  id: idOf("The request."),
  grant: required<boolean>(Boolean, "Grants access; false declines, or ends a grant."),
  until: optional<string>(String, "Date or date-time when the grant ends; by default never."),
  message: optional<string>(String, "To the requester; at most 2,000 characters."),
});
const DecideAccessPayload = payloadOf("decideAccessRequest", { accessRequest });

const typeOf = (
  { record, requester, decidedBy, ...rest }: AccessRequest,
  { loaders }: Context,
): AccessRequestType => ({
  ...rest,
  record: () => loaders.node(record),
  requester: () => loaders.node(requester),
  decidedBy: decidedBy === null ? null : () => loaders.node(decidedBy),
});

/** @throws as `readAccessRequest` */
export const readAccessNode = async (id: string, context: SignedIn): Promise<object> =>
  typeOf(await readAccessRequest(context.deps, id, context.caller), context);

@Resolver()
export class AccessResolver {
  /** @throws as `requestAccess` */
  async request(
    asked: { record: Ark; reason?: unknown },
    context: SignedIn,
  ): Promise<AccessRequest> {
    await countWrite(context);
    return requestAccess(context.deps, asked, context.caller);
  }
  /** @throws as `decideAccess` */
  async decide(
    id: string,
    decision: { grant?: unknown; until?: unknown; message?: unknown },
    context: SignedIn,
  ): Promise<AccessRequest> {
    await countWrite(context);
    return decideAccess(context.deps, id, decision, context.caller);
  }

  @Query(() => AccessRequestConnection, {
    description:
      "Requests for access, the newest first: those for records that you own, or for one that you " +
      "may change; or those that you made.",
  })
  async accessRequests(
    @Args(() => AccessRequestArguments) { record, made, state, ...page }: AccessRequestArguments,
    @Ctx() context: Context,
  ): Promise<AccessRequestConnection> {
    const { deps, caller } = signedIn(context);
    const filter: AccessRequestFilter = {
      record: record === null || record === undefined ? undefined : askedArk(record),
      made,
      state: state ?? undefined,
    };
    const checked = checkedPage(page);
    const { items, positions, next } = await listAccessRequests(deps, filter, checked, caller);
    const requests = items.map((request) => typeOf(request, context));
    return {
      ...pageOf(requests, positions, next !== undefined, checked.after),
      totalCount: () => countAccessRequests(deps, filter, caller),
    };
  }

  @Mutation(() => RequestAccessPayload, {
    description: "Asks those who may change a record for the right to read its content.",
  })
  async requestAccess(
    @Arg("input", () => RequestAccessInput)
    { record, reason }: InstanceType<typeof RequestAccessInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const asked = { record: askedArk(record), reason };
    return { accessRequest: typeOf(await this.request(asked, signedIn(context)), context) };
  }

  @Mutation(() => DecideAccessPayload, {
    description: "Grants or ends access to content; for those who may change the record.",
  })
  async decideAccessRequest(
    @Arg("input", () => DecideAccessInput)
    { id, ...decision }: InstanceType<typeof DecideAccessInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    return { accessRequest: typeOf(await this.decide(id, decision, signedIn(context)), context) };
  }
}
