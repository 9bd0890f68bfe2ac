import { ServiceError } from "../../errors.js";
import { SparqlResolver } from "../../resolvers/sparql-resolver.js";
import type { Deps } from "../../use-cases/deps.js";
import { sparqlPage } from "../../web/sparql-page.js";
import { PAGE_POLICY } from "../page-policy.js";
import { presence } from "../presence.js";
import { sendBytes } from "../reply.js";
import type { Operations, RestRequest } from "../request.js";
import { preferred } from "../representations/negotiate.js";
import { contentType, mediaTypeFor } from "../sparql/formats.js";
import { readGet, readPost, type ProtocolRequest } from "../sparql/request.js";
import { DESCRIPTION_TYPES, serviceDescription } from "../sparql/service-description.js";

const sparql = new SparqlResolver();

/** Bytes of answers that clients have not read to the end, a registry; and how many largest answers may be under way. */
const unread = new WeakMap<Deps, number>();
const MOST_UNREAD = 4;
/** ms without progress after which a client that does not read its answer is left. */
const STALLED = 60_000;

/** Sends the answer of a query, in the form that the client prefers. */
async function answer({ req, res, context }: RestRequest, { query, dataset }: ProtocolRequest & { query: string }): Promise<void> {
  const { deps } = context;
  if ((unread.get(deps) ?? 0) > MOST_UNREAD * deps.config.SPARQL_MAX_BYTES) throw new ServiceError("SPARQL_BUSY", "Too many large answers have not been read by their clients yet; try again shortly.", {}, { "Retry-After": "10" });
  let type = "";
  const { bytes, truncated, sequence } = await sparql.query({
    query, dataset, signal: presence({ res }),
    formatFor(form) {
      const chosen = mediaTypeFor(form, req.headers.accept);
      ({ type } = chosen);
      return chosen.format;
    },
  }, context);
  unread.set(deps, (unread.get(deps) ?? 0) + bytes.length);
  res.once("close", () => unread.set(deps, unread.get(deps)! - bytes.length));
  if (bytes.length > 2 ** 20) res.setTimeout(STALLED, () => res.destroy());
  sendBytes(req, res, bytes, {
    type: contentType(type),
    headers: { Vary: "Accept", "Cache-Control": "no-cache", "X-As-Of": sequence, ...(truncated && { "X-Truncated": `${truncated}=${deps.config[truncated]}` }) },
  });
}

async function describe({ req, res, context }: RestRequest): Promise<void> {
  const type = preferred(req.headers.accept, [...DESCRIPTION_TYPES, "text/html"]);
  const base = context.deps.baseUrl();
  const text = type === "text/html" ? sparqlPage() : await serviceDescription(`${base}/sparql`, type);
  sendBytes(req, res, Buffer.from(text), { type: contentType(type), headers: { Vary: "Accept", ...(type === "text/html" && { "Content-Security-Policy": PAGE_POLICY }) } });
}

export const sparqlOperations: Operations = {
  sparql_get: async (request) => {
    const { query, dataset } = readGet(request.req.url ?? "", request.context.deps.config);
    await (query === undefined ? describe(request) : answer(request, { query, dataset }));
  },
  sparql_post: async (request) => answer(request, await readPost(request.req, request.context.deps.config)),
};
