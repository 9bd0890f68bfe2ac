import { always, evidenceOf, hasField, sentence, shown, statusOf, together, told, whole, type Criteria } from "../criterion.js";
import { isLicence } from "../facts/licences.js";

/** What a reader finds a crate by, beside its identifier. */
const FOUND_BY = ["name", "description", "keywords"];

export const fairness = {
  findable: {
    tests: "The root has an identifier that resolves (its ARK here does; a DOI may stand beside it in `identifier`), `name`, `description` and `keywords`.",
    old: "root `identifier`, else root `@id`", legacy: always,
    fix: "Add name, description and keywords to the root.",
    judge({ root: { fields } }) {
      const missing = FOUND_BY.filter((name) => !fields.has(name));
      return {
        status: missing.length === 0 ? "met" : missing.length < FOUND_BY.length ? "partly" : "not_met",
        details: `${fields.ark} resolves here; ${missing.length === 0 ? "it has a name, a description and keywords" : `it lacks ${missing.join(", ")}`}.`,
        evidence: [fields.place("identifier"), ...FOUND_BY.flatMap((name) => fields.first(name)?.place ?? [])],
        fix: `Add ${missing.join(" and ")} to the root.`,
      };
    },
  },
  accessible: {
    tests: "Every file, and every dataset that is no folder, has content stored here or an address (`contentUrl`, `url`, `distribution`); none is ARCHIVED; what is EMBARGOED states `conditionsOfAccess` or the end of the embargo.",
    old: "always", legacy: always,
    fix: "Upload the content of every file with the crate, or give each a contentUrl, and state conditionsOfAccess of what is embargoed at the root.",
    judge(facts) {
      const { root, parts, unarchived, embargoed } = facts;
      if (root.status === "ARCHIVED") return { status: "not_met", details: "The crate is ARCHIVED.", evidence: [whole(facts)], fix: "Publish the crate (PUT /publish) if it is to be had again." };
      const notes = [told(parts, "files and datasets", "have content here or an address")];
      if (unarchived.good < unarchived.total) notes.push(`${unarchived.total - unarchived.good} are archived`);
      if (embargoed.total > 0) notes.push(told(embargoed, "embargoed records", "state how access is had"));
      const had = statusOf(parts, "not_met");
      const whether = statusOf(unarchived) === "not_met" ? "not_met" : had === "not_met" ? had : together(had, statusOf(unarchived), statusOf(embargoed));
      return { status: whether, details: sentence(...notes), evidence: parts.total === 0 ? [whole(facts)] : evidenceOf(parts, unarchived, embargoed) };
    },
  },
  interoperable: {
    tests: "A context explains every term of every record, and every stated format of a file is a media type registered with IANA (or has an address in PRONOM, EDAM or Wikidata).",
    old: "always", legacy: always,
    fix: "Explain every term in @context of the crate, and state encodingFormat of each file as a registered media type such as text/csv.",
    judge({ explained, lostTerms, registered }) {
      const lost = lostTerms.size === 0 ? [] : [`not explained: ${[...lostTerms].join(", ")}`];
      return {
        status: together(statusOf(explained), statusOf(registered)),
        details: sentence(told(explained, "records", "have all their terms explained by their context"), ...lost, registered.total === 0 ? "no file states a format" : told(registered, "stated formats", "are registered media types")),
        evidence: evidenceOf(explained, registered),
      };
    },
  },
  reusable: {
    tests: "The root's `license` is an address or an SPDX identifier, or an entity that has one; partly when it is other text.",
    old: "root `license`", legacy: hasField("license"),
    fix: "Set license of the root to the address of a licence, e.g. https://creativecommons.org/licenses/by/4.0/, or to its SPDX identifier.",
    judge(facts) {
      const field = facts.root.fields.first("license");
      if (!field) return { status: "not_met", details: "The root names no license.", evidence: [whole(facts)] };
      return { status: facts.root.licences.some(isLicence) ? "met" : "partly", details: `license: ${shown(field.value)}`, evidence: [field.place] };
    },
  },
} as const satisfies Criteria;
