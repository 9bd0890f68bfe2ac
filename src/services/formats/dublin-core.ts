import { KIND_NAMES } from "../../model/kind.js";
import { XML_DECLARATION } from "../../model/markup.js";
import type { Deps } from "../deps.js";
import type { RecordView } from "../records/view.js";
import { invertedName } from "./agents.js";
import { factsOf, type RecordFacts } from "./facts.js";
import type { RecordFormat } from "./format.js";
import { element, parent } from "./xml.js";
import { ownValue } from "../../own.js";

/** Names of the DCMI Type Vocabulary, by type of schema.org. */
const TYPES: Readonly<Record<string, string>> = {
  Dataset: "Dataset",
  SoftwareSourceCode: "Software",
  Action: "Event",
  Product: "PhysicalObject",
};
const NAMESPACES = {
  "xmlns:oai_dc": "http://www.openarchives.org/OAI/2.0/oai_dc/",
  "xmlns:dc": "http://purl.org/dc/elements/1.1/",
  "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
  "xsi:schemaLocation":
    "http://www.openarchives.org/OAI/2.0/oai_dc/ http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
};

/**
 * Simple Dublin Core of a record: the element `oai_dc:dc` of OAI-PMH, without an XML declaration,
 * so that an answer of OAI-PMH can hold it.
 */
export async function dublinCoreXml(
  deps: Pick<Deps, "records" | "config" | "baseUrl">,
  view: RecordView,
): Promise<string> {
  return dublinCoreOf(await factsOf(deps, view));
}

function dublinCoreOf(facts: RecordFacts): string {
  const { content, licence, access } = facts;
  const all = (name: string, values: readonly (string | null)[]): string[] =>
    values.map((value) => element(`dc:${name}`, value));
  return parent(
    "oai_dc:dc",
    [
      ...all("title", [facts.title]),
      ...all("creator", facts.creators.map(invertedName)),
      ...all("subject", facts.keywords),
      ...all("description", [facts.description]),
      ...all("publisher", [facts.publisher.name]),
      ...all("date", [facts.published]),
      ...all("type", [ownValue(TYPES, facts.type) ?? facts.type]),
      ...all("format", [content?.mediaType ?? null]),
      ...all("identifier", [facts.url, facts.ark, facts.doi && `https://doi.org/${facts.doi}`]),
      ...all("source", facts.basedOn),
      ...all("language", [facts.language]),
      ...all("relation", [facts.partOf, ...facts.publications]),
      ...all("rights", [access.name, access.coar, licence?.url ?? licence?.name ?? null]),
    ],
    NAMESPACES,
  );
}

export const dublinCore: RecordFormat = {
  name: "dublincore",
  mediaType: "application/xml",
  profile: "http://www.openarchives.org/OAI/2.0/oai_dc/",
  label: "Dublin Core",
  description: "Simple Dublin Core as XML (oai_dc), for catalogues and harvesters.",
  kinds: KIND_NAMES.filter((kind) => kind !== "user"),
  relation: "describedby",
  isDerived: true,
  example:
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" ' +
    'xmlns:dc="http://purl.org/dc/elements/1.1/">\n<dc:title>Cells</dc:title>\n</oai_dc:dc>\n',
  write: async ({ deps, view }) => XML_DECLARATION + (await dublinCoreXml(deps, view)),
};
