import type { IncomingMessage } from "node:http";
import jsonld from "jsonld";
import { DataFactory, type Quad, Writer } from "n3";
import type { Config } from "../config/config.js";
import { ServiceError, ValidationError } from "../errors.js";
import { SparqlResolver } from "../graphql/resolvers/query-resolver.js";
import { formFields, hasBody, mediaType, readBytes } from "../http/body.js";
import { preferred } from "../http/negotiation.js";
import { sendBytes } from "../http/reply.js";
import { PREFIXES } from "../model/field.js";
import { badStringItem, findBadString } from "../model/strings.js";
import { rdfXml } from "../rdf/rdf-xml.js";
import { type GraphNames, graphsIn } from "../services/sparql/answer.js";
import type { Checked } from "../services/sparql/guard/check.js";
import type { GraphFormat, ResultFormat } from "../storage/graph/port.js";
import { sparqlPage } from "../web/pages/explorers.js";
import { type Handlers, presence, type RestRequest } from "./request.js";

/** Media types of an answer, the default first. */
const ANSWERS = {
  "application/sparql-results+json": "json",
  "application/json": "json",
  "application/sparql-results+xml": "xml",
  "application/xml": "xml",
} as const satisfies Record<string, ResultFormat>;
const TABLES = {
  ...ANSWERS,
  "text/csv": "csv",
  "text/tab-separated-values": "tsv",
} as const satisfies Record<string, ResultFormat>;
/** Every N-Triples document is one of N-Quads, and a query's graph has no name. */
const GRAPHS = {
  "text/turtle": "ttl",
  "application/n-triples": "nt",
  "application/n-quads": "nt",
  "application/ld+json": "jsonld",
  "application/json": "jsonld",
  "application/rdf+xml": "rdfxml",
} as const satisfies Record<string, GraphFormat>;

/** The media types that answer each form of a query (SPARQL 1.1 Protocol, section 2.1.5). */
const FORMATS_OF: Readonly<
  Record<Checked["form"], Readonly<Record<string, ResultFormat | GraphFormat>>>
> = { SELECT: TABLES, ASK: ANSWERS, CONSTRUCT: GRAPHS, DESCRIBE: GRAPHS };

/**
 * The media type that the caller prefers for a query of this form.
 * @throws ServiceError `NOT_ACCEPTABLE`
 */
function mediaTypeFor(
  form: Checked["form"],
  accept: string | undefined,
): { type: string; format: ResultFormat | GraphFormat } {
  const formats = FORMATS_OF[form];
  const type = preferred(accept, Object.keys(formats) as [string, ...string[]]);
  return { type, format: formats[type]! };
}

/** The value of Content-Type. */
const contentType = (type: string): string =>
  type.startsWith("text/") ? `${type}; charset=utf-8` : type;

/**
 * The query of a SPARQL 1.1 Protocol request; without a query the request asks for the service
 * description.
 */
interface ProtocolRequest {
  query?: string;
  dataset: GraphNames;
}

const UPDATE = ["update", "using-graph-uri", "using-named-graph-uri"];

type PostLimits = Pick<Config, "MAX_FORM_FIELDS" | "SPARQL_MAX_QUERY_BYTES">;
/** A form encodes a byte of its query as `%xx`. */
const ESCAPED = 3;
/** Bytes of a form beside its query: the graphs of the dataset. */
const DATASET_ROOM = 64 * 2 ** 10;

/**
 * `GET ?query=` (SPARQL 1.1 Protocol, section 2.1.1).
 * @throws ServiceError `BAD_REQUEST`, `UPDATE_REFUSED`
 */
function readGet(target: string, limits: Pick<Config, "MAX_FORM_FIELDS">): ProtocolRequest {
  const parameters = parametersOf(queryOf(target), "query", limits);
  const dataset = graphsIn(parameters);
  const query = queryIn(parameters);
  if (query === undefined && dataset.default.length + dataset.named.length > 0) throw missing();
  return { dataset, ...(query !== undefined && { query }) };
}

/**
 * `POST` of a form, or of the query itself (sections 2.1.2 and 2.1.3); the dataset may be in the
 * URL with either.
 * @throws ServiceError `BAD_REQUEST`, `QUERY_SYNTAX` for bytes that are not UTF-8,
 * `UPDATE_REFUSED`, `UNSUPPORTED_MEDIA_TYPE`, `TOO_LARGE`
 */
async function readPost(
  req: IncomingMessage,
  limits: PostLimits,
): Promise<ProtocolRequest & { query: string }> {
  const inUrl = parametersOf(queryOf(req.url ?? ""), "query", limits);
  if (!hasBody(req)) throw missing();
  const isForm = mediaType(req) !== "application/sparql-query";
  const body = utf8(
    await readBytes(
      req,
      isForm
        ? ESCAPED * limits.SPARQL_MAX_QUERY_BYTES + DATASET_ROOM
        : limits.SPARQL_MAX_QUERY_BYTES,
      "SPARQL_MAX_QUERY_BYTES",
    ),
  );
  const form = isForm ? parametersOf(body, "body", limits) : undefined;
  const parameters = new URLSearchParams([...inUrl, ...(form ?? [])]);
  const query = queryIn(parameters);
  if (form) {
    if (query === undefined) throw missing();
    return { query, dataset: graphsIn(parameters) };
  }
  if (query !== undefined)
    throw new ServiceError(
      "BAD_REQUEST",
      "The query is sent twice, in the URL and as the body; send it once.",
    );
  return { query: body, dataset: graphsIn(parameters) };
}

const missing = (): ServiceError =>
  new ServiceError(
    "BAD_REQUEST",
    "The parameter query is missing: send ?query=, a form with query, or the query itself " +
      "as application/sparql-query.",
  );

function queryOf(target: string): string {
  const mark = target.indexOf("?");
  return mark < 0 ? "" : target.slice(mark + 1);
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ServiceError("QUERY_SYNTAX", "The query is malformed: the body is not UTF-8.");
  }
}

/**
 * @throws ServiceError `BAD_REQUEST` for escapes that are not UTF-8; ValidationError for text that
 * no query may hold
 */
function parametersOf(
  encoded: string,
  place: "query" | "body",
  limits: Pick<Config, "MAX_FORM_FIELDS">,
): URLSearchParams {
  const parameters = formFields(encoded, limits);
  try {
    decodeURIComponent(encoded.replace(/%(?![0-9A-Fa-f]{2})/g, "%25"));
  } catch {
    throw new ServiceError("BAD_REQUEST", "A parameter holds a percent-escape that is not UTF-8.");
  }
  for (const [name, value] of parameters)
    if (findBadString(value)) throw new ValidationError([badStringItem([place, name])]);
  return parameters;
}

function queryIn(parameters: URLSearchParams): string | undefined {
  for (const name of UPDATE) {
    if (parameters.has(name))
      throw new ServiceError(
        "UPDATE_REFUSED",
        `The parameter ${name} belongs to an update; /sparql answers queries only. Records ` +
          "are changed through REST and GraphQL.",
      );
  }
  const queries = parameters.getAll("query");
  if (queries.length > 1)
    throw new ServiceError(
      "BAD_REQUEST",
      "The parameter query is there more than once; send one query a request.",
    );
  return queries[0];
}

const SD = "http://www.w3.org/ns/sparql-service-description#";
const FORMATS = "http://www.w3.org/ns/formats/";
/** The service description comes in every type of a graph, the default first. */
const DESCRIPTION_TYPES = Object.keys(GRAPHS) as [DescriptionType, ...DescriptionType[]];
type DescriptionType = keyof typeof GRAPHS;

/** Features of the endpoint, by SPARQL 1.1 Service Description. */
async function serviceDescription(endpoint: string, type: DescriptionType): Promise<string> {
  const statements = quads(endpoint);
  const format = GRAPHS[type];
  if (format === "ttl") return written(statements, "Turtle");
  if (format === "rdfxml") return rdfXml(statements, { sd: SD, formats: FORMATS });
  const lines = await written(statements, "N-Triples");
  return format === "nt"
    ? lines
    : JSON.stringify(await jsonld.fromRDF(lines, { format: "application/n-quads" }));
}

function quads(endpoint: string): Quad[] {
  const { namedNode, blankNode, quad } = DataFactory;
  const a = namedNode(`${PREFIXES.rdf}type`);
  const sd = (name: string) => namedNode(SD + name);
  const service = namedNode(endpoint);
  const [dataset, graph] = [blankNode("dataset"), blankNode("union")];
  return [
    quad(service, a, sd("Service")),
    quad(service, sd("endpoint"), service),
    quad(service, sd("supportedLanguage"), sd("SPARQL11Query")),
    ...[
      "SPARQL_Results_JSON",
      "SPARQL_Results_XML",
      "SPARQL_Results_CSV",
      "SPARQL_Results_TSV",
      "Turtle",
      "N-Triples",
      "N-Quads",
      "JSON-LD",
      "RDF_XML",
    ].map((name) => quad(service, sd("resultFormat"), namedNode(FORMATS + name))),
    quad(service, sd("feature"), sd("UnionDefaultGraph")),
    quad(service, sd("defaultDataset"), dataset),
    quad(dataset, a, sd("Dataset")),
    quad(dataset, sd("defaultGraph"), graph),
    quad(graph, a, sd("Graph")),
  ];
}

function written(statements: readonly Quad[], format: string): Promise<string> {
  const writer = new Writer(
    format === "Turtle" ? { format, prefixes: { sd: SD, formats: FORMATS } } : { format },
  );
  writer.addQuads([...statements]);
  return new Promise((resolve, reject) =>
    writer.end((error, result: string) => (error ? reject(error) : resolve(result))),
  );
}

const sparql = new SparqlResolver();

/**
 * Bytes of answers that clients have not read to the end, per registry, which has settings of its
 * own; and how many answers of the largest size may be open.
 */
const unread = new WeakMap<Config, number>();
const MAX_UNREAD = 4;
/** ms without progress after which a client that does not read its answer is disconnected. */
const STALLED = 60_000;

/** Sends the answer of a query, in the form that the client prefers. */
async function answer(
  { req, res, context }: RestRequest,
  { query, dataset }: ProtocolRequest & { query: string },
): Promise<void> {
  const { config } = context.deps;
  if ((unread.get(config) ?? 0) > MAX_UNREAD * config.SPARQL_MAX_BYTES)
    throw new ServiceError(
      "SPARQL_BUSY",
      "Too many large answers have not been read by their clients yet; try again shortly.",
      {},
      { "Retry-After": "10" },
    );
  let type = "";
  const { bytes, truncated, sequence } = await sparql.query(
    {
      query,
      dataset,
      signal: presence({ res }),
      formatFor(form) {
        const chosen = mediaTypeFor(form, req.headers.accept);
        ({ type } = chosen);
        return chosen.format;
      },
    },
    context,
  );
  // The event that ends the count is over for a client that has left.
  if (res.destroyed) return;
  unread.set(config, (unread.get(config) ?? 0) + bytes.length);
  res.once("close", () => unread.set(config, (unread.get(config) ?? 0) - bytes.length));
  if (bytes.length > 2 ** 20) res.setTimeout(STALLED, () => res.destroy());
  sendBytes(req, res, bytes, {
    type: contentType(type),
    headers: {
      Vary: "Accept",
      "Cache-Control": "no-cache",
      "X-As-Of": sequence,
      ...(truncated && { "X-Truncated": `${truncated}=${config[truncated]}` }),
    },
  });
}

async function describe({ req, res, context, site }: RestRequest): Promise<void> {
  const type = preferred(req.headers.accept, [...DESCRIPTION_TYPES, "text/html"]);
  if (type === "text/html") return site.page(req, res, sparqlPage);
  const text = await serviceDescription(`${context.deps.baseUrl()}/sparql`, type);
  sendBytes(req, res, Buffer.from(text), {
    type: contentType(type),
    headers: { Vary: "Accept" },
  });
}

export const sparqlOperations: Handlers = {
  sparql_get: async (request) => {
    const { query, dataset } = readGet(request.req.url ?? "", request.context.deps.config);
    await (query === undefined ? describe(request) : answer(request, { query, dataset }));
  },
  sparql_post: async (request) =>
    answer(request, await readPost(request.req, request.context.deps.config)),
};
