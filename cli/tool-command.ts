import { Command } from "commander";

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

  /** @param line one line for a shell */
  example(line: string): this {
    this.examples.push(line);
    return this.addHelpText("after", `\nExample:\n  ${line}`);
  }
}
