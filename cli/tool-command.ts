import { Command } from "commander";

/** A command with examples: its help shows them, the printed manual too, and tests run every one of them. */
export class ToolCommand extends Command {
  readonly examples: string[] = [];

  override createCommand(name?: string): ToolCommand {
    return new ToolCommand(name);
  }

  /** @param line one line for a shell */
  example(line: string): this {
    this.examples.push(line);
    return this.addHelpText("after", `\nExample:\n  ${line}`);
  }
}
