import { Arg, Ctx, ID, Mutation, Resolver } from "type-graphql";
import { executeComputation } from "../use-cases/computations/execute.js";
import type { SubmissionView } from "../use-cases/crates/submissions.js";
import type { Context } from "./context.js";
import { SubmissionType } from "./types/submission.js";
import { countWrite } from "./write-rate.js";

/** Runs of computations. */
@Resolver()
export class ComputationResolver {
  /** @throws as `executeComputation` */
  async execute(id: string, context: Context): Promise<never> {
    await countWrite(context);
    return executeComputation(context.deps, id, context.caller);
  }

  @Mutation(() => SubmissionType, { description: "Runs the computation's container in the background." })
  executeComputation(@Arg("id", () => ID) id: string, @Ctx() context: Context): Promise<SubmissionView> {
    return this.execute(id, context);
  }
}
