import { afterAll } from "vitest";
import { SparqlServer, type Make } from "./sparql-server.js";

/**
 * A server that ends with the file of tests; warns when it is not installed. Start it in
 * `beforeAll`.
 */
export function sparqlServer(make: Make): SparqlServer {
  const server = new SparqlServer(make);
  if (server.installed) afterAll(() => server.stop());
  else
    process.stderr.write(
      `SKIPPED: tests with ${make.name}, which is not installed (${make.needs})\n`,
    );
  return server;
}
