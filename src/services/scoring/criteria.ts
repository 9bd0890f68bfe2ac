import type { JsonValue } from "../../model/field.js";
import { listOf } from "../../model/field.js";
import { isSpdx } from "../../model/licences.js";
import { isDate } from "../crates/advise.js";
import {
  always,
  byField,
  byShare,
  type Criteria,
  evidenceOf,
  hasField,
  sentence,
  shown,
  statusOf,
  together,
  shareText,
  whole,
} from "./criterion.js";
import type { CrateFacts, Fields } from "./facts/fields.js";

const BIASES = ["rai:dataBiases"];
const MISSING = ["rai:dataCollectionMissingData"];

const characterization = {
  semantics: {
    tests:
      "Every column that a schema describes has a term of a vocabulary (`valueURL`); where " +
      "no schema describes columns, a record says what it is `about` (the crate itself does " +
      "not count) or is a DefinedTerm. Such records beside columns without terms make it " +
      "partly.",
    old: "always",
    legacy: always,
    fix:
      "Add valueURL with the term of an ontology to each column of the schemas, or about with " +
      "such terms to the root.",
    evaluate(facts) {
      const { columns, subjects } = facts;
      const claimed =
        columns.total > 0 ? statusOf(columns) : subjects.total > 0 ? "met" : "not_met";
      return {
        status: claimed === "not_met" && subjects.total > 0 ? "partly" : claimed,
        details: sentence(
          shareText(columns, "columns", "have a term of a vocabulary"),
          `records that say what they are about: ${subjects.total}`,
        ),
        evidence:
          columns.total + subjects.total === 0 ? [whole(facts)] : evidenceOf(columns, subjects),
      };
    },
  },
  statistics: {
    tests:
      "The size of every file is known (stored here, or `contentSize`), and every table has " +
      "summary statistics (`hasSummaryStatistics`, `variableMeasured`). A crate without " +
      "files is partly met by a total size at the root.",
    old: "a total size at the root, or any `hasSummaryStatistics`",
    legacy: ({ root: { fields }, any }) =>
      any.statistics || fields.has("totalContentSizeBytes", "totalContentSize", "contentSize"),
    fix:
      "Add contentSize to each file, and hasSummaryStatistics, which names a dataset or file " +
      "of statistics, to each table.",
    evaluate(facts) {
      const {
        sized,
        summarised,
        root: { fields },
      } = facts;
      const total = fields.first("totalContentSizeBytes", "totalContentSize", "contentSize");
      if (sized.total === 0 && summarised.total === 0)
        return {
          status: total ? "partly" : "not_met",
          details: total
            ? "The root states a total size; no files are described."
            : "No files are described, and the root states no size.",
          evidence: [total?.place ?? whole(facts)],
        };
      return {
        status: together(statusOf(sized), statusOf(summarised)),
        details: sentence(
          shareText(sized, "files", "have a known size"),
          shareText(summarised, "tables", "have summary statistics"),
        ),
        evidence: evidenceOf(sized, summarised),
      };
    },
  },
  standards: {
    tests:
      "Every table (CSV, TSV, Parquet, a spreadsheet, or what names a schema) has a " +
      "`schema` that exists; not applicable without tables.",
    old: "any Schema, or `evi:schemaCount` above 0",
    legacy: ({ root: { fields }, any }) =>
      any.schema || Number(fields.first("schemaCount")?.value) > 0,
    fix:
      "Describe the columns of each table in a Schema entity and name it in schema of the " +
      "table.",
    evaluate: byShare(({ structured }) => structured, "tables", "have a schema that exists"),
  },
  potential_sources_of_bias: {
    tests: "The root states `rai:dataBiases`.",
    old: "root `rai:dataBiases`",
    legacy: hasField(...BIASES),
    fix: "Add rai:dataBiases to the root: what is known of biases in the data.",
    evaluate: byField(...BIASES),
  },
  data_quality: {
    tests:
      "The root states `rai:dataCollectionMissingData`, or the tables stored here " +
      "conform to their schemas; they are checked when the score is computed again " +
      "(`POST …/rescore`).",
    old: "root `rai:dataCollectionMissingData`",
    legacy: hasField(...MISSING),
    fix:
      "Add rai:dataCollectionMissingData to the root, or have the score computed again " +
      "(POST /rocrate/ai-ready-score/ark:…/rescore) to have tables checked against their " +
      "schemas.",
    evaluate(facts) {
      const stated = byField(...MISSING)(facts);
      const { checked } = facts;
      if (stated.status === "met" || checked === undefined || checked.total === 0) return stated;
      return {
        status: statusOf(checked),
        details: sentence(
          shareText(checked, "tables that were checked", "conform to their schema"),
        ),
        evidence: checked.evidence,
      };
    },
  },
} as const satisfies Criteria;

const PUBLISHER = ["publisher"];

const computability = {
  standardized: {
    tests:
      "Every file states its format (`encodingFormat`, `format`); the open ones are " +
      "counted; not applicable without files.",
    old: "`evi:formats`, or any `format`",
    legacy: ({ root: { fields }, any }) => any.format || fields.has("formats"),
    fix: "Add encodingFormat to each file, e.g. text/csv.",
    evaluate({ formatted, open }) {
      return {
        status: statusOf(formatted),
        details: sentence(
          shareText(formatted, "files", "state a format"),
          ...(open.total > 0 ? [`${open.good} of them an open one`] : []),
        ),
        evidence: formatted.evidence,
      };
    },
  },
  computationally_accessible: {
    tests:
      "The content of every file is stored here and PUBLISHED, so that anyone retrieves it " +
      "over HTTP, and the root names its `publisher`.",
    old: "root `publisher`",
    legacy: hasField(...PUBLISHER),
    fix:
      "Upload the content of every file, publish the crate (PUT /publish), and add publisher " +
      "to the root.",
    evaluate(facts) {
      const publisher = byField(...PUBLISHER)(facts);
      const { retrievable } = facts;
      return {
        status: together(statusOf(retrievable, "not_met"), publisher.status),
        details: sentence(
          shareText(retrievable, "files", "can be retrieved here by anyone"),
          publisher.status === "met" ? publisher.details : "no publisher is named",
        ),
        evidence: [...publisher.evidence, ...retrievable.evidence].slice(0, 10),
      };
    },
  },
  portable: {
    tests:
      "Every software names its container or environment (`container`, " +
      "`softwareRequirements`, `runtimePlatform`, `operatingSystem` …), or a computation " +
      "that used it does; not applicable without software.",
    old: "always",
    legacy: always,
    fix:
      "Add softwareRequirements or runtimePlatform to each Software, or container to the " +
      "computations that used it.",
    evaluate: byShare(
      ({ portable }) => portable,
      "pieces of software",
      "have a named container or environment",
    ),
  },
  contextualized: {
    tests:
      "The root is valid by RO-Crate (`@type` Dataset, `name`, `description`, `license`, " +
      "and `datePublished` as a date), the crate has an `@context`, and `conformsTo` of the " +
      "root names a profile; partly when it is valid without a profile, or has one without " +
      "being valid.",
    old: "always",
    legacy: always,
    fix:
      "Give the root what RO-Crate asks for, and conformsTo with the address of the profile " +
      "that the crate follows.",
    evaluate(facts) {
      const {
        root: { fields, gaps, hasContext },
      } = facts;
      const dates = listOf(fields.first("datePublished")?.value);
      const invalid = [
        ...gaps,
        ...(dates.length > 0 && !dates.every(isDate)
          ? ["a datePublished that is an ISO 8601 date"]
          : []),
        ...(hasContext ? [] : ["an @context"]),
      ];
      const hasProfile = fields.has("conformsTo");
      const missing = [...invalid, ...(hasProfile ? [] : ["conformsTo with a profile"])];
      return {
        status: together(invalid.length === 0 ? "met" : "not_met", hasProfile ? "met" : "not_met"),
        details:
          missing.length === 0
            ? "The root is valid by RO-Crate and names its context and profile."
            : `The root lacks ${missing.join(", ")}.`,
        evidence: missing.length === 0 ? [fields.place("conformsTo")] : [whole(facts)],
        fix: `Add ${missing.join(", ")} to the root.`,
      };
    },
  },
} as const satisfies Criteria;

const SUBJECTS = ["humanSubjectResearch", "Human Subject Research", "Human Subject"];
const ACQUIRED = ["rai:dataCollection", ...SUBJECTS];
const MANAGED = ["ethicalReview", "dataGovernanceCommittee", "Data Governance Committee"];
const DISSEMINATED = [
  "license",
  "rai:personalSensitiveInformation",
  "prohibitedUses",
  "Prohibited Uses",
];
const SECURE = ["confidentialityLevel"];

/** True for `false`, "No", "None involved", "not applicable", "no human subjects". */
const isAbsence = (value: JsonValue): boolean =>
  value === false ||
  /^(?:no|none|false|not? (?:applicable|human)|n\/a)(?:$|[\s,.;:(-])/i.test(shown(value).trim());

const absentSubjects = (fields: Fields) => {
  const field = fields.first(...SUBJECTS);
  return field && isAbsence(field.value) ? field : undefined;
};

const ethics = {
  ethically_acquired: {
    tests:
      'The root states `rai:dataCollection` or humanSubjectResearch (also as "Human Subject ' +
      'Research", "Human Subject").',
    old: "the same",
    legacy: hasField(...ACQUIRED),
    fix:
      "Add rai:dataCollection, how the data were collected, or humanSubjectResearch to the " +
      "root.",
    evaluate: byField(...ACQUIRED),
  },
  ethically_managed: {
    tests:
      'The root states ethicalReview or dataGovernanceCommittee (also as "Data Governance ' +
      'Committee"); not applicable when it declares that there are no human subjects and ' +
      "states neither.",
    old: "ethicalReview or dataGovernanceCommittee",
    legacy: hasField(...MANAGED),
    fix:
      "Add ethicalReview or dataGovernanceCommittee to the root, or humanSubjectResearch: " +
      '"No" where there are no human subjects.',
    evaluate(facts) {
      const found = byField(...MANAGED)(facts);
      const absent = absentSubjects(facts.root.fields);
      if (found.status === "met" || !absent) return found;
      return {
        status: "not_applicable",
        details: `Human subjects are declared absent: ${shown(absent.value)}`,
        evidence: [absent.place],
      };
    },
  },
  ethically_disseminated: {
    tests:
      "The root states `license`, `rai:personalSensitiveInformation` or prohibitedUses " +
      '(also as "Prohibited Uses").',
    old: "the same",
    legacy: hasField(...DISSEMINATED),
    fix: "Add license, rai:personalSensitiveInformation or prohibitedUses to the root.",
    evaluate: byField(...DISSEMINATED),
  },
  secure: {
    tests: "The root states confidentialityLevel.",
    old: "the same",
    legacy: hasField(...SECURE),
    fix: 'Add confidentialityLevel to the root, e.g. "unrestricted".',
    evaluate: byField(...SECURE),
  },
} as const satisfies Criteria;

const isWebAddress = (text: string): boolean =>
  /^https?:\/\/[^\s/]+\.\S+$/i.test(text) && URL.canParse(text);

/** True for a licence that a machine can identify: an address, or an SPDX identifier. */
export const isLicence = (text: string): boolean =>
  isWebAddress(text.trim()) || isSpdx(text.trim());

/** Fields by which a reader finds a crate, besides its identifier. */
const FOUND_BY = ["name", "description", "keywords"];

const fairness = {
  findable: {
    tests:
      "The root has an identifier that resolves (its ARK here does; a DOI may stand beside " +
      "it in `identifier`), `name`, `description` and `keywords`.",
    old: "root `identifier`, else root `@id`",
    legacy: always,
    fix: "Add name, description and keywords to the root.",
    evaluate({ root: { fields } }) {
      const missing = FOUND_BY.filter((name) => !fields.has(name));
      return {
        status:
          missing.length === 0 ? "met" : missing.length < FOUND_BY.length ? "partly" : "not_met",
        details:
          `${fields.ark} resolves here; ` +
          `${missing.length === 0 ? "it has a name, a description and keywords" : `it lacks ${missing.join(", ")}`}.`,
        evidence: [
          fields.place("identifier"),
          ...FOUND_BY.flatMap((name) => fields.first(name)?.place ?? []),
        ],
        fix: `Add ${missing.join(" and ")} to the root.`,
      };
    },
  },
  accessible: {
    tests:
      "Every file, and every dataset that is not a folder, has content stored here or an " +
      "address (`contentUrl`, `url`, `distribution`); none is ARCHIVED; what is " +
      "EMBARGOED states `conditionsOfAccess` or the end of the embargo.",
    old: "always",
    legacy: always,
    fix:
      "Upload the content of every file with the crate, or give each a contentUrl, and state " +
      "conditionsOfAccess of what is embargoed at the root.",
    evaluate(facts) {
      const { root, parts, unarchived, embargoed } = facts;
      if (root.status === "ARCHIVED")
        return {
          status: "not_met",
          details: "The crate is ARCHIVED.",
          evidence: [whole(facts)],
          fix: "Publish the crate (PUT /publish) to make it available again.",
        };
      const notes = [shareText(parts, "files and datasets", "have content here or an address")];
      if (unarchived.good < unarchived.total)
        notes.push(`${unarchived.total - unarchived.good} are archived`);
      if (embargoed.total > 0)
        notes.push(shareText(embargoed, "embargoed records", "state how to get access"));
      const had = statusOf(parts, "not_met");
      const whether =
        statusOf(unarchived) === "not_met"
          ? "not_met"
          : had === "not_met"
            ? had
            : together(had, statusOf(unarchived), statusOf(embargoed));
      return {
        status: whether,
        // oxlint-disable-next-line arkgraph/spread-into-call -- a few names or sentences
        details: sentence(...notes),
        evidence: parts.total === 0 ? [whole(facts)] : evidenceOf(parts, unarchived, embargoed),
      };
    },
  },
  interoperable: {
    tests:
      "A context explains every term of every record, and every stated format of a file is " +
      "a media type registered with IANA (or has an address in PRONOM, EDAM or Wikidata).",
    old: "always",
    legacy: always,
    fix:
      "Explain every term in @context of the crate, and state encodingFormat of each file as " +
      "a registered media type such as text/csv.",
    evaluate({ explained, lostTerms, registered }) {
      const lost = lostTerms.size === 0 ? [] : [`not explained: ${[...lostTerms].join(", ")}`];
      return {
        status: together(statusOf(explained), statusOf(registered)),
        details: sentence(
          shareText(explained, "records", "have all their terms explained by their context"),
          // oxlint-disable-next-line arkgraph/spread-into-call -- a few names or sentences
          ...lost,
          registered.total === 0
            ? "no file states a format"
            : shareText(registered, "stated formats", "are registered media types"),
        ),
        evidence: evidenceOf(explained, registered),
      };
    },
  },
  reusable: {
    tests:
      "The root's `license` is an address or an SPDX identifier, or an entity that has one; " +
      "partly when it is other text.",
    old: "root `license`",
    legacy: hasField("license"),
    fix:
      "Set license of the root to the address of a licence, e.g. " +
      "https://creativecommons.org/licenses/by/4.0/, or to its SPDX identifier.",
    evaluate(facts) {
      const field = facts.root.fields.first("license");
      if (!field)
        return {
          status: "not_met",
          details: "The root names no license.",
          evidence: [whole(facts)],
        };
      return {
        status: facts.root.licences.some(isLicence) ? "met" : "partly",
        details: `license: ${shown(field.value)}`,
        evidence: [field.place],
      };
    },
  },
} as const satisfies Criteria;

/**
 * The minimum contents of a datasheet, by the names of Croissant RAI and of Datasheets for
 * Datasets.
 */
const DATASHEET: Readonly<Record<string, readonly [string, ...string[]]>> = {
  "intended use": ["rai:dataUseCases", "intendedUse", "intendedUses", "Intended Use", "purposes"],
  collection: [
    "rai:dataCollection",
    "rai:dataCollectionType",
    "rai:dataCollectionRawData",
    "collectionProcess",
    "collectionMechanisms",
    "acquisitionMethods",
  ],
  limits: [
    "rai:dataLimitations",
    "knownLimitations",
    "limitations",
    "discouragedUses",
    "prohibitedUses",
  ],
};
const FIT = ["rai:dataUseCases", "rai:dataLimitations"];

const preModelExplainability = {
  data_documentation_template: {
    tests:
      "The root states its intended use (`rai:dataUseCases`), how the data were " +
      "collected (`rai:dataCollection`) and their limits (`rai:dataLimitations`), by " +
      "these names or those of a datasheet (D4D); partly when it states some of the " +
      "three.",
    old: "always",
    legacy: always,
    fix: "Add rai:dataUseCases, rai:dataCollection and rai:dataLimitations to the root.",
    evaluate(facts) {
      const { fields } = facts.root;
      const parts = Object.entries(DATASHEET).map(([part, names]) => ({
        part,
        // oxlint-disable-next-line arkgraph/spread-into-call -- a few names or sentences
        place: fields.first(...names)?.place,
        name: names[0],
      }));
      const missing = parts.filter(({ place }) => place === undefined);
      return {
        status: missing.length === 0 ? "met" : missing.length < parts.length ? "partly" : "not_met",
        details:
          missing.length === 0
            ? "Intended use, collection and limits are stated."
            : `Not stated: ${missing.map(({ part }) => part).join(", ")}.`,
        evidence:
          missing.length === parts.length
            ? [whole(facts)]
            : parts.flatMap(({ place }) => place ?? []),
        fix: `Add ${missing.map(({ name }) => name).join(" and ")} to the root.`,
      };
    },
  },
  fit_for_purpose: {
    tests: "The root states `rai:dataUseCases` or `rai:dataLimitations`.",
    old: "the same",
    legacy: hasField(...FIT),
    fix:
      "Add rai:dataUseCases, what the data are good for, or rai:dataLimitations, what they " +
      "are not, to the root.",
    evaluate: byField(...FIT),
  },
  verifiable: {
    tests:
      "The SHA-256 of every file was computed here from stored content and agrees with what " +
      "is stated; partly when that holds for some; not applicable without files.",
    old: "any entity with a checksum",
    legacy: ({ any }) => any.checksum,
    fix:
      "Upload the content of every file: its SHA-256 is computed here and compared with " +
      "sha256 of the entity.",
    evaluate({ verified }) {
      return {
        status: statusOf(verified),
        details: sentence(
          shareText(verified, "files", "have a checksum that was computed here and agrees"),
        ),
        evidence: verified.evidence,
      };
    },
  },
} as const satisfies Criteria;

const counted = (
  name: "datasetCount" | "computationCount" | "softwareCount",
  { root: { fields } }: CrateFacts,
): boolean => Number(fields.first(name)?.value) > 0;

const provenance = {
  transparent: {
    tests:
      "Every dataset and file says where it comes from: `generatedBy`, `derivedFrom`, a " +
      "computation that generated it, `isBasedOn`, `sourceOrganization`, or the address it " +
      "was taken from; a folder, which only lists parts, need not.",
    old: "any Dataset, or `evi:datasetCount` above 0",
    legacy: (facts) => facts.any.dataset || counted("datasetCount", facts),
    fix:
      "Add generatedBy (the computation), derivedFrom (the data) or isBasedOn (an address) to " +
      "each dataset and file.",
    evaluate: byShare(
      ({ sourced }) => sourced,
      "datasets and files",
      "say where they come from",
      "not_met",
    ),
  },
  traceable: {
    tests:
      "Every computation and experiment names at least one input (`usedDataset`, " +
      "`usedSample` …, `object`) and one output (`generated`, `result`), and all of them " +
      "exist here; either end may state it.",
    old: "any Computation or Experiment, or `evi:computationCount` above 0",
    legacy: (facts) => facts.any.computation || counted("computationCount", facts),
    fix:
      "Describe the runs that made the data as Computation entities whose usedDataset and " +
      "generated name records of the crate.",
    evaluate: byShare(
      ({ traced }) => traced,
      "runs",
      "name inputs and outputs that exist",
      "not_met",
    ),
  },
  interpretable: {
    tests:
      "Every computation names software that exists here (`usedSoftware`, `instrument`), " +
      "and every software has content here or an address (`url`, `codeRepository`, " +
      "`contentUrl`).",
    old: "any Software, or `evi:softwareCount` above 0",
    legacy: (facts) => facts.any.software || counted("softwareCount", facts),
    fix:
      "Add usedSoftware to each Computation, and url, codeRepository or contentUrl to each " +
      "Software.",
    evaluate(facts) {
      const { located, programmed } = facts;
      const none = located.total === 0;
      return {
        status: none ? "not_met" : together(statusOf(programmed), statusOf(located)),
        details: sentence(
          shareText(programmed, "computations", "name software that exists"),
          shareText(located, "pieces of software", "have a location"),
        ),
        evidence: none && programmed.total === 0 ? [whole(facts)] : evidenceOf(programmed, located),
      };
    },
  },
  key_actors_identified: {
    tests:
      "The root names `author` (or `creator`), `publisher` or `principalInvestigator`; met " +
      "when one of them has an ORCID or ROR, partly when they are named without.",
    old: "root `author`, `publisher` or `principalInvestigator`",
    legacy: hasField("author", "publisher", "principalInvestigator"),
    fix:
      "Add author to the root, as entities of type Person whose @id is an ORCID " +
      "(https://orcid.org/…), or publisher with a ROR.",
    evaluate(facts) {
      const { actors } = facts.root;
      return {
        status: actors.total === 0 ? "not_met" : actors.good > 0 ? "met" : "partly",
        details:
          actors.total === 0
            ? "The root names no author, publisher or principal investigator."
            : sentence(shareText(actors, "actors named at the root", "have an ORCID or ROR")),
        evidence:
          actors.total === 0 ? [whole(facts)] : [...new Set([...actors.having, ...actors.lacking])],
      };
    },
  },
} as const satisfies Criteria;

const PLAN = ["rai:dataReleaseMaintenancePlan"];
const COMMITTEE = ["dataGovernanceCommittee", "Data Governance Committee"];
const DOI = /(?:^|doi\.org\/|doi:\s*)10\.\d{4,9}\/\S+$/i;
/**
 * Name Assigning Authority Numbers for examples and tests (NAAN registry): nobody maintains
 * identifiers under them.
 */
const FOR_TESTS = /^ark:(?:12345|99152|99166|99999)\//;

const sustainability = {
  persistent: {
    tests:
      "The root's `identifier` is a DOI, or its ARK is of this registry's own authority " +
      "(ARK_NAAN): `?info` of it returns a statement of persistence. An ARK that another " +
      "authority assigned, or one for tests (99999, 99152, 12345), makes it partly.",
    old: "root `identifier`, else root `@id`",
    legacy: always,
    fix:
      "Register the crate under an ARK of your own authority (ARK_NAAN), or add its DOI as " +
      "identifier to the root.",
    evaluate(facts) {
      const { fields } = facts.root;
      const doi = fields.references("identifier").find((text) => DOI.test(text.trim()));
      if (doi !== undefined)
        return {
          status: "met",
          details: `identifier: ${shown(doi)}`,
          evidence: [fields.place("identifier")],
        };
      const evidence = [whole(facts)];
      if (FOR_TESTS.test(fields.ark))
        return {
          status: "partly",
          details: `${fields.ark} is stored here, and its NAAN is for tests only.`,
          evidence,
        };
      return facts.root.isOwn
        ? { status: "met", details: `${fields.ark}?info states its persistence.`, evidence }
        : {
            status: "partly",
            details:
              `${fields.ark} is stored here; the authority that assigned it decides ` +
              "where it resolves to elsewhere.",
            evidence,
          };
    },
  },
  domain_appropriate: {
    tests: "The root states `rai:dataReleaseMaintenancePlan`.",
    old: "the same",
    legacy: hasField(...PLAN),
    fix: "Add rai:dataReleaseMaintenancePlan to the root: how the data are maintained.",
    evaluate: byField(...PLAN),
  },
  well_governed: {
    tests: 'The root states dataGovernanceCommittee (also as "Data Governance Committee").',
    old: "the same",
    legacy: hasField(...COMMITTEE),
    fix: "Add dataGovernanceCommittee to the root.",
    evaluate: byField(...COMMITTEE),
  },
  associated: {
    tests:
      "`hasPart` leads from the root to every dataset, file and sub-crate, and every " +
      "reference to an identifier (ARK) leads to a record that exists.",
    old: "always",
    legacy: always,
    fix:
      "Name every dataset and file in hasPart of the root or of a part of it, and describe in " +
      "the crate whatever is referred to.",
    evaluate(facts) {
      const { reached, references } = facts;
      return {
        status: together(statusOf(reached), statusOf(references, "met")),
        details: sentence(
          shareText(reached, "datasets, files and sub-crates", "are reached from the root"),
          references.total === 0
            ? "nothing is referred to"
            : shareText(references, "references", "lead to a record"),
        ),
        evidence:
          reached.total === 0 && references.lacking.length === 0
            ? [whole(facts)]
            : evidenceOf(reached, references),
      };
    },
  },
} as const satisfies Criteria;

/**
 * Every criterion once, by category and name, in the order of the answer (after the Bridge2AI
 * recommendations, PMC11526931).
 */
export const CATEGORIES = {
  fairness,
  provenance,
  characterization,
  pre_model_explainability: preModelExplainability,
  ethics,
  sustainability,
  computability,
} as const satisfies Record<string, Criteria>;

export type CategoryName = keyof typeof CATEGORIES;
export const CATEGORY_NAMES = Object.keys(CATEGORIES) as CategoryName[];
