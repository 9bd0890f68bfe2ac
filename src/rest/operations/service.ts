import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../../package-root.js";
import { health, readiness } from "../../use-cases/health.js";
import { docsPage } from "../../web/docs-page.js";
import { missingPage, textPage } from "../../web/pages.js";
import { rootPage } from "../../web/root-page.js";
import { PAGE_POLICY } from "../page-policy.js";
import { sendBytes, sendJson } from "../reply.js";
import type { Operation, Operations } from "../request.js";

const page = (render: (baseUrl: string) => string): Operation => async ({ req, res, context }) => {
  sendBytes(req, res, Buffer.from(render(context.deps.baseUrl())), { type: "text/html; charset=utf-8", headers: { "Content-Security-Policy": PAGE_POLICY } });
};

/** @param contract the OpenAPI document */
export function serviceOperations(contract: object): Operations {
  let yaml: Promise<Buffer> | undefined;
  return {
    root_page: page(rootPage),
    page: async ({ req, res, params, context }) => {
      const name = params["page_name"]!;
      const found = textPage(name, context.deps.baseUrl());
      sendBytes(req, res, Buffer.from(found ?? missingPage(name)), { status: found ? 200 : 404, type: "text/html; charset=utf-8", headers: { "Content-Security-Policy": PAGE_POLICY } });
    },
    docs_page: page(docsPage),
    health: async ({ req, res, context }) => {
      const answer = await health(context.deps);
      sendJson(req, res, answer, { status: answer.status === "healthy" ? 200 : 503, headers: { "Cache-Control": "no-store" } });
    },
    readiness: async ({ req, res, context }) => {
      const answer = await readiness(context.deps);
      sendJson(req, res, answer, { status: answer.status === "ready" ? 200 : 503, headers: { "Cache-Control": "no-store" } });
    },
    openapi_json: async ({ req, res }) => sendJson(req, res, contract),
    // The file is printed from the same document (`npm run generate`), and read when it is first asked for.
    openapi_yaml: async ({ req, res }) => sendBytes(req, res, await (yaml ??= readFile(join(packageRoot, "openapi", "openapi.yaml"))), { type: "application/yaml" }),
  };
}
