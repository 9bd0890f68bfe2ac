import { signedIn } from "../graphql/resolvers/context.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { ScoreResolver } from "../graphql/resolvers/score-resolver.js";
import { sendJson } from "../http/reply.js";
import { readScore, scoreHistory } from "../services/scoring/score.js";
import { arkOf, type Handlers } from "./request.js";

const scores = new ScoreResolver();
const submissions = new CrateResolver();
const FRESH = { headers: { "Cache-Control": "no-store" } };

export const scoreOperations: Handlers = {
  ai_ready_score: async (request) => {
    const { req, res, context } = request;
    sendJson(req, res, await readScore(context.deps, arkOf(request)), FRESH);
  },
  score_history: async (request) => {
    const { req, res, context } = request;
    sendJson(req, res, await scoreHistory(context.deps, arkOf(request)), FRESH);
  },
  rescore: async (request) => {
    const context = signedIn(request.context);
    sendJson(request.req, request.res, await scores.rescore(arkOf(request), context), FRESH);
  },
  rescore_status: async ({ req, res, params, context }) => {
    sendJson(req, res, await submissions.submission(params.submissionUUID, context), FRESH);
  },
};
