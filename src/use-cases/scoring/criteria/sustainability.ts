import { always, byField, evidenceOf, hasField, sentence, shown, statusOf, together, told, whole, type Criteria } from "../criterion.js";

const PLAN = ["rai:dataReleaseMaintenancePlan"];
const COMMITTEE = ["dataGovernanceCommittee", "Data Governance Committee"];
const DOI = /(?:^|doi\.org\/|doi:\s*)10\.\d{4,9}\/\S+$/i;
/** Names Assigning Authority Numbers for examples and tests (NAAN registry): nobody keeps what is under them. */
const FOR_TESTS = /^ark:(?:12345|99152|99166|99999)\//;

export const sustainability = {
  persistent: {
    tests: "The root's `identifier` is a DOI, or its ARK is of this registry's own authority (ARK_NAAN): `?info` of it answers a statement of persistence. An ARK that another authority gave, or one for tests (99999, 99152, 12345), makes it partly.",
    old: "root `identifier`, else root `@id`", legacy: always,
    fix: "Register the crate under an ARK of your own authority (ARK_NAAN), or add its DOI as identifier to the root.",
    judge(facts) {
      const { fields } = facts.root;
      const doi = fields.references("identifier").find((text) => DOI.test(text.trim()));
      if (doi !== undefined) return { status: "met", details: `identifier: ${shown(doi)}`, evidence: [fields.place("identifier")] };
      const evidence = [whole(facts)];
      if (FOR_TESTS.test(fields.ark)) return { status: "partly", details: `${fields.ark} is kept here, and its number is one for tests.`, evidence };
      return facts.root.isOwn
        ? { status: "met", details: `${fields.ark}?info states how it is kept.`, evidence }
        : { status: "partly", details: `${fields.ark} is kept here; where it resolves to elsewhere is up to the authority that gave it.`, evidence };
    },
  },
  domain_appropriate: {
    tests: "The root states `rai:dataReleaseMaintenancePlan`.", old: "the same", legacy: hasField(...PLAN),
    fix: "Add rai:dataReleaseMaintenancePlan to the root: how the data are kept up.", judge: byField(...PLAN),
  },
  well_governed: {
    tests: "The root states dataGovernanceCommittee (also as \"Data Governance Committee\").", old: "the same", legacy: hasField(...COMMITTEE),
    fix: "Add dataGovernanceCommittee to the root.", judge: byField(...COMMITTEE),
  },
  associated: {
    tests: "`hasPart` leads from the root to every dataset, file and sub-crate, and every reference to an identifier (ARK) leads to a record that exists.",
    old: "always", legacy: always,
    fix: "Name every dataset and file in hasPart of the root or of a part of it, and describe in the crate whatever is referred to.",
    judge(facts) {
      const { reached, references } = facts;
      return {
        status: together(statusOf(reached), statusOf(references, "met")),
        details: sentence(told(reached, "datasets, files and sub-crates", "are reached from the root"), references.total === 0 ? "nothing is referred to" : told(references, "references", "lead to a record")),
        evidence: reached.total === 0 && references.lacking.length === 0 ? [whole(facts)] : evidenceOf(reached, references),
      };
    },
  },
} as const satisfies Criteria;
