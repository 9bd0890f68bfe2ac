import { SearchResolver, searchParameters } from "../../resolvers/search-resolver.js";
import type { SearchMode } from "../../use-cases/search/search.js";
import { sendJson } from "../reply.js";
import type { Operation, Operations } from "../request.js";

const resolver = new SearchResolver();

const searchBy = (mode: SearchMode): Operation => async ({ req, res, query, context }) => {
  sendJson(req, res, await resolver.search({ ...searchParameters(query), mode }, context), { headers: { "Cache-Control": "no-store" } });
};

export const searchOperations: Operations = { search_basic: searchBy("basic"), search_semantic: searchBy("semantic") };
