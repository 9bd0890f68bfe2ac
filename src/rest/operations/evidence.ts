import { EvidenceResolver, evidenceParameters } from "../../resolvers/evidence-resolver.js";
import { sendJson } from "../reply.js";
import { arkOf, type Operations } from "../request.js";

const evidence = new EvidenceResolver();

export const evidenceOperations: Operations = {
  query_evidence: async (request) => {
    const { req, res, query, context } = request;
    sendJson(req, res, await evidence.query({ ark: arkOf(request), ...evidenceParameters(query) }, context), { type: "application/ld+json", headers: { "Cache-Control": "no-store" } });
  },
};
