import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../../src/package-root.js";
import { findProgram } from "./programs.js";

/** In CI a missing tool is a failure. */
export const maySkip = process.env["CI"] === undefined;

const SCRIPTS = join(packageRoot, "test", "judges");
/** Sets of Python packages that conflict with each other, each in a folder of its own. */
const SETS = {
  judges: { requirements: "requirements.txt", has: "rocrate_validator", what: "RO-Crate tools" },
  "formats-judges": {
    requirements: "requirements-formats.txt",
    has: "signposting",
    what: "readers of citations, links and pages",
  },
  "croissant-judge": {
    requirements: "requirements-croissant.txt",
    has: "mlcroissant",
    what: "judge of Croissant documents",
  },
  "harvest-judges": {
    requirements: "requirements-harvest.txt",
    has: "oaipmh_scythe",
    what: "harvesters",
  },
  fuji: {
    requirements: "requirements-fuji.txt",
    has: "connexion",
    what: "judge of FAIR records",
  },
  "table-judges": {
    requirements: "requirements-tables.txt",
    has: "fairscape_cli",
    what: "judges of tables",
  },
  "rest-clients": {
    requirements: "requirements-rest-clients.txt",
    has: "openapi_generator_cli",
    what: "generators of REST clients",
  },
  "table-writers": {
    requirements: "requirements-table-writers.txt",
    has: "polars",
    what: "writers of tables",
  },
} as const;
type ToolSet = keyof typeof SETS;
/** Where the packages of a set are installed. */
export const folderOf = (set: ToolSet): string => join(process.env["TEST_SERVERS"] ?? "", set);

/** Warns which tests are skipped without the external tools; call it where tests are skipped. */
export function toolsMissing(set: ToolSet = "judges"): boolean {
  const { requirements, has, what } = SETS[set];
  const installed =
    process.env["TEST_SERVERS"] !== undefined &&
    existsSync(join(folderOf(set), has)) &&
    findProgram("python3") !== undefined;
  if (!installed)
    process.stderr.write(
      `\n!! SKIPPED: tests with the ${what} of others, which are not installed (python3 -m pip ` +
        `install --target FOLDER/${set} -r test/judges/${requirements}, with ` +
        "TEST_SERVERS=FOLDER).\n\n",
    );
  return !installed;
}

const bundled = (name: string): string =>
  join(packageRoot, "ontology", "contexts", `${name}.jsonld`);
/** The contexts that the crates name, with their files: the tools open no connection. */
const CONTEXTS: Readonly<Record<string, string>> = Object.fromEntries([
  ...["1.0", "1.1", "1.2", "1.3"].map((version) => [
    `https://w3id.org/ro/crate/${version}/context`,
    bundled(`ro-crate-${version}`),
  ]),
  ...["", "/context"].map((suffix) => [
    `https://w3id.org/ro/terms/workflow-run${suffix}`,
    bundled("workflow-run"),
  ]),
]);

/**
 * Runs a script of test/judges with the external tools, once for all documents that it checks.
 * @param index the input of the script beside the contexts, as JSON
 * @returns the output of the script
 */
export async function askTools<T>(
  script: string,
  index: object,
  set: ToolSet = "judges",
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "arkgraph-judges-"));
  try {
    const [asked, answer] = [join(folder, "index.json"), join(folder, "answer.json")];
    await writeFile(asked, JSON.stringify({ contexts: CONTEXTS, ...index }));
    // A set of Python has another order in each process; the findings of a tool must not depend on
    // it.
    const env = {
      ...process.env,
      PYTHONPATH: folderOf(set),
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONHASHSEED: "0",
      HOME: folder,
    };
    const options = { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 };
    await promisify(execFile)(
      findProgram("python3")!,
      [join(SCRIPTS, script), asked, answer],
      options,
    );
    return JSON.parse(await readFile(answer, "utf8")) as T;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
