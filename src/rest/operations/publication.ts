import { PublicationResolver } from "../../resolvers/publication-resolver.js";
import type { StoredRecord } from "../../stores/records/port.js";
import { authenticated } from "../../use-cases/access/caller.js";
import { publicationOf } from "../../use-cases/publication/publish.js";
import { etagOf } from "../../use-cases/records/view.js";
import { readJson } from "../body.js";
import { expectedRevision } from "../conditional.js";
import { sendJson } from "../reply.js";
import { arkOf, type Operations, type RestRequest } from "../request.js";

const publications = new PublicationResolver();

function send({ req, res }: RestRequest, record: StoredRecord): void {
  sendJson(req, res, publicationOf(record), { headers: { ETag: etagOf(record), "X-Publication-Status": record.publicationStatus, "Cache-Control": "no-cache" } });
}

export const publicationOperations: Operations = {
  publish: async (request) => {
    const { req, context } = request;
    authenticated(context.caller);
    send(request, await publications.publish(await readJson(req, context.deps), expectedRevision(req), context));
  },
  publication_status: async (request) => send(request, await publications.status(arkOf(request), request.context)),
};
