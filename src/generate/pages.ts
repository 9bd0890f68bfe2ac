/** The reference pages in docs that are written from the code. */
import type { Command } from "commander";
import { buildProgram } from "../../cli/program.js";
import type { ToolCommand } from "../../cli/tool-command.js";
import { SETTINGS } from "../config/config.js";
import { ERRORS } from "../errors.js";
import { GRAPHQL_CODES } from "../graphql/errors.js";
import { KINDS } from "../model/kinds.js";
import { FINDING_CODES } from "../services/crates/findings.js";
import { fullType, type RecordFormat } from "../services/formats/format.js";
import { FORMATS } from "../services/formats/table.js";
import { CATEGORIES, CATEGORY_NAMES } from "../services/scoring/criteria.js";

/** `docs/cli.md`: the manual of the command line, generated from its commands. */
export function cliPage(): string {
  const program = buildProgram();
  const commands = leavesOf(program);
  return (
    `# arkgraph

${program.description()}

\`\`\`
npx arkgraph <command> [options]
\`\`\`

\`--help\` lists commands, and behind a command its options; \`${
      program
        .createHelp()
        .visibleOptions(program)
        .find(({ long }) => long === "--version")!.flags
    }\` prints the version.

This page is generated from the code by \`npm run generate\`; the test suite runs ` +
    `every example.

## Commands

| | |
|---|---|
${commands
  .map((command) => {
    const link = `[\`${pathOf(command)}\`](#${anchorOf(command)})`;
    return `| ${link} | ${commandCell(command.description())} |`;
  })
  .join("\n")}

## Conventions

**Exit status.** 0: done, or the data conform. 1: the data do not conform, a ` +
    "property was refused, a file is missing or malformed, an identifier is unknown, a " +
    `request failed. 2: the command line itself is wrong. 130: ended by Ctrl+C.

**Output.** Results go to standard output, everything else to standard error; a ` +
    "failure is one line that begins with `arkgraph:`. Colours and progress bars appear " +
    "on a terminal only, and colours only without `NO_COLOR`. Files are written under a " +
    `temporary name and renamed: a file is there as a whole or not at all.

**Registry.** Commands that talk to a registry take \`--server <url>\`, else the ` +
    "environment variable `ARKGRAPH_SERVER`, else the registry of the last login, else " +
    "`http://127.0.0.1:8080`. The token is that of the login there, or `ARKGRAPH_TOKEN`. " +
    `Certificates of an authority of your own: \`NODE_EXTRA_CA_CERTS\`.

**Files.** \`login\` stores tokens in \`$XDG_CONFIG_HOME/arkgraph/credentials.json\` ` +
    `(\`~/.config/arkgraph/…\` by default), which only its owner can read.

**Identifiers.** An ARK may be given in any accepted spelling: \`ark:99999/x\`, ` +
    `\`ark:/99999/x\`, \`ark99999/x\`, or behind the address of a resolver.

**Completion.** \`source <(arkgraph completion bash)\` in \`~/.bashrc\`; \`source ` +
    `<(arkgraph completion zsh)\` in \`~/.zshrc\`, after \`compinit\`.

${commands.map(section).join("\n")}`
  );
}

/** Commands with an action, in the order of the help. */
export function leavesOf(command: ToolCommand): ToolCommand[] {
  return command.commands.length === 0
    ? [command]
    : (command.commands as ToolCommand[]).flatMap(leavesOf);
}

/** The words of a command, e.g. `schema validate`. */
export function pathOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}

const anchorOf = (command: Command): string => `arkgraph-${pathOf(command).replaceAll(" ", "-")}`;
const commandCell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "\\<");

function section(command: ToolCommand): string {
  const help = command.createHelp();
  const args = help.visibleArguments(command);
  const options = help.visibleOptions(command).filter(({ long }) => long !== "--help");
  return [
    `## arkgraph ${pathOf(command)}`,
    "",
    sentence(command.description()),
    "",
    "```",
    help.commandUsage(command),
    "```",
    "",
    ...commandTable(
      "argument",
      args.map((argument) => [argument.name(), help.argumentDescription(argument)]),
    ),
    ...commandTable(
      "option",
      options.map((option) => [option.flags, help.optionDescription(option)]),
    ),
    ...command.examples.flatMap((line) => ["```sh example", line, "```", ""]),
  ].join("\n");
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;
const commandTable = (head: string, rows: readonly (readonly [string, string])[]): string[] =>
  rows.length === 0
    ? []
    : [
        `| ${head} | |`,
        "|---|---|",
        ...rows.map(
          ([name, about]) => `| \`${name.replaceAll("|", "\\|")}\` | ${commandCell(about)} |`,
        ),
        "",
      ];

const findingTable = (severity: "REQUIRED" | "RECOMMENDED"): string =>
  Object.entries(FINDING_CODES)
    .filter(([code, entry]) => entry.severity === severity && code !== "MORE_FINDINGS")
    .map(
      ([code, { status, meaning, fix }]) =>
        `| \`${code}\` |${severity === "REQUIRED" ? ` ${status} |` : ""} ` +
        `${meaning.replaceAll("|", "\\|")} | ${fix.replaceAll("|", "\\|")} |`,
    )
    .join("\n");

/** What Croissant documents and Data Packages become. */
const CONVERSIONS: readonly (readonly [from: string, to: string])[] = [
  [
    "Croissant: members of the dataset, `rai:` and `prov:` among them",
    "the root, with the same terms; an `@id` that is an ARK names the crate",
  ],
  [
    "Croissant: `creator`, `publisher` and other agents; Data Package: " + "`contributors`",
    "people and organizations",
  ],
  [
    "Croissant: `FileObject`",
    "a file, by the relative path or the URL in `contentUrl`; one inside an archive " +
      "has `isPartOf` and no content",
  ],
  ["Croissant: `FileSet`", "a dataset with `includes`"],
  [
    "Croissant: record set and its fields",
    "a schema, which the files that its fields are read from name in `hasSchema`; " +
      "`data` as `examples`",
  ],
  [
    "Data Package: `title`, `licenses`, `created`, `homepage`, `sources`",
    "`name`, `license`, `datePublished`, `url`, `isBasedOn` of the root",
  ],
  [
    "Data Package: resource with one `path`; with several; with `data`",
    "a file; a dataset of files; a dataset with `data`",
  ],
  ["Data Package: `bytes`, `hash`", "`contentSize`, and a digest that the stored file must have"],
  [
    "a placeholder in place of a hash",
    "nothing, with advice (`DIGEST_INVALID`): no export states it",
  ],
  ["Croissant before 1.0", "the same as of 1.1, with advice (`CROISSANT_VERSION`)"],
  [
    "Data Package: Table Schema and `dialect`",
    "a schema; parts without a counterpart are listed (`SCHEMA_PART_LEFT_OUT`). A " +
      "schema elsewhere stays a reference",
  ],
];

/** `docs/crates.md`: accepted, reported and refused content, with the code for each. */
export function cratesPage(): string {
  return (
    `# Crates

What the registry accepts, what it advises, and what it refuses. This page is ` +
    `generated from the code by \`npm run generate\`.

## What is accepted

- **RO-Crate 1.0 to 1.3**, and the older layout in which a crate is one object with ` +
    `its own \`@graph\` and no descriptor.
- **Archives** in zip format, \`.eln\` files among them, deflated or stored, up to ` +
    "the limits in [settings](settings.md). The metadata file is the shallowest " +
    "`ro-crate-metadata.json` (or `.jsonld`), however deep it lies; its folder is the " +
    "crate. Deeper ones are nested crates, and become crates of their own with their " +
    "parent's upload. One that you uploaded before is linked when its metadata file is " +
    `the same, and updated with \`update=true\` (\`CRATE_LINKED\`).
- **Metadata alone**: \`POST /rocrate/metadata\` accepts the document of a crate ` +
    "without files. Uploads do too: a file that begins as a JSON object is a document, " +
    `whatever its name.
- **Croissant** (1.0 and 1.1) and **Frictionless Data Packages** (1 and 2), as a document ` +
    "alone, or in an archive without RO-Crate metadata: the outermost `datapackage.json`, or " +
    "a Croissant document named `croissant.json`, `metadata.json` or `*.croissant.json`. " +
    `[How they become crates](#croissant-and-data-packages).
- **The crate itself** is what the descriptor's \`about\` names, never an entity by ` +
    "its position. Where that is not `./` and `./` is described too, they are two " +
    `records.
- **The descriptor** is the record \`<crate>/ro-crate-metadata.json\`, with ` +
    "everything that it states. References to the metadata file lead to it. Searches, " +
    `scores, summaries and counts of a crate leave it out.
- **Identifiers**: an ARK stays. A relative path becomes \`<crate>/<path>\`, ` +
    "percent-encoding kept. Everything else (`#x`, `_:x`, `urn:`, `arcp:`, a URL) " +
    "becomes `<crate>/entity/<words>-<hash>`; a URL stays the node's IRI and is named by " +
    `\`schema:sameAs\`.
- **Documents** preserve what the crate states: every key, value, null and empty ` +
    "list. An object without `@id` stays in the entity that holds it; an object with one " +
    "that says more becomes a record too. `@base` moves nothing: paths are those of the " +
    `archive.
- **Kinds** of records, the first that fits the types of an entity: crate (the root, nested ` +
    "roots, `evi:ROCrate`), computation (`evi:Computation`, actions of schema.org), experiment " +
    "(`Experiment`, `LabProcess` of Bioschemas), schema, software (`evi:Software`, " +
    "`SoftwareSourceCode`, `SoftwareApplication`, `ComputationalWorkflow`), " +
    "machine-learning model (`MLModel` of EVI or FAIR4ML), data download (`File`, " +
    "`MediaObject`), dataset, sample (`Sample`, `BioSample`), instrument, " +
    "annotation. Anything else is an entity. `metadataType` counts as `@type`. " +
    `[Decision 3](decisions/0003-model-tables.md) says why.
- **Contexts** come from copies in the registry (RO-Crate, the workflow-run and ` +
    "test terms of RO-Crate, LDaC, schema.org); no connection is opened. A context that " +
    "is not among them stays in the documents, and terms that only it explains have no " +
    "meaning in the graph (`UNKNOWN_CONTEXT`). A wrong definition is left out of its " +
    `context (\`TERM_INVALID\`).

### Croissant and Data Packages

\`\`\`sh
curl -s $BASE/rocrate/upload -H "Authorization: Bearer $TOKEN" -F file=@croissant.json
arkgraph upload datapackage-folder/
\`\`\`

A document of either format is converted to RO-Crate metadata and goes the way of every ` +
    "crate: the same dry run, updates, limits and findings. Findings name the file and the " +
    "place in the document as it was given. The document stays a file of the crate. Nothing " +
    `is fetched: an address of a file elsewhere stays a reference.

| in the document | in the crate |
|---|---|
${CONVERSIONS.map((row) => `| ${row.join(" | ")} |`).join("\n")}

What may be claimed:

- An identifier below a record (\`<its ARK>/…\`) needs the right to change that ` +
    `record, deleted or not (\`IDENTIFIER_BELOW\`).
- An ARK that ends in the name of an operation, holds hidden characters or a ` +
    "percent-encoded hyphen, or has an authority that begins with zero is refused " +
    `(\`INVALID_ID\`). A file called \`download\` gets the identifier \`<crate>/%64ownload\`.

What comes out:

- **The archive as it was uploaded** is for those who may read every member that ` +
    `came in it. Others get a 403 that names \`?format=zip\`.
- **Descriptor and \`@context\`** as they were given. Definitions of terms that the ` +
    "given context lacks follow it; one object stays one object. A crate without a " +
    "descriptor, or one that was not uploaded, gets one that claims the version of the " +
    `RO-Crate context that it has, 1.2 where it has none.
- **Identifiers** in archives as the author wrote them (\`./\`, \`#plan\`, \`run/history\`, ` +
    "`arcp://…`). Where the root is not called by its ARK, the descriptor's `identifier` " +
    "is the ARK of the crate followed by `/ro-crate-metadata.json`: an upload takes it for " +
    "the crate's identifier, as it takes an ARK of the root. Take it out to make another " +
    "crate. A file whose bytes are not in the archive has its ARK. `GET /rocrate/ark:…` " +
    "has ARKs throughout. An absolute identifier that is neither a URL nor an ARK is the " +
    `record's \`identifier\`, and search finds it.
- **Numbers** in archives with the digits of the author (\`3.0\`), **texts that name an ` +
    `entity** as texts; the graph has the link (\`TEXT_AS_REFERENCE\`).
- **Files** at their paths, one for all entities that name it. RO-Crate 1.0 keeps its ` +
    "`ro-crate-metadata.jsonld`. A signature of the metadata, or a list of checksums, " +
    "comes out as it went in and does not hold for metadata that an export writes " +
    `(\`SIGNED_METADATA\`): the archive as it was uploaded has both.
- **Nested objects** as they went in. One that states what the entity's own record ` +
    `no longer states is written as a reference.
- **The same records** when it is uploaded again with \`update=true\`: no revision is ` +
    "made. An archive that was packed again replaces the stored one only when a record " +
    `changes.
- **\`GET /rocrate/ark:…?format=zip\`** packs the crate anew and leaves out what the ` +
    "caller may not read. A crate that came without `ro-crate-preview.html` gets one: its " +
    "datasheet with links to its files. An upload leaves that page out while nobody has " +
    `changed it; a page that came with a crate stays a file of the crate.
- **Deletion** of a member, or of its content, deletes the archive as it was ` +
    "uploaded (410 for everybody). Replaced content stays in it; delete the content to " +
    `take it out.
- **Files that no entity describes** follow the crate, and are served at their ` +
    `address before any record that is registered there later.

Nothing that a crate states is dropped. In the graph,

- a term that no context explains, or that one takes the meaning of (\`null\`), ` +
    `stands as \`urn:arkgraph:term:<term>\` (\`LOST_TERM\`);
- a member that breaks the rules of JSON-LD stands as \`urn:arkgraph:term:<member>\` ` +
    `with its value as a JSON literal (\`JSONLD_INVALID\`);
- what an IRI cannot hold is percent-encoded.

## Look before you upload

\`POST /rocrate/validate\` runs the checks of an upload on an archive ` +
    "(`multipart/form-data`, field `file`) or on a metadata document " +
    "(`application/ld+json` or `application/json`), and stores nothing. A document alone " +
    "is validated as `POST /rocrate/metadata` would. With `update=true` it reports what " +
    `an update would do. GraphQL has the same as \`planCrate\`.

\`\`\`sh
curl -s $BASE/rocrate/validate -H "Authorization: Bearer $TOKEN" -F file=@crate.zip
curl -s $BASE/rocrate/validate -H "Authorization: Bearer $TOKEN" -H 'Content-Type: ` +
    `application/ld+json' --data-binary @ro-crate-metadata.json
\`\`\`

The answer is 200 also when the crate would be refused: \`conforms\` says which. An ` +
    "upload stops at its first stage that fails; a validation continues to the end, to " +
    `report everything at once.

| Member | Meaning |
|---|---|
| \`conforms\` | The upload would be accepted. |
| \`rocrateIdentifier\` | Identifier of the crate. One that is minted is another at ` +
    `the upload. |
| \`records\` | How many records of each kind an upload would create. |
| \`counts\` | How many identifiers are in each of the next four; those lists end at ` +
    `PLAN_LIST_LIMIT. |
| \`minted\` | Identifiers that would be minted, each with the \`@id\` it stands for. |
| \`kept\` | ARKs of the crate that would be used unchanged. |
| \`known\` | Records of yours already. They are equal and the crate would share ` +
    `them; with \`update=true\` they may also change. |
| \`conflicting\` | Identifiers that are taken: the identifier, the kind of its ` +
    `record, and nothing else of it. |
| \`warned\` | Advice (\`RECOMMENDED\`). |
| \`refused\` | All other reasons to refuse the upload (\`REQUIRED\`). |
| \`changes\` | With \`update=true\`, the records that would be \`created\`, \`changed\` ` +
    "(another revision), left `unchanged`, `removed` (deleted: the crate does not " +
    "describe them any more) and `revived` (deleted before, described again), each with " +
    "its number in `counts`. Those in `conflicting` are in none of them. Each of the first " +
    "PLAN_DIFFERENCES in `changed` has its `differences`: property, old and new value, long " +
    "ones cut. Null without `update`, and where not every entity could be read to its " +
    `end. |

A finding has \`file\`, \`pointer\` (JSON pointer), \`line\` and \`column\` of a JSON ` +
    "error, `severity`, `code`, `message` and `fix`. Of one code 200 are listed; " +
    `\`MORE_FINDINGS\` says how many more there are.

A submission that failed lists the same codes in \`error\`, one that was ingested ` +
    `lists advice in \`warnings\`.

## What is refused

\`REQUIRED\`: what cannot be stored faithfully, what is not safe to unpack, what goes ` +
    "beyond a limit, and identifiers that are taken. The status is that of `POST " +
    "/rocrate/upload` and `POST /rocrate/metadata`; their answer has the code as `code`, " +
    `and of a 422 as \`type\` of each item.

| Code | Status | Meaning | Fix |
|---|---|---|---|
${findingTable("REQUIRED")}

## What is advised

\`RECOMMENDED\`: what RO-Crate asks for, or a record of its kind should have. The ` +
    `crate is accepted nevertheless.

| Code | Meaning | Fix |
|---|---|---|
${findingTable("RECOMMENDED")}
`
  );
}

/** `docs/errors.md`: every stable code with its status. */
export function errorsPage(): string {
  return (
    `# Errors

Every refusal has a stable code: in \`code\` of a REST answer (\`{"detail", "code"}\`), ` +
    `in \`extensions.code\` of a GraphQL error.
A 422 of REST has no code: its \`detail\` lists every broken rule with its place ` +
    `(\`loc\`), wording (\`msg\`) and type, in the vocabulary of pydantic 2.
A crate that is refused with 409 or 413 has the code of what is wrong with it, see ` +
    `[crates](crates.md).
A 500 shows an id, and the log has the cause under that id.

A GraphQL error also has \`extensions.apolloCode\`, the name that Apollo's clients know: \`UNAUTHENTICATED\` for ` +
    `401, \`FORBIDDEN\` for 403, \`INTERNAL_SERVER_ERROR\` from 500 on, \`BAD_USER_INPUT\` for the others. ` +
    `Errors of GraphQL itself have Apollo's names in \`code\` too, see [below](#only-over-graphql).

This page is generated from the code by \`npm run generate\`.

| Code | Status | Meaning |
|---|---|---|
${Object.entries(ERRORS)
  .map(
    ([code, { status, meaning }]) =>
      `| \`${code}\` | ${status} | ${meaning.replaceAll("|", "\\|")} |`,
  )
  .join("\n")}

## Only over GraphQL

| Code | Meaning |
|---|---|
${Object.entries(GRAPHQL_CODES)
  .map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
  .join("\n")}
`
  );
}

const cell = (text: string): string => text.replaceAll("|", "\\|");
const title = (name: string): string =>
  `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}`;

/** `docs/scoring.md`: the criteria that evaluate the AI-readiness of a crate. */
export function scoringPage(): string {
  return (
    `# AI-readiness of crates

How ready a crate is for AI, by 28 criteria in seven categories after the Bridge2AI ` +
    "recommendations (PMC11526931). Each is tested on the current version of the crate; " +
    `none is met by default. This page is generated from the code by \`npm run generate\`.

Anyone may read a score: \`GET /rocrate/ai-ready-score/ark:…\`, GraphQL ` +
    `\`aiReadyScore(id:)\`, \`arkgraph score\`; the page of a crate shows one that is known.

## The answer

By category and criterion:

| Member | Meaning |
|---|---|
| \`has_content\` | The status is \`met\` or \`partly\`. |
| \`details\` | What was found. |
| \`status\` | \`met\`, \`partly\`, \`not_met\` or \`not_applicable\`. |
| \`evidence\` | The places that decided, at most ten: a record's identifier, \`#\`, ` +
    "and a JSON pointer into its document (`ark:…#/license`; `ark:…#` is the whole " +
    `record). What lacks something comes first. |
| \`fix\` | What to add, and where; null where nothing is missing. |
| \`legacy\` | The result by the rule of older registries, which count several ` +
    `criteria as always met. |

\`score\` counts \`met\`, \`partly\` and \`total\`, the criteria that apply: ` +
    "`not_applicable` counts nowhere. `revision` is that of the crate, `computedAt` the " +
    `time of the evaluation.

## What is looked at

- **The root** is the crate's own record. A field counts under its name with or ` +
    "without a prefix or IRI (`rai:dataBiases`, `dataBiases`), or as " +
    "`additionalProperty` with that name and a `value`; people, licences and properties " +
    'that are entities of their own are followed. Blanks and placeholders ("TBD", "N/A") ' +
    `say nothing.
- **The graph** is the crate with its sub-crates: those that came with it, and ` +
    "those with an upload of their own that `hasPart` names. What has more records and " +
    `references than SCORE_MAX_RECORDS is not scored (413 \`TOO_LARGE\`).
- **Files** are data downloads, and datasets, models and software that have content, an ` +
    "address, a checksum, a size or a format. A dataset that only lists parts is a " +
    `folder.
- **References** by identifier or by the URL of an entity are followed, from either ` +
    `end.

## When it is worked out

A score is cached, for all nodes, with the state of everything that it is derived ` +
    "from: the crates, and the records beside them that they refer to. Whatever of it " +
    "changes, the next reader gets a new one; so does everyone after a new version of " +
    `the rules.

\`POST /rocrate/ai-ready-score/ark:…/rescore\` computes it again in the background, ` +
    "for anyone who may change the crate. It also checks tables whose content is stored " +
    "here against the schemas that they name, up to SCORE_MAX_TABLES and " +
    "SCORE_TABLE_BYTES, and reports how many of them conform. Poll `GET " +
    "/rocrate/ai-ready-score/status/{submissionUUID}` until `completed`. After a change " +
    `of the crate the tables count as not checked.

## The criteria
${CATEGORY_NAMES.map(
  (category) => `
### ${title(category)} (\`${category}\`)

| Criterion | What is tested | Fix | Older registries |
|---|---|---|---|
${Object.entries(CATEGORIES[category])
  .map(
    ([name, { tests, fix, old }]) =>
      `| \`${name}\` | ${cell(tests)} | ${cell(fix)} | ${cell(old)} |`,
  )
  .join("\n")}
`,
).join("")}`
  );
}

interface Row {
  readonly default: unknown;
  readonly about: string;
  read(raw: string): unknown;
}

/** `docs/settings.md`: every setting with its default and its effect. */
export function settingsPage(): string {
  return (
    `# Settings

Settings are read from the environment. An empty value means the default; a value ` +
    `that is not valid stops the start with one line that names it.
Sizes read \`1048576\`, \`512K\` or \`5GiB\` (1K is 1024 bytes); durations \`500ms\`, ` +
    `\`30s\`, \`10m\`, \`24h\` or \`7d\`.

This page is generated from the code by \`npm run generate\`.

| Name | Default | Meaning |
|---|---|---|
${Object.entries(SETTINGS as Record<string, Row>)
  .map(
    ([name, setting]) =>
      `| \`${name}\` | ${shown(setting)} | ${setting.about.replaceAll("|", "\\|")} |`,
  )
  .join("\n")}
`
  );
}

const SIZES = [
  ["TiB", 2 ** 40],
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
] as const;
const TIMES = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
] as const;

/** The default as a user would write it: the printed text is read as the same value. */
function shown({ default: value, read }: Row): string {
  if (value === null) return "—";
  // oxlint-disable-next-line typescript/no-base-to-string -- no default is an object
  if (typeof value !== "number") return `\`${String(value)}\``;
  for (const [unit, factor] of [...SIZES, ...TIMES]) {
    const text = `${value / factor}${unit}`;
    if (value >= factor && value % factor === 0 && readsAs(read, text, value)) return `\`${text}\``;
  }
  return readsAs(read, "off", value) ? "`off`" : `\`${value}\``;
}

function readsAs(read: (raw: string) => unknown, text: string, value: unknown): boolean {
  try {
    return read(text) === value;
  } catch {
    return false;
  }
}

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
    `| [${format.label}](#${anchorOfFormat(format)}) | \`${format.name}\` | ` +
    `\`${fullType(format)}\` | ${recordsWith(format)} |`,
).join("\n")}

${FORMATS.map(formatSection).join("\n\n")}
`;
}

const anchorOfFormat = ({ label }: RecordFormat): string =>
  label
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-");

const recordsWith = ({ kinds }: RecordFormat): string =>
  kinds === undefined ? "all" : kinds.map((kind) => KINDS[kind].typeName).join(", ");

/** An example of a format: a crate has most of them, a program the others. */
function formatSection(format: RecordFormat): string {
  const { name, label, description, kinds, path, isBinary } = format;
  const ark = kinds === undefined || kinds.includes("rocrate") ? "$ARK" : "$SOFTWARE";
  const address = `"$SERVER/${ark}${path ?? `?format=${name}`}"`;
  return `## ${label}

${description}

\`\`\`sh
curl -fsS ${address}${isBinary ? ` -o crate.${name === "zip" ? "zip" : `${name}.zip`}` : ""}
\`\`\``;
}
