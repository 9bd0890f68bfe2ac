import { finished } from "node:stream/promises";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import GraphQLUpload from "graphql-upload/GraphQLUpload.mjs";
import type { Readable } from "node:stream";
import { Arg, Ctx, Field, ID, Int, Mutation, ObjectType, Query, Resolver } from "type-graphql";
import type { ObjectReference } from "../stores/records/objects-port.js";
import type { KindName } from "../model/kind.js";
import { awaitSubmission, readSubmission, submissionView, submitCrate, type SubmissionView } from "../use-cases/crates/submissions.js";
import { contentOf, type Content } from "../use-cases/files/content.js";
import { ServiceError } from "../errors.js";
import type { Context } from "./context.js";
import { countWrite } from "./write-rate.js";

@ObjectType({ description: "One thing found in an archive: where, what, and the fix." })
class FindingType {
  @Field(() => String, { nullable: true, description: "Member of the archive." }) file!: string | null;
  @Field(() => String, { nullable: true, description: "JSON pointer inside the member." }) pointer!: string | null;
  @Field() message!: string;
  @Field() code!: string;
}
@ObjectType()
class ProgressType {
  @Field() done!: number;
  @Field(() => Number, { nullable: true }) total!: number | null;
  @Field() unit!: string;
}
@ObjectType("Submission", { description: "One upload on its way to becoming records." })
export class SubmissionType {
  @Field(() => ID) submissionUUID!: string;
  @Field({ description: "queued, running, finished or failed." }) status!: string;
  @Field(() => String, { nullable: true }) stage!: string | null;
  @Field(() => ProgressType, { nullable: true }) progress!: ProgressType | null;
  @Field(() => String, { nullable: true }) timeStarted!: string | null;
  @Field(() => String, { nullable: true }) timeFinished!: string | null;
  @Field({ description: "True exactly for finished and failed." }) completed!: boolean;
  @Field({ description: "True for finished only." }) success!: boolean;
  @Field(() => [FindingType], { nullable: true }) error!: FindingType[] | null;
  @Field(() => [FindingType]) warnings!: FindingType[];
  @Field(() => Int) identifiersMinted!: number;
  @Field(() => ID, { nullable: true }) rocrateIdentifier!: string | null;
  @Field(() => String, { nullable: true }) sha256!: string | null;
}

/** Uploads, their progress, and stored content. */
@Resolver()
export class CrateResolver {
  /** Stores the archive and queues its intake. @throws ServiceError as {@link submitCrate} */
  async submit(file: { stream: Readable; name: string }, context: Context): Promise<SubmissionView> {
    countWrite(context);
    const submission = await submitCrate(context.deps, context.caller, file);
    return submissionView(submission, context.deps.jobs.progress(submission.id));
  }
  /** Waits for the end of a submission, at most UPLOAD_WAIT. */
  async settled(id: string, context: Context): Promise<SubmissionView> {
    const { deps } = context;
    return submissionView(await awaitSubmission(deps, id, deps.config.UPLOAD_WAIT), deps.jobs.progress(id));
  }
  content(id: string, options: { kind?: KindName; role?: ObjectReference["role"] }, context: Context): Promise<Content> {
    return contentOf(context.deps, id, context.caller, options);
  }

  @Query(() => SubmissionType, { description: "A submission of yours, or any for administrators." })
  submission(@Arg("id", () => ID) id: string, @Ctx() context: Context): Promise<SubmissionView> {
    return readSubmission(context.deps, id, context.caller);
  }

  @Mutation(() => SubmissionType, { description: "Uploads an RO-Crate archive (GraphQL multipart request; send the header apollo-require-preflight)." })
  async uploadCrate(@Arg("file", () => GraphQLUpload) upload: Promise<FileUpload>, @Ctx() context: Context): Promise<SubmissionView> {
    try {
      const { createReadStream, filename } = await upload;
      const stream = createReadStream();
      // Until the store reads from it nobody else listens; a client that hangs up just then would end the process.
      stream.on("error", () => undefined);
      try {
        return await this.submit({ stream, name: filename }, context);
      } finally {
        stream.destroy();
        await finished(stream).catch(() => undefined);
      }
    } catch (error) {
      throw uploadRefusal(error, context.deps.config.MAX_UPLOAD_BYTES);
    }
  }
}

/** The parser of the form counts and watches as well, and may be the first to see that the file is too much or broken off. */
function uploadRefusal(error: unknown, limit: number): unknown {
  const { status } = error as { status?: number };
  if (error instanceof ServiceError || status === undefined || status < 400 || status >= 500) return error;
  if (status === 413) return new ServiceError("TOO_LARGE", `The upload is larger than ${limit} bytes (MAX_UPLOAD_BYTES).`);
  return new ServiceError("BAD_REQUEST", "The upload broke off before its end: send it again.");
}
