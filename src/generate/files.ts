import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { packageRoot } from "../package-root.js";
import { OUTPUTS, type Output } from "./outputs.js";

/** The outputs whose file differs from what the code prints, or is not there. */
export async function drifted(outputs: readonly Output[] = OUTPUTS, root = packageRoot): Promise<string[]> {
  const found: string[] = [];
  for (const { file, render } of outputs) {
    const text = await readFile(join(root, file), "utf8").catch(() => undefined);
    if (text !== (await render())) found.push(file);
  }
  return found;
}

/** Writes every output that drifted; answers their names. */
export async function generate(outputs: readonly Output[] = OUTPUTS, root = packageRoot): Promise<string[]> {
  const files = await drifted(outputs, root);
  for (const { file, render } of outputs.filter((output) => files.includes(output.file))) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), await render());
  }
  return files;
}
