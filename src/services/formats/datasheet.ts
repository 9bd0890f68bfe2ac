import { type JsonObject, listOf } from "../../model/field.js";
import { htmlText } from "../../model/markup.js";
import { plainText, textOf } from "../../model/texts.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import type { RecordView } from "../records/view.js";
import { CATEGORY_NAMES } from "../scoring/criteria.js";
import { knownScore } from "../scoring/score.js";
import { factsOf, type RecordFacts } from "./facts.js";
import type { RecordFormat } from "./format.js";
import { yamlText } from "./yaml.js";

type FactDeps = Pick<Deps, "records" | "config" | "baseUrl">;

/** A question of the datasheet: its name in D4D, and the fields of a crate that answer it. */
type Question = readonly [label: string, d4d: string, ...fields: string[]];

/**
 * The questions of Datasheets for Datasets, by section, with the names of Croissant RAI and of the
 * crates of FAIRSCAPE, which the AI-readiness score reads too.
 */
const SECTIONS: Readonly<Record<string, readonly Question[]>> = {
  Motivation: [
    ["Purpose", "purposes", "purposes", "purpose"],
    ["Gaps that it fills", "addressing_gaps", "d4d:addressingGaps"],
    ["Funding", "funders", "funder", "funding"],
  ],
  Composition: [
    ["Subpopulations", "subpopulations", "d4d:subpopulations"],
    ["Subsets", "subsets", "d4d:subsets"],
    ["Sensitive information", "sensitive_elements", "rai:personalSensitiveInformation"],
    ["Content warning", "content_warnings", "d4d:contentWarning"],
    ["Confidentiality", "confidential_elements", "confidentialityLevel"],
  ],
  Limitations: [
    [
      "Known limitations",
      "known_limitations",
      "rai:dataLimitations",
      "knownLimitations",
      "Limitations",
    ],
    ["Known biases", "known_biases", "rai:dataBiases", "Potential Sources of Bias"],
    ["Anomalies", "anomalies", "d4d:dataAnomalies"],
    ["Missing data", "missing_data_documentation", "rai:dataCollectionMissingData", "Completeness"],
  ],
  Collection: [
    [
      "How the data were collected",
      "collection_mechanisms",
      "rai:dataCollection",
      "collectionProcess",
    ],
    ["Type of collection", "acquisition_methods", "rai:dataCollectionType", "acquisitionMethods"],
    ["When", "collection_timeframes", "rai:dataCollectionTimeframe", "rai:dataCollectionTimeFrame"],
    ["Raw data", "raw_data_sources", "rai:dataCollectionRawData"],
    ["Sampling", "sampling_strategies", "d4d:samplingStrategies"],
  ],
  "Human subjects": [
    ["Human subjects", "human_subject_research", "humanSubjectResearch", "Human Subject"],
    ["Ethical review", "ethical_reviews", "ethicalReview"],
    ["Informed consent", "informed_consent", "d4d:informedConsent"],
    ["Privacy of participants", "participant_privacy", "d4d:participantPrivacy"],
    ["Groups at risk", "vulnerable_populations", "d4d:atRiskPopulations"],
  ],
  "Preprocessing and labelling": [
    ["Preprocessing", "preprocessing_strategies", "rai:dataPreprocessingProtocol"],
    ["Cleaning", "cleaning_strategies", "rai:dataManipulationProtocol"],
    ["Imputation", "imputation_method", "rai:dataImputationProtocol"],
    ["Labelling", "labeling_strategies", "rai:dataAnnotationProtocol"],
    ["Analysis of labels", "annotation_analysis", "rai:dataAnnotationAnalysis"],
    ["Machine annotation", "machine_annotation_tools", "rai:machineAnnotationTools"],
  ],
  Uses: [
    ["Intended uses", "intended_uses", "rai:dataUseCases", "intendedUse", "intendedUses"],
    ["Discouraged uses", "discouraged_uses", "discouragedUses"],
    ["Prohibited uses", "prohibited_uses", "prohibitedUses"],
    ["Social impact", "future_use_impacts", "rai:dataSocialImpact"],
  ],
  "Distribution and maintenance": [
    ["Conditions of access", "license_and_use_terms", "conditionsOfAccess", "usageInfo"],
    ["Copyright", "ip_restrictions", "copyrightNotice"],
    ["Dates of distribution", "distribution_dates", "d4d:distributionDates"],
    ["Maintenance", "update_plan", "rai:dataReleaseMaintenancePlan", "Maintenance Plan"],
    ["Governance committee", "governance_committee", "dataGovernanceCommittee"],
  ],
};

/** The answers of a record to a question. */
function answers({ fields }: RecordFacts, [, , ...names]: Question): string[] {
  for (const name of names) {
    const texts = listOf(fields.first(name)?.value).flatMap(
      (value) => plainText(textOf(value) ?? "") || [],
    );
    if (texts.length > 0) return texts;
  }
  return [];
}

/** One heading of a datasheet: what the record answers, and the questions that it leaves open. */
export interface DatasheetSection {
  title: string;
  answers: { question: string; texts: string[] }[];
  notStated: string[];
}

const sectionsOf = (facts: RecordFacts): DatasheetSection[] =>
  Object.entries(SECTIONS).map(([title, questions]) => {
    const all = questions.map((question) => ({
      question: question[0],
      texts: answers(facts, question),
    }));
    return {
      title,
      answers: all.filter(({ texts }) => texts.length > 0),
      notStated: all.filter(({ texts }) => texts.length === 0).map(({ question }) => question),
    };
  });

/** The questions of Datasheets for Datasets with the answers of a crate, section by section. */
export const datasheetSections = async (
  deps: FactDeps,
  view: RecordView,
): Promise<DatasheetSection[]> => sectionsOf(await factsOf(deps, view));

/** What the datasheet says before its questions. */
const basics = (facts: RecordFacts): readonly (readonly [string, string | null])[] => [
  ["Identifier", facts.url],
  ["DOI", facts.doi && `https://doi.org/${facts.doi}`],
  ["Creators", facts.creators.map(({ name }) => name).join("; ") || null],
  ["Publisher", facts.publisher.name],
  ["Published", facts.published],
  ["Version", facts.version],
  ["Licence", facts.licence && (facts.licence.url ?? facts.licence.name)],
  [
    "Access",
    facts.access.until ? `${facts.access.name} until ${facts.access.until}` : facts.access.name,
  ],
  ["Keywords", facts.keywords.join(", ") || null],
];

/** A crate as a datasheet that people read, with its AI-readiness where that is stored. */
async function datasheetHtml(
  deps: Pick<Deps, "records" | "config" | "baseUrl">,
  view: RecordView,
): Promise<string> {
  const facts = await factsOf(deps, view);
  return `<!doctype html>\n${pageOf(facts, await scoreHtml(deps, facts))}`;
}

/** Files that the page in an archive lists; the others are in its metadata. */
const MAX_FILES = 1000;

/** The datasheet for an archive of the crate, with its files; without the doctype. */
export async function archivePage(
  deps: FactDeps,
  record: StoredRecord,
  files: readonly string[],
): Promise<string> {
  const facts = await factsOf(deps, { record, bytes: record.document, etag: "" });
  const listed = files.slice(0, MAX_FILES).map((path) => {
    const href = path.split("/").map(encodeURIComponent).join("/");
    return `<li><a href="./${href}">${htmlText(path)}</a></li>\n`;
  });
  const more = files.length - listed.length;
  return pageOf(
    facts,
    "<h2>Files</h2>\n" +
      (files.length === 0
        ? "<p>The archive has no files.</p>\n"
        : `<ul>\n${listed.join("")}</ul>\n`) +
      (more === 0 ? "" : `<p>${more} more files.</p>\n`) +
      '<p>All that is known: <a href="./ro-crate-metadata.json">ro-crate-metadata.json</a>.</p>\n',
  );
}

function pageOf(facts: RecordFacts, end: string): string {
  const rows = (pairs: readonly (readonly [string, string | null])[]): string =>
    pairs
      .flatMap(([name, text]) =>
        text === null ? [] : [`<dt>${htmlText(name)}</dt>\n<dd>${shown(text)}</dd>\n`],
      )
      .join("");
  const sections = sectionsOf(facts).map(({ title, answers: stated, notStated }) => {
    const pairs = stated.map(({ question, texts }) => [question, texts.join("\n\n")] as const);
    const rest =
      notStated.length === 0 ? "" : `<p>Not stated: ${htmlText(notStated.join(", "))}.</p>\n`;
    return `<h2>${htmlText(title)}</h2>\n<dl>\n${rows(pairs)}</dl>\n${rest}`;
  });
  return `<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Datasheet: ${htmlText(facts.title)}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}
dt{font-weight:600}dd{margin:0 0 .75rem;white-space:pre-line;overflow-wrap:anywhere}</style>
</head>
<body>
<h1>${htmlText(facts.title)}</h1>
<p>${shown(facts.description ?? "No description is stated.")}</p>
<dl>
${rows(basics(facts))}</dl>
${sections.join("")}${end}</body>
</html>
`;
}

const shown = (text: string): string =>
  /^https?:\/\/\S+$/.test(text)
    ? `<a href="${htmlText(text)}">${htmlText(text)}</a>`
    : htmlText(text);

async function scoreHtml(
  deps: Pick<Deps, "records" | "config">,
  { record }: RecordFacts,
): Promise<string> {
  const score = record.kind === "rocrate" ? await knownScore(deps, record) : undefined;
  if (!score) return "";
  const rows = CATEGORY_NAMES.flatMap((category) =>
    Object.entries(score[category]).map(
      ([name, { status, details }]) =>
        `<dt>${htmlText(`${category}: ${name}`.replaceAll("_", " "))}</dt>\n` +
        `<dd>${htmlText(`${status.replaceAll("_", " ")}. ${details ?? ""}`)}</dd>\n`,
    ),
  );
  return `<h2>AI-readiness</h2>\n<dl>\n${rows.join("")}</dl>\n`;
}

/** The same as YAML, in the names of the Datasheets for Datasets schema (D4D). */
async function d4dYaml(deps: FactDeps, view: RecordView): Promise<string> {
  const facts = await factsOf(deps, view);
  const { doi, licence, created, version, language, keywords, description } = facts;
  const datasheet: JsonObject = {
    id: facts.ark,
    title: facts.title,
    ...(description === null ? {} : { description }),
    page: facts.url,
    ...(doi === null ? {} : { doi }),
    creators: facts.creators.map(({ name, url, affiliations }) => ({
      ...(url === undefined ? {} : { id: url }),
      name,
      ...(affiliations.length === 0 ? {} : { affiliations: affiliations.map((one) => one.name) }),
    })),
    publisher: facts.publisher.name,
    issued: facts.published,
    ...(created === null ? {} : { created_on: created }),
    last_updated_on: facts.modified,
    ...(version === null ? {} : { version }),
    ...(language === null ? {} : { language }),
    ...(keywords.length === 0 ? {} : { keywords }),
    ...(licence === null ? {} : { license: licence.url ?? licence.name }),
    status: facts.access.name,
  };
  for (const question of Object.values(SECTIONS).flat()) {
    const texts = answers(facts, question);
    const [first] = texts;
    if (first !== undefined) datasheet[question[1]] = texts.length === 1 ? first : texts;
  }
  return yamlText(datasheet);
}

const common = {
  kinds: ["rocrate", "dataset"],
  relation: "describedby",
  isDerived: true,
} as const;

export const datasheet: RecordFormat = {
  ...common,
  name: "datasheet",
  mediaType: "text/html",
  profile: "https://w3id.org/bridge2ai/data-sheets-schema/",
  label: "Datasheet",
  description: "A datasheet that people read: purpose, composition, collection, uses, maintenance.",
  example: "<!doctype html><title>Datasheet: Cells</title>",
  write: ({ deps, view }) => datasheetHtml(deps, view),
};

export const d4d: RecordFormat = {
  ...common,
  name: "d4d",
  mediaType: "application/yaml",
  profile: "https://w3id.org/bridge2ai/data-sheets-schema/",
  label: "Datasheet as YAML",
  description: "The same as YAML, in the names of Datasheets for Datasets (D4D).",
  example: "id: ark:99999/rocrate-release\ntitle: Cells\n",
  write: ({ deps, view }) => d4dYaml(deps, view),
};
