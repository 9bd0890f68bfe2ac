import { always, byField, byShare, hasField, sentence, statusOf, together, told, whole, type Criteria } from "../criterion.js";
import { isDate } from "../../crates/rules/advise.js";
import { listOf } from "../../crates/json-path.js";

const PUBLISHER = ["publisher"];

export const computability = {
  standardized: {
    tests: "Every file states its format (`encodingFormat`, `format`); the open ones are counted; not applicable without files.",
    old: "`evi:formats`, or any `format`", legacy: ({ root: { fields }, any }) => any.format || fields.has("formats"),
    fix: "Add encodingFormat to each file, e.g. text/csv.",
    judge({ formatted, open }) {
      return { status: statusOf(formatted), details: sentence(told(formatted, "files", "state a format"), ...(open.total > 0 ? [`${open.good} of them an open one`] : [])), evidence: formatted.evidence };
    },
  },
  computationally_accessible: {
    tests: "The content of every file is stored here and PUBLISHED, so that anyone retrieves it over HTTP, and the root names its `publisher`.",
    old: "root `publisher`", legacy: hasField(...PUBLISHER),
    fix: "Upload the content of every file, publish the crate (PUT /publish), and add publisher to the root.",
    judge(facts) {
      const publisher = byField(...PUBLISHER)(facts);
      const { retrievable } = facts;
      return {
        status: together(statusOf(retrievable, "not_met"), publisher.status),
        details: sentence(told(retrievable, "files", "can be retrieved here by anyone"), publisher.status === "met" ? publisher.details : "no publisher is named"),
        evidence: [...publisher.evidence, ...retrievable.evidence].slice(0, 10),
      };
    },
  },
  portable: {
    tests: "Every software names its container or environment (`container`, `softwareRequirements`, `runtimePlatform`, `operatingSystem` …), or a computation that used it does; not applicable without software.",
    old: "always", legacy: always,
    fix: "Add softwareRequirements or runtimePlatform to each Software, or container to the computations that used it.",
    judge: byShare(({ portable }) => portable, "pieces of software", "have a named container or environment"),
  },
  contextualized: {
    tests: "The root is valid by RO-Crate (`@type` Dataset, `name`, `description`, `license`, and `datePublished` as a date), the crate has an `@context`, and `conformsTo` of the root names a profile; partly when it is valid without a profile, or has one without being valid.",
    old: "always", legacy: always,
    fix: "Give the root what RO-Crate asks for, and conformsTo with the address of the profile that the crate follows.",
    judge(facts) {
      const { root: { fields, gaps, hasContext } } = facts;
      const dates = listOf(fields.first("datePublished")?.value);
      const invalid = [...gaps, ...(dates.length > 0 && !dates.every(isDate) ? ["a datePublished that is a date of ISO 8601"] : []), ...(hasContext ? [] : ["an @context"])];
      const hasProfile = fields.has("conformsTo");
      const missing = [...invalid, ...(hasProfile ? [] : ["conformsTo with a profile"])];
      return {
        status: together(invalid.length === 0 ? "met" : "not_met", hasProfile ? "met" : "not_met"),
        details: missing.length === 0 ? "The root is valid by RO-Crate and names its context and profile." : `The root lacks ${missing.join(", ")}.`,
        evidence: missing.length === 0 ? [fields.place("conformsTo")] : [whole(facts)],
        fix: `Add ${missing.join(", ")} to the root.`,
      };
    },
  },
} as const satisfies Criteria;
