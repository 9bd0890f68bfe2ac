import { executeComputation } from "../use-cases/computations/execute.js";
import type { Context } from "./context.js";
import { countWrite } from "./write-rate.js";

/** Runs of computations. */
export class ComputationResolver {
  /** @throws as `executeComputation` */
  async execute(id: string, context: Context): Promise<never> {
    countWrite(context);
    return executeComputation(context.deps, id, context.caller);
  }
}
