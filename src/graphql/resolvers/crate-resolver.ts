/** Crates: uploads and their submissions, updates, deletion, and their contents as archives. */
import { Readable } from "node:stream";
import { GraphQLJSON } from "graphql-scalars";
import GraphQLUpload from "graphql-upload/GraphQLUpload.mjs";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
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
  Subscription,
} from "type-graphql";
import type { JsonValue } from "../../model/field.js";
import { KINDS } from "../../model/kinds.js";
import {
  type CratePlan,
  type PlanFinding,
  type PlannedDifference,
  planUpload,
} from "../../services/crates/plan.js";
import {
  cancelSubmission,
  countSubmissions,
  followSubmission,
  isRetryable,
  listSubmissions,
  readSubmission,
  retrySubmission,
  submitterOf,
  type SubmissionView,
  submitCrate,
  type UploadOptions,
  viewNow,
} from "../../services/crates/submissions.js";
import type { IncomingFile } from "../../services/records/stored-content.js";
import { askedArk } from "../../services/records/find.js";
import { type Context, countWrite, requestOf, type SignedIn, signedIn } from "./context.js";
import { withUpload } from "./types/inputs.js";
import {
  idOf,
  inputOf,
  oneOf,
  optional,
  payloadOf,
  required,
  withDefault,
  visibility,
} from "./types/mutations.js";
import { checkedPage, connectionTo, PageArguments, pageOf } from "./types/pages.js";
import {
  DifferenceKind,
  FindingSeverityEnum,
  describedEnum,
  Node,
  NODE_TYPES,
  RecordKindEnum,
  RecordNode,
  SubmissionStatusEnum,
} from "./types/records.js";
import { DateTime } from "./types/scalars.js";

@ObjectType("Finding", {
  description: "One thing found in an archive: where, what, and the fix.",
  simpleResolvers: true,
})
class FindingType {
  @Field(() => String, { nullable: true, description: "Member of the archive." }) file!:
    string | null;
  @Field(() => String, { nullable: true, description: "JSON pointer inside the member." })
  pointer!: string | null;
  @Field(() => Int, { nullable: true, description: "Line of a JSON error, from 1." }) line?:
    number | null;
  @Field(() => Int, { nullable: true, description: "Column of a JSON error, from 1." }) column?:
    number | null;
  @Field({ description: "What is wrong, and the fix." }) message!: string;
  @Field({ description: "Stable; docs/crates.md lists all." }) code!: string;
}
@ObjectType("Progress", {
  description: "How far the current stage of a submission is.",
  simpleResolvers: true,
})
class ProgressType {
  @Field({ description: "Units that are done." }) done!: number;
  @Field(() => Number, { nullable: true, description: "Units in all, where known." }) total!:
    number | null;
  @Field({ description: "What is counted, e.g. files." }) unit!: string;
}
@ObjectType("Submission", {
  implements: Node,
  description:
    "A background job: a crate being ingested, an evidence graph being built, a score " +
    "being computed, a computation being run.",
  simpleResolvers: true,
})
export class SubmissionType {
  @Field(() => SubmissionStatusEnum, { description: "State of the submission." })
  status!: SubmissionView["status"];
  @Field(() => String, { nullable: true, description: "What is being done." }) stage!:
    string | null;
  @Field(() => ProgressType, { nullable: true, description: "How far it is, while it runs." })
  progress!: ProgressType | null;
  @Field(() => DateTime, {
    nullable: true,
    description: "When it began; before that, when it was created.",
  })
  timeStarted!: string | null;
  @Field(() => DateTime, { nullable: true, description: "When it ended." })
  timeFinished!: string | null;
  @Field({ description: "True exactly for FINISHED and FAILED." }) completed!: boolean;
  @Field({ description: "True for FINISHED only." }) success!: boolean;
  @Field(() => [FindingType], { nullable: true, description: "Why it failed." }) error!:
    FindingType[] | null;
  @Field(() => [FindingType], { description: "Advice." }) warnings!: FindingType[];
  @Field(() => Int, { description: "How many identifiers it made." }) identifiersMinted!: number;
  @Field(() => String, {
    nullable: true,
    description: "For a submission of the registry that computes vectors for search.",
  })
  embeddingsModel?: string | null;
  @Field(() => String, { nullable: true, description: "SHA-256 of the uploaded file." })
  sha256!: string | null;
}

@ObjectType({
  description: "A page of submissions; go on with after: pageInfo.endCursor.",
  simpleResolvers: true,
})
class SubmissionConnection extends connectionTo("Submission", SubmissionType) {}

/** Payload of a mutation that begins a job in the background, or changes one. */
export const submissionPayload = (mutation: string): new () => object =>
  payloadOf(mutation, {
    submission: required<SubmissionView>(SubmissionType, "The job, as it is now."),
  });
/** Its value. */
export const submitted = async (
  submission: Promise<SubmissionView>,
): Promise<{ submission: SubmissionView }> => ({ submission: await submission });

export const METADATA = "ro-crate-metadata.json";

const CrateSource = oneOf("CrateSource", "Where a crate comes from.", {
  archive: optional<Promise<FileUpload>>(
    GraphQLUpload,
    "A file: the archive; for a dry run a metadata document too (GraphQL multipart request; send " +
      "the header apollo-require-preflight).",
  ),
  metadata: optional<JsonValue>(
    GraphQLJSON,
    `The document ${METADATA} alone: a new crate has no files, an update preserves those it has.`,
  ),
});
const UPLOAD_MEMBERS = {
  source: required<InstanceType<typeof CrateSource>>(CrateSource, "An archive, or metadata."),
  update: withDefault<boolean>(
    Boolean,
    "Updates a crate of yours, which its root's @id or crate names.",
    false,
  ),
  crate: optional<string>(ID, "Your crate to update, where the root's @id does not name it."),
  emptyLinked: withDefault<boolean>(
    Boolean,
    "Lets an update remove every statement of a crate within the crate that is registered by " +
      "itself. Without it such an upload fails with CRATE_EMPTIED.",
    false,
  ),
};
const UploadCrateInput = inputOf("uploadCrate", { ...UPLOAD_MEMBERS, visibility });
const UploadCratePayload = submissionPayload("uploadCrate");
const CancelInput = inputOf("cancelSubmission", { id: idOf("The submission.") });
const CancelPayload = submissionPayload("cancelSubmission");
const RetryInput = inputOf("retrySubmission", { id: idOf("The failed submission.") });
const RetryPayload = submissionPayload("retrySubmission");

type UploadInput = InstanceType<typeof UploadCrateInput>;

type PlanInput = Omit<UploadInput, "visibility">;

const uploadOptions = ({ update, crate, emptyLinked }: PlanInput): UploadOptions => ({
  update,
  emptyLinked,
  crate: crate == null ? undefined : askedArk(crate),
});

/** Passes the archive or the metadata of an upload to `use`. */
async function withSource<T>(
  { archive, metadata }: InstanceType<typeof CrateSource>,
  use: (file: IncomingFile, form?: "metadata") => Promise<T>,
): Promise<T> {
  if (archive) return withUpload(archive, use);
  const stream = Readable.from([Buffer.from(JSON.stringify(metadata))]);
  return use({ stream, name: METADATA, mediaType: "application/ld+json" }, "metadata");
}

/** Uploads, their progress, and stored content. */
@Resolver()
export class CrateResolver {
  /** Stores the archive and queues its intake. @throws ServiceError as {@link submitCrate} */
  async submit(
    file: { stream: Readable; name: string; format?: "metadata" },
    options: UploadOptions,
    context: SignedIn,
  ): Promise<SubmissionView> {
    await countWrite(context);
    const submission = await submitCrate(context.deps, context.caller, file, {
      ...options,
      ...requestOf(context),
    });
    return viewNow(context.deps, submission);
  }

  @Query(() => SubmissionType, { description: "A submission of yours, or any for administrators." })
  submission(
    @Arg("id", () => ID, { description: "The submission." }) id: string,
    @Ctx() context: Context,
  ): Promise<SubmissionView> {
    return readSubmission(context.deps, id, signedIn(context).caller);
  }

  @Query(() => SubmissionConnection, {
    description: "Your submissions, newest first; everybody's for administrators.",
  })
  async submissions(
    @Args(() => PageArguments) page: PageArguments,
    @Arg("submittedBy", () => ID, {
      nullable: true,
      description: "Those of this user alone; of another one for administrators.",
    })
    by: string | null,
    @Ctx() context: Context,
  ): Promise<SubmissionConnection> {
    const checked = checkedPage(page);
    const { deps, caller } = signedIn(context);
    const of = by ?? undefined;
    const { items, positions, next } = await listSubmissions(deps, checked, caller, of);
    return {
      ...pageOf(items, positions, next !== undefined, checked.after),
      totalCount: () => countSubmissions(deps, caller, of),
    };
  }

  /** @throws as {@link retrySubmission} */
  async retry(id: string, context: SignedIn): Promise<SubmissionView> {
    await countWrite(context);
    const { deps, caller } = context;
    return viewNow(deps, await retrySubmission(deps, id, caller, requestOf(context)));
  }

  @Mutation(() => CancelPayload, {
    description: "Ends a submission that is queued or running; nothing of it is stored.",
  })
  async cancelSubmission(
    @Arg("input", () => CancelInput) { id }: InstanceType<typeof CancelInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const { deps, caller } = signedIn(context);
    return submitted(cancelSubmission(deps, id, caller));
  }

  @Mutation(() => RetryPayload, {
    description:
      "Submits the archive of a failed upload again, as a new submission of the same user: yours, " +
      "or any for administrators. Submission.retryable says whether its archive is still stored.",
  })
  async retrySubmission(
    @Arg("input", () => RetryInput) { id }: InstanceType<typeof RetryInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    return submitted(this.retry(id, signedIn(context)));
  }

  @Subscription(() => SubmissionType, {
    description: "A submission of yours now and after each change, until it has ended.",
    subscribe: ({ args, context }: { args: { id?: string }; context: Context }) =>
      followSubmission(context.deps, args.id!, signedIn(context).caller),
  })
  submissionProgress(
    @Root() submission: SubmissionView,
    @Arg("id", () => ID, { description: "The submission." }) _id: string,
  ): SubmissionView {
    return submission;
  }

  @Mutation(() => UploadCratePayload, {
    description: "Uploads an RO-Crate; the submission says when it is stored.",
  })
  uploadCrate(
    @Arg("input", () => UploadCrateInput) input: UploadInput,
    @Ctx() context: Context,
  ): Promise<object> {
    return submitted(
      withSource(input.source, async (file, format) => {
        const source = format === undefined ? file : { ...file, format };
        const options = { ...uploadOptions(input), visibility: input.visibility ?? undefined };
        return this.submit(source, options, signedIn(context));
      }),
    );
  }
}

/** Members of a submission that only one task has, and its kind of record. */
const SubmissionTaskEnum = describedEnum<keyof SubmissionView>(
  "SubmissionTask",
  "What a submission does in the background.",
  {
    CRATE: ["rocrateIdentifier", "Ingests an uploaded crate: record is the crate."],
    EVIDENCE_GRAPH: ["evidenceGraphIdentifier", "Builds an evidence graph: record is the graph."],
    SCORE: ["scoredCrateIdentifier", "Computes the AI-readiness score of a crate, its record."],
    COMPUTATION: ["computationIdentifier", "Runs a computation, which names its results."],
    DOI: ["doiRecordIdentifier", "Registers the DOI of a record."],
    EMBEDDINGS: ["embeddingsModel", "Computes vectors for search, for the registry itself."],
  },
);
const TASKS = [
  "evidenceGraphIdentifier",
  "scoredCrateIdentifier",
  "computationIdentifier",
  "doiRecordIdentifier",
  "embeddingsModel",
] as const satisfies (keyof SubmissionView)[];

/** What is known of a submission beside its state. */
@Resolver(() => SubmissionType)
export class SubmissionResolver {
  @FieldResolver(() => Boolean, {
    description: "True of a failed upload that retrySubmission can submit again.",
  })
  retryable(
    @Root() submission: SubmissionView,
    @Ctx() { deps, budget }: Context,
  ): Promise<boolean> {
    return budget.queued(() => isRetryable(deps, submission));
  }

  @FieldResolver(() => ID, { description: "A UUID." })
  id(@Root() { submissionUUID }: SubmissionView): string {
    return submissionUUID;
  }

  @FieldResolver(() => RecordNode, {
    nullable: true,
    description: "The record that it made or is about, where there is one by now.",
  })
  record(@Root() submission: SubmissionView, @Ctx() context: Context): Promise<RecordNode> | null {
    const id =
      submission.rocrateIdentifier ??
      submission.evidenceGraphIdentifier ??
      submission.scoredCrateIdentifier ??
      submission.computationIdentifier ??
      submission.doiRecordIdentifier;
    return id ? context.loaders.node(id) : null;
  }

  @FieldResolver(() => NODE_TYPES.user, { nullable: true, description: "Who submitted it." })
  async submittedBy(
    @Root() submission: SubmissionView,
    @Ctx() { deps, loaders }: Context,
  ): Promise<RecordNode | null> {
    const user = await submitterOf(deps, submission);
    return user === undefined ? null : loaders.node(user);
  }

  @FieldResolver(() => SubmissionTaskEnum as object, { description: "What is done." })
  task(@Root() submission: SubmissionView): keyof SubmissionView {
    return TASKS.find((member) => member in submission) ?? "rocrateIdentifier";
  }
}

@ObjectType("PlanFinding", {
  description: "One thing found in a crate: where, how much it matters, and the fix.",
  simpleResolvers: true,
})
class PlanFindingType {
  @Field(() => String, { nullable: true, description: "Member of the archive." }) file!:
    string | null;
  @Field(() => String, { nullable: true, description: "JSON pointer inside the member." })
  pointer!: string | null;
  @Field(() => Int, { nullable: true, description: "Line of a JSON error, from 1." }) line!:
    number | null;
  @Field(() => Int, { nullable: true, description: "Column of a JSON error, from 1." }) column!:
    number | null;
  @Field(() => FindingSeverityEnum, { description: "Whether it refuses the crate." })
  severity!: PlanFinding["severity"];
  @Field({ description: "Stable; docs/crates.md lists all." }) code!: string;
  @Field({ description: "What was found." }) message!: string;
  @Field({ description: "What to change." }) fix!: string;
}
@ObjectType("PlannedIdentifier", {
  description: "What an upload would do about one entity's identifier.",
  simpleResolvers: true,
})
class PlannedIdentifierType {
  @Field({ description: "@id as the crate writes it." }) entity!: string;
  @Field(() => ID, { description: "Identifier of the record." }) identifier!: string;
  @Field(() => RecordKindEnum, { description: "Kind of the record." }) kind!: string;
}
@ObjectType("IdentifierConflict", {
  description: "An identifier that is taken.",
  simpleResolvers: true,
})
class IdentifierConflictType extends PlanFindingType {
  @Field({ description: "@id as the crate writes it." }) entity!: string;
  @Field(() => ID, { description: "Identifier of the record." }) identifier!: string;
  @Field(() => RecordKindEnum, { description: "Kind of the record." }) kind!: string;
}
@ObjectType("PlannedRecords", {
  description: "How many records of a kind an upload would create.",
  simpleResolvers: true,
})
class PlannedRecordsType {
  @Field(() => RecordKindEnum, { description: "Kind of the record." }) kind!: string;
  @Field(() => Int, { description: "How many." }) count!: number;
}
@ObjectType("PlanCounts", {
  description: "Of identifiers; the lists may be cut.",
  simpleResolvers: true,
})
class PlanCountsType {
  @Field(() => Int, { description: "Identifiers that would be made." }) minted!: number;
  @Field(() => Int, { description: "ARKs that would be used unchanged." }) kept!: number;
  @Field(() => Int, { description: "Records of yours already." }) known!: number;
  @Field(() => Int, { description: "Identifiers that are taken." }) conflicting!: number;
}
@ObjectType("PlannedDifference", {
  description: "A property of a record that an update would change.",
  simpleResolvers: true,
})
class PlannedDifferenceType implements PlannedDifference {
  @Field({ description: "JSON pointer (RFC 6901) of the property." }) pointer!: string;
  @Field(() => DifferenceKind, { description: "What would happen to it." })
  kind!: PlannedDifference["kind"];
  @Field(() => GraphQLJSON, {
    nullable: true,
    description: "As it is stored; null where it would be added.",
  })
  before!: JsonValue;
  @Field(() => GraphQLJSON, {
    nullable: true,
    description: "As the upload states it; null where it would be removed.",
  })
  after!: JsonValue;
  @Field({
    description:
      "A value is long: of two lists only the entries that differ are here, and other values are " +
      "text that is cut.",
  })
  shortened!: boolean;
}
@ObjectType("PlannedChange", {
  description: "A record that an update would give another revision.",
  simpleResolvers: true,
})
class PlannedChangeType extends PlannedIdentifierType {
  @Field(() => String, {
    nullable: true,
    description: "Name of the record, as the upload states it.",
  })
  name!: string | null;
  @Field(() => [PlannedDifferenceType], {
    nullable: true,
    description: "What changes; null behind the first PLAN_DIFFERENCES records.",
  })
  differences!: PlannedDifferenceType[] | null;
  @Field(() => Int, { nullable: true, description: "Further properties that would change." })
  furtherDifferences!: number | null;
}
@ObjectType("RemovedRecord", {
  description: "A record of the stored crate that is not described any more.",
  simpleResolvers: true,
})
class RemovedRecordType {
  @Field(() => ID, { description: "Identifier of the record." }) identifier!: string;
  @Field(() => RecordKindEnum, { description: "Kind of the record." }) kind!: string;
}
@ObjectType("ChangeCounts", {
  description: "Of records; the lists may be cut.",
  simpleResolvers: true,
})
class ChangeCountsType {
  @Field(() => Int, { description: "New records." }) created!: number;
  @Field(() => Int, { description: "Records that get another revision." }) changed!: number;
  @Field(() => Int, { description: "Records that stay." }) unchanged!: number;
  @Field(() => Int, { description: "Records that are deleted." }) removed!: number;
  @Field(() => Int, { description: "Deleted records that return." }) revived!: number;
}
@ObjectType("CrateChanges", {
  description: "What an update of a crate would do.",
  simpleResolvers: true,
})
class CrateChangesType {
  @Field(() => ChangeCountsType, { description: "Counts of all records." })
  counts!: ChangeCountsType;
  @Field(() => [PlannedIdentifierType], { description: "New records." })
  created!: PlannedIdentifierType[];
  @Field(() => [PlannedChangeType], { description: "Records that get another revision." })
  changed!: PlannedChangeType[];
  @Field(() => [PlannedIdentifierType], { description: "Records that stay." })
  unchanged!: PlannedIdentifierType[];
  @Field(() => [RemovedRecordType], {
    description: "Records that are not described any more: they are deleted.",
  })
  removed!: RemovedRecordType[];
  @Field(() => [PlannedIdentifierType], {
    description: "Deleted records that are described again.",
  })
  revived!: PlannedIdentifierType[];
}
@ObjectType("CratePlan", {
  description: "What an upload of a crate would do.",
  simpleResolvers: true,
})
class CratePlanType {
  @Field({ description: "The upload would be accepted." }) conforms!: boolean;
  @Field(() => ID, {
    nullable: true,
    description: "Identifier of the crate; one that is minted is another at the upload.",
  })
  rocrateIdentifier!: string | null;
  @Field(() => [PlannedRecordsType], {
    description: "Records that an upload would create, by kind.",
  })
  records!: PlannedRecordsType[];
  @Field(() => PlanCountsType, { description: "Counts of all identifiers." })
  counts!: PlanCountsType;
  @Field(() => [PlannedIdentifierType], { description: "Identifiers that would be made." })
  minted!: PlannedIdentifierType[];
  @Field(() => [PlannedIdentifierType], {
    description: "ARKs of the crate that would be used unchanged.",
  })
  kept!: PlannedIdentifierType[];
  @Field(() => [PlannedIdentifierType], {
    description: "Records of yours already, which the crate shares or updates.",
  })
  known!: PlannedIdentifierType[];
  @Field(() => [IdentifierConflictType], { description: "Identifiers that are taken." })
  conflicting!: IdentifierConflictType[];
  @Field(() => [PlanFindingType], {
    description: "Advice: the upload would be accepted nevertheless.",
  })
  warned!: PlanFindingType[];
  @Field(() => [PlanFindingType], {
    description: "Reasons to refuse the upload, besides conflicts.",
  })
  refused!: PlanFindingType[];
  @Field(() => CrateChangesType, {
    nullable: true,
    description: "What an update would do; null where none was asked for or possible.",
  })
  changes!: CrateChangesType | null;
}

/** REST names kinds in a plan by their types. */
const KIND_OF_TYPE = new Map(Object.values(KINDS).map(({ typeName, name }) => [typeName, name]));
const withKind = <T extends { kind: string }>(items: T[]): T[] =>
  items.map((item) => ({ ...item, kind: KIND_OF_TYPE.get(item.kind) ?? item.kind }));

const typedPlan = ({ changes, ...plan }: CratePlan): CratePlanType => ({
  ...plan,
  records: withKind(plan.records),
  minted: withKind(plan.minted),
  kept: withKind(plan.kept),
  known: withKind(plan.known),
  conflicting: withKind(plan.conflicting),
  changes: changes && {
    counts: changes.counts,
    created: withKind(changes.created),
    changed: withKind(changes.changed),
    unchanged: withKind(changes.unchanged),
    removed: withKind(changes.removed),
    revived: withKind(changes.revived),
  },
});

/** Does nothing: over GraphQL a dry run continues when its client has left. */
const UNTIL_DONE = new AbortController().signal;

const PlanCrateInput = inputOf("planCrate", UPLOAD_MEMBERS);
const PlanCratePayload = payloadOf("planCrate", {
  plan: required<CratePlanType>(CratePlanType, "What the upload would do."),
});

/** Crates from their metadata alone, and dry runs of uploads. */
@Resolver()
export class CratePlanResolver {
  @Mutation(() => PlanCratePayload, {
    description: "Does a dry run of an upload: nothing is stored.",
  })
  async planCrate(
    @Arg("input", () => PlanCrateInput) input: UploadInput,
    @Ctx() context: Context,
  ): Promise<object> {
    const { deps, caller } = signedIn(context);
    const plan = await withSource(input.source, (file) =>
      planUpload(deps, caller, file, uploadOptions(input), UNTIL_DONE),
    );
    return { plan: typedPlan(plan) };
  }
}
