import { addCompletion, addRegistryCommands } from "./commands/registry/index.js";
import { addSchemaCommands } from "./commands/schema/index.js";
import { endWithOutput, failureLine } from "./terminal.js";
import { CHECK_ONE, ToolCommand } from "./tool-command.js";

/** Set when the command line is bundled, so that no file is read for it. */
declare const ARKGRAPH_VERSION: string | undefined;

// Each command's code is loaded when it runs: `--help` must not wait until the service's code is
// loaded.

/** The command line of `arkgraph`. */
export function buildProgram(): ToolCommand {
  const program = new ToolCommand("arkgraph")
    .description(
      "A registry of research objects: start it, check it, try a demo, use it from the " +
        "command line.",
    )
    .version(
      typeof ARKGRAPH_VERSION === "string" ? ARKGRAPH_VERSION : "not bundled",
      "-V, --version",
      "print the version",
    )
    .helpCommand(false)
    // One line, like every failure; the parser's own message has a second line with a suggestion.
    .configureOutput({
      outputError: (text, write) =>
        write(
          `arkgraph: ${text
            .replace(/^error: /, "")
            .trim()
            .replaceAll(/\s*\n\s*/g, " ")} (--help lists commands and options)\n`,
        ),
    })
    // Status 1 is for failures of a running command; status 2 is for arguments that the parser
    // refuses.
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

  program
    .command("serve")
    .description(
      "start the registry; its settings come from the environment, the same as npm start",
    )
    .option(
      "--role <role>",
      "role of this node of a cluster: api, worker or all; default the setting ROLE",
    )
    .example("PORT=8080 DATA_DIR=./data arkgraph serve")
    .action(async (options: { role?: string }) =>
      (await import("./commands/serve.js")).serveCommand(options),
    );

  program
    .command("check")
    .description(
      "read every record and report damage, then compare the graph index with the " +
        "records, digest by digest; the registry must be stopped",
    )
    .option("--data <folder>", "data folder; default the setting DATA_DIR")
    .option(
      "--objects",
      "also hash every stored object, in DATA_DIR or on S3, and report damaged or missing ones",
    )
    .example("arkgraph check --data ./data")
    .action(async (options: { data?: string; objects?: true }) =>
      (await import("./commands/data.js")).checkCommand(options),
    );

  program
    .command("rebuild-index")
    .description(
      "empty the SPARQL endpoint and fill it from the records; the registry must be stopped",
    )
    .option("--data <folder>", "data folder; default the setting DATA_DIR")
    .example(
      "SPARQL_QUERY_URL=http://localhost:7878/query " +
        "SPARQL_UPDATE_URL=http://localhost:7878/update arkgraph rebuild-index --data ./data",
    )
    .action(async (options: { data?: string }) =>
      (await import("./commands/data.js")).rebuildIndexCommand(options),
    );

  program
    .command("migrate")
    .description(
      "move a registry from a data folder into a cluster, or back, and compare both " +
        "completely; the source is only read",
    )
    .requiredOption(
      "--from <place>",
      "a data folder, or cluster: the database and object store of the settings",
    )
    .requiredOption("--to <place>", "the same; it must not contain records yet")
    .option("--verify", "only compare source and target, copy nothing")
    .option(
      "--objects-only",
      "copy only the objects that the records of a data folder need; the records are not moved",
    )
    .option(
      "--show-jwt-secret",
      "print the signing key of the source, for JWT_SECRET of the target",
    )
    .example("arkgraph migrate --from ./data --to ./copy")
    .action(
      async (options: {
        from: string;
        to: string;
        verify?: true;
        objectsOnly?: true;
        showJwtSecret?: true;
      }) => (await import("./commands/data.js")).migrateCommand(options),
    );

  program
    .command("demo")
    .description(
      "start a registry on temporary data, upload an example crate and show the resulting records",
    )
    .option("--exit", "end after the last step instead of staying up")
    .example("arkgraph demo --exit")
    .action(async (options: { exit?: true }) =>
      (await import("./demo/demo.js")).demoCommand({ exit: options.exit === true }),
    );

  program
    .command("demo-crate")
    .description("write the example crate of the demo as a zip archive")
    .argument("<file>", "where to write it")
    .example("arkgraph demo-crate crate.zip")
    .action(async (file: string) => (await import("./demo/crate.js")).demoCrateCommand(file));

  addRegistryCommands(program);
  addSchemaCommands(program);
  addCompletion(program);

  return program;
}

/** Parses and runs; a failure is one line on standard error and status 1. */
export async function run(args: readonly string[]): Promise<void> {
  endWithOutput();
  try {
    if (args[0] === CHECK_ONE && process.send)
      return await (await import("./commands/schema/validate.js")).checkPart();
    // `help schema infer` is another way to write `schema infer --help`.
    const [first, ...words] = args;
    const given = first === "help" ? [...words, "--help"] : args;
    await buildProgram().parseAsync(given, { from: "user" });
  } catch (error) {
    process.stderr.write(`arkgraph: ${failureLine(error)}\n`);
    process.exitCode = 1;
  }
}
