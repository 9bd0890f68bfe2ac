import { signedIn } from "../graphql/resolvers/context.js";
import { DoiResolver } from "../graphql/resolvers/doi-resolver.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import { arkOf, type Handlers } from "./request.js";

const dois = new DoiResolver();

export const doiOperations: Handlers = {
  reserve_doi: async (request) => {
    const context = signedIn(request.context);
    const { ark, ...reserved } = await dois.reserve(arkOf(request), context);
    sendJson(request.req, request.res, { "@id": ark, ...reserved }, { headers: NOT_STORED });
  },
};
