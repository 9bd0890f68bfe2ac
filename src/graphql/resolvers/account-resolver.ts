/**
 * Accounts and groups, and the ways in: sessions, access tokens, passwords, and what
 * administrators do with accounts.
 */
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
import {
  changePassword,
  checkedCredentials,
  login,
  signIn,
  userOf,
} from "../../services/accounts/accounts.js";
import {
  addGroupMember,
  createPasswordReset,
  listAccounts,
  type MembershipChange,
  type PasswordReset,
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
import type { TokenAnswer } from "../../services/accounts/tokens.js";
import { askedArk } from "../../services/records/find.js";
import type { RecordView } from "../../services/records/view.js";
import type { ListedAccount, StoredRecord } from "../../storage/records/port.js";
import { attemptsFrom, type Context, countWrite, type SignedIn, signedIn } from "./context.js";
import { checkedPage, connectionTo, PageArguments, pageOf } from "./types/pages.js";
import { NODE_TYPES, nodeOf, type RecordNode } from "./types/records.js";
import { DateTime } from "./types/scalars.js";

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

@ObjectType("AccessToken", {
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
}

@ObjectType("CreatedAccessToken", {
  description: "A new token.",
  simpleResolvers: true,
})
class CreatedAccessTokenType {
  @Field({ description: "Sent as Authorization: Bearer. It cannot be read again." })
  secret!: string;
  @Field(() => AccessTokenType, { description: "The token in the list." }) token!: AccessTokenType;
}

@ObjectType("PasswordReset", {
  description: "With it a user sets a new password once.",
  simpleResolvers: true,
})
class PasswordResetType {
  @Field(() => ID, { description: "The user." }) user!: string;
  @Field({ description: "For the mutation resetPassword. It cannot be read again." })
  token!: string;
  @Field(() => DateTime, { description: "When it ends." }) expiresAt!: Date;
}

@ObjectType("Account", {
  description: "An account, for administrators.",
  simpleResolvers: true,
})
class AccountType {
  @Field(() => ID, { description: "The user." }) id!: string;
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
  @Field(() => DateTime, {
    nullable: true,
    description: "When the oldest job that waits was submitted.",
  })
  waitingSince!: Date | null;
}

/** The caller's own credentials. REST calls the methods that take a `SignedIn` as well. */
@Resolver()
export class CredentialResolver {
  /** @throws as `createAccessToken` */
  async create(
    asked: { name?: unknown; expiresAt?: unknown },
    context: SignedIn,
  ): ReturnType<typeof createAccessToken> {
    await countWrite(context);
    return createAccessToken(context.deps, asked, context.caller);
  }
  list({ deps, caller }: SignedIn): Promise<AccessToken[]> {
    return listAccessTokens(deps, caller);
  }
  /** @throws as `revokeAccessToken` */
  revoke(id: string, { deps, caller }: SignedIn): Promise<void> {
    return revokeAccessToken(deps, id, caller);
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
    return this.list(signedIn(context));
  }

  @Mutation(() => CreatedAccessTokenType, {
    description: "Makes an access token for programs, with your rights.",
  })
  createAccessToken(
    @Arg("name", () => String, { description: "What you call it." }) name: string,
    @Ctx() context: Context,
    @Arg("expiresAt", () => String, {
      nullable: true,
      description:
        "Date or date-time, at most ACCESS_TOKEN_LIFETIME from now, which is the default.",
    })
    expiresAt?: string | null,
  ): ReturnType<typeof createAccessToken> {
    return this.create({ name, expiresAt }, signedIn(context));
  }

  @Mutation(() => Boolean, { description: "Ends an access token of yours at once." })
  async revokeAccessToken(
    @Arg("id", () => ID, { description: "The token." }) id: string,
    @Ctx() context: Context,
  ): Promise<boolean> {
    await this.revoke(id, signedIn(context));
    return true;
  }

  @Mutation(() => Token, {
    description:
      "Sets a new password of yours. All your tokens and sessions from before end; go on with the " +
      "new token.",
  })
  async changePassword(
    @Arg("currentPassword", () => String, { description: "The password until now." })
    current: string,
    @Arg("newPassword", () => String, { description: "The password from now on." }) next: string,
    @Ctx() context: Context,
  ): Promise<Token> {
    return tokenOf(await this.change({ current, next }, signedIn(context)));
  }

  @Mutation(() => ID, {
    description:
      "Sets a new password with the token that an administrator made (createPasswordReset), once. " +
      "Returns the user. All tokens and sessions of the account end.",
  })
  resetPassword(
    @Arg("token", () => String, { description: "The token." }) token: string,
    @Arg("password", () => String, { description: "The new password." }) password: string,
    @Ctx() context: Context,
  ): Promise<string> {
    return this.reset({ token, password }, context);
  }
}

const accountOf = ({ user, createdAt, signedInAt, ...rest }: ListedAccount): AccountType => ({
  ...rest,
  id: user,
  createdAt: new Date(createdAt),
  signedInAt: signedInAt === null ? null : new Date(signedInAt),
});

/** What administrators do. REST calls the methods that take a `SignedIn` as well. */
@Resolver()
export class AdministrationResolver {
  /** @throws as `listAccounts` */
  list(
    page: { limit: number; after?: string },
    { deps, caller }: SignedIn,
  ): ReturnType<typeof listAccounts> {
    return listAccounts(deps, page, caller);
  }
  /** @throws as `setAccount` */
  async set(
    user: string,
    settings: { admin?: boolean | undefined; disabled?: boolean | undefined },
    context: SignedIn,
  ): Promise<void> {
    await countWrite(context);
    return setAccount(context.deps, askedArk(user), settings, context.caller);
  }
  /** @throws as `createPasswordReset` */
  async reset(user: string, context: SignedIn): Promise<PasswordReset> {
    await countWrite(context);
    return createPasswordReset(context.deps, askedArk(user), context.caller);
  }
  figures({ deps, caller }: SignedIn): Promise<RegistryFigures> {
    return registryFigures(deps, caller);
  }

  @Query(() => AccountConnection, {
    description: "All accounts, the newest first; for administrators.",
  })
  async accounts(
    @Args(() => PageArguments) page: PageArguments,
    @Ctx() context: Context,
  ): Promise<AccountConnection> {
    const checked = checkedPage(page, "first", 1);
    const { items, positions, next } = await this.list(checked, signedIn(context));
    return pageOf(items.map(accountOf), positions, next !== undefined, checked.after);
  }

  @Query(() => RegistryFiguresType, {
    description: "Accounts, records and background jobs; for administrators.",
  })
  registryFigures(@Ctx() context: Context): Promise<RegistryFigures> {
    return this.figures(signedIn(context));
  }

  @Mutation(() => NODE_TYPES.user, {
    description:
      "Gives or takes the rights of an administrator, and disables or enables an account; what is " +
      "left out stays. Disabling ends its tokens and sessions. For administrators.",
  })
  async setAccount(
    @Arg("user", () => ID, { description: "Identifier of the user." }) user: string,
    @Ctx() context: Context,
    @Arg("admin", () => Boolean, { nullable: true, description: "Rights of an administrator." })
    admin?: boolean | null,
    @Arg("disabled", () => Boolean, { nullable: true, description: "Whether it is disabled." })
    disabled?: boolean | null,
  ): Promise<RecordNode> {
    const settings = { admin: admin ?? undefined, disabled: disabled ?? undefined };
    await this.set(user, settings, signedIn(context));
    return context.loaders.node(askedArk(user).stored);
  }

  @Mutation(() => PasswordResetType, {
    description:
      "Makes a token with which a user sets a new password once (RESET_LIFETIME). Hand it over " +
      "yourself: the registry sends no mail. For administrators.",
  })
  createPasswordReset(
    @Arg("user", () => ID, { description: "Identifier of the user." }) user: string,
    @Ctx() context: Context,
  ): Promise<PasswordReset> {
    return this.reset(user, signedIn(context));
  }
}
