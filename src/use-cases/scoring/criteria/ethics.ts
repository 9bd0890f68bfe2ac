import type { JsonValue } from "../../../model/field.js";
import { byField, hasField, shown, type Criteria } from "../criterion.js";
import type { Fields } from "../facts/fields.js";

const SUBJECTS = ["humanSubjectResearch", "Human Subject Research", "Human Subject"];
const ACQUIRED = ["rai:dataCollection", ...SUBJECTS];
const MANAGED = ["ethicalReview", "dataGovernanceCommittee", "Data Governance Committee"];
const DISSEMINATED = ["license", "rai:personalSensitiveInformation", "prohibitedUses", "Prohibited Uses"];
const SECURE = ["confidentialityLevel"];

/** True for `false`, "No", "None involved", "not applicable", "no human subjects". */
const isAbsence = (value: JsonValue): boolean => value === false || /^(?:no|none|false|not? (?:applicable|human)|n\/a)(?:$|[\s,.;:(-])/i.test(shown(value).trim());

const absentSubjects = (fields: Fields) => {
  const field = fields.first(...SUBJECTS);
  return field && isAbsence(field.value) ? field : undefined;
};

export const ethics = {
  ethically_acquired: {
    tests: "The root states `rai:dataCollection` or humanSubjectResearch (also as \"Human Subject Research\", \"Human Subject\").", old: "the same", legacy: hasField(...ACQUIRED),
    fix: "Add rai:dataCollection, how the data were collected, or humanSubjectResearch to the root.", judge: byField(...ACQUIRED),
  },
  ethically_managed: {
    tests: "The root states ethicalReview or dataGovernanceCommittee (also as \"Data Governance Committee\"); not applicable when it declares that there are no human subjects and states neither.",
    old: "ethicalReview or dataGovernanceCommittee", legacy: hasField(...MANAGED),
    fix: "Add ethicalReview or dataGovernanceCommittee to the root, or humanSubjectResearch: \"No\" where there are no human subjects.",
    judge(facts) {
      const found = byField(...MANAGED)(facts);
      const absent = absentSubjects(facts.root.fields);
      if (found.status === "met" || !absent) return found;
      return { status: "not_applicable", details: `Human subjects are declared absent: ${shown(absent.value)}`, evidence: [absent.place] };
    },
  },
  ethically_disseminated: {
    tests: "The root states `license`, `rai:personalSensitiveInformation` or prohibitedUses (also as \"Prohibited Uses\").", old: "the same", legacy: hasField(...DISSEMINATED),
    fix: "Add license, rai:personalSensitiveInformation or prohibitedUses to the root.", judge: byField(...DISSEMINATED),
  },
  secure: {
    tests: "The root states confidentialityLevel.", old: "the same", legacy: hasField(...SECURE),
    fix: "Add confidentialityLevel to the root, e.g. \"unrestricted\".", judge: byField(...SECURE),
  },
} as const satisfies Criteria;
