import { Arg, Ctx, ID, Mutation, Resolver } from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import { executeComputation } from "../../services/computations/handler.js";
import { type SubmissionView, viewNow } from "../../services/crates/submissions.js";
import { askedArk } from "../../services/records/find.js";
import { type Context, countWrite, requestOf, type SignedIn, signedIn } from "./context.js";
import { SubmissionType } from "./types/submission.js";

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
