import { always, byField, byShare, evidenceOf, hasField, sentence, statusOf, together, told, whole, type Criteria } from "../criterion.js";

const BIASES = ["rai:dataBiases"];
const MISSING = ["rai:dataCollectionMissingData"];

export const characterization = {
  semantics: {
    tests: "Every column that a schema describes has a term of a vocabulary (`valueURL`); where no schema describes columns, a record says what it is `about` (the crate itself does not count) or is a DefinedTerm. Such records beside columns without terms make it partly.",
    old: "always", legacy: always,
    fix: "Add valueURL with the term of an ontology to each column of the schemas, or about with such terms to the root.",
    judge(facts) {
      const { columns, subjects } = facts;
      const said = columns.total > 0 ? statusOf(columns) : subjects.total > 0 ? "met" : "not_met";
      return {
        status: said === "not_met" && subjects.total > 0 ? "partly" : said,
        details: sentence(told(columns, "columns", "have a term of a vocabulary"), `records that say what they are about: ${subjects.total}`),
        evidence: columns.total + subjects.total === 0 ? [whole(facts)] : evidenceOf(columns, subjects),
      };
    },
  },
  statistics: {
    tests: "The size of every file is known (stored here, or `contentSize`), and every table has summary statistics (`hasSummaryStatistics`, `variableMeasured`). A crate without files is partly met by a total size at the root.",
    old: "a total size at the root, or any `hasSummaryStatistics`",
    legacy: ({ root: { fields }, any }) => any.statistics || fields.has("totalContentSizeBytes", "totalContentSize", "contentSize"),
    fix: "Add contentSize to each file, and hasSummaryStatistics, which names a dataset or file of statistics, to each table.",
    judge(facts) {
      const { sized, summarised, root: { fields } } = facts;
      const total = fields.first("totalContentSizeBytes", "totalContentSize", "contentSize");
      if (sized.total === 0 && summarised.total === 0) return { status: total ? "partly" : "not_met", details: total ? "The root states a total size; no files are described." : "No files are described, and the root states no size.", evidence: [total?.place ?? whole(facts)] };
      return {
        status: together(statusOf(sized), statusOf(summarised)),
        details: sentence(told(sized, "files", "have a known size"), told(summarised, "tables", "have summary statistics")), evidence: evidenceOf(sized, summarised),
      };
    },
  },
  standards: {
    tests: "Every table (CSV, TSV, Parquet, a spreadsheet, or what names a schema) has a `schema` that exists; not applicable without tables.",
    old: "any Schema, or `evi:schemaCount` above 0", legacy: ({ root: { fields }, any }) => any.schema || Number(fields.first("schemaCount")?.value) > 0,
    fix: "Describe the columns of each table in a Schema entity and name it in schema of the table.",
    judge: byShare(({ structured }) => structured, "tables", "have a schema that exists"),
  },
  potential_sources_of_bias: {
    tests: "The root states `rai:dataBiases`.", old: "root `rai:dataBiases`", legacy: hasField(...BIASES),
    fix: "Add rai:dataBiases to the root: what is known of biases in the data.", judge: byField(...BIASES),
  },
  data_quality: {
    tests: "The root states `rai:dataCollectionMissingData`, or the tables stored here conform to their schemas; they are checked when a score is asked for anew (`POST …/rescore`).",
    old: "root `rai:dataCollectionMissingData`", legacy: hasField(...MISSING),
    fix: "Add rai:dataCollectionMissingData to the root, or ask for the score anew (POST /rocrate/ai-ready-score/ark:…/rescore) to have tables checked against their schemas.",
    judge(facts) {
      const stated = byField(...MISSING)(facts);
      const { checked } = facts;
      if (stated.status === "met" || checked === undefined || checked.total === 0) return stated;
      return { status: statusOf(checked), details: sentence(told(checked, "tables that were checked", "conform to their schema")), evidence: checked.evidence };
    },
  },
} as const satisfies Criteria;
