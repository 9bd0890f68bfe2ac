import { looksLikeArk } from "../../../src/identifiers/ark.js";
import { Argument, Option, type Command } from "commander";
import { type Shell, SHELLS, type ToolCommand } from "../../tool-command.js";
import { countValue, positiveValue } from "../schema/edit.js";

/**
 * Adds the option for the address of a registry. The help of the program describes the other
 * sources of the address.
 */
export const serverOption = (): Option =>
  new Option(
    "--server <url>",
    "address of the registry; default: ARKGRAPH_SERVER, else the registry of the last " +
      "login, else http://127.0.0.1:8080",
  );
const ARK = "identifier of the record, in any spelling";
const STATUSES = ["PUBLISHED", "DRAFT", "EMBARGOED", "ARCHIVED"];
/** Kinds of records; GraphQL writes them in capitals. */
const KINDS =
  "annotation computation data-download dataset entity evidence-graph experiment group instrument " +
  "ml-model organization project ro-crate sample schema software user";

/** The commands that talk to a registry; the code of each is loaded when it runs. */
export function addRegistryCommands(program: ToolCommand): void {
  addAccount(program);
  addCrates(program);
  addRecords(program);
  addOwnRecords(program);
  addReviewLinks(program);
}

function addAccount(program: ToolCommand): void {
  program
    .command("login")
    .description("get a token and store it for later commands")
    .argument("[user]", "e-mail address or ARK of the account; asked for when absent")
    .addOption(serverOption())
    .option(
      "--password-stdin",
      "read the password from standard input; it is asked for on the terminal otherwise",
    )
    .option("--web", "sign in with a browser, also with an account of another place")
    .example("printf 'correct horse battery' | arkgraph login ada@example.org --password-stdin")
    .action(async (user, options) => (await import("./session.js")).loginCommand(user, options));
  program
    .command("whoami")
    .description("show the account that commands use")
    .addOption(serverOption())
    .example("arkgraph whoami")
    .action(async (options) => (await import("./session.js")).whoamiCommand(options));
  program
    .command("logout")
    .description("delete the stored token")
    .addOption(serverOption())
    .example("arkgraph logout")
    .action(async (options) => (await import("./session.js")).logoutCommand(options));
  addTokens(program);
}

function addTokens(program: ToolCommand): void {
  const token = program.command("token").description("make, list and revoke access tokens");
  token
    .command("create")
    .description("make an access token for a program, and print its secret, once")
    .argument("<name>", "what it is for")
    .addOption(serverOption())
    .addOption(
      new Option("--scope <scope...>", "what it may do; default: all").choices([
        "read",
        "write",
        "publish",
        "admin",
      ]),
    )
    .option("--bound-to <ark>", "a crate, group, organization or project: no rights elsewhere")
    .option("--until <date>", "its end; default: as late as the registry allows")
    .example("arkgraph token create pipeline --scope write --bound-to ark:99999/rocrate-cells")
    .action(async (name, options) =>
      (await import("./tokens.js")).createTokenCommand(name, options),
    );
  token
    .command("list")
    .description("list your access tokens: id, name, scopes, record, last use, end")
    .addOption(serverOption())
    .example("arkgraph token list")
    .action(async (options) => (await import("./tokens.js")).listTokensCommand(options));
  token
    .command("revoke")
    .description("end an access token at once")
    .argument("<id>", "its id, as the list shows it")
    .addOption(serverOption())
    .example("arkgraph token revoke 1b4e28ba-2fa1-4d2b-883f-0016d3cca427")
    .action(async (id, options) => (await import("./tokens.js")).revokeTokenCommand(id, options));
}

function addCrates(program: ToolCommand): void {
  program
    .command("upload")
    .description(
      "upload an RO-Crate and wait until it is ingested; prints the identifier of the crate. " +
        "Or record the runs of OpenLineage events; prints the identifiers of the runs",
    )
    .argument(
      "<crate>",
      "folder of the crate, a zip archive of it, or its metadata alone, also as Croissant or " +
        "Data Package; or a file of OpenLineage events, as JSON or one on each line",
    )
    .addOption(serverOption())
    .option("--no-wait", "print the identifier of the upload and do not wait")
    .option(
      "--update [ark]",
      "update an existing crate: changed records get a new revision, missing records are " +
        "deleted. [ark] names the crate; without it, the root's @id does",
    )
    .option(
      "--empty-linked",
      "let --update remove every statement of a nested crate that is registered by itself",
    )
    .option("--title <text>", "of a folder without metadata; asked for on a terminal")
    .option("--description <text>", "of a folder without metadata; asked for on a terminal")
    .option("--license <license>", "of a folder without metadata: an address or an SPDX identifier")
    .option("--private", "until a new crate is published, only those see it who may change it")
    .option("--json", "print the submission as JSON")
    .valueOnlyIf("--update", looksLikeArk)
    .example("arkgraph upload crate.zip")
    .action(async (path, options) => (await import("./upload.js")).uploadCommand(path, options));
  program
    .command("status")
    .description(
      "show the status of an upload, or the latest uploads; exit status 1 when the " +
        "upload has failed",
    )
    .argument("[upload]", "identifier of the upload")
    .addOption(serverOption())
    .option("--wait", "wait until it has ended")
    .addOption(
      new Option("--limit <count>", "number of uploads to show")
        .argParser(positiveValue)
        .default(20),
    )
    .option("--json", "print JSON")
    .example("arkgraph status")
    .action(async (id, options) => (await import("./upload.js")).statusCommand(id, options));
}

function addRecords(program: ToolCommand): void {
  program
    .command("get")
    .description("print a record")
    .argument("<ark>", ARK)
    .addOption(serverOption())
    .option(
      "--format <format>",
      "format of the record, such as turtle or bibtex; docs/formats.md lists all",
      "json",
    )
    .example("arkgraph get ark:99999/dataset-cells --format turtle")
    .action(async (ark, options) => (await import("./records.js")).getCommand(ark, options));
  program
    .command("croissant")
    .description("print a crate or dataset as Croissant, for machine-learning tools")
    .argument("<ark>", ARK)
    .addOption(serverOption())
    .example("arkgraph croissant ark:99999/rocrate-cells")
    .action(async (ark, options) =>
      (await import("./records.js")).getCommand(ark, { ...options, format: "croissant" }),
    );
  program
    .command("evidence")
    .description("show what supports a record, or what it supports")
    .argument("<ark>", ARK)
    .addOption(serverOption())
    .addOption(
      new Option(
        "--direction <direction>",
        "upstream: what supports it; downstream: what it supports",
      )
        .choices(["upstream", "downstream", "both"])
        .default("upstream"),
    )
    .addOption(
      new Option(
        "--asserted-by <whom>",
        "anyone, or owner: leave out edges that third parties state, and nodes that only " +
          "they reach",
      )
        .choices(["anyone", "owner"])
        .default("anyone"),
    )
    .addOption(
      new Option("--depth <steps>", "steps from the record; default all").argParser(positiveValue),
    )
    .addOption(
      new Option(
        "--limit <count>",
        "number of nodes in one answer; default: all for the format tree, otherwise the " +
          "default of the registry",
      ).argParser(positiveValue),
    )
    .addOption(
      new Option("--format <format>", "format of the answer")
        .choices(["tree", "json", "prov-json", "turtle", "dot", "mermaid"])
        .default("tree"),
    )
    .example("arkgraph evidence ark:99999/dataset-cells")
    .action(async (ark, options) => (await import("./records.js")).evidenceCommand(ark, options));
  program
    .command("score")
    .description("show how ready a crate is for AI, criterion by criterion")
    .argument("<ark>", "identifier of the crate, in any spelling")
    .addOption(serverOption())
    .option("--fixes", "show only what is missing: what to add, and where")
    .option("--json", "print JSON")
    .example("arkgraph score ark:99999/rocrate-cells --fixes")
    .action(async (ark, options) => (await import("./records.js")).scoreCommand(ark, options));
  program
    .command("search")
    .description("search records by words")
    .argument("<words...>", "words to search for; a record must contain all of them")
    .addOption(serverOption())
    .option(
      "--semantic",
      "also find records that contain some of the words or are related in meaning",
    )
    .option("--type <type>", "only records of this kind, e.g. Dataset")
    .addOption(
      new Option("--limit <count>", "number of results to show, at most 100")
        .argParser(positiveValue)
        .default(10),
    )
    .addOption(
      new Option("--offset <count>", "number of results to skip").argParser(countValue).default(0),
    )
    .option("--json", "print JSON")
    .example("arkgraph search cell counts --type Dataset")
    .action(async (words, options) => (await import("./records.js")).searchCommand(words, options));
  program
    .command("publish")
    .description("set who may read the content of a record; for a crate, also of its members")
    .argument("<ark>", ARK)
    .addOption(serverOption())
    .addOption(
      new Option(
        "--status <status>",
        "PUBLISHED: everyone; otherwise only those who may change the record",
      )
        .choices(STATUSES)
        .default("PUBLISHED"),
    )
    .option("--until <date>", "end of an embargo")
    .option("--reason <text>", "with --status ARCHIVED: why; required where others could read it")
    .option("--successor <ark>", "with --status ARCHIVED: the record to use instead")
    .example("arkgraph publish ark:99999/dataset-cells")
    .action(async (ark, options) => (await import("./records.js")).publishCommand(ark, options));
  program
    .command("withdraw")
    .description(
      "delete a record, which cannot be undone; its page stays and says why. Of a crate also the " +
        "records that came with it",
    )
    .argument("<ark>", ARK)
    .addOption(serverOption())
    .option("--reason <text>", "why; readers see it. Required where others could read the record")
    .option("--successor <ark>", "the record to use instead")
    .example('arkgraph withdraw ark:99999/dataset-cells --reason "Wrong plate"')
    .action(async (ark, options) => (await import("./records.js")).withdrawCommand(ark, options));
  program
    .command("download")
    .description(
      "download the stored content of a record, or the archive of a crate, and verify its hash",
    )
    .argument("<ark>", ARK)
    .addOption(serverOption())
    .option(
      "-o, --output <file>",
      "output file, - for standard output; default: the name it is stored under",
    )
    .option("--force", "overwrite a file that exists")
    .example("arkgraph download ark:99999/dataset-cells --output cells.csv")
    .action(async (ark, options) => (await import("./download.js")).downloadCommand(ark, options));
}

function addOwnRecords(program: ToolCommand): void {
  program
    .command("list")
    .description("list your records, or those of another owner, last changed first")
    .addOption(serverOption())
    .addOption(
      new Option("--kind <kinds...>", "only records of these kinds").choices(KINDS.split(" ")),
    )
    .addOption(
      new Option("--status <statuses...>", "only records with one of these").choices(STATUSES),
    )
    .option("--name <text>", "only records whose name contains this")
    .option("--crate <ark>", "only records that came with this crate")
    .option("--owner <ark>", "records of this user, group, organization or project")
    .addOption(
      new Option("--limit <count>", "number of records to show")
        .argParser(positiveValue)
        .default(20),
    )
    .option("--json", "print JSON")
    .example("arkgraph list --kind dataset --status DRAFT")
    .action(async (options) => (await import("./manage.js")).listCommand(options));
  program
    .command("history")
    .description("show who changed a record, when and where, newest first")
    .argument("<ark>", ARK)
    .addOption(serverOption())
    .addOption(
      new Option("--limit <count>", "number of revisions to show")
        .argParser(positiveValue)
        .default(20),
    )
    .option("--json", "print JSON")
    .example("arkgraph history ark:99999/dataset-cells")
    .action(async (ark, options) => (await import("./manage.js")).historyCommand(ark, options));
  program
    .command("transfer")
    .description("hand records over to another owner, who can then change them")
    .argument("<arks...>", "identifiers of the records, in any spelling")
    .addOption(serverOption())
    .requiredOption("--to <ark>", "the new owner: a user, group, organization or project")
    .example("arkgraph transfer ark:99999/dataset-cells --to ark:99999/group-microscopy")
    .action(async (arks, options) => (await import("./manage.js")).transferCommand(arks, options));
  program
    .command("open")
    .description("print the address of a record's page, and open it in the browser of a desktop")
    .argument("<ark>", ARK)
    .addOption(serverOption())
    .option("--no-browser", "only print the address")
    .example("arkgraph open ark:99999/dataset-cells")
    .action(async (ark, options) => (await import("./manage.js")).openCommand(ark, options));
}

function addReviewLinks(program: ToolCommand): void {
  const link = program
    .command("review-link")
    .description("show a record to reviewers who have no account");
  link
    .command("create")
    .description("make a secret address that shows a record, and print it, once")
    .argument("<ark>", ARK)
    .addOption(serverOption())
    .option("--until <date>", "its end; default: in 90 days")
    .option("--anonymous", "of a private record: hide who made it")
    .example("arkgraph review-link create ark:99999/rocrate-cells --until 2027-01-31")
    .action(async (ark, options) =>
      (await import("./review-links.js")).createLinkCommand(ark, options),
    );
  link
    .command("list")
    .description(
      "list the review links of a record: id, with names or anonymous, uses, last use, end",
    )
    .argument("<ark>", ARK)
    .addOption(serverOption())
    .example("arkgraph review-link list ark:99999/rocrate-cells")
    .action(async (ark, options) =>
      (await import("./review-links.js")).listLinksCommand(ark, options),
    );
  link
    .command("revoke")
    .description("end a review link at once")
    .argument("<ark>", ARK)
    .argument("<id>", "its id, as the list shows it")
    .addOption(serverOption())
    .example(
      "arkgraph review-link revoke ark:99999/rocrate-cells 7b1c2f0e-6b7a-4d57-9a44-3c1f8f3f9b1e",
    )
    .action(async (ark, id, options) =>
      (await import("./review-links.js")).revokeLinkCommand(ark, id, options),
    );
}

/** `completion`: needs the whole program, whose commands it completes. */
export function addCompletion(program: ToolCommand): void {
  program
    .command("completion")
    .description("print a script for bash, zsh or fish that completes commands and options")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .example("arkgraph completion bash > arkgraph-completion.bash")
    .action(async (shell: Shell, _options: unknown, _command: Command) => {
      const { completionScript } = await import("../../tool-command.js");
      process.stdout.write(completionScript(program, shell));
    });
}
