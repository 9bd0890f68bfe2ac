import { ComputationResolver } from "../../resolvers/computation-resolver.js";
import { CrateResolver } from "../../resolvers/crate-resolver.js";
import { sendJson } from "../reply.js";
import { arkOf, type Operations } from "../request.js";

const computations = new ComputationResolver();
const submissions = new CrateResolver();
const FRESH = { headers: { "Cache-Control": "no-store" } };

export const computationOperations: Operations = {
  execute_computation: async (request) => {
    sendJson(request.req, request.res, await computations.execute(arkOf(request), request.context), FRESH);
  },
  execution_status: async ({ req, res, params, context }) => {
    sendJson(req, res, await submissions.submission(params["submissionUUID"]!, context), FRESH);
  },
};
