/** Commands with examples, and the completion scripts of shells that are made of them. */
import { Command, type Option } from "commander";

/** First argument of the process in which `schema validate --jobs` checks one file; nobody types it. */
export const CHECK_ONE = "check-one-file";

/**
 * A command with examples. Its help and the generated manual show them, and tests run each of them.
 */
export class ToolCommand extends Command {
  readonly examples: string[] = [];
  readonly #optional: { flag: string; isValue: (text: string) => boolean }[] = [];

  override createCommand(name?: string): ToolCommand {
    return new ToolCommand(name);
  }

  /**
   * Lets an option with an optional value take the next argument only if that is a value: `--update
   * crate.zip` updates the crate that `crate.zip` names itself.
   */
  valueOnlyIf(flag: string, isValue: (text: string) => boolean): this {
    this.#optional.push({ flag, isValue });
    return this;
  }

  override parseOptions(args: string[]): ReturnType<Command["parseOptions"]> {
    const ordered = [...args];
    for (const { flag, isValue } of this.#optional) {
      const at = ordered.indexOf(flag);
      const next = ordered[at + 1];
      if (at < 0 || next === undefined || isValue(next)) continue;
      // If no argument follows, the option has no value.
      ordered.splice(at, 1);
      const end = ordered.indexOf("--");
      ordered.splice(end < 0 ? ordered.length : end, 0, flag);
    }
    return super.parseOptions(ordered);
  }

  /** Options that several commands have. */
  withOptions(options: readonly Option[]): this {
    for (const option of options) this.addOption(option);
    return this;
  }

  /** @param line one line for a shell */
  example(line: string): this {
    this.examples.push(line);
    return this.addHelpText("after", `\nExample:\n  ${line}`);
  }
}

/** The words that may follow at one place of a command line. */
interface Place {
  /** Words of the command so far, e.g. `schema validate`; empty for the program itself. */
  path: string;
  /** Commands and options that may come next. */
  words: string[];
  /** Options with a value, and their known values; without known values a file may follow. */
  values: { flags: string[]; choices: string[] }[];
  /** The known values of an argument. */
  choices: string[];
}

/** Every place of a program, the program itself first. */
export function placesOf(program: Command): Place[] {
  const places: Place[] = [];
  const visit = (command: Command, path: string): void => {
    const help = command.createHelp();
    const options = help.visibleOptions(command);
    const commands = help.visibleCommands(command).filter((inner) => inner.name() !== "help");
    const flagsOf = ({ short, long }: (typeof options)[number]): string[] =>
      [short, long].filter((flag) => flag !== undefined);
    places.push({
      path,
      words: [...commands.map((inner) => inner.name()), ...options.flatMap(flagsOf)],
      values: options
        .filter(({ required, optional }) => required || optional)
        .map((option) => ({ flags: flagsOf(option), choices: option.argChoices ?? [] })),
      choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    });
    for (const inner of commands) visit(inner, `${path} ${inner.name()}`.trim());
  };
  visit(program, "");
  return places;
}

/**
 * All words come from our commands, but a quote in a value must not end the quotes of the script.
 */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A script that a shell reads to complete the command line of the program. */
export function completionScript(program: Command, shell: Shell): string {
  const scripts = { bash, zsh, fish };
  return scripts[shell](program.name(), placesOf(program));
}

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Lines of a `case` on `$place`: the place that the commands typed so far lead to. */
const steps = (places: readonly Place[]): string =>
  places
    .filter(({ path }) => path !== "")
    .map(({ path }) => `      ${quoted(path)}) place=${quoted(path)} ;;`)
    .join("\n");

const valueCases = (
  places: readonly Place[],
  offer: (choices: readonly string[]) => string,
): string =>
  places
    .flatMap(({ path, values }) =>
      values.map(
        ({ flags, choices }) =>
          `    ${flags.map((flag) => quoted(`${path} ${flag}`.trim())).join("|")}) ` +
          `${offer(choices)}; return ;;`,
      ),
    )
    .join("\n");

const wordCases = (places: readonly Place[], offer: (words: readonly string[]) => string): string =>
  places
    .map(({ path, words, choices }) => `    ${quoted(path)}) ${offer([...choices, ...words])} ;;`)
    .join("\n");

/**
 * In the loop over the previous words: the place they lead to. After the loop: the words that may
 * follow there. Both shells read these lines alike.
 */
const cases = (
  places: readonly Place[],
  offer: (words: readonly string[]) => string,
): string => `    case "$next" in
${steps(places)}
    esac
  done
  case "\${place:+$place }$before" in
${valueCases(places, offer)}
  esac
  case "$place" in
${wordCases(places, offer)}
  esac`;

function bash(name: string, places: readonly Place[]): string {
  const offer = (words: readonly string[]): string =>
    words.length === 0
      ? "COMPREPLY=()"
      : `COMPREPLY=($(compgen -W ${quoted(words.join(" "))} -- "$current"))`;
  return (
    `# Completes ${name} in bash. Read it at the start: source <(${name} completion bash)
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" place="" ` +
    `index next
  for ((index = 1; index < COMP_CWORD; index++)); do
    next="\${place:+$place }\${COMP_WORDS[index]}"
${cases(places, offer)}
}
complete -o default -F _${name} ${name}
`
  );
}

function zsh(name: string, places: readonly Place[]): string {
  const offer = (words: readonly string[]): string =>
    words.length === 0 ? "_files" : `compadd -- ${words.map(quoted).join(" ")}`;
  return `#compdef ${name}
# Completes ${name} in zsh. Read it at the start, after compinit: source <(${name} completion zsh)
_${name}() {
  local before="\${words[CURRENT-1]}" place="" next
  local -i index
  for ((index = 2; index < CURRENT; index++)); do
    next="\${place:+$place }\${words[index]}"
${cases(places, offer)}
  [[ "\${words[CURRENT]}" == -* ]] || _files
}
compdef _${name} ${name}
`;
}

function fish(name: string, places: readonly Place[]): string {
  const steps = places
    .filter(({ path }) => path !== "")
    .map(({ path }) => `      case ${quoted(path)}\n        set place ${quoted(path)}`);
  const values = places.flatMap(({ path, values }) =>
    values.map(({ flags, choices }) => {
      const typed = flags.map((flag) => quoted(`${path} ${flag}`.trim())).join(" ");
      const offer =
        choices.length === 0
          ? "__fish_complete_path (commandline -ct)"
          : `printf '%s\\n' ${choices.map(quoted).join(" ")}`;
      return `    case ${typed}\n      ${offer}\n      return`;
    }),
  );
  const words = places.map(
    ({ path, words, choices }) =>
      `    case ${quoted(path)}\n      printf '%s\\n' ${[...choices, ...words].map(quoted).join(" ")}`,
  );
  return `# Completes ${name} in fish. Read it at the start: ${name} completion fish | source
function __${name}
  set -l typed (commandline -opc)
  set -l place ''
  for word in $typed[2..-1]
    switch (string trim -- "$place $word")
${steps.join("\n")}
    end
  end
  switch (string trim -- "$place $typed[-1]")
${values.join("\n")}
  end
  switch "$place"
${words.join("\n")}
  end
  string match -q -- '-*' (commandline -ct); or __fish_complete_path (commandline -ct)
end
complete -c ${name} -f -a '(__${name})'
`;
}
