import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sendBytes, sendJson } from "../http/reply.js";
import { packageRoot } from "../package-root.js";
import { health, readiness } from "../services/health.js";
import type { Route } from "../web/page.js";
import { docsPage } from "../web/pages/explorers.js";
import { textPage } from "../web/pages/help.js";
import { home } from "../web/pages/home.js";
import type { Handler, Handlers } from "./request.js";

/** Any client gets these pages, whatever it accepts. */
const shows =
  (make: NonNullable<Route["get"]>): Handler =>
  ({ req, res, params, site }) =>
    site.page(req, res, make, params);

/** @param contract the OpenAPI document */
export function serviceOperations(contract: object): Handlers {
  let yaml: Promise<Buffer> | undefined;
  return {
    root_page: shows(home),
    page: shows(textPage),
    docs_page: shows(docsPage),
    health: async ({ req, res, context }) => {
      const answer = await health(context.deps);
      sendJson(req, res, answer, {
        status: answer.status === "healthy" ? 200 : 503,
        headers: { "Cache-Control": "no-store" },
      });
    },
    readiness: async ({ req, res, context }) => {
      const answer = await readiness(context.deps);
      sendJson(req, res, answer, {
        status: answer.status === "ready" ? 200 : 503,
        headers: { "Cache-Control": "no-store" },
      });
    },
    openapi_json: async ({ req, res }) => sendJson(req, res, contract),
    // The file is printed from the same document (`npm run generate`), and read on the first
    // request.
    openapi_yaml: async ({ req, res }) =>
      sendBytes(req, res, await (yaml ??= readFile(join(packageRoot, "openapi", "openapi.yaml"))), {
        type: "application/yaml",
      }),
  };
}
