import { Arg, Ctx, ID, Mutation, Query, Resolver } from "type-graphql";
import { viewNow, type SubmissionView } from "../use-cases/crates/submissions.js";
import { readScore, requestScore, type AiReadyScore } from "../use-cases/scoring/index.js";
import { requestOf, type Context } from "./context.js";
import { AiReadyScoreType, typedScore } from "./types/score.js";
import { SubmissionType } from "./types/submission.js";
import { countWrite } from "./write-rate.js";

/** AI-readiness of crates. The methods without decorators are called by REST as well. */
@Resolver()
export class ScoreResolver {
  /** @throws as {@link readScore} */
  score(id: string, { deps }: Context): Promise<AiReadyScore> {
    return readScore(deps, id);
  }
  /** @throws as {@link requestScore} */
  async rescore(id: string, context: Context): Promise<SubmissionView> {
    await countWrite(context);
    return viewNow(context.deps, await requestScore(context.deps, context.caller, id, requestOf(context)));
  }

  @Query(() => AiReadyScoreType, { description: "How ready a crate is for AI, as it is now." })
  async aiReadyScore(@Arg("id", () => ID) id: string, @Ctx() context: Context): Promise<AiReadyScoreType> {
    return typedScore(await this.score(id, context));
  }

  @Mutation(() => SubmissionType, { description: "Works the score of a crate out anew, in the background, and checks its tables against their schemas." })
  rescoreCrate(@Arg("id", () => ID) id: string, @Ctx() context: Context): Promise<SubmissionView> {
    return this.rescore(id, context);
  }
}
