import { join } from "node:path";
import { findProgram } from "./programs.js";
import type { Make } from "./sparql-server.js";

/** Oxigraph's own server; the package `oxigraph` of PyPI brings it. */
export const OXIGRAPH: Make = {
  name: "Oxigraph",
  needs:
    "pip install --target FOLDER oxigraph==0.5.13, with FOLDER/bin on PATH or TEST_SERVERS=FOLDER",
  command(port, folder) {
    const program = findProgram("oxigraph");
    return program === undefined
      ? undefined
      : [
          program,
          "serve",
          "--location",
          join(folder, "data"),
          "--bind",
          `127.0.0.1:${port}`,
          "--union-default-graph",
        ];
  },
  query: "/query",
  update: "/update",
};
