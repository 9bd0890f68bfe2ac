import { signedIn } from "../graphql/resolvers/context.js";
import { ReviewResolver } from "../graphql/resolvers/review-resolver.js";
import { readJson } from "../http/body.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import { listReviewLinks, revokeReviewLink } from "../services/records/review-links.js";
import { arkOf, type Handlers } from "./request.js";

const links = new ReviewResolver();
const STORED_NOWHERE = { headers: NOT_STORED };

export const reviewOperations: Handlers = {
  list_review_links: async (request) => {
    const ark = arkOf(request);
    const { deps, caller } = signedIn(request.context);
    const found = await listReviewLinks(deps, ark, caller);
    sendJson(request.req, request.res, found, STORED_NOWHERE);
  },
  create_review_link: async (request) => {
    const context = signedIn(request.context);
    const asked = ((await readJson(request.req, context.deps)) ?? {}) as JsonObject;
    sendJson(
      request.req,
      request.res,
      await links.create(arkOf(request), asked, context),
      STORED_NOWHERE,
    );
  },
  revoke_review_link: async (request) => {
    const { deps, caller } = signedIn(request.context);
    const link = request.query["link"] ?? "";
    const revoked = await revokeReviewLink(deps, arkOf(request), link, caller);
    sendJson(request.req, request.res, { revoked }, STORED_NOWHERE);
  },
};
