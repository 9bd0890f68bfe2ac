import type { Command } from "commander";

/** What may stand at one place of a command line. */
export interface Place {
  /** Words of the command so far, e.g. `schema validate`; empty for the program itself. */
  path: string;
  /** Commands and options that may come next. */
  words: string[];
  /** Options that take a value, with the values they know; none known: a file may follow. */
  values: { flags: string[]; choices: string[] }[];
  /** Values that an argument knows. */
  choices: string[];
}

/** Every place of a program, the program itself first. */
export function placesOf(program: Command): Place[] {
  const places: Place[] = [];
  const visit = (command: Command, path: string): void => {
    const help = command.createHelp();
    const options = help.visibleOptions(command);
    const commands = help.visibleCommands(command).filter((inner) => inner.name() !== "help");
    const flagsOf = ({ short, long }: (typeof options)[number]): string[] => [short, long].filter((flag) => flag !== undefined);
    places.push({
      path,
      words: [...commands.map((inner) => inner.name()), ...options.flatMap(flagsOf)],
      values: options.filter(({ required, optional }) => required || optional).map((option) => ({ flags: flagsOf(option), choices: option.argChoices ?? [] })),
      choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    });
    for (const inner of commands) visit(inner, `${path} ${inner.name()}`.trim());
  };
  visit(program, "");
  return places;
}
