import { writeFile } from "node:fs/promises";
import { buildDemoCrate } from "../demo/build-crate.js";

/** Writes the example crate. @throws the error of writing */
export async function demoCrateCommand(file: string): Promise<void> {
  await writeFile(file, await buildDemoCrate());
  process.stdout.write(`Wrote ${file}\n`);
}
