// Files of other packages that pages load: the GraphQL and the API explorer for browsers. They are compressed here as
// well as can be, so that a browser gets them without waiting for it, and without asking another site.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));

const FILES = {
  "graphiql/react.production.min.js": "react/umd/react.production.min.js",
  "graphiql/react-dom.production.min.js": "react-dom/umd/react-dom.production.min.js",
  "graphiql/graphiql.min.js": "graphiql/graphiql.min.js",
  "graphiql/graphiql.min.css": "graphiql/graphiql.min.css",
  "swagger-ui/swagger-ui-bundle.js": "swagger-ui-dist/swagger-ui-bundle.js",
  "swagger-ui/swagger-ui.css": "swagger-ui-dist/swagger-ui.css",
};

/** @returns paths of the files that were compressed */
export async function compressWebAssets() {
  await Promise.all(
    Object.entries(FILES).map(async ([name, source]) => {
      const bytes = await readFile(join(root, "node_modules", source));
      const file = join(root, "dist", "web", `${name}.br`);
      const before = await readFile(file)
        .then(promisify(brotliDecompress))
        .catch(() => undefined);
      if (before?.equals(bytes)) return;
      await mkdir(dirname(file), { recursive: true });
      // A build that is ended leaves no part of a file behind under its name.
      await writeFile(`${file}.part`, await promisify(brotliCompress)(bytes));
      await rename(`${file}.part`, file);
    }),
  );
  // What an earlier build left would be packed.
  const web = join(root, "dist", "web");
  const made = new Set(Object.keys(FILES).map((name) => join(web, `${name}.br`)));
  for (const entry of await readdir(web, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !made.has(file)) await rm(file);
  }
  return Object.values(FILES).map((source) => `node_modules/${source}`);
}
