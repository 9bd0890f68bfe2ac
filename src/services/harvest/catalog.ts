/**
 * What harvesters find without OAI-PMH: the catalog of datasets in DCAT, the descriptions that
 * lead to it, and sitemaps.
 */
import type { Term } from "n3";
import { eventLoop } from "../../event-loop-budget.js";
import { ServiceError } from "../../errors.js";
import { instantOf } from "../../model/dates.js";
import { expandCurie, PREFIXES } from "../../model/field.js";
import { KIND_NAMES, type KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { XML_DECLARATION, xmlText } from "../../model/markup.js";
import { plainLine, plainText } from "../../model/texts.js";
import type { ObjectReference, StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { contentStates, isReadable } from "../files/content.js";
import { attributionOf } from "../formats/attribution.js";
import { type Landmarks, landmarksOf } from "../records/list.js";
import { within } from "../records/select.js";
import { LEFT_OUT, OPEN } from "./oai-items.js";
import { Statements } from "./rdf-text.js";
import { pairs } from "../../pairs.js";

/** Kinds of records that are datasets of a catalogue. */
const CATALOGUED: readonly KindName[] = ["dataset", "rocrate"];

const ACCESS = "http://publications.europa.eu/resource/authority/access-right/";
const MEDIA_TYPES = "https://www.iana.org/assignments/media-types/";
const SHA256 = "http://spdx.org/rdf/terms#checksumAlgorithm_sha256";
/** Files of one dataset that the catalogue lists; the page of the dataset lists all. */
const MAX_FILES = 100;
/** Datasets that are described in one turn of the event loop. */
const MAX_DATASETS_PER_TURN = 10;

/** One page of the catalogue. */
interface CatalogPage {
  statements: Statements;
  /** Position of the next page. */
  next?: string;
}

/**
 * A page of the catalogue in DCAT-AP 3.0.1. Each page is complete by itself: catalogue, services,
 * and the datasets of the page with their distributions.
 * @param after position of the page, from {@link CatalogPage.next}
 * @throws ServiceError `BAD_REQUEST` for a position that is not of the catalogue, `QUERY_TIMEOUT`
 */
export async function catalogPage(deps: Deps, after: string | undefined): Promise<CatalogPage> {
  const filter = { kinds: CATALOGUED, statuses: OPEN };
  const page = await within(
    (signal) =>
      deps.records.select(
        {
          filter,
          order: { by: "created", descending: false },
          limit: deps.config.CATALOG_PAGE_SIZE,
          bytes: deps.config.MAX_PAGE_BYTES,
          ...(after === undefined ? {} : { after }),
        },
        signal,
      ),
    "The catalogue",
    "retry when the registry is less busy",
  );
  const next = page.more ? page.positions.at(-1) : undefined;
  const total = await within((signal) => deps.records.countSelected({ filter }, signal));
  const statements = new Statements();
  const catalog = describeCatalog(deps, statements);
  describeView(deps, statements, catalog, { after, next, total });
  const files = await filesOf(deps, page.items);
  for (const [index, [record, own]] of pairs(page.items, files).entries()) {
    const dataset = await describeDataset(deps, statements, record, own);
    statements.add(catalog, "dcat:dataset", dataset);
    if (index % MAX_DATASETS_PER_TURN === MAX_DATASETS_PER_TURN - 1) await eventLoop.nextTurn();
  }
  return { statements, ...(next === undefined ? {} : { next }) };
}

const catalogAddress = (deps: Deps, cursor?: string): string =>
  `${deps.baseUrl()}/catalog${cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`}`;

/** The registry as an agent. */
function publisherOf({ baseUrl, config }: Deps, to: Statements): Term {
  const agent = to.node(`${baseUrl()}/#publisher`, "foaf:Agent");
  to.text(agent, "foaf:name", config.REGISTRY_NAME);
  return agent;
}

const SERVICES: readonly (readonly [path: string, title: string, about: string, more: string])[] = [
  ["", "REST", "Records, crates, files, provenance and search over HTTP.", "/openapi.json"],
  ["/graphql", "GraphQL", "Every capability of the registry, typed.", "/graphql/schema.graphql"],
  ["/sparql", "SPARQL", "SPARQL 1.1 queries over the graphs of all records.", "/sparql"],
];

function describeCatalog(deps: Deps, to: Statements): Term {
  const base = deps.baseUrl();
  const { REGISTRY_NAME: name, CONTACT_EMAIL: email } = deps.config;
  const catalog = to.node(catalogAddress(deps), "dcat:Catalog", "hydra:Collection");
  const publisher = publisherOf(deps, to);
  to.text(catalog, "dcterms:title", name);
  to.text(catalog, "dcterms:description", `Datasets and research-object crates of ${name}.`);
  to.add(catalog, "dcterms:publisher", publisher);
  to.add(catalog, "foaf:homepage", to.node(`${base}/`, "foaf:Document"));
  const contact = email === null ? null : to.node(`${base}/#contact`, "vcard:Kind");
  if (contact) {
    to.text(contact, "vcard:fn", name);
    to.add(contact, "vcard:hasEmail", to.node(`mailto:${email}`));
  }
  for (const [path, title, about, description] of SERVICES) {
    const service = to.node(`${base}/#service-${title.toLowerCase()}`, "dcat:DataService");
    to.text(service, "dcterms:title", `${name}: ${title}`);
    to.text(service, "dcterms:description", about);
    to.add(service, "dcterms:publisher", publisher);
    to.add(service, "dcat:contactPoint", contact);
    to.add(service, "dcat:endpointURL", to.node(`${base}${path || "/"}`, "rdfs:Resource"));
    to.add(service, "dcat:endpointDescription", to.node(base + description, "rdfs:Resource"));
    to.add(service, "dcterms:accessRights", access(to, "PUBLIC"));
    to.add(catalog, "dcat:service", service);
  }
  return catalog;
}

/** How to go on: vocabulary of Hydra, which harvesters of DCAT read. */
function describeView(
  deps: Deps,
  to: Statements,
  catalog: Term,
  { after, next, total }: { after: string | undefined; next: string | undefined; total: number },
): void {
  to.text(catalog, "hydra:totalItems", String(total), "xsd:integer");
  if (after === undefined && next === undefined) return;
  // The first page has the address of the catalogue itself, so its view has a name of its own.
  const view = to.node(
    after === undefined ? `${catalogAddress(deps)}#first` : catalogAddress(deps, after),
    "hydra:PartialCollectionView",
  );
  to.add(catalog, "hydra:view", view);
  to.add(view, "hydra:first", to.node(catalogAddress(deps)));
  if (next !== undefined) to.add(view, "hydra:next", to.node(catalogAddress(deps, next)));
}

const access = (to: Statements, right: "PUBLIC" | "RESTRICTED" | "NON_PUBLIC"): Term =>
  to.node(ACCESS + right, "dcterms:RightsStatement");

/** The file records of each record: what they say that they encode. */
async function filesOf(
  { records }: Deps,
  datasets: readonly StoredRecord[],
): Promise<StoredRecord[][]> {
  if (datasets.length === 0) return [];
  const pages = await records.linksTo(
    datasets.map(({ key }) => key),
    {
      predicates: ["schema:encodesCreativeWork"],
      kinds: ["datadownload"],
      distinct: true,
      limit: MAX_FILES,
    },
  );
  const arks = pages.map(({ items }) => items.map(({ source }) => source));
  const found = await records.findMany(arks.flat());
  const byArk = new Map(found.flatMap((record) => (record ? [[record.ark, record] as const] : [])));
  return arks.map((own) =>
    own.flatMap((ark) => {
      const record = byArk.get(ark);
      return record && record.tombstone === null && OPEN.includes(record.publicationStatus)
        ? [record]
        : [];
    }),
  );
}

async function describeDataset(
  deps: Deps,
  to: Statements,
  record: StoredRecord,
  files: readonly StoredRecord[],
): Promise<Term> {
  const landmarks = landmarksOf(record);
  const address = `${deps.baseUrl()}/${encodeURI(record.ark)}`;
  const dataset = to.node(address, "dcat:Dataset");
  const { authors, when } = await attributionOf(deps, landmarks);
  to.text(dataset, "dcterms:title", plainLine(landmarks.name ?? "") || record.ark);
  const description = plainText(landmarks.description ?? "");
  to.text(dataset, "dcterms:description", description || "No description is given.");
  to.text(dataset, "dcterms:identifier", record.ark);
  to.add(dataset, "dcat:landingPage", to.node(`${address}?format=html`, "foaf:Document"));
  for (const keyword of new Set(landmarks.keywords))
    to.text(dataset, "dcat:keyword", plainLine(keyword));
  const { version } = landmarks.document;
  if (typeof version === "string" && version !== "") to.text(dataset, "dcat:version", version);
  date(to, dataset, "dcterms:issued", when);
  to.text(dataset, "dcterms:modified", new Date(record.modifiedAt).toISOString(), "xsd:dateTime");
  to.add(dataset, "dcterms:publisher", publisherOf(deps, to));
  for (const { name, id } of authors) {
    const agent = to.node(id === null ? null : agentIri(deps, id), "foaf:Agent");
    to.text(agent, "foaf:name", name);
    to.add(dataset, "dcterms:creator", agent);
  }
  if (record.crate !== null)
    to.add(dataset, "dcterms:isPartOf", to.node(`${deps.baseUrl()}/${encodeURI(record.crate)}`));
  const isOpen = await isReadable(deps, record, null);
  const status = record.publicationStatus;
  to.add(
    dataset,
    "dcterms:accessRights",
    access(to, isOpen ? "PUBLIC" : status === "ARCHIVED" ? "NON_PUBLIC" : "RESTRICTED"),
  );
  if (!isOpen && status === "EMBARGOED" && record.embargoedUntil !== null)
    date(to, dataset, "dcterms:available", record.embargoedUntil);
  await describeFiles(deps, to, dataset, landmarks, files);
  return dataset;
}

const agentIri = (deps: Deps, id: string): string =>
  id.startsWith("ark:") ? `${deps.baseUrl()}/${encodeURI(id)}` : id;

/** Distributions of what anyone may read; the others have none. */
async function describeFiles(
  deps: Deps,
  to: Statements,
  dataset: Term,
  { record, license, content }: Landmarks,
  files: readonly StoredRecord[],
): Promise<void> {
  const held = [record, ...files];
  const states = await contentStates(deps, held);
  for (const [holder, { object, state, address }] of pairs(held, states)) {
    const elsewhere = holder === record ? content : landmarksOf(holder).content;
    const url = object && state === "stored" ? address : (elsewhere?.url ?? null);
    if (url === null || !(await isReadable(deps, holder, null))) continue;
    const page = `${deps.baseUrl()}/${encodeURI(holder.ark)}`;
    const distribution = to.node(`${page}#distribution`, "dcat:Distribution");
    to.add(dataset, "dcat:distribution", distribution);
    to.text(distribution, "dcterms:title", holder.name);
    to.add(distribution, "dcat:accessURL", to.node(url, "rdfs:Resource"));
    to.add(distribution, "dcat:downloadURL", to.node(url, "rdfs:Resource"));
    const media = mediaTypeIri(object?.mediaType ?? elsewhere?.mediaType ?? "");
    if (media) to.add(distribution, "dcat:mediaType", to.node(media, "dcterms:MediaType"));
    const terms = holder === record ? license : (landmarksOf(holder).license ?? license);
    if (terms !== null)
      to.add(distribution, "dcterms:license", to.node(terms, "dcterms:LicenseDocument"));
    if (object && url === address) describeBytes(to, distribution, page, object);
  }
}

/** IANA's page of a media type, without its parameters. */
function mediaTypeIri(type: string): string | undefined {
  const [name] = /^[\w.+-]+\/[\w.+-]+/.exec(type) ?? [];
  return name && MEDIA_TYPES + name.toLowerCase();
}

function describeBytes(
  to: Statements,
  distribution: Term,
  page: string,
  { size, sha256 }: ObjectReference,
): void {
  to.text(distribution, "dcat:byteSize", String(size), "xsd:nonNegativeInteger");
  const checksum = to.node(`${page}#sha256`, "spdx:Checksum");
  to.add(checksum, "spdx:algorithm", to.node(SHA256, "spdx:ChecksumAlgorithm"));
  to.text(checksum, "spdx:checksumValue", sha256, "xsd:hexBinary");
  to.add(distribution, "spdx:checksum", checksum);
}

/** A date with the type that fits it; other text is no date, and is left out. */
function date(
  to: Statements,
  subject: Term,
  predicate: "dcterms:issued" | "dcterms:available",
  text: string,
): void {
  const stated = text.trim();
  if (/^\d{4}$/.test(stated)) to.text(subject, predicate, stated, "xsd:gYear");
  else if (/^\d{4}-\d\d$/.test(stated)) to.text(subject, predicate, stated, "xsd:gYearMonth");
  else {
    const at = instantOf(stated);
    if (at === undefined) return;
    const iso = new Date(at).toISOString();
    const isDay = /^\d{4}-\d\d-\d\d$/.test(stated);
    to.text(subject, predicate, isDay ? stated : iso, isDay ? "xsd:date" : "xsd:dateTime");
  }
}

/** RFC 9727, section 7.3: the profile of the media type. */
export const API_CATALOG_PROFILE = "https://www.rfc-editor.org/info/rfc9727";

/** The dataset of all published records, in the vocabulary VoID. */
export async function voidDescription(deps: Deps): Promise<Statements> {
  const base = deps.baseUrl();
  const { groups } = await within(
    (signal) =>
      deps.records.statistics(
        {
          filter: { statuses: OPEN },
          without: LEFT_OUT,
          by: ["kind"],
          limit: KIND_NAMES.length,
        },
        signal,
      ),
    "The count of records",
    "retry when the registry is less busy",
  );
  const to = new Statements();
  const document = to.node(`${base}/.well-known/void`, "void:DatasetDescription");
  const dataset = to.node(`${base}/#records`, "void:Dataset");
  to.add(document, "foaf:primaryTopic", dataset);
  to.text(document, "dcterms:title", `Description of the records of ${deps.config.REGISTRY_NAME}`);
  to.text(dataset, "dcterms:title", `Published records of ${deps.config.REGISTRY_NAME}`);
  to.add(dataset, "dcterms:publisher", publisherOf(deps, to));
  to.add(dataset, "foaf:homepage", to.node(`${base}/`, "foaf:Document"));
  to.add(dataset, "void:sparqlEndpoint", to.node(`${base}/sparql`));
  to.add(dataset, "void:rootResource", to.node(`${base}/catalog`));
  to.text(dataset, "void:uriSpace", `${base}/ark:`);
  for (const format of ["Turtle", "JSON-LD", "N-Quads"])
    to.add(dataset, "void:feature", to.node(`http://www.w3.org/ns/formats/${format}`));
  for (const vocabulary of ["schema", "evi", "prov"] as const)
    to.add(dataset, "void:vocabulary", to.node(PREFIXES[vocabulary]));
  let all = 0;
  for (const { values, records } of groups) {
    const kind = KIND_NAMES.find((name) => name === values[0]);
    if (!kind) continue;
    all += records;
    const part = to.node(`${base}/#records-${kind}`, "void:Dataset");
    to.add(part, "void:class", to.node(expandCurie(KINDS[kind].rdfClass)));
    to.text(part, "void:entities", String(records), "xsd:integer");
    to.add(dataset, "void:classPartition", part);
  }
  to.text(dataset, "void:entities", String(all), "xsd:integer");
  return to;
}

/** The interfaces of the registry as a link set (RFC 9727): where each is, and its description. */
export function apiCatalog({ baseUrl }: Pick<Deps, "baseUrl">): object {
  const base = baseUrl();
  const link = (path: string, type: string): object[] => [{ href: base + path, type }];
  const page = link("/docs", "text/html");
  const interfaces = [
    {
      anchor: `${base}/`,
      "service-desc": [
        ...link("/openapi.json", "application/json"),
        ...link("/openapi.yaml", "application/yaml"),
      ],
      "service-doc": page,
      status: link("/healthz", "application/json"),
    },
    {
      anchor: `${base}/graphql`,
      "service-desc": link("/graphql/schema.graphql", "application/graphql"),
      "service-doc": link("/graphql", "text/html"),
    },
    {
      anchor: `${base}/sparql`,
      "service-desc": link("/sparql", "text/turtle"),
      "service-meta": link("/.well-known/void", "text/turtle"),
    },
    { anchor: `${base}/oai`, "service-desc": link("/oai?verb=Identify", "text/xml") },
    { anchor: `${base}/catalog`, "service-desc": link("/catalog", "text/turtle") },
  ];
  return {
    linkset: [
      {
        anchor: `${base}/.well-known/api-catalog`,
        item: interfaces.map(({ anchor }) => ({ href: anchor })),
      },
      ...interfaces,
    ],
  };
}

/** Most addresses in one sitemap, by the protocol. */
const PER_PAGE = 50_000;
/** Addresses in one read. */
const PER_READ = 5000;
/** Longer addresses are not allowed in a sitemap. */
const MAX_ADDRESS_CHARS = 2047;

/** Identifiers that stand in an address, and in XML, as they are. */
const PLAIN = /^[A-Za-z0-9\-._~:/]*$/;

const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
const SLOW = ["The sitemap", "retry when the registry is less busy"] as const;

/** The index of sitemaps: one for each range of records that holds pages to list. */
export async function sitemapIndex(deps: Deps): Promise<string> {
  const ranges = await within(
    (signal) => deps.records.addressRanges({ size: PER_PAGE, without: LEFT_OUT }, signal),
    ...SLOW,
  );
  const base = deps.baseUrl();
  const maps = ranges.map(
    ({ range, modifiedAt }) =>
      `<sitemap><loc>${xmlText(`${base}/sitemap.xml?page=${range + 1}`)}</loc>` +
      `<lastmod>${time(modifiedAt)}</lastmod></sitemap>\n`,
  );
  return `${XML_DECLARATION}<sitemapindex ${NAMESPACE}>\n${maps.join("")}</sitemapindex>\n`;
}

/**
 * One sitemap, in chunks: the pages of the public records of one range.
 * @param page from 1
 * @throws ServiceError `NOT_FOUND` for a page without records
 */
export async function* sitemapPage(deps: Deps, page: number): AsyncGenerator<Uint8Array> {
  const base = xmlText(`${deps.baseUrl()}/`);
  const upTo = page * PER_PAGE;
  let after: number | undefined = upTo - PER_PAGE;
  let head = `${XML_DECLARATION}<urlset ${NAMESPACE}>\n`;
  while (after !== undefined) {
    const from: number = after;
    const { items, next } = await within(
      (signal) =>
        deps.records.addresses({ after: from, upTo, limit: PER_READ, without: LEFT_OUT }, signal),
      ...SLOW,
    );
    if (items.length === 0 && head !== "")
      throw new ServiceError(
        "NOT_FOUND",
        `There is no sitemap with the number ${page}; /sitemap.xml lists them.`,
      );
    const lines = items.map(({ ark, modifiedAt }) => {
      const address = base + (PLAIN.test(ark) ? ark : xmlText(encodeURI(ark)));
      return address.length > MAX_ADDRESS_CHARS
        ? ""
        : `<url><loc>${address}</loc><lastmod>${time(modifiedAt)}</lastmod></url>\n`;
    });
    yield Buffer.from(head + lines.join(""));
    head = "";
    after = next;
  }
  yield Buffer.from("</urlset>\n");
}

const time = (at: number): string => new Date(at).toISOString();
