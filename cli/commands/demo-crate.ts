import { writeFile } from "node:fs/promises";
import { buildDemoCrate } from "../demo/build-crate.js";
import { writeFailure } from "../failure.js";

/** Writes the example crate. @throws Failure when its folder is missing; the error of writing */
export async function demoCrateCommand(file: string): Promise<void> {
  await writeFile(file, await buildDemoCrate()).catch(async (error: unknown) => {
    throw await writeFailure(file, error);
  });
  process.stdout.write(`Wrote ${file}\n`);
}
