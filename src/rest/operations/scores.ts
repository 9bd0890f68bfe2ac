import { CrateResolver } from "../../resolvers/crate-resolver.js";
import { ScoreResolver } from "../../resolvers/score-resolver.js";
import { authenticated } from "../../use-cases/access/caller.js";
import { sendJson } from "../reply.js";
import { arkOf, type Operations } from "../request.js";

const scores = new ScoreResolver();
const submissions = new CrateResolver();
const FRESH = { headers: { "Cache-Control": "no-store" } };

export const scoreOperations: Operations = {
  ai_ready_score: async (request) => {
    sendJson(request.req, request.res, await scores.score(arkOf(request), request.context), FRESH);
  },
  rescore: async (request) => {
    authenticated(request.context.caller);
    sendJson(request.req, request.res, await scores.rescore(arkOf(request), request.context), FRESH);
  },
  rescore_status: async ({ req, res, params, context }) => {
    sendJson(req, res, await submissions.submission(params["submissionUUID"]!, context), FRESH);
  },
};
