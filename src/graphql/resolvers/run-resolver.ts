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
import { submissionPayload, submitted } from "./crate-resolver.js";
import { idOf, inputOf, optional, payloadOf, required } from "./types/mutations.js";
import { describedEnum, RecordNode } from "./types/records.js";

const ExecuteInput = inputOf("executeComputation", { id: idOf("The computation.") });
const ExecutePayload = submissionPayload("executeComputation");

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

  @Mutation(() => ExecutePayload, {
    description:
      "Runs the computation's container in the background; the files that it writes to " +
      "/outputs become a dataset and its files. While a run of yours is queued or " +
      "running, that run is returned.",
  })
  async executeComputation(
    @Arg("input", () => ExecuteInput) { id }: InstanceType<typeof ExecuteInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    return submitted(this.execute(askedArk(id), signedIn(context)));
  }
}

const LineageChangeEnum = describedEnum<LineageRecord["change"]>(
  "LineageChange",
  "What events of OpenLineage did to a record.",
  {
    CREATED: ["created", "The record is new."],
    CHANGED: ["changed", "The record has a new revision."],
    UNCHANGED: ["unchanged", "The record says the same already."],
    LINKED: ["linked", "It was deleted, or the caller may not change it: it is named only."],
  },
);

@ObjectType({
  description: "A record that events of OpenLineage are about.",
  simpleResolvers: true,
})
class LineageRecordChange {
  @Field(() => RecordNode, { description: "The record." }) record!: RecordNode;
  @Field(() => LineageChangeEnum, { description: "What the events did to it." })
  change!: LineageRecord["change"];
}
const RecordLineageInput = inputOf("recordLineage", {
  events: required<JsonValue>(GraphQLJSON, "One event of OpenLineage 2.0, or a list of them."),
  owner: optional<string>(ID, "Who owns the records: you by default, or a group of yours."),
});
const RecordLineagePayload = payloadOf("recordLineage", {
  events: required<number>(Int, "Events that were read."),
  changes: required<LineageRecordChange[]>([LineageRecordChange], "What they did, by record."),
});

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

  @Mutation(() => RecordLineagePayload, {
    description:
      "Records the runs, datasets and software of OpenLineage events, all in one commit. The " +
      "same events again change nothing.",
  })
  async recordLineage(
    @Arg("input", () => RecordLineageInput)
    { events, owner }: InstanceType<typeof RecordLineageInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const options = {
      at: ["input", "events"],
      ...(owner == null ? {} : { owner: askedArk(owner) }),
    };
    const receipt = await this.record(events, options, signedIn(context));
    context.loaders.forget();
    const changes = receipt.records.map(async ({ ark, change }) => ({
      record: await context.loaders.node(ark),
      change,
    }));
    return { events: receipt.events, changes: await Promise.all(changes) };
  }
}
