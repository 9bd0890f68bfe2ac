import type { JsonObject } from "../../model/field.js";
import { cutAtSentence, oneLine } from "../../model/texts.js";
import { ownValue } from "../../own.js";
import type { Deps } from "../deps.js";
import type { RecordView } from "../records/view.js";
import { type Agent, invertedName } from "./agents.js";
import { CITED, factsOf, type RecordFacts } from "./facts.js";
import type { RecordFormat } from "./format.js";

type FactDeps = Pick<Deps, "records" | "config" | "baseUrl">;

const isSoftware = ({ type }: RecordFacts): boolean => type === "SoftwareSourceCode";
/** What a citation calls the record. */
const called = ({ type }: RecordFacts): string => ownValue(CALLED, type) ?? type;
const CALLED: Readonly<Record<string, string>> = {
  SoftwareSourceCode: "Computer software",
  Dataset: "Data set",
  MediaObject: "File",
};
/** Where a citation leads: the DOI, else the record. */
const address = ({ doi, url }: RecordFacts): string =>
  doi === null ? url : `https://doi.org/${doi}`;
/** Without line breaks and control characters, which end a field or hide what it says. */
const line = (text: string): string =>
  oneLine(text.toWellFormed())
    .replace(/[\p{Cc}\ufffe\uffff]/gu, "")
    .trim();

/** Characters of the abstract in a citation: the beginning of a longer description. */
const MAX_ABSTRACT = 50_000;
const abstractOf = (description: string): string => cutAtSentence(description, MAX_ABSTRACT);

/** Characters that mean something to TeX. */
const TEX: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "{": "\\textbraceleft{}",
  "}": "\\textbraceright{}",
  $: "\\$",
  "&": "\\&",
  "#": "\\#",
  "%": "\\%",
  _: "\\_",
  "^": "\\textasciicircum{}",
  "~": "\\textasciitilde{}",
};
const tex = (text: string): string =>
  line(text).replace(/[\\{}$&#%_^~]/g, (character) => TEX[character] ?? character);

/** `lovelace2024cells`: letters and digits only. */
function keyOf({ creators, year, title, ark }: RecordFacts): string {
  const plain = (text: string): string =>
    text
      .normalize("NFKD")
      .replace(/[^A-Za-z0-9 ]/g, "")
      .toLowerCase()
      .trim();
  const first = creators[0];
  const name = plain(first?.family ?? first?.name ?? "")
    .replaceAll(" ", "")
    .slice(0, 30);
  const word = plain(title).replace(/\s.*/s, "").slice(0, 30);
  return `${name}${year}${word}` || ark.replace(/[^A-Za-z0-9]/g, "");
}

const bibName = ({ name, family, given, suffix }: Agent): string =>
  family && given
    ? [family, ...(suffix ? [suffix] : []), given].map(tex).join(", ")
    : `{${tex(name)}}`;

/** An entry for BibTeX. `@misc` is what every style knows; `howpublished` says what it is. */
export async function bibtexText(deps: FactDeps, view: RecordView): Promise<string> {
  return bibtexOf(await factsOf(deps, view));
}

/** The same from facts that were read. */
export function bibtexOf(facts: RecordFacts): string {
  const [, month] = facts.published.split("-");
  const entries: [string, string | null][] = [
    ["author", facts.creators.map(bibName).join(" and ") || null],
    ["title", `{${tex(facts.title)}}`],
    ["year", facts.year],
    ["month", month === undefined ? null : String(Number(month))],
    ["publisher", tex(facts.publisher.name)],
    ["version", facts.version === null ? null : tex(facts.version)],
    ["howpublished", called(facts)],
    ["doi", facts.doi === null ? null : tex(facts.doi)],
    // Addresses are not TeX; braces would end the field.
    ["url", address(facts).replace(/[{}\\\s]/g, (character) => encodeURIComponent(character))],
    ["abstract", facts.description === null ? null : tex(abstractOf(facts.description))],
    ["keywords", facts.keywords.length === 0 ? null : tex(facts.keywords.join(", "))],
    ["copyright", facts.licence === null ? null : tex(facts.licence.spdx ?? facts.licence.name)],
    ["note", tex(facts.ark)],
  ];
  return `@misc{${keyOf(facts)},\n${entries
    .flatMap(([name, value]) => (value === null ? [] : [`  ${name} = {${value}}`]))
    .join(",\n")}\n}\n`;
}

/** A reference in the RIS format. */
export async function risText(deps: FactDeps, view: RecordView): Promise<string> {
  const facts = await factsOf(deps, view);
  const [year, month = "", day = ""] = facts.published.split("-");
  const tags: [string, string | null][] = [
    ["TY", isSoftware(facts) ? "COMP" : facts.type === "Dataset" ? "DATA" : "GEN"],
    ...facts.creators.map((agent): [string, string] => ["AU", invertedName(agent)]),
    ["TI", facts.title],
    ["PY", facts.year],
    ["DA", `${year}/${month}/${day}/`],
    ["PB", facts.publisher.name],
    ["ET", facts.version],
    ["DO", facts.doi],
    ["UR", address(facts)],
    ["AB", facts.description && abstractOf(facts.description)],
    ...facts.keywords.map((word): [string, string] => ["KW", word]),
    ["LA", facts.language],
    ["C1", facts.ark],
  ];
  return `${tags
    .map(([tag, value]) => [tag, line(value ?? "")])
    .flatMap(([tag, value]) => (value === "" ? [] : [`${tag}  - ${value}\r\n`]))
    .join("")}ER  - \r\n`;
}

/** A reference as CSL-JSON: one item. */
export async function cslItem(deps: FactDeps, view: RecordView): Promise<JsonObject> {
  const facts = await factsOf(deps, view);
  return {
    id: facts.ark,
    type: isSoftware(facts) ? "software" : facts.type === "Dataset" ? "dataset" : "document",
    title: line(facts.title),
    author: facts.creators.map(({ name, family, given, suffix }) =>
      family && given ? { family, given, ...(suffix ? { suffix } : {}) } : { literal: line(name) },
    ),
    issued: { "date-parts": [facts.published.split("-").map(Number)] },
    publisher: facts.publisher.name,
    ...(facts.version === null ? {} : { version: facts.version }),
    ...(facts.doi === null ? {} : { DOI: facts.doi }),
    URL: address(facts),
    ...(facts.description === null ? {} : { abstract: abstractOf(facts.description) }),
    ...(facts.keywords.length === 0 ? {} : { keyword: facts.keywords.join(", ") }),
    ...(facts.language === null ? {} : { language: facts.language }),
  };
}

/** Most authors of a styled citation; the APA manual shortens longer lists. */
const MAX_AUTHORS = 20;
/** Characters of a name and of a title in a styled citation, so that none hides all the rest. */
const [MAX_NAME, MAX_TITLE] = [200, 1000];

/** A citation as a sentence, as the APA manual (7th edition) cites data and software. */
export async function citationText(deps: FactDeps, view: RecordView): Promise<string> {
  const facts = await factsOf(deps, view);
  const names = facts.creators
    .map((agent) =>
      agent.family && agent.given
        ? invertedName({ ...agent, given: initials(agent.given) })
        : agent.name,
    )
    .map((name) => cutAtSentence(name, MAX_NAME));
  const shown =
    names.length <= MAX_AUTHORS
      ? names
      : [...names.slice(0, MAX_AUTHORS - 1), ...names.slice(-1).map((last) => `… ${last}`)];
  const who =
    shown.length > 1 && names.length <= MAX_AUTHORS
      ? `${shown.slice(0, -1).join(", ")}, & ${shown.at(-1)}`
      : shown.join(", ");
  const version = facts.version === null ? "" : ` (Version ${facts.version})`;
  const what = `${cutAtSentence(facts.title, MAX_TITLE).replace(/\.+$/, "")}${version} [${called(facts)}].`;
  const when = `(${facts.year}).`;
  const parts = who === "" ? [what, when] : [who.endsWith(".") ? who : `${who}.`, when, what];
  return `${[...parts, `${facts.publisher.name}.`, address(facts)].map(line).join(" ")}\n`;
}

const initials = (given: string): string =>
  given
    .split(/[\s.]+/)
    .filter((name) => name !== "")
    .flatMap((name) =>
      [...name].slice(0, /^\p{Lu}{2,4}$/u.test(name) ? 4 : 1).map((letter) => `${letter}.`),
    )
    .join(" ");

const citation = (
  format: Pick<RecordFormat, "name" | "mediaType" | "label" | "description" | "example">,
  text: (deps: FactDeps, view: RecordView) => Promise<string>,
): RecordFormat => ({
  ...format,
  kinds: CITED,
  relation: "describedby",
  isDerived: true,
  write: ({ deps, view }) => text(deps, view),
});

export const CITATIONS: readonly RecordFormat[] = [
  citation(
    {
      name: "bibtex",
      mediaType: "application/x-bibtex",
      label: "BibTeX",
      description: "A citation for LaTeX and reference managers.",
      example: "@misc{lovelace2024cells,\n  title = {{Cells}}\n}\n",
    },
    bibtexText,
  ),
  citation(
    {
      name: "ris",
      mediaType: "application/x-research-info-systems",
      label: "RIS",
      description: "A citation for reference managers such as EndNote and Zotero.",
      example: "TY  - DATA\r\nTI  - Cells\r\nER  - \r\n",
    },
    risText,
  ),
  citation(
    {
      name: "csl",
      mediaType: "application/vnd.citationstyles.csl+json",
      label: "CSL-JSON",
      description: "A citation for processors of the Citation Style Language.",
      example: '{"id":"ark:99999/dataset-cells","type":"dataset","title":"Cells"}',
    },
    async (deps, view) => JSON.stringify(await cslItem(deps, view)),
  ),
  citation(
    {
      name: "citation",
      mediaType: "text/x-bibliography",
      label: "Citation text",
      description: "A citation as a sentence, as APA style (7th edition) cites data and software.",
      example: "Lovelace, A. (2024). Cells [Data set]. Arkgraph.\n",
    },
    citationText,
  ),
];
