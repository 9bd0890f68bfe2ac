import { byShare, evidenceOf, hasField, sentence, statusOf, together, told, whole, type Criteria } from "../criterion.js";
import type { CrateFacts } from "../facts/crate-facts.js";

const counted = (name: "datasetCount" | "computationCount" | "softwareCount", { root: { fields } }: CrateFacts): boolean => Number(fields.first(name)?.value) > 0;

export const provenance = {
  transparent: {
    tests: "Every dataset and file says where it comes from: `generatedBy`, `derivedFrom`, a computation that generated it, `isBasedOn`, `sourceOrganization`, or the address it was taken from; a folder, which only lists parts, need not.",
    old: "any Dataset, or `evi:datasetCount` above 0", legacy: (facts) => facts.any.dataset || counted("datasetCount", facts),
    fix: "Add generatedBy (the computation), derivedFrom (the data) or isBasedOn (an address) to each dataset and file.",
    judge: byShare(({ sourced }) => sourced, "datasets and files", "say where they come from", "not_met"),
  },
  traceable: {
    tests: "Every computation and experiment names at least one input (`usedDataset`, `usedSample` …, `object`) and one output (`generated`, `result`), and all of them exist here; either end may state it.",
    old: "any Computation or Experiment, or `evi:computationCount` above 0", legacy: (facts) => facts.any.computation || counted("computationCount", facts),
    fix: "Describe the runs that made the data as Computation entities whose usedDataset and generated name records of the crate.",
    judge: byShare(({ traced }) => traced, "runs", "name inputs and outputs that exist", "not_met"),
  },
  interpretable: {
    tests: "Every computation names software that exists here (`usedSoftware`, `instrument`), and every software has content here or an address (`url`, `codeRepository`, `contentUrl`).",
    old: "any Software, or `evi:softwareCount` above 0", legacy: (facts) => facts.any.software || counted("softwareCount", facts),
    fix: "Add usedSoftware to each Computation, and url, codeRepository or contentUrl to each Software.",
    judge(facts) {
      const { located, programmed } = facts;
      const none = located.total === 0;
      return {
        status: none ? "not_met" : together(statusOf(programmed), statusOf(located)),
        details: sentence(told(programmed, "computations", "name software that exists"), told(located, "pieces of software", "have a location")),
        evidence: none && programmed.total === 0 ? [whole(facts)] : evidenceOf(programmed, located),
      };
    },
  },
  key_actors_identified: {
    tests: "The root names `author` (or `creator`), `publisher` or `principalInvestigator`; met when one of them has an ORCID or ROR, partly when they are named without.",
    old: "root `author`, `publisher` or `principalInvestigator`", legacy: hasField("author", "publisher", "principalInvestigator"),
    fix: "Add author to the root, as entities of type Person whose @id is an ORCID (https://orcid.org/…), or publisher with a ROR.",
    judge(facts) {
      const { actors } = facts.root;
      return {
        status: actors.total === 0 ? "not_met" : actors.good > 0 ? "met" : "partly",
        details: actors.total === 0 ? "The root names no author, publisher or principal investigator." : sentence(told(actors, "actors named at the root", "have an ORCID or ROR")),
        evidence: actors.total === 0 ? [whole(facts)] : [...new Set([...actors.having, ...actors.lacking])],
      };
    },
  },
} as const satisfies Criteria;
