import { always, byField, hasField, sentence, told, statusOf, whole, type Criteria } from "../criterion.js";

/** What a datasheet tells at the least, by the names of Croissant RAI and of Datasheets for Datasets. */
const DATASHEET: Readonly<Record<string, readonly string[]>> = {
  "intended use": ["rai:dataUseCases", "intendedUse", "intendedUses", "Intended Use", "purposes"],
  collection: ["rai:dataCollection", "rai:dataCollectionType", "rai:dataCollectionRawData", "collectionProcess", "collectionMechanisms", "acquisitionMethods"],
  limits: ["rai:dataLimitations", "knownLimitations", "limitations", "discouragedUses", "prohibitedUses"],
};
const FIT = ["rai:dataUseCases", "rai:dataLimitations"];

export const preModelExplainability = {
  data_documentation_template: {
    tests: "The root tells its intended use (`rai:dataUseCases`), how the data were collected (`rai:dataCollection`) and their limits (`rai:dataLimitations`), by these names or those of a datasheet (D4D); partly when it tells some of the three.",
    old: "always", legacy: always,
    fix: "Add rai:dataUseCases, rai:dataCollection and rai:dataLimitations to the root.",
    judge(facts) {
      const { fields } = facts.root;
      const parts = Object.entries(DATASHEET).map(([part, names]) => ({ part, place: fields.first(...names)?.place, name: names[0]! }));
      const missing = parts.filter(({ place }) => place === undefined);
      return {
        status: missing.length === 0 ? "met" : missing.length < parts.length ? "partly" : "not_met",
        details: missing.length === 0 ? "Intended use, collection and limits are told." : `Not told: ${missing.map(({ part }) => part).join(", ")}.`,
        evidence: missing.length === parts.length ? [whole(facts)] : parts.flatMap(({ place }) => place ?? []),
        fix: `Add ${missing.map(({ name }) => name).join(" and ")} to the root.`,
      };
    },
  },
  fit_for_purpose: {
    tests: "The root states `rai:dataUseCases` or `rai:dataLimitations`.", old: "the same", legacy: hasField(...FIT),
    fix: "Add rai:dataUseCases, what the data are good for, or rai:dataLimitations, what they are not, to the root.", judge: byField(...FIT),
  },
  verifiable: {
    tests: "The SHA-256 of every file was computed here from stored content and agrees with what is stated; partly when that holds for some; not applicable without files.",
    old: "any entity with a checksum", legacy: ({ any }) => any.checksum,
    fix: "Upload the content of every file: its SHA-256 is computed here and compared with sha256 of the entity.",
    judge({ verified }) {
      return { status: statusOf(verified), details: sentence(told(verified, "files", "have a checksum that was computed here and agrees")), evidence: verified.evidence };
    },
  },
} as const satisfies Criteria;
