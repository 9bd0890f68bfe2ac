/**
 * Accounts and groups, and the ways in: sessions, access tokens, passwords, and what
 * administrators do with accounts.
 */
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
import type { Ark } from "../../identifiers/ark.js";
import type { JsonValue } from "../../model/field.js";
import type { Caller } from "../../services/access/rules.js";
import type { Scope } from "../../services/access/scopes.js";
import {
  changePassword,
  checkedCredentials,
  login,
  signIn,
  userByEmail,
  userOf,
} from "../../services/accounts/accounts.js";
import {
  type AccountSettings,
  addGroupMember,
  countAccounts,
  createPasswordReset,
  listAccounts,
  type MembershipChange,
  type PasswordReset,
  readAccount,
  type RegistryFigures,
  registryFigures,
  removeGroupMember,
  resetPassword,
  setAccount,
} from "../../services/administration/accounts.js";
import {
  type AccessToken,
  createAccessToken,
  listAccessTokens,
  revokeAccessToken,
} from "../../services/accounts/credentials.js";
import { beginDeviceLogin, type DeviceLogin } from "../../services/accounts/device.js";
import type { TokenAnswer } from "../../services/accounts/tokens.js";
import { orcidOf } from "../../services/administration/sign-in.js";
import { askedArk } from "../../services/records/find.js";
import type { RecordView } from "../../services/records/view.js";
import type { ListedAccount } from "../../storage/records/port.js";
import { attemptsFrom, type Context, countWrite, type SignedIn, signedIn } from "./context.js";
import {
  expectedRevision,
  idOf,
  inputOf,
  optional,
  payloadOf,
  recordPayload,
  required,
  writtenAs,
} from "./types/mutations.js";
import { checkedPage, connectionTo, PageArguments, pageOf } from "./types/pages.js";
import { Node, NODE_TYPES, nodeOf, type RecordNode } from "./types/records.js";
import { BigIntScalar, DateTime } from "./types/scalars.js";

@ObjectType({ description: "Send it as Authorization: Bearer <accessToken>." })
class Token {
  @Field({ description: "The token." }) accessToken!: string;
  @Field({ description: "Always bearer." }) tokenType!: string;
  @Field(() => Int, { description: "Seconds." }) expiresIn!: number;
}

const tokenOf = (answer: TokenAnswer): Token => ({
  accessToken: answer.access_token,
  tokenType: answer.token_type,
  expiresIn: answer.expires_in,
});

const SignInInput = inputOf("signIn", {
  username: required<string>(String, "E-mail address, or identifier of the user."),
  password: required<string>(String, "Password."),
});
const token = required<Token>(Token, "The token to go on with.");
const SignInPayload = payloadOf("signIn", { token });

@Resolver()
export class AccountResolver {
  /** @throws ValidationError; ServiceError `BAD_CREDENTIALS`, `FORBIDDEN`, `TOO_MANY_REQUESTS` */
  token(form: JsonValue | undefined, context: Context): Promise<TokenAnswer> {
    return login(context.deps, checkedCredentials(form), attemptsFrom(context));
  }

  /** @throws ServiceError `TOO_MANY_REQUESTS` */
  async beginDevice(context: Context): Promise<DeviceLogin> {
    await attemptsFrom(context)("devices");
    return beginDeviceLogin(context.deps);
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

  @Mutation(() => SignInPayload, {
    name: "signIn",
    description: "Exchanges a password for a token (the password grant of OAuth 2).",
  })
  async signInForToken(
    @Arg("input", () => SignInInput) credentials: InstanceType<typeof SignInInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    return { token: tokenOf(await this.token({ ...credentials }, context)) };
  }

  @Query(() => NODE_TYPES.user, {
    nullable: true,
    description: "The user behind the token; null without one.",
  })
  async me(@Ctx() { deps, caller }: Context): Promise<RecordNode | null> {
    const record = caller ? await userOf(deps, caller) : undefined;
    return record ? nodeOf(record) : null;
  }

  @Query(() => NODE_TYPES.user, {
    nullable: true,
    description: "The user with exactly this e-mail address; it needs a token.",
  })
  async userByEmail(
    @Arg("email", { description: "The whole address." }) email: string,
    @Ctx() context: Context,
  ): Promise<RecordNode | null> {
    const record = await userByEmail(signedIn(context).deps, email);
    return record && record.tombstone === null ? nodeOf(record) : null;
  }
}

/** What an account has proved elsewhere. */
@Resolver(() => NODE_TYPES.user)
export class IdentityResolver {
  @FieldResolver(() => String, {
    nullable: true,
    description: "ORCID iD, proved by a sign-in at ORCID.",
  })
  orcid(@Root() user: RecordNode, @Ctx() { deps }: Context): Promise<string | null> {
    return orcidOf(deps, user.id);
  }
}

const MEMBERSHIP = {
  group: idOf("Identifier of the group."),
  user: idOf("Identifier of the user."),
  expectedRevision,
};
const AddMemberInput = inputOf("addGroupMember", MEMBERSHIP);
const AddMemberPayload = recordPayload("addGroupMember", "group", NODE_TYPES.group);
const RemoveMemberInput = inputOf("removeGroupMember", MEMBERSHIP);
const RemoveMemberPayload = recordPayload("removeGroupMember", "group", NODE_TYPES.group);

const changeOf = (input: InstanceType<typeof AddMemberInput>): MembershipChange => ({
  group: askedArk(input.group),
  user: input.user,
  at: ["input", "user"],
  expectedRevision: input.expectedRevision ?? undefined,
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

  @Mutation(() => AddMemberPayload, {
    description: "Makes a user a member of a group, where it is none yet.",
  })
  async addGroupMember(
    @Arg("input", () => AddMemberInput) input: InstanceType<typeof AddMemberInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const { record } = await this.addMember(changeOf(input), signedIn(context));
    return writtenAs("group", record, context);
  }

  @Mutation(() => RemoveMemberPayload, {
    description: "Ends the membership of a user in a group, where there is one.",
  })
  async removeGroupMember(
    @Arg("input", () => RemoveMemberInput) input: InstanceType<typeof RemoveMemberInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const { record } = await this.removeMember(changeOf(input), signedIn(context));
    return writtenAs("group", record, context);
  }
}

@ObjectType("AccessToken", {
  implements: Node,
  description: "A named token for programs; its secret was shown once.",
  simpleResolvers: true,
})
class AccessTokenType implements AccessToken {
  @Field(() => ID, { description: "Revokes it." }) id!: string;
  @Field({ description: "What its owner called it." }) name!: string;
  @Field(() => DateTime, { description: "When it was made." }) createdAt!: Date;
  @Field(() => DateTime, {
    nullable: true,
    description: "When it was last used, to a minute.",
  })
  usedAt!: Date | null;
  @Field(() => DateTime, { description: "When it ends." }) expiresAt!: Date;
  @Field(() => [String], { description: "What it may do: read, write, publish, admin." })
  scopes!: Scope[];
  @Field(() => ID, { nullable: true, description: "The only record where it has rights." })
  boundTo!: string | null;
}

const CreateTokenInput = inputOf("createAccessToken", {
  name: required<string>(String, "What you call it."),
  expiresAt: optional<string>(String, "Date or date-time; ACCESS_TOKEN_LIFETIME from now at most."),
  scopes: optional<string[]>([String], "Of read, write, publish and admin; all by default."),
  boundTo: optional<string>(ID, "A crate, project or group: it has rights nowhere else."),
});
const CreateTokenPayload = payloadOf("createAccessToken", {
  secret: required<string>(
    String,
    "Sent as Authorization: Bearer <secret>. It cannot be read again.",
  ),
  accessToken: required<AccessToken>(AccessTokenType, "The token in the list."),
});
const RevokeTokenInput = inputOf("revokeAccessToken", { id: idOf("The token.") });
const RevokeTokenPayload = payloadOf("revokeAccessToken", {
  accessToken: required<AccessToken>(AccessTokenType, "The token that has ended."),
});
const ChangePasswordInput = inputOf("changePassword", {
  currentPassword: required<string>(String, "The password until now."),
  newPassword: required<string>(String, "The password from now on."),
});
const ChangePasswordPayload = payloadOf("changePassword", { token });
const user = required<RecordNode>(NODE_TYPES.user, "The user.");
const ResetPasswordInput = inputOf("resetPassword", {
  token: required<string>(String, "The token that an administrator made."),
  password: required<string>(String, "The new password."),
});
const ResetPasswordPayload = payloadOf("resetPassword", { user });
const CreateResetInput = inputOf("createPasswordReset", { user: idOf("Identifier of the user.") });
const CreateResetPayload = payloadOf("createPasswordReset", {
  user,
  token: required<string>(String, "For the mutation resetPassword. It cannot be read again."),
  expiresAt: required<Date>(DateTime, "When it ends."),
});
const UpdateAccountInput = inputOf("updateAccount", {
  user: idOf("Identifier of the user."),
  admin: optional<boolean>(Boolean, "Rights of an administrator."),
  disabled: optional<boolean>(Boolean, "Whether it is disabled."),
});
@ObjectType("Account", {
  implements: Node,
  description: "An account, for administrators.",
  simpleResolvers: true,
})
class AccountType {
  @Field(() => ID, { description: "For node(id)." }) id!: string;
  @Field(() => NODE_TYPES.user, { description: "Whose account it is." })
  user!: () => Promise<RecordNode>;
  @Field(() => String, { nullable: true, description: "Name of the user." }) name!: string | null;
  @Field({ description: "E-mail address." }) email!: string;
  @Field({ description: "Has the rights of an administrator." }) admin!: boolean;
  @Field({ description: "Nobody signs in with it, and its tokens are refused." })
  disabled!: boolean;
  @Field(() => DateTime, { description: "When it was created." }) createdAt!: Date;
  @Field(() => DateTime, {
    nullable: true,
    description: "When its password was last entered.",
  })
  signedInAt!: Date | null;
}

const UpdateAccountPayload = payloadOf("updateAccount", {
  account: required<AccountType>(AccountType, "The account after the change."),
});

@ObjectType({
  description: "A page of accounts; go on with after: pageInfo.endCursor.",
  simpleResolvers: true,
})
class AccountConnection extends connectionTo("Account", AccountType) {}

@ObjectType("RegistryFigures", {
  description: "Figures of the registry, for administrators.",
  simpleResolvers: true,
})
class RegistryFiguresType implements RegistryFigures {
  @Field(() => Int, { description: "Accounts that are not deleted." }) accounts!: number;
  @Field(() => Int, { description: "Records that are not deleted." }) records!: number;
  @Field(() => Int, { description: "Background jobs that wait." }) queued!: number;
  @Field(() => Int, { description: "Background jobs that run." }) running!: number;
  @Field(() => BigIntScalar, {
    nullable: true,
    description: "Free bytes on the disk of this node; null where unknown.",
  })
  freeBytes!: number | null;
  @Field(() => DateTime, {
    nullable: true,
    description: "When the oldest job that waits was submitted.",
  })
  waitingSince!: Date | null;
}

/** The caller's own credentials. REST calls the methods without decorators as well. */
@Resolver()
export class CredentialResolver {
  /** @throws as `createAccessToken` */
  async create(
    asked: { name?: unknown; expiresAt?: unknown; scopes?: unknown; boundTo?: unknown },
    context: SignedIn,
  ): ReturnType<typeof createAccessToken> {
    await countWrite(context);
    return createAccessToken(context.deps, asked, context.caller);
  }
  /** @throws as `changePassword` */
  change(next: { current: string; next: string }, context: SignedIn): Promise<TokenAnswer> {
    return changePassword(context.deps, next, context.caller, attemptsFrom(context));
  }
  /** @throws as `resetPassword` */
  reset(sent: { token: string; password: string }, context: Context): Promise<string> {
    return resetPassword(context.deps, sent, attemptsFrom(context));
  }

  @Query(() => [AccessTokenType], {
    description: "Your access tokens that are valid, the newest first.",
  })
  accessTokens(@Ctx() context: Context): Promise<AccessToken[]> {
    const { deps, caller } = signedIn(context);
    return listAccessTokens(deps, caller);
  }

  @Mutation(() => CreateTokenPayload, {
    description: "Makes an access token for programs, with your rights.",
  })
  async createAccessToken(
    @Arg("input", () => CreateTokenInput) input: InstanceType<typeof CreateTokenInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const { secret, token: accessToken } = await this.create(input, signedIn(context));
    return { secret, accessToken };
  }

  @Mutation(() => RevokeTokenPayload, { description: "Ends an access token of yours at once." })
  async revokeAccessToken(
    @Arg("input", () => RevokeTokenInput) { id }: InstanceType<typeof RevokeTokenInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const { deps, caller } = signedIn(context);
    return { accessToken: await revokeAccessToken(deps, id, caller) };
  }

  @Mutation(() => ChangePasswordPayload, {
    description: "Sets a new password of yours; ends your earlier tokens and sessions.",
  })
  async changePassword(
    @Arg("input", () => ChangePasswordInput)
    { currentPassword: current, newPassword: next }: InstanceType<typeof ChangePasswordInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    return { token: tokenOf(await this.change({ current, next }, signedIn(context))) };
  }

  @Mutation(() => ResetPasswordPayload, {
    description:
      "Sets a new password with the token that an administrator made (createPasswordReset), once. " +
      "All tokens and sessions of the account end.",
  })
  async resetPassword(
    @Arg("input", () => ResetPasswordInput) input: InstanceType<typeof ResetPasswordInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    return { user: await context.loaders.node(await this.reset(input, context)) };
  }
}

/** What the id of an account begins with, before that of its user. */
const ACCOUNT = "account:";

/** The user in the id of an account; `undefined` for other identifiers. */
export const accountIn = (id: string): Ark | undefined =>
  id.startsWith(ACCOUNT) ? askedArk(id.slice(ACCOUNT.length)) : undefined;

/** @throws as `readAccount` */
export const readAccountNode = async (ark: Ark, context: SignedIn): Promise<AccountType> =>
  accountOf(await readAccount(context.deps, ark, context.caller), context);

const accountOf = (
  { user, createdAt, signedInAt, ...rest }: ListedAccount,
  { loaders }: Context,
): AccountType => ({
  ...rest,
  id: ACCOUNT + user,
  user: () => loaders.node(user),
  createdAt: new Date(createdAt),
  signedInAt: signedInAt === null ? null : new Date(signedInAt),
});

/** What administrators do. REST calls the methods without decorators as well. */
@Resolver()
export class AdministrationResolver {
  /** @throws as `setAccount` */
  async set(
    user: string,
    settings: AccountSettings,
    context: SignedIn,
  ): Promise<Required<AccountSettings>> {
    await countWrite(context);
    return setAccount(context.deps, askedArk(user), settings, context.caller);
  }
  /** @throws as `createPasswordReset` */
  async reset(user: string, context: SignedIn): Promise<PasswordReset> {
    await countWrite(context);
    return createPasswordReset(context.deps, askedArk(user), context.caller);
  }

  @Query(() => AccountConnection, {
    description: "All accounts, the newest first; for administrators.",
  })
  async accounts(
    @Args(() => PageArguments) page: PageArguments,
    @Ctx() context: Context,
  ): Promise<AccountConnection> {
    const checked = checkedPage(page, "first", 1);
    const { deps, caller } = signedIn(context);
    const { items, positions, next } = await listAccounts(deps, checked, caller);
    const accounts = items.map((account) => accountOf(account, context));
    return {
      ...pageOf(accounts, positions, next !== undefined, checked.after),
      totalCount: () => countAccounts(deps, caller),
    };
  }

  @Query(() => RegistryFiguresType, {
    description: "Accounts, records and background jobs; for administrators.",
  })
  registryFigures(@Ctx() context: Context): Promise<RegistryFigures> {
    const { deps, caller } = signedIn(context);
    return registryFigures(deps, caller);
  }

  @Mutation(() => UpdateAccountPayload, {
    description:
      "Gives or takes the rights of an administrator, and disables or enables an account; what is " +
      "left out stays. Disabling ends its tokens and sessions. For administrators.",
  })
  async updateAccount(
    @Arg("input", () => UpdateAccountInput)
    { user: id, admin, disabled }: InstanceType<typeof UpdateAccountInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const asked = { admin: admin ?? undefined, disabled: disabled ?? undefined };
    const signed = signedIn(context);
    await this.set(id, asked, signed);
    return { account: await readAccountNode(askedArk(id), signed) };
  }

  @Mutation(() => CreateResetPayload, {
    description:
      "Makes a token with which a user sets a new password once (RESET_LIFETIME). Hand it over " +
      "yourself: the registry sends no mail. For administrators.",
  })
  async createPasswordReset(
    @Arg("input", () => CreateResetInput) input: InstanceType<typeof CreateResetInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const reset = await this.reset(input.user, signedIn(context));
    return { ...reset, user: await context.loaders.node(reset.user) };
  }
}
