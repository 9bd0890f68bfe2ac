/** The audit log. */
import { Arg, Args, Ctx, Field, ID, InputType, ObjectType, Query, Resolver } from "type-graphql";
import { GraphQLJSON } from "graphql-scalars";
import { auditView, countAudit, listAudit } from "../../services/administration/audit.js";
import {
  AUDIT_ACTIONS,
  AUDIT_WORDS,
  type AuditAction,
  type AuditDetail,
} from "../../storage/records/port.js";
import { type Context, signedIn } from "./context.js";
import { DateTimeRange } from "./types/inputs.js";
import { checkedPage, connectionTo, PageArguments, pageOf } from "./types/pages.js";
import { describedEnum } from "./types/records.js";
import { DateTime } from "./types/scalars.js";

const AuditActionEnum = describedEnum<AuditAction>(
  "AuditAction",
  "What was done.",
  Object.fromEntries(AUDIT_ACTIONS.map((action) => [action, [action, `${AUDIT_WORDS[action]}.`]])),
);

@ObjectType("AuditEntry", {
  description: "Who did what, for administrators.",
  simpleResolvers: true,
})
class AuditEntryType {
  @Field(() => DateTime, { description: "When." }) at!: Date;
  @Field(() => AuditActionEnum, { description: "What." }) action!: AuditAction;
  @Field(() => ID, { nullable: true, description: "The user; null for the registry itself." })
  actor!: string | null;
  @Field(() => String, { nullable: true, description: "User name of a refused sign-in." })
  name!: string | null;
  @Field(() => String, { nullable: true, description: "Address of the client." })
  address!: string | null;
  @Field(() => ID, { nullable: true, description: "What it was done to." })
  subject!: string | null;
  @Field(() => GraphQLJSON, { description: "More, as an object." }) detail!: AuditDetail;
}

@InputType({ description: "Conditions on entries; all that are given must hold." })
class AuditFilter {
  @Field(() => AuditActionEnum, { nullable: true, description: "What was done." })
  action?: AuditAction | null;
  @Field(() => String, { nullable: true, description: "Identifier or e-mail address of a user." })
  actor?: string | null;
  @Field(() => String, { nullable: true, description: "What it was done to, likewise." })
  subject?: string | null;
  @Field(() => DateTimeRange, { nullable: true, description: "When." })
  at?: DateTimeRange | null;
}

@ObjectType({ description: "A page of entries.", simpleResolvers: true })
class AuditEntryConnection extends connectionTo("AuditEntry", AuditEntryType) {}

@Resolver()
export class AuditResolver {
  @Query(() => AuditEntryConnection, {
    description: "The audit log, the newest first; for administrators.",
  })
  async auditEntries(
    @Args(() => PageArguments) page: PageArguments,
    @Arg("filter", () => AuditFilter, { nullable: true, description: "Which entries." })
    filter: AuditFilter | null | undefined,
    @Ctx() context: Context,
  ): Promise<AuditEntryConnection> {
    const signed = signedIn(context);
    const { at, ...rest } = filter ?? {};
    const question = { ...rest, since: at?.since, before: at?.before };
    const checked = checkedPage(page, "first", 1);
    const { items, next } = await listAudit(signed.deps, question, checked, signed.caller);
    const positions = items.map(({ number }) => String(number));
    return {
      ...pageOf(items.map(auditView), positions, next !== undefined, checked.after),
      totalCount: () => countAudit(context.deps, question, signed.caller),
    };
  }
}
