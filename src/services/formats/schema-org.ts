import type { JsonObject } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { cutAtSentence, textOf } from "../../model/texts.js";
import type { FileReference } from "../../storage/records/port.js";
import { storedFiles } from "../crates/export/contents.js";
import type { Deps } from "../deps.js";
import { parseDocument, type RecordView } from "../records/view.js";
import type { Agent } from "./agents.js";
import { columnsOf, schemaArkOf } from "./columns.js";
import { CITED, factsOf, type RecordFacts } from "./facts.js";
import type { RecordFormat } from "./format.js";
import { addressOf, contentAddress } from "./signposting.js";
import { AS_CREATED } from "../records/pages.js";

type FactDeps = Pick<Deps, "records" | "config" | "baseUrl">;

/** Files, schemas and columns of one document: search engines read no more. */
const MAX_FILES = 100;
const MAX_SCHEMAS = 20;
const MAX_VARIABLES = 200;
/** Characters of a description that Google Dataset Search accepts. */
export const LEAST_DESCRIPTION = 50;
const MAX_DESCRIPTION_CHARS = 5000;
/** Characters of a name, which results show in one or two lines. */
const MAX_NAME_CHARS = 300;
/** Kinds whose pages carry the document for search engines. */
export const INDEXED: readonly KindName[] = ["rocrate", "dataset", "software", "mlmodel"];

/**
 * A record in the terms of schema.org with an inline context, for search engines: pages hold it in
 * a `script` element. Files are listed when they are open to everyone.
 */
async function schemaOrgJsonLd(deps: FactDeps, view: RecordView): Promise<JsonObject> {
  const facts = await factsOf(deps, view);
  const { record, access, licence } = facts;
  const distribution = access.isOpen ? await distributionOf(deps, facts) : [];
  const variables = await variablesOf(deps, facts);
  return {
    "@context": { "@vocab": "https://schema.org/" },
    "@id": facts.url,
    "@type": facts.type,
    url: facts.url,
    identifier: [
      {
        "@type": "PropertyValue",
        propertyID: "https://registry.identifiers.org/registry/ark",
        name: "ARK",
        value: facts.ark,
        url: facts.url,
      },
      ...(facts.doi === null ? [] : [`https://doi.org/${facts.doi}`]),
    ],
    ...descriptiveMembers(facts),
    publisher: agentOf(facts.publisher),
    datePublished: facts.published,
    ...(facts.created === null ? {} : { dateCreated: facts.created }),
    dateModified: facts.modified,
    ...(facts.version === null ? {} : { version: facts.version }),
    ...(facts.keywords.length === 0 ? {} : { keywords: facts.keywords }),
    ...(facts.language === null ? {} : { inLanguage: facts.language }),
    ...(licence === null ? {} : { license: licence.url ?? licence.name }),
    isAccessibleForFree: access.isOpen,
    conditionsOfAccess: access.coar,
    ...(facts.basedOn.length === 0 ? {} : { isBasedOn: facts.basedOn }),
    ...(facts.partOf === null ? {} : { isPartOf: { "@type": "Dataset", "@id": facts.partOf } }),
    ...(facts.publications.length === 0 ? {} : { citation: facts.publications }),
    ...codeMembers(facts),
    ...(variables.length === 0 ? {} : { variableMeasured: variables }),
    ...(facts.type === "Dataset" && {
      includedInDataCatalog: {
        "@type": "DataCatalog",
        "@id": deps.baseUrl(),
        name: deps.config.REGISTRY_NAME,
        url: deps.baseUrl(),
      },
    }),
    ...(distribution.length === 0 ? {} : { distribution }),
    sdDatePublished: new Date(record.modifiedAt).toISOString().slice(0, 10),
  };
}

function descriptiveMembers({ title, description, creators: agents }: RecordFacts): JsonObject {
  const creators = agents.map(agentOf);
  return {
    name: cutAtSentence(title, MAX_NAME_CHARS),
    // The page as a whole is ignored where it is longer.
    ...(description === null
      ? {}
      : { description: cutAtSentence(description, MAX_DESCRIPTION_CHARS) }),
    ...(creators.length === 0 ? {} : { creator: creators, author: creators }),
  };
}

function codeMembers({ fields }: RecordFacts): JsonObject {
  const repository = textOf(fields.first("codeRepository")?.value);
  const language = textOf(fields.first("programmingLanguage")?.value);
  return {
    ...(repository === null ? {} : { codeRepository: repository }),
    ...(language === null ? {} : { programmingLanguage: language }),
  };
}

function agentOf({
  name,
  given,
  family,
  suffix,
  isOrganization,
  url,
  affiliations,
}: Agent): JsonObject {
  return {
    "@type": isOrganization ? "Organization" : "Person",
    ...(url === undefined ? {} : { "@id": url, url }),
    name,
    ...(given && family
      ? { givenName: given, familyName: family, ...(suffix ? { honorificSuffix: suffix } : {}) }
      : {}),
    ...(affiliations.length === 0
      ? {}
      : {
          affiliation: affiliations.map((one) => ({
            "@type": "Organization",
            ...(one.ror === undefined ? {} : { "@id": `https://ror.org/${one.ror}` }),
            name: one.name,
          })),
        }),
  };
}

/** The record's file; of a crate its archive and its first files. */
async function distributionOf(deps: FactDeps, facts: RecordFacts): Promise<JsonObject[]> {
  const { record, content } = facts;
  const base = deps.baseUrl();
  if (record.kind !== "rocrate") {
    if (content === null) return [];
    return [
      {
        "@type": "DataDownload",
        contentUrl: content.url,
        ...(content.mediaType === null ? {} : { encodingFormat: content.mediaType }),
        ...(content.size === null ? {} : { contentSize: `${content.size} B` }),
        ...(content.sha256 === null ? {} : { sha256: content.sha256 }),
      },
    ];
  }
  const archive: JsonObject = {
    "@type": "DataDownload",
    name: "RO-Crate archive",
    contentUrl: addressOf(base, record.ark, "zip"),
    encodingFormat: "application/zip",
  };
  const items: FileReference[] = [];
  for await (const files of storedFiles(deps, record, { limit: MAX_FILES })) {
    for (const file of files) items.push(file);
    if (items.length >= MAX_FILES) break;
  }
  items.splice(MAX_FILES);
  const owners = await deps.records.findMany(items.map(({ ark }) => ark));
  const files = items.flatMap((file, index): JsonObject[] => {
    const owner = owners[index];
    // A member may be closed although its crate is open.
    if (!owner || owner.tombstone || owner.publicationStatus !== "PUBLISHED") return [];
    if (file.role !== "content") return [];
    return [
      {
        "@type": "DataDownload",
        "@id": addressOf(base, owner.ark),
        name: owner.name ?? file.name,
        contentUrl: contentAddress(base, owner),
        encodingFormat: file.mediaType,
        contentSize: `${file.size} B`,
        sha256: file.sha256,
      },
    ];
  });
  return [archive, ...files];
}

/** The columns that the schema of a table, or the schemas of a crate, describe. */
async function variablesOf(deps: FactDeps, { record, fields }: RecordFacts): Promise<JsonObject[]> {
  const ark = schemaArkOf(fields);
  const schemas =
    record.kind === "rocrate"
      ? (
          await deps.records.select({
            filter: { kinds: ["schema"], crates: [record.crate ?? record.ark] },
            order: AS_CREATED,
            limit: MAX_SCHEMAS,
          })
        ).items
      : ark === undefined
        ? []
        : await deps.records.findMany([ark]);
  return schemas
    .flatMap((schema) =>
      schema?.kind === "schema" && !schema.tombstone
        ? columnsOf(parseDocument(schema.document))
        : [],
    )
    .slice(0, MAX_VARIABLES)
    .map(({ name, description, term, unit }) => ({
      "@type": "PropertyValue",
      name,
      ...(description === null ? {} : { description }),
      ...(term === null ? {} : { propertyID: term }),
      ...(unit === null ? {} : { unitText: unit }),
    }));
}

export const schemaOrg: RecordFormat = {
  name: "schemaorg",
  mediaType: "application/ld+json",
  profile: "https://schema.org/",
  label: "schema.org",
  description: "The record in the terms of schema.org, as its page gives it to search engines.",
  kinds: CITED,
  relation: "describedby",
  isDerived: true,
  example: '{"@context":{"@vocab":"https://schema.org/"},"@type":"Dataset","name":"Cells"}',
  write: async ({ deps, view }) => JSON.stringify(await schemaOrgJsonLd(deps, view)),
};
