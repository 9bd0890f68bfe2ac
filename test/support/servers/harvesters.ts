import { existsSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "./programs.js";

/** The harvesters of others, in a folder of their own: their packages differ from the judges'. */
export const HARVESTERS = join(process.env["TEST_SERVERS"] ?? "", "harvest-judges");
const installed =
  process.env["TEST_SERVERS"] !== undefined &&
  existsSync(join(HARVESTERS, "oaipmh_scythe")) &&
  findProgram("python3") !== undefined;

/** Warns which tests are skipped without the harvesters; call it where tests are skipped. */
export function harvestersMissing(): boolean {
  if (!installed)
    process.stderr.write(
      "\n!! SKIPPED: tests with the harvesters of others, which are not installed (python3 -m pip " +
        "install --target FOLDER/harvest-judges -r test/judges/harvest-requirements.txt, with " +
        "TEST_SERVERS=FOLDER).\n\n",
    );
  return !installed;
}
