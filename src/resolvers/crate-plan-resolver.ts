import { Readable } from "node:stream";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import GraphQLUpload from "graphql-upload/GraphQLUpload.mjs";
import { Arg, Ctx, ID, Mutation, Resolver } from "type-graphql";
import { invalid } from "../errors.js";
import type { UploadOptions } from "../use-cases/crates/named-crate.js";
import type { CratePlan } from "../use-cases/crates/plan.js";
import { planUpload } from "../use-cases/crates/plan-upload.js";
import { submitCrate, viewNow, type SubmissionView } from "../use-cases/crates/submissions.js";
import type { IncomingFile } from "../use-cases/files/staged-file.js";
import { requestOf, type Context } from "./context.js";
import { NAMED_CRATE } from "./crate-resolver.js";
import { CratePlanType } from "./types/crate-plan.js";
import { SubmissionType } from "./types/submission.js";
import { withUpload } from "./upload.js";
import { countWrite } from "./write-rate.js";

/** Ends nothing: over GraphQL a plan goes on when its client has left. */
const UNTIL_DONE = new AbortController().signal;
const METADATA = "ro-crate-metadata.json";

/** Crates from their metadata alone, and what an upload would come to. */
@Resolver()
export class CratePlanResolver {
  /** @throws ServiceError as {@link planUpload} */
  plan(file: IncomingFile, options: UploadOptions, context: Context, signal: AbortSignal = UNTIL_DONE): Promise<CratePlan> {
    return planUpload(context.deps, context.caller, file, options, signal);
  }
  /** Stores a metadata document and queues its intake. @throws ServiceError as {@link submitCrate} */
  async submitMetadata(stream: Readable, options: UploadOptions, context: Context): Promise<SubmissionView> {
    await countWrite(context);
    const submission = await submitCrate(context.deps, context.caller, { stream, name: METADATA, format: "metadata" }, { ...options, ...requestOf(context) });
    return viewNow(context.deps, submission);
  }

  @Mutation(() => CratePlanType, { description: "What an upload of this archive or metadata document would come to. Nothing of it is stored." })
  planCrate(
    @Arg("file", () => GraphQLUpload, { nullable: true, description: "An archive, or a metadata document (GraphQL multipart request; send the header apollo-require-preflight)." }) upload: Promise<FileUpload> | undefined,
    @Arg("metadata", () => String, { nullable: true, description: "A metadata document as text, in place of a file." }) metadata: string | undefined,
    @Ctx() context: Context,
    @Arg("update", () => Boolean, { defaultValue: false, description: "What an update would come to: the upload with update: true." }) update: boolean,
    @Arg("crate", () => ID, { nullable: true, description: NAMED_CRATE }) crate?: string | null,
  ): Promise<CratePlan> {
    const options = { update, crate: crate ?? undefined };
    if (metadata !== undefined && metadata !== null && !upload) return this.plan({ stream: Readable.from([Buffer.from(metadata)]), name: METADATA, mediaType: "application/ld+json" }, options, context);
    if (!upload || (metadata !== undefined && metadata !== null)) throw invalid(["body", "file"], "Send either a file or metadata", upload ? "value_error" : "missing");
    return withUpload(upload, context, (file) => this.plan(file, options, context));
  }

  @Mutation(() => SubmissionType, { description: "Makes a crate without files from its metadata document." })
  uploadCrateMetadata(
    @Arg("metadata", () => String, { description: "The document as text." }) metadata: string, @Ctx() context: Context,
    @Arg("update", () => Boolean, { defaultValue: false, description: "Brings a crate of yours that is here already up to date; its files stay." }) update: boolean,
    @Arg("crate", () => ID, { nullable: true, description: NAMED_CRATE }) crate?: string | null,
  ): Promise<SubmissionView> {
    return this.submitMetadata(Readable.from([Buffer.from(metadata)]), { update, crate: crate ?? undefined }, context);
  }
}
