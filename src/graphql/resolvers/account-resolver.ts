import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  ID,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from "type-graphql";
import type { JsonValue } from "../../model/field.js";
import type { Caller } from "../../services/access/rules.js";
import { checkedCredentials, login, signIn, userOf } from "../../services/accounts/accounts.js";
import { rateLimit, type TokenAnswer } from "../../services/accounts/tokens.js";
import {
  addGroupMember,
  type MembershipChange,
  removeGroupMember,
} from "../../services/groups/membership.js";
import { askedArk } from "../../services/records/find.js";
import type { RecordView } from "../../services/records/view.js";
import type { StoredRecord } from "../../storage/records/port.js";
import { type Context, countWrite, type SignedIn, signedIn } from "./context.js";
import { NODE_TYPES, nodeOf, type RecordNode } from "./types/records.js";

@ObjectType({ description: "Send it as Authorization: Bearer <accessToken>." })
export class Token {
  @Field({ description: "The token." }) accessToken!: string;
  @Field({ description: "Always bearer." }) tokenType!: string;
  @Field(() => Int, { description: "Seconds." }) expiresIn!: number;
}

export const tokenOf = (answer: TokenAnswer): Token => ({
  accessToken: answer.access_token,
  tokenType: answer.token_type,
  expiresIn: answer.expires_in,
});

/** Counts attempts from the address of a request, by account. */
export const attemptsFrom =
  ({ deps, address }: Context) =>
  (account: string) =>
    rateLimit(deps, "LOGIN_RATE").take(`${address} ${account}`);

@Resolver()
export class AccountResolver {
  /** @throws ValidationError; ServiceError `BAD_CREDENTIALS`, `FORBIDDEN`, `TOO_MANY_REQUESTS` */
  token(form: JsonValue | undefined, context: Context): Promise<TokenAnswer> {
    return login(context.deps, checkedCredentials(form), attemptsFrom(context));
  }

  /** The account behind a user name and a password, for a session. @throws as {@link token} */
  async signIn(form: JsonValue | undefined, context: Context): Promise<Caller> {
    const { user, admin } = await signIn(
      context.deps,
      checkedCredentials(form),
      attemptsFrom(context),
    );
    return { user, admin };
  }

  @Mutation(() => Token, {
    description: "Password grant: username is the e-mail address or the user's identifier.",
  })
  async login(
    @Arg("username", () => String, { description: "E-mail address, or identifier of the user." })
    username: string,
    @Arg("password", () => String, { description: "Password." }) password: string,
    @Ctx() context: Context,
  ): Promise<Token> {
    return tokenOf(await this.token({ username, password }, context));
  }

  /** The record of the user behind the token; `undefined` when it is not stored any more. */
  own({ deps, caller }: SignedIn): Promise<StoredRecord | undefined> {
    return userOf(deps, caller);
  }

  @Query(() => NODE_TYPES.user, {
    nullable: true,
    description: "The user behind the token; null without one.",
  })
  async me(@Ctx() context: Context): Promise<RecordNode | null> {
    const record = context.caller ? await this.own(context as SignedIn) : undefined;
    return record ? nodeOf(record) : null;
  }
}

@ArgsType()
class MembershipArguments {
  @Field(() => ID, { description: "Identifier of the group." }) group!: string;
  @Field(() => ID, { description: "Identifier of the user." }) user!: string;
  @Field(() => Int, { nullable: true, description: "Refused when the group has changed since." })
  expectedRevision?: number | null;
}

const changeOf = ({ group, user, expectedRevision }: MembershipArguments): MembershipChange => ({
  group: askedArk(group),
  user,
  at: ["body", "user"],
  expectedRevision: expectedRevision ?? undefined,
});

/** Members of groups. REST calls the methods that take a change as well. */
@Resolver()
export class GroupResolver {
  /** @throws as `addGroupMember` */
  async addMember(change: MembershipChange, context: SignedIn): Promise<RecordView> {
    await countWrite(context);
    return addGroupMember(context.deps, change, context.caller);
  }
  /** @throws as `removeGroupMember` */
  async removeMember(change: MembershipChange, context: SignedIn): Promise<RecordView> {
    await countWrite(context);
    return removeGroupMember(context.deps, change, context.caller);
  }

  @Mutation(() => NODE_TYPES.group, {
    description: "Makes a user a member of a group; adding an existing member leaves it unchanged.",
  })
  async addGroupMember(
    @Args(() => MembershipArguments) change: MembershipArguments,
    @Ctx() context: Context,
  ): Promise<RecordNode> {
    const { record } = await this.addMember(changeOf(change), signedIn(context));
    context.loaders.forget();
    return nodeOf(record);
  }

  @Mutation(() => NODE_TYPES.group, {
    description:
      "Ends a membership; removing a user who is not a member leaves the group unchanged.",
  })
  async removeGroupMember(
    @Args(() => MembershipArguments) change: MembershipArguments,
    @Ctx() context: Context,
  ): Promise<RecordNode> {
    const { record } = await this.removeMember(changeOf(change), signedIn(context));
    context.loaders.forget();
    return nodeOf(record);
  }
}
