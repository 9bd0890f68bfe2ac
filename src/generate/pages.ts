/** The reference pages in docs that are written from the code, with the templates beside this file. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { buildProgram } from "../../cli/program.js";
import type { ToolCommand } from "../../cli/tool-command.js";
import { BOUNDS } from "../config/bounds.js";
import { SETTINGS } from "../config/config.js";
import { ERRORS } from "../errors.js";
import { GRAPHQL_CODES } from "../graphql/errors.js";
import { KINDS } from "../model/kinds.js";
import { packageRoot } from "../package-root.js";
import { FINDING_CODES } from "../services/crates/findings.js";
import { fullType, type RecordFormat } from "../services/formats/format.js";
import { FORMATS } from "../services/formats/table.js";
import { CATEGORIES, CATEGORY_NAMES } from "../services/scoring/criteria.js";

const TEMPLATES = "src/generate/templates";

/**
 * A page of the templates, with its `{{placeholders}}` replaced.
 * @param valueOf the text in place of a placeholder, by what stands between its braces
 * @throws Error when there is none
 */
async function filled(
  name: string,
  valueOf: (placeholder: string) => string | undefined,
): Promise<string> {
  const text = await readFile(join(packageRoot, TEMPLATES, name), "utf8");
  return text.replace(/\{\{([^{}]+)\}\}/g, (_, placeholder: string) => {
    const value = valueOf(placeholder);
    if (value === undefined)
      throw new Error(`${TEMPLATES}/${name}: there is no text for {{${placeholder}}}.`);
    return value;
  });
}

/** A page whose placeholders are names. */
const page = (name: string, values: Readonly<Record<string, string>>): Promise<string> =>
  filled(name, (placeholder) => values[placeholder]);

const cell = (text: string): string => text.replaceAll("|", "\\|");

/** `docs/cli.md`: the manual of the command line, generated from its commands. */
export function cliPage(): Promise<string> {
  const program = buildProgram();
  const commands = leavesOf(program);
  const options = program.createHelp().visibleOptions(program);
  return page("cli.md", {
    description: program.description(),
    versionFlags: options.find(({ long }) => long === "--version")!.flags,
    commands: commands
      .map((command) => {
        const link = `[\`${pathOf(command)}\`](#${anchorOf(command)})`;
        return `| ${link} | ${commandCell(command.description())} |`;
      })
      .join("\n"),
    sections: commands.map(section).join("\n").trimEnd(),
  });
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
const commandCell = (text: string): string => cell(text).replaceAll("<", "\\<");

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

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
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

/** `man/arkgraph.1`: the same manual for `man`. */
export async function manPage(): Promise<string> {
  const program = buildProgram();
  const template = await readFile(join(packageRoot, TEMPLATES, "cli.md"), "utf8");
  const paragraph = (title: string): string =>
    roff(new RegExp(`\\*\\*${title}\\.\\*\\* (.+)`).exec(template)![1]!.replaceAll("`", ""));
  return `.TH ARKGRAPH 1
.nh
.ad l
.SH NAME
arkgraph \\- a registry of research objects
.SH SYNOPSIS
.B arkgraph
.I command
[options]
.SH DESCRIPTION
${roff(program.description())}
.SH OPTIONS
${manEntries(program).join("\n")}
.SH COMMANDS
${leavesOf(program).map(manSection).join("\n")}
.SH EXIT STATUS
${paragraph("Exit status")}
.SH ENVIRONMENT
${paragraph("Registry")}
.SH FILES
${paragraph("Files")}
`;
}

/** The arguments and options of a command. */
function manEntries(command: ToolCommand): string[] {
  const help = command.createHelp();
  return [
    ...help
      .visibleArguments(command)
      .map((argument) => [argument.name(), help.argumentDescription(argument)] as const),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== "--help")
      .map((option) => [option.flags, help.optionDescription(option)] as const),
  ].flatMap(([name, about]) => [".TP", `.B ${roff(name)}`, roff(about)]);
}

function manSection(command: ToolCommand): string {
  return [
    `.SS ${roff(command.createHelp().commandUsage(command))}`,
    roff(sentence(command.description())),
    ...manEntries(command),
    ...command.examples.flatMap((line) => [".PP", ".EX", roff(line), ".EE"]),
  ].join("\n");
}

/** Characters that man pages print as others, such as curly quotes, when they are not escaped. */
const ROFF: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  '"': "\\(dq",
  "'": "\\(aq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
};

/** Text in the language of man pages, where a dot at the start of a line begins a command. */
const roff = (text: string): string =>
  text.replace(/[-\\"'`^~]/g, (character) => ROFF[character]!).replace(/^\./gm, "\\&.");

const findingTable = (severity: "REQUIRED" | "RECOMMENDED"): string =>
  Object.entries(FINDING_CODES)
    .filter(([code, entry]) => entry.severity === severity && code !== "MORE_FINDINGS")
    .map(
      ([code, { status, meaning, fix }]) =>
        `| \`${code}\` |${severity === "REQUIRED" ? ` ${status} |` : ""} ` +
        `${cell(meaning)} | ${cell(fix)} |`,
    )
    .join("\n");

/** `docs/crates.md`: accepted, reported and refused content, with the code for each. */
export const cratesPage = (): Promise<string> =>
  page("crates.md", { refused: findingTable("REQUIRED"), advised: findingTable("RECOMMENDED") });

/** `docs/errors.md`: every stable code with its status. */
export const errorsPage = (): Promise<string> =>
  page("errors.md", {
    codes: Object.entries(ERRORS)
      .map(([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${cell(meaning)} |`)
      .join("\n"),
    graphqlCodes: Object.entries(GRAPHQL_CODES)
      .map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
      .join("\n"),
  });

const title = (name: string): string =>
  `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}`;

/** `docs/scoring.md`: the criteria that evaluate the AI-readiness of a crate. */
export const scoringPage = (): Promise<string> =>
  page("scoring.md", { criteria: CATEGORY_NAMES.map(criteriaOf).join("\n\n") });

const criteriaOf = (category: (typeof CATEGORY_NAMES)[number]): string => {
  const rows = Object.entries(CATEGORIES[category]).map(
    ([name, { tests, fix, old }]) =>
      `| \`${name}\` | ${cell(tests)} | ${cell(fix)} | ${cell(old)} |`,
  );
  return `### ${title(category)} (\`${category}\`)

| Criterion | What is tested | Fix | Older registries |
|---|---|---|---|
${rows.join("\n")}`;
};

interface Row {
  readonly default: unknown;
  readonly about: string;
  read(raw: string): unknown;
}

/**
 * `docs/settings.md`: every setting with its default and its effect, in the sections of the template,
 * which names them.
 */
export async function settingsPage(): Promise<string> {
  const settings: Readonly<Record<string, Row>> = SETTINGS;
  const listed = new Set<string>();
  const text = await filled("settings.md", (names) => {
    if (names === "bounds") return boundsTable();
    const rows = names.split(" ").map((name) => {
      const row = settings[name];
      if (row === undefined || listed.has(name))
        throw new Error(`${TEMPLATES}/settings.md: ${name} is not a setting, or is named twice.`);
      listed.add(name);
      return `| \`${name}\` | ${shown(row)} | ${cell(row.about)} |`;
    });
    return `| Name | Default | Meaning |\n|---|---|---|\n${rows.join("\n")}`;
  });
  const missing = Object.keys(settings).filter((name) => !listed.has(name));
  if (missing.length > 0)
    throw new Error(`Add to a section of ${TEMPLATES}/settings.md: ${missing.join(", ")}.`);
  return text;
}

function boundsTable(): string {
  const rows = Object.entries(BOUNDS).map(([name, { unit, value, about }]) => {
    const units = { bytes: SIZES, ms: TIMES, count: [] }[unit];
    const [shownUnit, factor] = units.find(([, each]) => value % each === 0) ?? ["", 1];
    return `| \`${name}\` | ${value / factor}${shownUnit} | ${cell(about)} |`;
  });
  return `| Name | Value | Meaning |\n|---|---|---|\n${rows.join("\n")}`;
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
export const formatsPage = (): Promise<string> =>
  page("formats.md", {
    formats: FORMATS.map(
      (format) =>
        `| [${format.label}](#${anchorOfFormat(format)}) | \`${format.name}\` | ` +
        `\`${fullType(format)}\` | ${recordsWith(format)} |`,
    ).join("\n"),
    sections: FORMATS.map(formatSection).join("\n\n"),
  });

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
