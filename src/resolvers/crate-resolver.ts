import type { FileUpload } from "graphql-upload/processRequest.mjs";
import GraphQLUpload from "graphql-upload/GraphQLUpload.mjs";
import type { Readable } from "node:stream";
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver, Root, Subscription } from "type-graphql";
import type { ObjectReference } from "../stores/records/objects-port.js";
import type { StoredRecord } from "../stores/records/port.js";
import type { KindName } from "../model/kind.js";
import type { CrateArchive } from "../use-cases/crates/export/crate-archive.js";
import { readCrateArchive, readCrateMetadata, type CrateMetadata } from "../use-cases/crates/export/read-crate.js";
import { crateSummary, type CrateSummary } from "../use-cases/crates/export/summary.js";
import { followSubmission } from "../use-cases/crates/follow.js";
import { awaitSubmission, cancelSubmission, listSubmissions, readSubmission, submitCrate, viewNow, type SubmissionView } from "../use-cases/crates/submissions.js";
import type { UploadOptions } from "../use-cases/crates/named-crate.js";
import { contentInstead, contentOf, type Content } from "../use-cases/files/content.js";
import { requestOf, type Context } from "./context.js";
import { PageArguments, checkedPage, pageOf } from "./types/connection.js";
import { SubmissionConnection, SubmissionType } from "./types/submission.js";
import { withUpload } from "./upload.js";
import { countWrite } from "./write-rate.js";

/** Says in the schema what the argument `crate` of an upload is. */
export const NAMED_CRATE = "The crate of yours that is brought up to date, where the root's @id does not name it. Means an update.";

/** Uploads, their progress, and stored content. */
@Resolver()
export class CrateResolver {
  /** Stores the archive and queues its intake. @throws ServiceError as {@link submitCrate} */
  async submit(file: { stream: Readable; name: string }, options: UploadOptions, context: Context): Promise<SubmissionView> {
    await countWrite(context);
    const submission = await submitCrate(context.deps, context.caller, file, { ...options, ...requestOf(context) });
    return viewNow(context.deps, submission);
  }
  /** Waits for the end of a submission, at most UPLOAD_WAIT. */
  async settled(id: string, context: Context): Promise<SubmissionView> {
    const { deps } = context;
    return viewNow(deps, await awaitSubmission(deps, id, deps.config.UPLOAD_WAIT));
  }
  /** RO-Crate metadata of a crate as it is now. @throws as {@link readCrateMetadata} */
  metadata(id: string, context: Context): Promise<CrateMetadata> {
    return readCrateMetadata(context.deps, id);
  }
  /** The crate as an archive, made anew. @throws as {@link readCrateArchive} */
  archive(id: string, context: Context): Promise<CrateArchive> {
    return readCrateArchive(context.deps, id, context.caller);
  }
  /** @throws as {@link crateSummary} */
  summary(id: string, page: { limit: number; after?: string }, context: Context): Promise<CrateSummary> {
    return crateSummary(context.deps, id, page);
  }
  /** A page of the caller's submissions. @throws as {@link listSubmissions} */
  list(page: { limit: number; after?: string }, context: Context): ReturnType<typeof listSubmissions> {
    return listSubmissions(context.deps, page, context.caller);
  }
  /** A submission now and after each change. @throws as {@link followSubmission} */
  follow(id: string, context: Context): Promise<AsyncIterable<SubmissionView>> {
    return followSubmission(context.deps, id, context.caller);
  }
  content(id: string, options: { kind?: KindName; role?: ObjectReference["role"] }, context: Context): Promise<Content> {
    return contentOf(context.deps, id, context.caller, options);
  }
  /** @throws as {@link contentInstead} */
  contentInstead(record: StoredRecord, context: Context): Promise<Content | undefined> {
    return contentInstead(context.deps, record, context.caller);
  }

  @Query(() => SubmissionType, { description: "A submission of yours, or any for administrators." })
  submission(@Arg("id", () => ID) id: string, @Ctx() context: Context): Promise<SubmissionView> {
    return readSubmission(context.deps, id, context.caller);
  }

  @Query(() => SubmissionConnection, { description: "Your submissions, newest first; everybody's for administrators." })
  async submissions(@Args(() => PageArguments) page: PageArguments, @Ctx() context: Context): Promise<SubmissionConnection> {
    const checked = checkedPage(page);
    const { items, positions, next } = await this.list(checked, context);
    return pageOf(items, positions, next !== undefined, checked.after);
  }

  @Mutation(() => SubmissionType, { description: "Ends a submission that is queued or running; nothing of it is stored. One that runs ends a moment later." })
  cancelSubmission(@Arg("id", () => ID) id: string, @Ctx() context: Context): Promise<SubmissionView> {
    return cancelSubmission(context.deps, id, context.caller);
  }

  @Subscription(() => SubmissionType, {
    description: "A submission of yours now and after each change, until it has ended.",
    subscribe: ({ args, context }: { args: { id?: string }; context: Context }) => followSubmission(context.deps, args.id!, context.caller),
  })
  submissionProgress(@Root() submission: SubmissionView, @Arg("id", () => ID) _id: string): SubmissionView {
    return submission;
  }

  @Mutation(() => SubmissionType, { description: "Uploads an RO-Crate archive (GraphQL multipart request; send the header apollo-require-preflight)." })
  uploadCrate(
    @Arg("file", () => GraphQLUpload) upload: Promise<FileUpload>, @Ctx() context: Context,
    @Arg("update", () => Boolean, { defaultValue: false, description: "Brings a crate of yours that is here already up to date: its root's @id is the ARK of that crate, or crate names it." }) update: boolean,
    @Arg("crate", () => ID, { nullable: true, description: NAMED_CRATE }) crate?: string | null,
  ): Promise<SubmissionView> {
    return withUpload(upload, context, (file) => this.submit(file, { update, crate: crate ?? undefined }, context));
  }
}
