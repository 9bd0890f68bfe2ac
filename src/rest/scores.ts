import { signedIn } from "../graphql/resolvers/context.js";
import { CrateContentsResolver } from "../graphql/resolvers/crate-contents-resolver.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { ScoreResolver } from "../graphql/resolvers/score-resolver.js";
import { sendJson } from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import { KINDS } from "../model/kinds.js";
import { CrateFacts, Fields, Share } from "../services/scoring/facts/fields.js";
import { type AiReadyScore, pointOf, scoreOf } from "../services/scoring/score.js";
import {
  arkPath,
  type ContractRow,
  FIND_REFUSALS,
  json,
  path,
  schemaRef,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import { recordExample } from "./contract/schemas.js";
import { QUEUED } from "./crates.js";
import { arkOf, type Handlers } from "./request.js";

const CRATE = recordExample(KINDS.rocrate);
const ARK = CRATE["@id"] as string;
/** Computed, so that it lists every existing criterion. */
const EXAMPLE = scoreOf(
  { ark: ARK },
  new CrateFacts({
    name: CRATE["name"] as string,
    revision: 1,
    status: "DRAFT",
    isOwn: true,
    fields: new Fields(ARK, CRATE),
    actors: new Share(),
    licences: [],
    gaps: ["license", "datePublished"],
    hasContext: true,
  }),
  Date.UTC(2024, 4, 3, 8),
) as unknown as JsonObject;

const POINT: JsonObject = { ...pointOf(EXAMPLE as unknown as AiReadyScore) };
const ASKED: JsonObject = { ...QUEUED, sha256: null, scoredCrateIdentifier: ARK };
const ENDED: JsonObject = {
  ...ASKED,
  status: "finished",
  stage: "checking",
  timeStarted: "2024-05-03T08:00:00Z",
  timeFinished: "2024-05-03T08:00:01Z",
  completed: true,
  success: true,
};

export const SCORES: readonly ContractRow[] = [
  {
    method: "get",
    path: "/rocrate/ai-ready-score/ark:{NAAN}/{postfix}",
    operationId: "ai_ready_score",
    tag: "crates",
    summary: "How ready a crate is for AI",
    description:
      "28 criteria in seven categories, tested on the current version of the crate, its " +
      "sub-crates included. A score is cached until something changes that it is derived " +
      "from.",
    parameters: arkPath(ARK),
    answer: { description: "The score.", content: json(schemaRef("AiReadyScore"), EXAMPLE) },
    token: "optional",
    refusals: [...FIND_REFUSALS, "TOO_LARGE", "BUSY", "QUERY_TIMEOUT"],
  },
  {
    method: "get",
    path: "/rocrate/ai-ready-score/ark:{NAAN}/{postfix}/history",
    operationId: "score_history",
    tag: "crates",
    summary: "How the score of a crate has changed",
    description:
      "Totals of the scores that were computed and stored, the last of each revision, oldest " +
      "first.",
    parameters: arkPath(ARK),
    answer: {
      description: "The totals.",
      content: json({ type: "array", items: schemaRef("ScorePoint") }, [POINT]),
    },
    token: "optional",
    refusals: FIND_REFUSALS,
  },
  {
    method: "post",
    path: "/rocrate/ai-ready-score/ark:{NAAN}/{postfix}/rescore",
    operationId: "rescore",
    tag: "crates",
    summary: "Compute the score again",
    description:
      "Runs in the background, and checks the tables of the crate against their schemas. " +
      "Poll `GET /rocrate/ai-ready-score/status/{submissionUUID}` until `completed`; " +
      "every node then returns the score.",
    parameters: arkPath(ARK),
    answer: { description: "The submission.", content: json(schemaRef("Submission"), ASKED) },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS],
  },
  {
    method: "get",
    path: "/rocrate/ai-ready-score/status/{submissionUUID}",
    operationId: "rescore_status",
    tag: "crates",
    summary: "Status of the computation of a score",
    description: "For its submitter and administrators.",
    parameters: [
      path(
        "submissionUUID",
        "The submissionUUID that `rescore` returned.",
        { type: "string" },
        QUEUED["submissionUUID"] as string,
      ),
    ],
    answer: { description: "The submission.", content: json(schemaRef("Submission"), ENDED) },
    token: "required",
    refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN", "NOT_FOUND"],
  },
];

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
    sendJson(req, res, await submissions.submission(params["submissionUUID"]!, context), FRESH);
  },
};
