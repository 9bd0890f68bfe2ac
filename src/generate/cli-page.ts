import type { Command } from "commander";
import { buildProgram } from "../../cli/program.js";
import type { ToolCommand } from "../../cli/tool-command.js";

/** `docs/cli.md`: the manual of the command line, printed from its commands. */
export function cliPage(): string {
  const program = buildProgram();
  const commands = leavesOf(program);
  return `# arkgraph

${program.description()}

\`\`\`
npx arkgraph <command> [options]
\`\`\`

\`--help\` lists commands, and behind a command its options; \`${program.createHelp().visibleOptions(program).find(({ long }) => long === "--version")!.flags}\` prints the version.

This page is printed from the code by \`npm run generate\`; the test suite runs every example.

## Commands

| | |
|---|---|
${commands.map((command) => `| [\`${pathOf(command)}\`](#${anchorOf(command)}) | ${cell(command.description())} |`).join("\n")}

## Conventions

**Exit status.** 0: done, or the data conform. 1: the data do not conform, a property was refused, a file is missing or malformed, an identifier is unknown, a request failed. 2: the command line itself is wrong. 130: ended by Ctrl+C.

**Output.** Results go to standard output, everything else to standard error; a failure is one line that begins with \`arkgraph:\`. Colours and progress bars appear on a terminal only, and colours only without \`NO_COLOR\`. Files are written under a temporary name and renamed: a file is there as a whole or not at all.

**Registry.** Commands that talk to a registry take \`--server <url>\`, else the environment variable \`ARKGRAPH_SERVER\`, else the registry of the last login, else \`http://127.0.0.1:8080\`. The token is that of the login there, or \`ARKGRAPH_TOKEN\`. Certificates of an authority of your own: \`NODE_EXTRA_CA_CERTS\`.

**Files.** \`login\` keeps tokens in \`$XDG_CONFIG_HOME/arkgraph/credentials.json\` (\`~/.config/arkgraph/…\` by default), which only its owner can read.

**Identifiers.** An ARK may be given in any accepted spelling: \`ark:99999/x\`, \`ark:/99999/x\`, \`ark99999/x\`, or behind the address of a resolver.

**Completion.** \`source <(arkgraph completion bash)\` in \`~/.bashrc\`; \`source <(arkgraph completion zsh)\` in \`~/.zshrc\`, after \`compinit\`.

${commands.map(section).join("\n")}`;
}

/** Commands that do something, in the order of the help. */
export function leavesOf(command: ToolCommand): ToolCommand[] {
  return command.commands.length === 0 ? [command] : (command.commands as ToolCommand[]).flatMap(leavesOf);
}

/** The words of a command, e.g. `schema validate`. */
export function pathOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}

const anchorOf = (command: Command): string => `arkgraph-${pathOf(command).replaceAll(" ", "-")}`;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "\\<");

function section(command: ToolCommand): string {
  const help = command.createHelp();
  const args = help.visibleArguments(command);
  const options = help.visibleOptions(command).filter(({ long }) => long !== "--help");
  return [
    `## arkgraph ${pathOf(command)}`, "", `${sentence(command.description())}`, "", "```", help.commandUsage(command), "```", "",
    ...table("argument", args.map((argument) => [argument.name(), help.argumentDescription(argument)])),
    ...table("option", options.map((option) => [option.flags, help.optionDescription(option)])),
    ...command.examples.flatMap((line) => ["```sh example", line, "```", ""]),
  ].join("\n");
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;
const table = (head: string, rows: readonly (readonly [string, string])[]): string[] => (rows.length === 0 ? [] : [`| ${head} | |`, "|---|---|", ...rows.map(([name, about]) => `| \`${name.replaceAll("|", "\\|")}\` | ${cell(about)} |`), ""]);
