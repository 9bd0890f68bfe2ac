/**
 * Runs of computations: those that the registry executes, and those that events of OpenLineage
 * report.
 */
import { GraphQLJSON } from "graphql-scalars";
import { Arg, Ctx, Field, ID, Int, Mutation, ObjectType, Resolver } from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import type { JsonValue } from "../../model/field.js";
import { executeComputation } from "../../services/computations/run.js";
import { type SubmissionView, viewNow } from "../../services/crates/submissions.js";
import {
  type LineageReceipt,
  type LineageRecord,
  recordLineage,
} from "../../services/lineage/record-lineage.js";
import { askedArk } from "../../services/records/find.js";
import { type Context, countWrite, requestOf, type SignedIn, signedIn } from "./context.js";
import { SubmissionType } from "./crate-resolver.js";
import { describedEnum, RecordKindEnum } from "./types/records.js";

/** Runs of computations. */
@Resolver()
export class ComputationResolver {
  /** @throws as `executeComputation` */
  async execute(ark: Ark, context: SignedIn): Promise<SubmissionView> {
    await countWrite(context);
    return viewNow(
      context.deps,
      await executeComputation(context.deps, ark, context.caller, requestOf(context)),
    );
  }

  @Mutation(() => SubmissionType, {
    description:
      "Runs the computation's container in the background; the files that it writes to " +
      "/outputs become a dataset and its files. While a run of yours is queued or " +
      "running, that run is returned.",
  })
  executeComputation(
    @Arg("id", () => ID, { description: "The computation." }) id: string,
    @Ctx() context: Context,
  ): Promise<SubmissionView> {
    const signed = signedIn(context);
    return this.execute(askedArk(id), signed);
  }
}

const LineageChangeEnum = describedEnum<LineageRecord["change"]>(
  "LineageChange",
  "What events of OpenLineage did to a record.",
  {
    CREATED: ["created", "The record is new."],
    CHANGED: ["changed", "The record has a new revision."],
    UNCHANGED: ["unchanged", "The record says the same already."],
    LINKED: [
      "linked",
      "The caller may not change the record, or it was deleted: it is named only.",
    ],
  },
);

@ObjectType("LineageRecord", {
  description: "A record that events of OpenLineage are about.",
  simpleResolvers: true,
})
class LineageRecordType {
  @Field(() => ID, { description: "Identifier of the record." }) id!: string;
  @Field(() => RecordKindEnum, { description: "Kind of the record." }) kind!: string;
  @Field(() => LineageChangeEnum, { description: "What the events did to it." })
  change!: LineageRecord["change"];
}
@ObjectType("LineageReceipt", {
  description: "What events of OpenLineage did.",
  simpleResolvers: true,
})
class LineageReceiptType {
  @Field(() => Int, { description: "Events that were read." }) events!: number;
  @Field(() => [LineageRecordType], { description: "The records that they are about." })
  records!: LineageRecordType[];
}

/** Events of OpenLineage. */
@Resolver()
export class LineageResolver {
  /** @throws as {@link recordLineage} */
  async record(
    events: JsonValue | undefined,
    options: { owner?: Ark | undefined; at?: readonly string[] },
    context: SignedIn,
  ): Promise<LineageReceipt> {
    await countWrite(context);
    return recordLineage(context.deps, context.caller, events, options);
  }

  @Mutation(() => LineageReceiptType, {
    description:
      "Records the runs, datasets and software of OpenLineage events, all in one commit. The " +
      "same events again change nothing.",
  })
  async recordLineage(
    @Arg("events", () => GraphQLJSON, {
      description: "One event of OpenLineage 2.0, or a list of them.",
    })
    events: JsonValue,
    @Ctx() context: Context,
    @Arg("owner", () => ID, {
      nullable: true,
      description: "Who owns the records: you by default, or a group that you are a member of.",
    })
    owner?: string | null,
  ): Promise<LineageReceiptType> {
    const { records, ...rest } = await this.record(
      events,
      { at: ["events"], ...(owner == null ? {} : { owner: askedArk(owner) }) },
      signedIn(context),
    );
    return { ...rest, records: records.map(({ ark, ...record }) => ({ id: ark, ...record })) };
  }
}
