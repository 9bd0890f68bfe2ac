import { join } from "node:path";
import { packageRoot } from "../package-root.js";

/** Where the build puts the files of the GraphQL explorer (`scripts/copy-graphiql.mjs`). */
export const EXPLORER_FOLDER = join(packageRoot, "dist", "web", "graphiql");
export const EXPLORER_FILES: readonly string[] = ["react.production.min.js", "react-dom.production.min.js", "graphiql.min.js", "graphiql.min.css"];
