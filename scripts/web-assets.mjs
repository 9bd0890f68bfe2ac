// Scripts of the pages, and files of other packages that pages load: the GraphQL and the API explorer. They are
// compressed here as well as can be, so that a browser gets them without waiting for it, and without asking another
// site.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress } from "node:zlib";
import { build } from "esbuild";
import { helpFiles } from "./help-pages.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

const FILES = {
  "graphiql/graphiql.min.css": "graphiql/graphiql.min.css",
  "swagger-ui/swagger-ui-bundle.js": "swagger-ui-dist/swagger-ui-bundle.js",
  "swagger-ui/swagger-ui.css": "swagger-ui-dist/swagger-ui.css",
};

/** GraphiQL's style sheet embeds fonts, 260 KB of them; the pages have the fonts of the system. */
const withoutFonts = (name, bytes) =>
  name === "graphiql/graphiql.min.css"
    ? Buffer.from(bytes.toString("utf8").replace(/@font-face\s*\{[^}]*\}/g, ""))
    : bytes;

/** The scripts of the pages: each file of the folder is one script; what they share is bundled into each. */
async function clientScripts() {
  const folder = join(root, "src", "web", "client");
  const entryPoints = (await readdir(folder))
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
  const { outputFiles, metafile } = await build({
    entryPoints,
    outdir: join(root, "dist", "web", "client"),
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    write: false,
    metafile: true,
    logLevel: "warning",
  });
  return {
    files: outputFiles.map(({ path, contents }) => [
      `client/${basename(path)}`,
      Buffer.from(contents),
    ]),
    modules: Object.keys(metafile.inputs),
  };
}

/** @returns paths of the files that were compressed */
export async function compressWebAssets() {
  const copied = await Promise.all(
    Object.entries(FILES).map(async ([name, source]) => [
      name,
      withoutFonts(name, await readFile(join(root, "node_modules", source))),
    ]),
  );
  const { files, modules } = await clientScripts();
  const web = join(root, "dist", "web");
  const made = new Set();
  await Promise.all(
    [...copied, ...files, ...(await helpFiles())].map(async ([name, bytes]) => {
      const file = join(web, `${name}.br`);
      made.add(file);
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
  for (const entry of await readdir(web, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !made.has(file)) await rm(file);
  }
  return [...Object.values(FILES).map((source) => `node_modules/${source}`), ...modules];
}
