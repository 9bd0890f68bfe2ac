import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * Folder of the package: where `ontology/`, `openapi/` and `graphql/` lie, from sources and from
 * `dist/` alike.
 */
export const packageRoot: string = (() => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
})();

/**
 * URL of a module to run in a thread. Threads run the built code, also when the caller is a
 * TypeScript source under test.
 * @param path below the package, without extension, e.g. `src/storage/graph/oxigraph/thread`
 */
export function threadModule(path: string): URL {
  return pathToFileURL(join(packageRoot, "dist", `${path}.js`));
}
