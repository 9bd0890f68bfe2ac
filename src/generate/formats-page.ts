import { KINDS } from "../model/kinds.js";
import { fullType, type RecordFormat } from "../services/formats/format.js";
import { FORMATS } from "../services/formats/table.js";

/** `docs/formats.md`: every format of a record with one command, from the table of formats. */
export function formatsPage(): string {
  return `# Formats of records

Every record is answered in several formats: RDF, citations, catalogue records, archives.
Ask for one by its name, by its media type, or follow a link:

\`\`\`sh
SERVER=http://127.0.0.1:8080
ARK=ark:99999/rocrate-release       # a crate; \`npm run demo\` prints one
SOFTWARE=ark:99999/software-segment # a program
curl -fsS "$SERVER/$ARK?format=turtle"
curl -fsS -H 'Accept: text/turtle' "$SERVER/$ARK"
curl -fsSI "$SERVER/$ARK"           # the Link header names the usual formats
curl -fsS "$SERVER/$ARK?format=linkset"
\`\`\`

\`?format=\` takes precedence over \`Accept\`. Where several formats have the same media type, a profile tells
them apart: \`Accept: application/ld+json;profile="https://w3id.org/ro/crate"\`. Without one the first of the table
is answered. \`arkgraph get "$ARK" --format turtle\` prints a record in any of them. Over GraphQL:

\`\`\`graphql
{ record(id: "ark:99999/rocrate-release") { as(format: TURTLE) { mediaType text } formats { name address } } }
\`\`\`

A record that does not have a format, or lacks what the format requires, gets a 406 or 422 that says what to add.
Metadata is open to everyone; archives hold the files that the caller may read.

This page is generated from the code by \`npm run generate\`; the test suite runs every command.

| format | \`?format=\` | media type | records |
|---|---|---|---|
${FORMATS.map(
  (format) =>
    `| [${format.label}](#${anchorOf(format)}) | \`${format.name}\` | ` +
    `\`${fullType(format)}\` | ${recordsWith(format)} |`,
).join("\n")}

${FORMATS.map(section).join("\n\n")}
`;
}

const anchorOf = ({ label }: RecordFormat): string =>
  label
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-");

const recordsWith = ({ kinds }: RecordFormat): string =>
  kinds === undefined ? "all" : kinds.map((kind) => KINDS[kind].typeName).join(", ");

/** An example of a format: a crate has most of them, a program the others. */
function section(format: RecordFormat): string {
  const { name, label, description, kinds, path, isBinary } = format;
  const ark = kinds === undefined || kinds.includes("rocrate") ? "$ARK" : "$SOFTWARE";
  const address = `"$SERVER/${ark}${path ?? `?format=${name}`}"`;
  return `## ${label}

${description}

\`\`\`sh
curl -fsS ${address}${isBinary ? ` -o crate.${name === "zip" ? "zip" : `${name}.zip`}` : ""}
\`\`\``;
}
