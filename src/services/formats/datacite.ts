import type { JsonObject } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { XML_DECLARATION } from "../../model/markup.js";
import type { Deps } from "../deps.js";
import type { RecordView } from "../records/view.js";
import { type Agent, invertedName, isHttp } from "./agents.js";
import { CITED, doiOf, factsOf, type RecordFacts } from "./facts.js";
import type { RecordFormat } from "./format.js";
import { element, parent } from "./xml.js";

type FactDeps = Pick<Deps, "records" | "config" | "baseUrl">;

const NAMESPACE = "http://datacite.org/schema/kernel-4";
/** Values of `resourceTypeGeneral`; the kinds that are not here are `Other`. */
const GENERAL: Readonly<Partial<Record<KindName, string>>> = {
  rocrate: "Dataset",
  dataset: "Dataset",
  datadownload: "Dataset",
  software: "Software",
  mlmodel: "Model",
  sample: "PhysicalObject",
  instrument: "Instrument",
  annotation: "Text",
  project: "Project",
  computation: "Event",
  experiment: "Event",
};
/** DataCite's word for a value that is not available ("Standard values for unknown information"). */
const UNKNOWN = "(:unav)";

/** A name identifier, publisher or affiliation by its scheme. */
interface Identifier {
  id: string;
  scheme: "ORCID" | "ROR";
  schemeUri: string;
}
const orcidOf = (orcid: string): Identifier => ({
  id: `https://orcid.org/${orcid}`,
  scheme: "ORCID",
  schemeUri: "https://orcid.org/",
});
const rorOf = (ror: string): Identifier => ({
  id: `https://ror.org/${ror}`,
  scheme: "ROR",
  schemeUri: "https://ror.org/",
});

/** A related resource, by what it is named with. */
interface Related {
  id: string;
  type: "DOI" | "URL" | "ARK";
  relation: string;
}

/** The metadata of a record in the terms of DataCite 4.7; the two documents spell it out. */
function kernelOf(facts: RecordFacts) {
  const { record, doi, ark, access, licence, content } = facts;
  const related = (relation: string, ids: readonly (string | null)[]): Related[] =>
    ids.flatMap((id): Related[] => {
      if (id === null) return [];
      const found = doiOf(id);
      if (found !== null) return [{ id: found, type: "DOI", relation }];
      return isHttp(id) ? [{ id, type: "URL", relation }] : [];
    });
  const unknown: Agent = { name: UNKNOWN, isOrganization: false, affiliations: [] };
  return {
    // The ARK is the identifier of what has no DOI.
    identifier: doi === null ? { id: ark, type: "ARK" } : { id: doi, type: "DOI" },
    alternates: [
      ...(doi === null ? [] : [{ id: ark, type: "ARK" }]),
      { id: facts.url, type: "URL" },
    ],
    creators: facts.creators.length > 0 ? facts.creators : [unknown],
    title: facts.title,
    publisher: facts.publisher,
    // An embargo postpones the publication of the content.
    year: (access.until?.slice(0, 4).match(/^\d{4}$/)?.[0] ?? facts.year).padStart(4, "0"),
    type: {
      general: GENERAL[record.kind] ?? "Other",
      text: KINDS[record.kind].typeName,
    },
    subjects: facts.keywords,
    dates: [
      { type: "Issued", date: facts.published },
      ...(facts.created === null ? [] : [{ type: "Created", date: facts.created }]),
      { type: "Updated", date: facts.modified },
      { type: "Submitted", date: facts.registered },
      ...(access.until === null ? [] : [{ type: "Available", date: access.until }]),
    ],
    language:
      facts.language !== null && /^[a-z]{2,3}(?:-[a-z0-9]{2,8})*$/i.test(facts.language)
        ? facts.language
        : null,
    related: [
      ...related("IsDerivedFrom", facts.basedOn),
      ...related("IsPartOf", [facts.partOf]),
      ...related("IsDescribedBy", facts.publications),
      ...related("HasMetadata", [`${facts.url}?format=jsonld`]),
    ],
    sizes: content?.size == null ? [] : [`${content.size} bytes`],
    formats: content?.mediaType == null ? [] : [content.mediaType],
    version: facts.version,
    rights: [
      ...(licence === null ? [] : [{ text: licence.name, uri: licence.url, spdx: licence.spdx }]),
      { text: access.name, uri: access.coar, spdx: null },
    ],
    description: facts.description,
  };
}

const identifiersOf = ({ orcid, ror }: Agent): Identifier[] => [
  ...(orcid === undefined ? [] : [orcidOf(orcid)]),
  ...(ror === undefined ? [] : [rorOf(ror)]),
];
const nameType = ({ name, isOrganization, family }: Agent): string | null =>
  isOrganization ? "Organizational" : name === UNKNOWN || family === undefined ? null : "Personal";

/**
 * DataCite 4.7 metadata of a record: the element `resource`, without an XML declaration, so that an
 * answer of OAI-PMH can hold it.
 */
export async function dataciteXml(deps: FactDeps, view: RecordView): Promise<string> {
  const kernel = kernelOf(await factsOf(deps, view));
  const { publisher } = kernel;
  return parent(
    "resource",
    [
      element("identifier", kernel.identifier.id, { identifierType: kernel.identifier.type }),
      parent("creators", kernel.creators.map(creatorXml)),
      parent("titles", [element("title", kernel.title) || element("title", kernel.identifier.id)]),
      element("publisher", publisher.name, {
        publisherIdentifier: publisher.ror && rorOf(publisher.ror).id,
        publisherIdentifierScheme: publisher.ror && "ROR",
        schemeURI: publisher.ror && rorOf(publisher.ror).schemeUri,
      }),
      element("publicationYear", kernel.year),
      element("resourceType", kernel.type.text, { resourceTypeGeneral: kernel.type.general }),
      parent(
        "subjects",
        kernel.subjects.map((subject) => element("subject", subject)),
      ),
      parent(
        "dates",
        kernel.dates.map(({ type, date }) => element("date", date, { dateType: type })),
      ),
      element("language", kernel.language),
      parent(
        "alternateIdentifiers",
        kernel.alternates.map(({ id, type }) =>
          element("alternateIdentifier", id, { alternateIdentifierType: type }),
        ),
      ),
      parent(
        "relatedIdentifiers",
        kernel.related.map(({ id, type, relation }) =>
          element("relatedIdentifier", id, {
            relatedIdentifierType: type,
            relationType: relation,
          }),
        ),
      ),
      parent(
        "sizes",
        kernel.sizes.map((size) => element("size", size)),
      ),
      parent(
        "formats",
        kernel.formats.map((format) => element("format", format)),
      ),
      element("version", kernel.version),
      parent(
        "rightsList",
        kernel.rights.map(({ text, uri, spdx }) =>
          element("rights", text, {
            rightsURI: uri,
            rightsIdentifier: spdx,
            rightsIdentifierScheme: spdx && "SPDX",
            schemeURI: spdx && "https://spdx.org/licenses/",
          }),
        ),
      ),
      parent("descriptions", [
        element("description", kernel.description, { descriptionType: "Abstract" }),
      ]),
    ],
    {
      xmlns: NAMESPACE,
      "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
      "xsi:schemaLocation": `${NAMESPACE} https://schema.datacite.org/meta/kernel-4.7/metadata.xsd`,
    },
  );
}

const creatorXml = (agent: Agent): string =>
  parent("creator", [
    element("creatorName", invertedName(agent), { nameType: nameType(agent) }),
    element("givenName", agent.given ?? null),
    element("familyName", agent.family ?? null),
    ...identifiersOf(agent).map(({ id, scheme, schemeUri }) =>
      element("nameIdentifier", id, { nameIdentifierScheme: scheme, schemeURI: schemeUri }),
    ),
    ...agent.affiliations.map(({ name, ror }) =>
      element("affiliation", name, {
        affiliationIdentifier: ror && rorOf(ror).id,
        affiliationIdentifierScheme: ror && "ROR",
        schemeURI: ror && rorOf(ror).schemeUri,
      }),
    ),
  ]);

/** The attributes of a DOI in DataCite's REST API and content negotiation. */
export async function dataciteJson(deps: FactDeps, view: RecordView): Promise<JsonObject> {
  const facts = await factsOf(deps, view);
  const kernel = kernelOf(facts);
  const { publisher } = kernel;
  const identifier = (id: string, type: string): JsonObject => ({
    identifier: id,
    identifierType: type,
  });
  return {
    ...(facts.doi === null ? {} : { id: `https://doi.org/${facts.doi}`, doi: facts.doi }),
    url: facts.url,
    types: { resourceTypeGeneral: kernel.type.general, resourceType: kernel.type.text },
    creators: kernel.creators.map((agent): JsonObject => ({
      name: invertedName(agent),
      ...(nameType(agent) === null ? {} : { nameType: nameType(agent) }),
      ...(agent.given === undefined ? {} : { givenName: agent.given }),
      ...(agent.family === undefined ? {} : { familyName: agent.family }),
      nameIdentifiers: identifiersOf(agent).map(({ id, scheme, schemeUri }) => ({
        nameIdentifier: id,
        nameIdentifierScheme: scheme,
        schemeUri,
      })),
      affiliation: agent.affiliations.map(({ name, ror }) => ({
        name,
        ...(ror === undefined
          ? {}
          : {
              affiliationIdentifier: rorOf(ror).id,
              affiliationIdentifierScheme: "ROR",
              schemeUri: rorOf(ror).schemeUri,
            }),
      })),
    })),
    titles: [{ title: kernel.title }],
    publisher: {
      name: publisher.name,
      ...(publisher.ror === undefined
        ? {}
        : {
            publisherIdentifier: rorOf(publisher.ror).id,
            publisherIdentifierScheme: "ROR",
            schemeUri: rorOf(publisher.ror).schemeUri,
          }),
    },
    publicationYear: Number(kernel.year),
    subjects: kernel.subjects.map((subject) => ({ subject })),
    dates: kernel.dates.map(({ type, date }) => ({ date, dateType: type })),
    ...(kernel.language === null ? {} : { language: kernel.language }),
    identifiers: [
      ...(facts.doi === null ? [identifier(facts.ark, "ARK")] : []),
      ...kernel.alternates.map(({ id, type }) => identifier(id, type)),
    ],
    relatedIdentifiers: kernel.related.map(({ id, type, relation }) => ({
      relatedIdentifier: id,
      relatedIdentifierType: type,
      relationType: relation,
    })),
    sizes: kernel.sizes,
    formats: kernel.formats,
    ...(kernel.version === null ? {} : { version: kernel.version }),
    rightsList: kernel.rights.map(({ text, uri, spdx }): JsonObject => ({
      rights: text,
      ...(uri === null ? {} : { rightsUri: uri }),
      ...(spdx === null
        ? {}
        : {
            rightsIdentifier: spdx,
            rightsIdentifierScheme: "SPDX",
            schemeUri: "https://spdx.org/licenses/",
          }),
    })),
    descriptions:
      kernel.description === null
        ? []
        : [{ description: kernel.description, descriptionType: "Abstract" }],
    schemaVersion: NAMESPACE,
  };
}

const common = { kinds: CITED, relation: "describedby", isDerived: true } as const;

export const datacite: RecordFormat = {
  ...common,
  name: "datacite",
  mediaType: "application/vnd.datacite.datacite+xml",
  label: "DataCite XML",
  description: "Metadata of DataCite 4.7 as XML, for DOIs and catalogues.",
  isSignpost: true,
  example:
    `<resource xmlns="${NAMESPACE}">\n` +
    '<identifier identifierType="ARK">ark:99999/dataset-cells</identifier>\n</resource>\n',
  write: async ({ deps, view }) => XML_DECLARATION + (await dataciteXml(deps, view)),
};

export const datacitejson: RecordFormat = {
  ...common,
  name: "datacitejson",
  mediaType: "application/vnd.datacite.datacite+json",
  label: "DataCite JSON",
  description: "The same as JSON: the attributes of DataCite's REST API.",
  example: '{"titles":[{"title":"Cells"}],"schemaVersion":"http://datacite.org/schema/kernel-4"}',
  write: async ({ deps, view }) => JSON.stringify(await dataciteJson(deps, view)),
};
