import { invalid } from "../errors.js";
import { hasBody, readBytes } from "../http/body.js";
import { formatNamed, preferred } from "../http/negotiation.js";
import { sendBytes, sendJson, streamBytes } from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import {
  API_CATALOG_PROFILE,
  apiCatalog,
  catalogPage,
  sitemapIndex,
  sitemapPage,
  voidDescription,
} from "../services/harvest/catalog.js";
import { answerOai } from "../services/harvest/oai.js";
import { RDF_TYPES, type RdfType, type Statements } from "../services/harvest/rdf-text.js";
import { BODY_REFUSALS, type ContractRow, type MediaTypeObject, query } from "./contract/rows.js";
import { type Handler, type Handlers, linkToNext, presence, type RestRequest } from "./request.js";

const text = (example: string): MediaTypeObject => ({ schema: { type: "string" }, example });

const OAI_ARGUMENTS: Readonly<Record<string, [about: string, example?: string]>> = {
  verb: ["Identify, ListMetadataFormats, ListSets, GetRecord, ListIdentifiers or ListRecords."],
  identifier: ["ARK of a record.", "ark:99999/dataset-cells"],
  metadataPrefix: ["Name of a format: ListMetadataFormats lists them.", "oai_dc"],
  from: ["First datestamp: YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ.", "2026-01-01"],
  until: ["Last datestamp, in the granularity of `from`.", "2026-01-31"],
  set: ["A set that ListSets names.", "kind.dataset"],
  resumptionToken: ["Token of the previous answer; excludes the other arguments but verb."],
};
const STRING: JsonObject = { type: "string" };
const OAI_DESCRIPTION =
  "OAI-PMH 2.0. Datestamps have seconds, deletions are persistent, and resumption tokens do not " +
  "expire. Drafts are in no list; a record that was withdrawn is a deletion. Errors of the " +
  "protocol have status 200, as the protocol says. See docs/harvesting.md.";
const OAI_ANSWER = {
  description: "An OAI-PMH answer.",
  content: {
    "text/xml": text(
      '<?xml version="1.0" encoding="UTF-8"?><OAI-PMH ' +
        'xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2026-01-31T12:00:00Z' +
        '</responseDate><request verb="Identify">https://registry.example/oai</request>' +
        "<Identify/></OAI-PMH>",
    ),
  },
} as const;

/** `?format=` of the documents in RDF. */
const RDF_NAMES: Readonly<Record<string, RdfType>> = {
  turtle: "text/turtle",
  jsonld: "application/ld+json",
  rdfxml: "application/rdf+xml",
  ntriples: "application/n-triples",
};
const RDF_FORMAT = query("format", "Format of the answer; takes precedence over `Accept`.", {
  type: "string",
  enum: Object.keys(RDF_NAMES),
});
const DATASET = "<https://registry.example/catalog>";
const RDF_ANSWERS: Readonly<Record<RdfType, MediaTypeObject>> = {
  "text/turtle": text(`${DATASET} a <http://www.w3.org/ns/dcat#Catalog> .\n`),
  "application/ld+json": {
    schema: { type: "object" },
    example: {
      "@id": "https://registry.example/catalog",
      "@type": "http://www.w3.org/ns/dcat#Catalog",
    },
  },
  "application/rdf+xml": text('<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'),
  "application/n-triples": text(
    `${DATASET} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ` +
      "<http://www.w3.org/ns/dcat#Catalog> .\n",
  ),
};

export const HARVEST: readonly ContractRow[] = [
  {
    method: "get",
    path: "/oai",
    operationId: "oai_get",
    tag: "harvesting",
    summary: "Harvest metadata with OAI-PMH",
    description: OAI_DESCRIPTION,
    parameters: Object.entries(OAI_ARGUMENTS).map(([name, [about, example]]) =>
      query(name, about, STRING, example),
    ),
    answer: OAI_ANSWER,
    refusals: ["QUERY_TIMEOUT"],
  },
  {
    method: "post",
    path: "/oai",
    operationId: "oai_post",
    tag: "harvesting",
    summary: "Harvest metadata with OAI-PMH, arguments as a form",
    description: OAI_DESCRIPTION,
    body: {
      "application/x-www-form-urlencoded": {
        schema: {
          type: "object",
          properties: Object.fromEntries(Object.keys(OAI_ARGUMENTS).map((name) => [name, STRING])),
        },
        example: { verb: "ListRecords", metadataPrefix: "oai_dc" },
      },
    },
    bodyLimit: "MAX_LOGIN_BYTES",
    answer: OAI_ANSWER,
    refusals: ["QUERY_TIMEOUT", ...BODY_REFUSALS],
  },
  {
    method: "get",
    path: "/sitemap.xml",
    operationId: "sitemap",
    tag: "harvesting",
    summary: "Sitemaps of all public records",
    description:
      "Without `page`: the index of the sitemaps. With it: one sitemap, of at most 50,000 pages " +
      "of records. Drafts and deleted records are left out.",
    parameters: [
      query("page", "Number of a sitemap, as the index names it.", { type: "integer", minimum: 1 }),
    ],
    answer: {
      description: "A sitemap index, or a sitemap, streamed.",
      content: {
        "application/xml": text(
          '<?xml version="1.0" encoding="UTF-8"?><urlset ' +
            'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>' +
            "https://registry.example/ark:99999/dataset-cells</loc></url></urlset>",
        ),
      },
    },
    refusals: ["NOT_FOUND", "QUERY_TIMEOUT"],
  },
  {
    method: "get",
    path: "/catalog",
    operationId: "catalog",
    tag: "harvesting",
    summary: "The catalogue of datasets in DCAT-AP 3.0.1",
    description:
      "Datasets and crates that are published, embargoed or archived, in pages: `hydra:next` in " +
      "the document and `Link` lead to the next one. Content that not everyone may read has no " +
      "distribution.",
    parameters: [
      query("cursor", "Cursor of the page: take it from the previous page.", STRING),
      RDF_FORMAT,
    ],
    answer: {
      description: "One page of the catalogue.",
      headers: ["Link"],
      content: RDF_ANSWERS,
    },
    refusals: ["NOT_ACCEPTABLE", "QUERY_TIMEOUT"],
  },
  {
    method: "get",
    path: "/.well-known/void",
    operationId: "void_description",
    tag: "harvesting",
    summary: "The published records as a dataset, in VoID",
    parameters: [RDF_FORMAT],
    answer: { description: "A description in RDF.", content: RDF_ANSWERS },
    refusals: ["NOT_ACCEPTABLE", "QUERY_TIMEOUT"],
  },
  {
    method: "get",
    path: "/.well-known/api-catalog",
    operationId: "api_catalog",
    tag: "harvesting",
    summary: "The interfaces of the registry (RFC 9727)",
    answer: {
      description: "A link set.",
      headers: ["Link"],
      content: {
        "application/linkset+json": {
          schema: {
            type: "object",
            required: ["linkset"],
            properties: { linkset: { type: "array", items: { type: "object" } } },
          },
          example: {
            linkset: [
              {
                anchor: "https://registry.example/.well-known/api-catalog",
                item: [{ href: "https://registry.example/graphql" }],
              },
            ],
          },
        },
      },
    },
  },
];

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

export const harvestOperations: Handlers = {
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
  api_catalog: async ({ req, res, context: { deps } }) =>
    sendJson(req, res, apiCatalog(deps), {
      type: `application/linkset+json; profile="${API_CATALOG_PROFILE}"`,
      headers: { Link: `<${deps.baseUrl()}/.well-known/api-catalog>; rel="api-catalog"` },
    }),
};

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
