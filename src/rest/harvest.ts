import { createHash } from "node:crypto";
import { invalid, ValidationError, type ValidationItem } from "../errors.js";
import { hasBody, readBytes } from "../http/body.js";
import { formatNamed, notModified, preferred } from "../http/negotiation.js";
import { sendBytes, sendJson, streamBytes } from "../http/reply.js";
import {
  API_CATALOG_PROFILE,
  apiCatalog,
  catalogPage,
  sitemapIndex,
  sitemapPage,
  voidDescription,
} from "../services/harvest/catalog.js";
import { seenByAll } from "../services/access/seen.js";
import { atomFeed } from "../services/harvest/feed.js";
import { answerOai } from "../services/harvest/oai.js";
import { RDF_TYPES, type RdfType, type Statements } from "../services/harvest/rdf-text.js";
import { filterParameters } from "../services/records/select.js";
import { type Handler, type Handlers, linkToNext, presence, type RestRequest } from "./request.js";

/** `?format=` of the documents in RDF. */
const RDF_NAMES: Readonly<Record<string, RdfType>> = {
  turtle: "text/turtle",
  jsonld: "application/ld+json",
  rdfxml: "application/rdf+xml",
  ntriples: "application/n-triples",
};
/** Operations that read their query string themselves: it has errors of the protocol. */
export const READS_QUERY: ReadonlySet<string> = new Set(["oai_get", "oai_post"]);

const oai: Handler = async (request) => {
  const { req, res, context } = request;
  const { config } = context.deps;
  const target = req.url ?? "";
  const mark = target.indexOf("?");
  // Node bounds the target, MAX_LOGIN_BYTES the body: there are never too many.
  const parameters = [...new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1))];
  if (req.method === "POST" && hasBody(req)) {
    const body = await readBytes(req, config.MAX_LOGIN_BYTES, "MAX_LOGIN_BYTES");
    for (const field of new URLSearchParams(body.toString("utf8"))) parameters.push(field);
  }
  const answer = await answerOai(context.deps, parameters, presence(request));
  sendBytes(req, res, Buffer.from(answer), { type: "text/xml; charset=utf-8" });
};

const operations: Handlers = {
  oai_get: oai,
  oai_post: oai,
  sitemap: async ({ req, res, query: { page }, context: { deps } }) => {
    const options = {
      type: "application/xml; charset=utf-8",
      headers: { "Cache-Control": "public, max-age=300" },
    };
    if (page === undefined)
      return sendBytes(req, res, Buffer.from(await sitemapIndex(deps)), options);
    if (!/^[1-9]\d{0,8}$/.test(page))
      throw invalid(["query", "page"], "Input should be a whole number from 1", "int_parsing");
    await streamBytes(req, res, sitemapPage(deps, Number(page)), options);
  },
  catalog: async (request) => {
    const { query: asked, context } = request;
    const { cursor, format } = asked;
    const type = rdfTypeOf(request);
    const { statements, next } = await catalogPage(context.deps, cursor);
    if (next === undefined) return sendRdf(request, statements, type);
    const more = { cursor: next, ...(format === undefined ? {} : { format }) };
    await sendRdf(request, statements, type, { Link: linkToNext(request, more) });
  },
  void_description: async (request) => {
    const type = rdfTypeOf(request);
    await sendRdf(request, await voidDescription(request.context.deps), type);
  },
  feed: async ({ req, res, query, context: { deps } }) => {
    const problems: ValidationItem[] = [];
    const filter = filterParameters(query, problems);
    if (problems.length > 0) throw new ValidationError(problems);
    const { text, ...others } = query;
    const asked = (named: Readonly<Record<string, string | undefined>>): string => {
      const given = Object.entries(named).filter(([, value]) => value !== undefined);
      return given.length === 0 ? "" : `?${new URLSearchParams(given as [string, string][])}`;
    };
    const page = `/search${asked({ q: text, ...others })}`;
    const answer = await atomFeed(deps, filter, { feed: `/feed${asked(query)}`, page });
    const etag = `W/"${createHash("sha256").update(answer).digest("base64url")}"`;
    const headers = { ETag: etag, "Cache-Control": "public, max-age=300" };
    if (notModified(req, etag)) return void res.writeHead(304, headers).end();
    sendBytes(req, res, Buffer.from(answer), {
      type: "application/atom+xml; charset=utf-8",
      headers,
    });
  },
  api_catalog: async ({ req, res, context: { deps } }) =>
    sendJson(req, res, apiCatalog(deps), {
      type: `application/linkset+json; profile="${API_CATALOG_PROFILE}"`,
      headers: { Link: `<${deps.baseUrl()}/.well-known/api-catalog>; rel="api-catalog"` },
    }),
};

/** What is harvested is the same for those who see private records. */
const forAll =
  (handler: Handler): Handler =>
  (request) => {
    const { context } = request;
    return handler({ ...request, context: { ...context, deps: seenByAll(context.deps) } });
  };
export const harvestOperations: Handlers = Object.fromEntries(
  Object.entries(operations).map(([name, handler]) => [name, forAll(handler)]),
);

/** @throws ServiceError `NOT_ACCEPTABLE`; ValidationError for an unknown `?format=` */
const rdfTypeOf = ({ req, query: { format } }: RestRequest): RdfType =>
  format === undefined ? preferred(req.headers.accept, RDF_TYPES) : formatNamed(format, RDF_NAMES);

async function sendRdf(
  { req, res }: RestRequest,
  statements: Statements,
  type: RdfType,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  sendBytes(req, res, Buffer.from(await statements.written(type)), {
    type: type === "text/turtle" ? `${type}; charset=utf-8` : type,
    headers: { ...headers, Vary: "Accept" },
  });
}
