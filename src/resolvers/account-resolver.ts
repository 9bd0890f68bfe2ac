import { Arg, Ctx, Field, Int, Mutation, ObjectType, Query, Resolver } from "type-graphql";
import type { JsonValue } from "../model/field.js";
import { checkedCredentials, login } from "../use-cases/accounts/accounts.js";
import { RateLimit } from "../use-cases/accounts/login-rate.js";
import type { TokenAnswer } from "../use-cases/accounts/tokens.js";
import type { Deps } from "../use-cases/deps.js";
import type { Context } from "./context.js";
import { NODE_TYPES, nodeOf } from "./types/kind-types.js";
import type { RecordNode } from "./types/record-node.js";

@ObjectType({ description: "Send it as Authorization: Bearer <accessToken>." })
export class Token {
  @Field() accessToken!: string;
  @Field({ description: "Always bearer." }) tokenType!: string;
  @Field(() => Int, { description: "Seconds." }) expiresIn!: number;
}

/** Attempts are counted for the service as a whole, whichever door they come through. */
const limits = new WeakMap<Deps, RateLimit>();
function loginLimit(deps: Deps): RateLimit {
  let limit = limits.get(deps);
  if (!limit) limits.set(deps, (limit = new RateLimit(deps.config.LOGIN_RATE, "LOGIN_RATE", deps.shared)));
  return limit;
}

@Resolver()
export class AccountResolver {
  /** @throws ValidationError; ServiceError `BAD_CREDENTIALS`, `TOO_MANY_REQUESTS` */
  token(form: JsonValue | undefined, context: Context): Promise<TokenAnswer> {
    const credentials = checkedCredentials(form);
    return login(context.deps, credentials, (account) => loginLimit(context.deps).take(`${context.address} ${account}`));
  }

  @Mutation(() => Token, { description: "Password grant: username is the e-mail address or the user's identifier." })
  async login(@Arg("username", () => String) username: string, @Arg("password", () => String) password: string, @Ctx() context: Context): Promise<Token> {
    const answer = await this.token({ username, password }, context);
    return { accessToken: answer.access_token, tokenType: answer.token_type, expiresIn: answer.expires_in };
  }

  @Query(() => NODE_TYPES.user, { nullable: true, description: "The user behind the token; null without one." })
  async me(@Ctx() context: Context): Promise<RecordNode | null> {
    if (!context.caller) return null;
    const [record] = await context.deps.records.findMany([context.caller.user]);
    return record ? nodeOf(record) : null;
  }
}
