import { Argument, Option } from "commander";
import type { ToolCommand } from "../../tool-command.js";
import { TRIMS } from "../../../src/tabular/reader/dialect.js";
import { serverOption } from "../registry/index.js";
import {
  booleanOf,
  booleanValue,
  countValue,
  encodingValue,
  numberValue,
  positiveValue,
  several,
  sizeValue,
} from "./edit.js";

/** Whether a word is the value of an option that may also stand alone. */
const isBoolean = (text: string): boolean => booleanOf(text) !== undefined;

const headerOption = (otherwise: string): Option =>
  new Option(
    "--header [boolean]",
    `whether the first row holds the names of the columns${otherwise}`,
  )
    .argParser(booleanValue)
    .preset("true");

/** How separated text is written; a schema states the same under these names. */
const dialectOptions = (): Option[] => [
  new Option("--comment-prefix <text>", "lines that begin with it are no rows"),
  new Option("--skip-rows <count>", "lines above the header").argParser(countValue),
  new Option("--quote-char <character>", 'character around cells; default ", empty for none'),
  new Option("--escape-char <character>", "makes the next character text; default: quotes double"),
  new Option("--trim <where>", "blanks that are no part of a cell").choices(TRIMS),
];

const encodingOption = (): Option =>
  new Option(
    "--encoding <name>",
    "encoding of the text, e.g. latin1 or windows-1252; default UTF-8",
  ).argParser(encodingValue);

/** Which part of a file is the table. */
const partOptions = (): Option[] => [
  new Option("--sheet <name>", "the sheet of a workbook, by name or number from 1"),
  new Option("--member <name>", "the file in a zip archive"),
];

/** The commands around the schema of a table; the code of each is loaded when it runs. */
export function addSchemaCommands(program: ToolCommand): void {
  const schema = program
    .command("schema")
    .description("describe the columns of a table, and check tables against the description");
  addCreate(schema);
  addProperties(schema);
  addValidate(schema);
  addPackaged(schema);
  addMaking(schema);
  addExchange(schema);
  addSharing(schema);
}

function addCreate(schema: ToolCommand): void {
  schema
    .command("create-tabular")
    .description("write a schema without properties")
    .argument("<schema-file>", "where to write it")
    .requiredOption("--name <text>", "name of the schema")
    .requiredOption("--description <text>", "what the table holds")
    .option("--guid <ark>", "identifier of the schema; generated when absent")
    .requiredOption("--separator <text>", "column separator, one or more characters; \\t is a tab")
    .addOption(headerOption("").default(false))
    .valueOnlyIf("--header", isBoolean)
    .withOptions(dialectOptions())
    .option("--force", "overwrite a file that exists")
    .example(
      "arkgraph schema create-tabular --name Genes --description 'One gene a row' " +
        "--separator , --header true --guid ark:99999/schema-genes genes.json",
    )
    .action(async (file, options) => (await import("./edit.js")).createTabular(file, options));
}

function addProperties(schema: ToolCommand): void {
  const add = schema
    .command("add-property")
    .description("add a property to a schema file, by its datatype");
  const property = (
    datatype: "string" | "number" | "integer" | "array" | "boolean",
    index: string,
    sample: string,
  ): ToolCommand =>
    add
      .command(datatype)
      .description(`add a property of datatype ${datatype}`)
      .argument("<schema-file>", "the schema to add it to")
      .requiredOption("--name <text>", "name of the property, unique in the schema")
      .requiredOption("--index <index>", index)
      .requiredOption("--description <text>", "what the column holds")
      .option("--value-url <url>", "vocabulary term that the values align to")
      .option("--nullable", `an empty ${datatype === "array" ? "element" : "cell"} has no value`)
      .addOption(
        new Option(
          "--missing <text>",
          "a text that stands for a missing value, e.g. NA; may be repeated",
        ).argParser(several),
      )
      .example(`arkgraph schema add-property ${datatype} --name ${sample} genes.json`)
      .action(async (file, options) =>
        (await import("./edit.js")).addProperty(datatype, file, options),
      );
  const column = "the column, counted from 0";
  property("string", column, "symbol --index 0 --description 'Gene symbol' --pattern '^[A-Z0-9]+$'")
    .option("--pattern <regex>", "regular expression that must match somewhere in every value")
    .addOption(
      new Option("--min-length <count>", "minimum number of characters").argParser(countValue),
    )
    .addOption(
      new Option("--max-length <count>", "maximum number of characters").argParser(countValue),
    );
  for (const [datatype, sample] of [
    ["number", "score --index 1 --description 'Score' --minimum 0 --maximum 1"],
    ["integer", "count --index 2 --description 'Reads' --minimum 0"],
  ] as const) {
    property(datatype, column, sample)
      .addOption(new Option("--minimum <number>", "least value").argParser(numberValue))
      .addOption(new Option("--maximum <number>", "largest value").argParser(numberValue));
  }
  property(
    "array",
    "the columns: i:: (from i to the end), ::i (up to i, not included) or i:j",
    "embedding --index 4:: --description 'Vector' --items-datatype number --min-items 3",
  )
    .addOption(
      new Option("--items-datatype <datatype>", "datatype of the elements")
        .choices(["string", "number", "integer", "boolean"])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--min-items <count>", "minimum number of elements").argParser(countValue),
    )
    .addOption(
      new Option("--max-items <count>", "maximum number of elements").argParser(countValue),
    )
    .addOption(
      new Option("--unique-items [boolean]", "whether the elements must differ")
        .argParser(booleanValue)
        .preset("true"),
    )
    .valueOnlyIf("--unique-items", isBoolean);
  property("boolean", column, "bait --index 3 --description 'Whether it is a bait'");
}

/** Limits of `schema validate`. */
const limitOptions = (): Option[] => [
  new Option("--max-cell <size>", "longest cell; default 16M").argParser(sizeValue),
  new Option("--max-row <size>", "longest row; default 32M").argParser(sizeValue),
  new Option("--max-columns <count>", "most columns of a row; default 250000").argParser(
    positiveValue,
  ),
  new Option("--max-keys <count>", "most values of a key; default 5000000").argParser(
    positiveValue,
  ),
  new Option(
    "--max-part <size>",
    "most bytes of a part that must be in memory: texts of a workbook, a page of Parquet, a " +
      "column in a batch of Arrow; default 256M",
  ).argParser(sizeValue),
  new Option(
    "--pattern-seconds <seconds>",
    "time limit for the patterns of one file, in addition to one second per MiB; default 10",
  ).argParser(positiveValue),
];

function addValidate(schema: ToolCommand): void {
  const validate = schema
    .command("validate")
    .description("check data files against a schema; status 1 when one does not conform")
    .argument("[files...]", "more data files")
    .addOption(
      new Option(
        "--data <file>",
        "data file, - for standard input, in any format that is read; may be repeated",
      ).argParser(several),
    )
    .requiredOption(
      "--schema <file-or-ark>",
      "schema file, Data Package, CSVW metadata or data contract (all tables that it names), or the ARK " +
        "of a packaged schema",
    )
    .addOption(
      new Option("--format <format>", "how errors are written")
        .choices(["table", "json", "ndjson", "sarif", "github", "junit", "html"])
        .default("table"),
    )
    .addOption(
      new Option("--max-errors <count>", "stop after so many errors in a file").argParser(
        positiveValue,
      ),
    )
    .option("--summary", "count the errors by property and keyword")
    .option(
      "--strict",
      "status 1 also for findings: another header, stray quotes, keywords without effect",
    )
    .option(
      "--valid-output <file>",
      "write the rows that conform to it, as they are; .gz packs them",
    )
    .option("--invalid-output <file>", "the same with the rows that do not")
    .option("--force", "overwrite output files that exist")
    .option("--strict-columns", "report rows whose number of columns differs from the first row")
    .withOptions(partOptions())
    .addOption(encodingOption())
    .withOptions(dialectOptions())
    .addOption(
      new Option(
        "--jobs <count>",
        "check so many files at a time, each in a process of its own; default 1",
      ).argParser(positiveValue),
    )
    .option("--quiet", "no output: the exit status says whether the data conform")
    .withOptions(limitOptions())
    .example("arkgraph schema validate --data genes.csv --schema genes.json");
  validate.action(async (files: string[], { data = [], ...options }) => {
    const all = [...data, ...files];
    const { isPackage } = await import("./tables.js");
    if (all.length === 0 && !(await isPackage(options.schema)))
      validate.error("error: required option '--data <file>' not specified");
    await (await import("./validate.js")).validateCommand(all, options);
  });
}

function addPackaged(schema: ToolCommand): void {
  schema
    .command("list")
    .description("list the packaged schemas")
    .example("arkgraph schema list")
    .action(async () => (await import("./inspect.js")).listSchemas());
  schema
    .command("show")
    .description("print a packaged schema")
    .addArgument(new Argument("<ark>", "identifier of the schema"))
    .example("arkgraph schema show ark:59852/schema-cm4ai-coembedding")
    .action(async (ark: string) => (await import("./inspect.js")).showSchema(ark));
}

function addMaking(schema: ToolCommand): void {
  schema
    .command("infer")
    .description(
      "infer a schema from a data file: separator, comments, lines above the table, header and " +
        "datatypes are detected; codes with leading zeros are text",
    )
    .argument("<data>", "data file, - for standard input, in any format that is read")
    .argument("[schema]", "file to write the schema to, as --output")
    .option("--name <text>", "name of the schema; default the file's name")
    .option(
      "--description <text>",
      "what the table holds, in five characters or more; derived from the name when absent",
    )
    .option("--guid <ark>", "identifier of the schema; generated when absent")
    .option("--separator <text>", "column separator; detected when absent")
    .withOptions(partOptions())
    .addOption(encodingOption())
    .withOptions(dialectOptions())
    .addOption(headerOption("; detected when absent"))
    .valueOnlyIf("--header", isBoolean)
    .option("--output <file>", "write to a file instead of standard output")
    .option("--force", "overwrite a file that exists")
    .example("arkgraph schema infer genes.csv --output inferred.json")
    .action(async (data, schema, options) =>
      (await import("./inspect.js")).inferSchema(data, schema, options),
    );
  schema
    .command("check")
    .description("check a schema itself: indexes, patterns, bounds, keywords without effect")
    .argument("<schema>", "schema file, or the ARK of a packaged schema")
    .option("--data <file>", "also check that the indexes are within the columns of this file")
    .withOptions(partOptions())
    .example("arkgraph schema check genes.json --data genes.csv")
    .action(async (file, options) => (await import("./inspect.js")).checkSchema(file, options));
  schema
    .command("diff")
    .description(
      "show what differs between two versions of a schema; status 1 when data that conform to the " +
        "old one may not conform to the new one",
    )
    .argument("<old>", "schema file, or the ARK of a packaged schema")
    .argument("<new>", "the same")
    .addOption(
      new Option("--format <format>", "how differences are written")
        .choices(["text", "json"])
        .default("text"),
    )
    .example("arkgraph schema diff genes.json genes.json")
    .action(async (before, after, options) =>
      (await import("./inspect.js")).diffCommand(before, after, options),
    );
}

function addExchange(schema: ToolCommand): void {
  schema
    .command("export")
    .description(
      "write a schema as CSVW metadata, a Frictionless Table Schema, or a data contract (ODCS 3.1)",
    )
    .argument("<schema>", "schema file, or the ARK of a packaged schema")
    .addOption(
      new Option("--to <format>", "the format")
        .choices(["csvw", "frictionless", "odcs"])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        "--columns <count>",
        "number of columns of the data, required for an array that extends to the end of the row",
      ).argParser(positiveValue),
    )
    .option("--url <url>", "the data, in CSVW metadata and data contracts", "data.csv")
    .option("--output <file>", "write to a file instead of standard output")
    .option("--force", "overwrite a file that exists")
    .example(
      "arkgraph schema export genes.json --to csvw --columns 7 --output genes.csv-metadata.json",
    )
    .action(async (file, options) => (await import("./exchange.js")).exportSchema(file, options));
  schema
    .command("import")
    .description(
      "write a schema from CSVW metadata, a Frictionless Table Schema, or a data contract (ODCS 3)",
    )
    .argument("<file>", "the description of the table in the other format")
    .addOption(
      new Option("--from <format>", "the format")
        .choices(["csvw", "frictionless", "odcs"])
        .makeOptionMandatory(),
    )
    .option("--strict", "refuse a file with elements that have no counterpart here")
    .option("--name <text>", "name of the schema; default: what the file states")
    .option("--separator <text>", "column separator; default: what the file states, or a comma")
    .addOption(headerOption("; default: what the file states, or true"))
    .valueOnlyIf("--header", isBoolean)
    .option("--output <file>", "write to a file instead of standard output")
    .option("--force", "overwrite a file that exists")
    .example("arkgraph schema import genes.csv-metadata.json --from csvw --output imported.json")
    .action(async (file, options) => (await import("./exchange.js")).importSchema(file, options));
}

function addSharing(schema: ToolCommand): void {
  schema
    .command("push")
    .description("register a schema file as a record")
    .argument("<schema-file>", "the schema")
    .addOption(serverOption())
    .option("--update", "replace the record when it exists")
    .example("arkgraph schema push genes.json")
    .action(async (file, options) => (await import("./exchange.js")).pushSchema(file, options));
  schema
    .command("pull")
    .description("write a registered schema")
    .argument("<ark>", "identifier of the schema")
    .addOption(serverOption())
    .option("--output <file>", "write to a file instead of standard output")
    .option("--force", "overwrite a file that exists")
    .example("arkgraph schema pull ark:99999/schema-genes --output pulled.json")
    .action(async (ark, options) => (await import("./exchange.js")).pullSchema(ark, options));
}
