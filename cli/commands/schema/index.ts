import { Argument, Option, type Command } from "commander";
import { booleanValue, countValue, numberValue, positiveValue, several, sizeValue } from "./values.js";

const example = (text: string): string => `\nExample:\n  ${text}\n`;

/** The commands around the schema of a table; the code of each is loaded when it runs. */
export function addSchemaCommands(program: Command): void {
  const schema = program.command("schema").description("describe the columns of a table, and check tables against the description");
  addCreate(schema);
  addProperties(schema);
  addValidate(schema);
  addPackaged(schema);
}

function addCreate(schema: Command): void {
  schema.command("create-tabular")
    .description("write a schema without properties")
    .argument("<schema-file>", "where to write it")
    .requiredOption("--name <text>", "name of the schema")
    .requiredOption("--description <text>", "what the table holds")
    .option("--guid <ark>", "identifier of the schema; made when absent")
    .requiredOption("--separator <text>", "what stands between columns, one or more characters; \\t is a tab")
    .addOption(new Option("--header <boolean>", "whether the first row holds the names of the columns").argParser(booleanValue).default(false))
    .option("--force", "overwrite a file that exists")
    .addHelpText("after", example("arkgraph schema create-tabular --name Genes --description 'One gene a row' --separator , --header true genes.json"))
    .action(async (file, options) => (await import("./create-tabular.js")).createTabular(file, options));
}

function addProperties(schema: Command): void {
  const add = schema.command("add-property").description("add a property to a schema file, by its datatype");
  const property = (datatype: "string" | "number" | "integer" | "array" | "boolean", index: string, sample: string): Command =>
    add.command(datatype)
      .description(`add a property of datatype ${datatype}`)
      .argument("<schema-file>", "the schema to add it to")
      .requiredOption("--name <text>", "name of the property, unique in the schema")
      .requiredOption("--index <index>", index)
      .requiredOption("--description <text>", "what the column holds")
      .option("--value-url <url>", "vocabulary term that the values align to")
      .addHelpText("after", example(`arkgraph schema add-property ${datatype} --name ${sample} genes.json`))
      .action(async (file, options) => (await import("./add-property.js")).addProperty(datatype, file, options));
  const column = "the column, counted from 0";
  property("string", column, "symbol --index 0 --description 'Gene symbol' --pattern '^[A-Z0-9]+$'")
    .option("--pattern <regex>", "regular expression that is found in every value")
    .addOption(new Option("--min-length <count>", "least number of characters").argParser(countValue))
    .addOption(new Option("--max-length <count>", "largest number of characters").argParser(countValue));
  for (const [datatype, sample] of [["number", "score --index 1 --description 'Score' --minimum 0 --maximum 1"], ["integer", "count --index 2 --description 'Reads' --minimum 0"]] as const) {
    property(datatype, column, sample)
      .addOption(new Option("--minimum <number>", "least value").argParser(numberValue))
      .addOption(new Option("--maximum <number>", "largest value").argParser(numberValue));
  }
  property("array", "the columns: i:: (from i to the end), ::i (up to i, not included) or i:j", "embedding --index 3:: --description 'Vector' --items-datatype number --min-items 3")
    .addOption(new Option("--items-datatype <datatype>", "datatype of the elements").choices(["string", "number", "integer", "boolean"]).makeOptionMandatory())
    .addOption(new Option("--min-items <count>", "least number of elements").argParser(countValue))
    .addOption(new Option("--max-items <count>", "largest number of elements").argParser(countValue))
    .addOption(new Option("--unique-items <boolean>", "whether the elements must differ").argParser(booleanValue));
  property("boolean", column, "bait --index 4 --description 'Whether it is a bait'");
}

function addValidate(schema: Command): void {
  const validate = schema.command("validate")
    .description("check data files against a schema; status 1 when one does not conform")
    .argument("[files...]", "more data files")
    .addOption(new Option("--data <file>", "data file, - for standard input; plain or .gz text, or .parquet; may be repeated").argParser(several))
    .requiredOption("--schema <file-or-ark>", "schema file, or the ARK of a packaged schema")
    .addOption(new Option("--format <format>", "how errors are written").choices(["table", "json", "ndjson", "sarif", "github"]).default("table"))
    .addOption(new Option("--max-errors <count>", "stop after so many errors in a file").argParser(positiveValue))
    .option("--summary", "count the errors by property and keyword")
    .option("--strict-columns", "report rows with another number of columns than the first")
    .option("--quiet", "no output: the status says whether the data conform")
    .addOption(new Option("--max-cell <size>", "longest cell; default 16M").argParser(sizeValue))
    .addOption(new Option("--max-row <size>", "longest row; default 32M").argParser(sizeValue))
    .addOption(new Option("--max-columns <count>", "most columns of a row; default 250000").argParser(positiveValue))
    .addOption(new Option("--pattern-seconds <seconds>", "time for the patterns of one file, besides a second for every MiB; default 10").argParser(positiveValue))
    .addHelpText("after", example("arkgraph schema validate --data genes.csv --schema genes.json"));
  validate.action(async (files: string[], { data = [], ...options }) => {
    const all = [...data, ...files];
    if (all.length === 0) validate.error("error: required option '--data <file>' not specified");
    await (await import("./validate.js")).validateCommand(all, options);
  });
}

function addPackaged(schema: Command): void {
  schema.command("list")
    .description("list the packaged schemas")
    .action(async () => (await import("./packaged.js")).listSchemas());
  schema.command("show")
    .description("print a packaged schema")
    .addArgument(new Argument("<ark>", "identifier of the schema"))
    .addHelpText("after", example("arkgraph schema show ark:59852/schema-cm4ai-coembedding"))
    .action(async (ark: string) => (await import("./packaged.js")).showSchema(ark));
}
