import { signedIn } from "../graphql/resolvers/context.js";
import { CrateContentsResolver } from "../graphql/resolvers/crate-contents-resolver.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { ScoreResolver } from "../graphql/resolvers/score-resolver.js";
import { sendJson } from "../http/reply.js";
import { arkOf, type Handlers } from "./request.js";

const scores = new ScoreResolver();
const contents = new CrateContentsResolver();
const submissions = new CrateResolver();
const FRESH = { headers: { "Cache-Control": "no-store" } };

export const scoreOperations: Handlers = {
  ai_ready_score: async (request) => {
    sendJson(request.req, request.res, await scores.score(arkOf(request), request.context), FRESH);
  },
  score_history: async (request) => {
    sendJson(
      request.req,
      request.res,
      await contents.scores(arkOf(request), request.context),
      FRESH,
    );
  },
  rescore: async (request) => {
    const context = signedIn(request.context);
    sendJson(request.req, request.res, await scores.rescore(arkOf(request), context), FRESH);
  },
  rescore_status: async ({ req, res, params, context }) => {
    sendJson(req, res, await submissions.submission(params.submissionUUID, context), FRESH);
  },
};
