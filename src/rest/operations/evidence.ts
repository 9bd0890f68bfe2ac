import { EvidenceResolver } from "../../resolvers/evidence-resolver.js";
import { CrateResolver } from "../../resolvers/crate-resolver.js";
import { invalid } from "../../errors.js";
import { authenticated } from "../../use-cases/access/caller.js";
import { assertedByParameter, evidenceParameters } from "../../use-cases/evidence/index.js";
import { evidenceForm, sendEvidence } from "../representations/evidence.js";
import { sendJson } from "../reply.js";
import { arkOf, type Operations } from "../request.js";

const evidence = new EvidenceResolver();
const submissions = new CrateResolver();
const FRESH = { headers: { "Cache-Control": "no-store" } };

export const evidenceOperations: Operations = {
  query_evidence: async (request) => {
    const form = evidenceForm(request);
    await sendEvidence(request, form, await evidence.open({ ark: arkOf(request), ...evidenceParameters(request.query) }, request.context));
  },
  build_evidence: async (request) => {
    const { req, res, query, context } = request;
    authenticated(context.caller);
    const { direction, depth, assertedBy } = evidenceParameters({ direction: query["direction"], depth: query["depth"], assertedBy: query["assertedBy"] });
    const asked = { ark: arkOf(request), direction, ...(depth === undefined ? {} : { depth }), ...(assertedBy === undefined ? {} : { assertedBy }) };
    sendJson(req, res, await evidence.build(asked, context), FRESH);
  },
  evidence_build_status: async ({ req, res, params, context }) => {
    sendJson(req, res, await submissions.submission(params["submissionUUID"]!, context), FRESH);
  },
  evidence_impact: async (request) => {
    sendJson(request.req, request.res, await evidence.impactOf(arkOf(request), request.context, assertedByParameter(request.query)), FRESH);
  },
  evidence_path: async (request) => {
    const { to } = request.query;
    if (to === undefined) throw invalid(["query", "to"], "Field required", "missing");
    sendJson(request.req, request.res, await evidence.pathBetween(arkOf(request), to, request.context, assertedByParameter(request.query)), FRESH);
  },
};
