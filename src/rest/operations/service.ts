import { health } from "../../use-cases/health.js";
import { docsPage } from "../../web/docs-page.js";
import { missingPage, textPage } from "../../web/pages.js";
import { rootPage } from "../../web/root-page.js";
import { PAGE_POLICY } from "../page-policy.js";
import { sendBytes, sendJson } from "../reply.js";
import type { Operation, Operations } from "../request.js";

const page = (render: (baseUrl: string) => string): Operation => async ({ req, res, context }) => {
  sendBytes(req, res, Buffer.from(render(context.deps.baseUrl())), { type: "text/html; charset=utf-8", headers: { "Content-Security-Policy": PAGE_POLICY } });
};

/** @param contract the OpenAPI document, as YAML text and as JSON */
export function serviceOperations(contract: { yaml: string; json: object }): Operations {
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
    openapi_json: async ({ req, res }) => sendJson(req, res, contract.json),
    openapi_yaml: async ({ req, res }) => sendBytes(req, res, Buffer.from(contract.yaml), { type: "application/yaml" }),
  };
}
