// The GraphQL explorer for browsers, from the development dependencies into dist: what an installation serves
// without them, and without asking another site. Where they are not installed the page's simple form is served.
import { existsSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const files = [
  "react/umd/react.production.min.js",
  "react-dom/umd/react-dom.production.min.js",
  "graphiql/graphiql.min.js",
  "graphiql/graphiql.min.css",
].map((file) => join(root, "node_modules", file));

if (files.every(existsSync)) {
  const folder = join(root, "dist", "web", "graphiql");
  await mkdir(folder, { recursive: true });
  for (const file of files) await copyFile(file, join(folder, basename(file)));
}
