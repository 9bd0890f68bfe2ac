import { Arg, Ctx, Field, ID, Int, Mutation, ObjectType, Resolver } from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import type { JsonObject } from "../../model/field.js";
import { askedArk, type BulkResult, forEachRecord } from "../../services/records/find.js";
import type { GivenWithdrawal } from "../../services/records/withdrawal.js";
import { restoreRevision } from "../../services/records/write.js";
import type { RecordView } from "../../services/records/view.js";
import { type Context, countWrite, type SignedIn, signedIn } from "./context.js";
import { PublicationResolver, RecordResolver } from "./record-resolver.js";
import { nodeOf, PublicationStatusEnum, RecordNode } from "./types/records.js";

@ObjectType("BulkResult", {
  description: "What became of one record of a list.",
  simpleResolvers: true,
})
class BulkResultType implements BulkResult {
  @Field(() => ID, { description: "The identifier as it was sent." }) id!: string;
  @Field({ description: "False where the record was left unchanged." }) done!: boolean;
  @Field(() => String, { nullable: true, description: "Code of the error." })
  code!: string | null;
  @Field(() => String, { nullable: true, description: "What is wrong and what to do." })
  message!: string | null;
}

const IDS = "Identifiers, in any accepted spelling; at most MAX_BULK_RECORDS.";

const records = new RecordResolver();
const publications = new PublicationResolver();

/**
 * The same for many records, by the operations of one. REST calls the methods that take a
 * `SignedIn`.
 */
@Resolver()
export class BulkResolver {
  /** @param request as for one record, without its `@id` */
  publish(ids: readonly string[], request: JsonObject, context: SignedIn): Promise<BulkResult[]> {
    return forEachRecord(context.deps, ids, (id) =>
      publications.publish({ ...request, "@id": id }, undefined, context),
    );
  }
  remove(
    ids: readonly string[],
    withdrawal: GivenWithdrawal,
    context: SignedIn,
  ): Promise<BulkResult[]> {
    const options = { ...withdrawal, at: ["body"] };
    return forEachRecord(context.deps, ids, (id) => records.remove(askedArk(id), options, context));
  }
  transfer(ids: readonly string[], owner: string, context: SignedIn): Promise<BulkResult[]> {
    const patch = { fields: { owner }, lists: {}, more: {} };
    return forEachRecord(context.deps, ids, (id) =>
      records.update(askedArk(id), patch, {}, context),
    );
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

  @Mutation(() => [BulkResultType], {
    description:
      "Sets the publication status of many records, as publish does for one. Each has its own " +
      "result; one that is refused leaves the others.",
  })
  async publishRecords(
    @Arg("ids", () => [ID], { description: IDS }) ids: string[],
    @Arg("publicationStatus", () => PublicationStatusEnum, { description: "The new status." })
    publicationStatus: PublicationStatusEnum,
    @Ctx() context: Context,
    @Arg("embargoedUntil", () => String, {
      nullable: true,
      description: "Date or date-time; with EMBARGOED only.",
    })
    embargoedUntil: string | null = null,
    @Arg("reason", () => String, {
      nullable: true,
      description: "Why they are archived, public; with ARCHIVED only.",
    })
    reason: string | null = null,
    @Arg("successor", () => ID, {
      nullable: true,
      description: "Record to use in their place; with ARCHIVED only.",
    })
    successor: string | null = null,
  ): Promise<BulkResult[]> {
    const request = { publicationStatus, embargoedUntil, reason, successor };
    return forgotten(context, await this.publish(ids, request, signedIn(context)));
  }

  @Mutation(() => [BulkResultType], {
    description: "Deletes many records, as deleteRecord does one; each has its own result.",
  })
  async deleteRecords(
    @Arg("ids", () => [ID], { description: IDS }) ids: string[],
    @Ctx() context: Context,
    @Arg("reason", () => String, { nullable: true, description: "Why they are deleted; public." })
    reason?: string | null,
    @Arg("successor", () => ID, { nullable: true, description: "Record to use in their place." })
    successor?: string | null,
  ): Promise<BulkResult[]> {
    return forgotten(context, await this.remove(ids, { reason, successor }, signedIn(context)));
  }

  @Mutation(() => [BulkResultType], {
    description:
      "Hands many records over to another owner: a user, group, organization or project that you " +
      "may act for. Each has its own result.",
  })
  async transferRecords(
    @Arg("ids", () => [ID], { description: IDS }) ids: string[],
    @Arg("owner", () => ID, { description: "Identifier of the new owner." }) owner: string,
    @Ctx() context: Context,
  ): Promise<BulkResult[]> {
    return forgotten(context, await this.transfer(ids, owner, signedIn(context)));
  }

  @Mutation(() => RecordNode, {
    description:
      "Makes an earlier revision of a record its next one. The revisions in between stay in the " +
      "history.",
  })
  async restoreRevision(
    @Arg("id", () => ID, { description: "Identifier, in any accepted spelling." }) id: string,
    @Arg("revision", () => Int, { description: "The revision to restore." }) revision: number,
    @Ctx() context: Context,
    @Arg("expectedRevision", () => Int, {
      nullable: true,
      description: "Refused when the record has changed since.",
    })
    expectedRevision?: number | null,
  ): Promise<RecordNode> {
    const expected = expectedRevision ?? undefined;
    const { record } = await this.restore(askedArk(id), revision, expected, signedIn(context));
    context.loaders.forget();
    return nodeOf(record);
  }
}

function forgotten<T>(context: Context, results: T): T {
  context.loaders.forget();
  return results;
}
