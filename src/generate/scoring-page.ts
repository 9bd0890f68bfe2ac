import { CATEGORIES, CATEGORY_NAMES } from "../use-cases/scoring/index.js";

const cell = (text: string): string => text.replaceAll("|", "\\|");
const title = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}`;

/** `docs/scoring.md`: what the AI-readiness of a crate is judged by. */
export function scoringPage(): string {
  return `# AI-readiness of crates

How ready a crate is for AI, by 28 criteria in seven categories after the Bridge2AI recommendations (PMC11526931). Each is tested on the crate as it is now; nothing is given for being there. This page is printed from the code by \`npm run generate\`.

Anyone may read a score: \`GET /rocrate/ai-ready-score/ark:…\`, GraphQL \`aiReadyScore(id:)\`, \`arkgraph score\`; the page of a crate shows one that is known.

## The answer

By category and criterion:

| Member | Meaning |
|---|---|
| \`has_content\` | The status is \`met\` or \`partly\`. |
| \`details\` | What was found. |
| \`status\` | \`met\`, \`partly\`, \`not_met\` or \`not_applicable\`. |
| \`evidence\` | The places that decided, at most ten: a record's identifier, \`#\`, and a JSON pointer into its document (\`ark:…#/license\`; \`ark:…#\` is the whole record). What lacks something comes first. |
| \`fix\` | What to add, and where; null where nothing is missing. |
| \`legacy\` | What the rule of older registries gives. They take several criteria as always met. |

\`score\` counts \`met\`, \`partly\` and \`total\`, the criteria that apply: \`not_applicable\` counts nowhere. \`revision\` is that of the crate, \`computedAt\` the time at which it was looked at.

## What is looked at

- **The root** is the crate's own record. A field counts under its name with or without a prefix or IRI (\`rai:dataBiases\`, \`dataBiases\`), or as \`additionalProperty\` with that name and a \`value\`; people, licences and properties that are entities of their own are followed. Blanks and placeholders ("TBD", "N/A") say nothing.
- **The graph** is the crate with its sub-crates: those that came with it, and those with an upload of their own that \`hasPart\` names. What has more records and references than SCORE_MAX_RECORDS is not scored (413 \`TOO_LARGE\`).
- **Files** are data downloads, and datasets and software that have content, an address, a checksum, a size or a format. A dataset that only lists parts is a folder.
- **References** by identifier or by the URL of an entity are followed, from either end.

## When it is worked out

A score is kept, for all nodes, with the state of everything that it rests on: the crates, and the records beside them that they refer to. Whatever of it changes, the next reader gets a new one; so does everyone after a new version of the rules.

\`POST /rocrate/ai-ready-score/ark:…/rescore\` works it out anew in the background, for whoever may change the crate. It also checks tables whose content is stored here against the schemas that they name, up to SCORE_MAX_TABLES and SCORE_TABLE_BYTES, and tells of them how many conform. Poll \`GET /rocrate/ai-ready-score/status/{submissionUUID}\` until \`completed\`. After a change of the crate the tables count as not checked.

## The criteria
${CATEGORY_NAMES.map((category) => `
### ${title(category)} (\`${category}\`)

| Criterion | What is tested | Fix | Older registries |
|---|---|---|---|
${Object.entries(CATEGORIES[category]).map(([name, { tests, fix, old }]) => `| \`${name}\` | ${cell(tests)} | ${cell(fix)} | ${cell(old)} |`).join("\n")}
`).join("")}`;
}
