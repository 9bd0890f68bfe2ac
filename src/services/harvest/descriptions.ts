import { PREFIXES, expandCurie } from "../../model/field.js";
import { KIND_NAMES } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { Deps } from "../deps.js";
import { within } from "../records/select.js";
import { publisherOf } from "./catalog.js";
import { LEFT_OUT, OPEN } from "./oai-sets.js";
import { Statements } from "./rdf-text.js";

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
