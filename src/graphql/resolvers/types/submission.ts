import { Field, GraphQLISODateTime, ID, Int, ObjectType } from "type-graphql";
import type { SubmissionView } from "../../../services/crates/submissions.js";
import { SubmissionStatusEnum } from "./enums.js";
import { ABOUT_PAGE, PageInfo } from "./records.js";

@ObjectType("Finding", {
  description: "One thing found in an archive: where, what, and the fix.",
  simpleResolvers: true,
})
export class FindingType {
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
export class ProgressType {
  @Field({ description: "Units that are done." }) done!: number;
  @Field(() => Number, { nullable: true, description: "Units in all, where known." }) total!:
    number | null;
  @Field({ description: "What is counted, e.g. files." }) unit!: string;
}
@ObjectType("Submission", {
  description:
    "A background job: a crate being ingested, an evidence graph being built, a score " +
    "being computed, a computation being run.",
  simpleResolvers: true,
})
export class SubmissionType {
  @Field(() => ID, { description: "Identifier of the submission." }) submissionUUID!: string;
  @Field(() => SubmissionStatusEnum, { description: "State of the submission." })
  status!: SubmissionView["status"];
  @Field(() => String, { nullable: true, description: "What is being done." }) stage!:
    string | null;
  @Field(() => ProgressType, { nullable: true, description: "How far it is, while it runs." })
  progress!: ProgressType | null;
  @Field(() => GraphQLISODateTime, {
    nullable: true,
    description: "When it began; before that, when it was created.",
  })
  timeStarted!: string | null;
  @Field(() => GraphQLISODateTime, { nullable: true, description: "When it ended." })
  timeFinished!: string | null;
  @Field({ description: "True exactly for FINISHED and FAILED." }) completed!: boolean;
  @Field({ description: "True for FINISHED only." }) success!: boolean;
  @Field(() => [FindingType], { nullable: true, description: "Why it failed." }) error!:
    FindingType[] | null;
  @Field(() => [FindingType], { description: "Advice." }) warnings!: FindingType[];
  @Field(() => Int, { description: "How many identifiers it made." }) identifiersMinted!: number;
  @Field(() => ID, { nullable: true, description: "The crate, once it is stored." })
  rocrateIdentifier!: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "For a submission that builds an evidence graph.",
  })
  evidenceGraphIdentifier?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "For a submission that computes the AI-readiness score of a crate.",
  })
  scoredCrateIdentifier?: string | null;
  @Field(() => ID, { nullable: true, description: "For a submission that runs a computation." })
  computationIdentifier?: string | null;
  @Field(() => ID, { nullable: true, description: "For a submission that registers a DOI." })
  doiRecordIdentifier?: string | null;
  @Field(() => String, {
    nullable: true,
    description: "For a submission of the registry itself that computes vectors for search.",
  })
  embeddingsModel?: string | null;
  @Field(() => String, { nullable: true, description: "SHA-256 of the uploaded file." })
  sha256!: string | null;
}

@ObjectType({ simpleResolvers: true })
export class SubmissionEdge {
  @Field(() => SubmissionType, { description: ABOUT_PAGE.node }) node!: SubmissionType;
  @Field({ description: ABOUT_PAGE.cursor }) cursor!: string;
}

@ObjectType({
  description: "A page of submissions; go on with after: pageInfo.endCursor.",
  simpleResolvers: true,
})
export class SubmissionConnection {
  @Field(() => [SubmissionEdge], { description: ABOUT_PAGE.edges }) edges!: SubmissionEdge[];
  @Field(() => [SubmissionType], { description: ABOUT_PAGE.nodes }) nodes!: SubmissionType[];
  @Field(() => PageInfo, { description: ABOUT_PAGE.pageInfo }) pageInfo!: PageInfo;
}
