import { textOf } from "../../model/texts.js";
import type { Deps } from "../deps.js";
import type { RecordView } from "../records/view.js";
import { isHttp } from "./agents.js";
import { factsOf, lacking } from "./facts.js";
import type { RecordFormat } from "./format.js";
import { yamlText } from "./yaml.js";

/**
 * `CITATION.cff` of a program (Citation File Format 1.2.0).
 * @throws ValidationError when nobody is known to have written it: CFF requires an author
 */
export async function citationCff(
  deps: Pick<Deps, "records" | "config" | "baseUrl">,
  view: RecordView,
): Promise<string> {
  const facts = await factsOf(deps, view);
  if (facts.creators.length === 0)
    throw lacking("CITATION.cff", { author: "names of its authors" });
  const repository = textOf(facts.fields.first("codeRepository", "url", "contentUrl")?.value);
  const { licence } = facts;
  const file = {
    "cff-version": "1.2.0",
    message: "If you use this software, please cite it as below.",
    type: "software",
    title: facts.title,
    authors: facts.creators.map(
      ({ name, family, given, suffix, orcid, ror, url, affiliations }) => ({
        ...(family && given
          ? {
              "family-names": family,
              "given-names": given,
              ...(suffix ? { "name-suffix": suffix } : {}),
            }
          : { name }),
        ...(orcid === undefined
          ? ror === undefined && url?.startsWith("http") && !family
            ? { website: url }
            : {}
          : { orcid: `https://orcid.org/${orcid}` }),
        ...(family && given && affiliations[0] ? { affiliation: affiliations[0].name } : {}),
      }),
    ),
    ...(facts.description === null ? {} : { abstract: facts.description }),
    ...(facts.version === null ? {} : { version: facts.version }),
    ...(facts.published.length === 10 ? { "date-released": facts.published } : {}),
    ...(licence === null
      ? {}
      : licence.spdx !== null
        ? { license: licence.spdx }
        : licence.url === null
          ? {}
          : { "license-url": licence.url }),
    ...(facts.doi === null ? {} : { doi: facts.doi }),
    identifiers: [
      { type: "url", value: facts.url, description: `ARK of the software: ${facts.ark}` },
    ],
    ...(repository !== null && isHttp(repository) ? { "repository-code": repository } : {}),
    url: facts.url,
    ...(facts.keywords.length === 0 ? {} : { keywords: facts.keywords }),
  };
  return yamlText(file);
}

export const cff: RecordFormat = {
  name: "cff",
  mediaType: "application/yaml",
  profile: "https://citation-file-format.github.io/1.2.0/",
  label: "CITATION.cff",
  description: "The citation file of a program, for its repository.",
  kinds: ["software"],
  relation: "describedby",
  isDerived: true,
  example: "cff-version: 1.2.0\ntitle: Segmentation\n",
  write: ({ deps, view }) => citationCff(deps, view),
};
