import { Arg, Ctx, Field, ID, Int, Mutation, ObjectType, Resolver } from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import type { JsonObject } from "../../model/field.js";
import { askedArk, type BulkResult, forEachRecord } from "../../services/records/find.js";
import { stateAfter } from "../../services/records/select.js";
import type { GivenWithdrawal } from "../../services/records/withdrawal.js";
import { restoreRevision } from "../../services/records/write.js";
import type { RecordView } from "../../services/records/view.js";
import { type Context, countWrite, type SignedIn, signedIn } from "./context.js";
import {
  PublicationResolver,
  RecordResolver,
  STATUS_MEMBERS,
  statusOf,
} from "./record-resolver.js";
import { placed } from "./types/inputs.js";
import {
  expectedRevision,
  idOf,
  inputOf,
  payloadOf,
  statedPayload,
  required,
  withdrawal,
  writtenAs,
} from "./types/mutations.js";
import { nodeOf, RecordNode } from "./types/records.js";

@ObjectType({ description: "Why a record was left unchanged.", simpleResolvers: true })
class RecordOutcomeError {
  @Field({ description: "Stable; docs/errors.md lists all." }) code!: string;
  @Field({ description: "What is wrong and what to do." }) message!: string;
}

@ObjectType({ description: "What became of one record of a list.", simpleResolvers: true })
class RecordOutcome {
  @Field(() => ID, { description: "The identifier as it was sent." }) id!: string;
  @Field({ description: "False where the record was left unchanged." }) done!: boolean;
  @Field(() => RecordNode, { nullable: true, description: "The record after the change." })
  record!: RecordNode | null;
  @Field(() => RecordOutcomeError, { nullable: true, description: "Null where it was changed." })
  error!: RecordOutcomeError | null;
}

const ids = required<string[]>(
  [ID],
  "Identifiers, in any accepted spelling; at most MAX_BULK_RECORDS.",
);
const results = required<RecordOutcome[]>([RecordOutcome], "One for each, in their order.");
const payload = (mutation: string) => payloadOf(mutation, { results });
const PublishInput = inputOf("publishRecords", { ids, ...STATUS_MEMBERS });
const PublishPayload = payload("publishRecords");
const DeleteInput = inputOf("deleteRecords", { ids, ...withdrawal("") });
const DeletePayload = payload("deleteRecords");
const TransferInput = inputOf("transferRecords", {
  ids,
  owner: required<string>(ID, "Identifier of the new owner."),
});
const TransferPayload = payload("transferRecords");
const RestoreInput = inputOf("restoreRevision", {
  id: idOf(),
  revision: required<number>(Int, "The revision to restore."),
  expectedRevision,
});
const RestorePayload = statedPayload("restoreRevision", "record", RecordNode);

/** The records of a list after a change, each with what became of it. */
async function outcomes(
  done: BulkResult[],
  { deps }: Context,
): Promise<{ results: RecordOutcome[] }> {
  const results: RecordOutcome[] = [];
  for (const { id, done: changed, code, message } of done)
    results.push({
      id,
      done: changed,
      record: changed ? nodeOf(await stateAfter(deps, askedArk(id))) : null,
      error: code === null || message === null ? null : { code, message },
    });
  return { results };
}

const records = new RecordResolver();
const publications = new PublicationResolver();

/**
 * The same for many records, by the operations of one. REST calls the methods that take a
 * `SignedIn`.
 */
@Resolver()
export class BulkResolver {
  /**
   * @param request as for one record, without its `@id`
   * @param at the argument that the errors of records name; absent: as REST names it
   */
  publish(
    ids: readonly string[],
    request: JsonObject,
    context: SignedIn,
    at?: string,
  ): Promise<BulkResult[]> {
    return each(ids, context, at, (id) =>
      publications.publish({ ...request, "@id": id }, undefined, context),
    );
  }
  remove(
    ids: readonly string[],
    withdrawal: GivenWithdrawal,
    context: SignedIn,
    at?: string,
  ): Promise<BulkResult[]> {
    const options = { ...withdrawal, at: ["body"] };
    return each(ids, context, at, (id) => records.remove(askedArk(id), options, context));
  }
  transfer(
    ids: readonly string[],
    owner: string,
    context: SignedIn,
    at?: string,
  ): Promise<BulkResult[]> {
    const patch = { fields: { owner }, lists: {}, more: {} };
    return each(ids, context, at, (id) => records.update(askedArk(id), patch, {}, context));
  }
  /** @throws as `restoreRevision` */
  async restore(
    ark: Ark,
    revision: number,
    expectedRevision: number | undefined,
    context: SignedIn,
  ): Promise<RecordView> {
    await countWrite(context);
    return restoreRevision(context.deps, ark, revision, context.caller, expectedRevision);
  }

  @Mutation(() => PublishPayload, {
    description:
      "Sets the publication status of many records, as publishRecord does for one. One that is " +
      "refused leaves the others.",
  })
  async publishRecords(
    @Arg("input", () => PublishInput) { ids, ...request }: InstanceType<typeof PublishInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const done = await this.publish(ids, statusOf(request), signedIn(context), "input");
    return outcomes(done, context);
  }

  @Mutation(() => DeletePayload, { description: "Deletes many records, as deleteRecord does one." })
  async deleteRecords(
    @Arg("input", () => DeleteInput) { ids, ...why }: InstanceType<typeof DeleteInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    return outcomes(await this.remove(ids, why, signedIn(context), "input"), context);
  }

  @Mutation(() => TransferPayload, {
    description:
      "Hands many records over to another owner: a user, group, organization or project that you " +
      "may act for.",
  })
  async transferRecords(
    @Arg("input", () => TransferInput) { ids, owner }: InstanceType<typeof TransferInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    return outcomes(await this.transfer(ids, owner, signedIn(context), "input"), context);
  }

  @Mutation(() => RestorePayload, {
    description: "Makes an earlier revision the next one; the history stays.",
  })
  async restoreRevision(
    @Arg("input", () => RestoreInput) input: InstanceType<typeof RestoreInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const expected = input.expectedRevision ?? undefined;
    const ark = askedArk(input.id);
    const { record } = await this.restore(ark, input.revision, expected, signedIn(context));
    return writtenAs("record", record, context);
  }
}

const each = (
  ids: readonly string[],
  { deps }: Context,
  at: string | undefined,
  work: (id: string) => Promise<unknown>,
): Promise<BulkResult[]> =>
  forEachRecord(deps, ids, at === undefined ? work : (id) => placed([at], async () => work(id)));
