import { health } from "../../use-cases/health.js";
import { docsPage } from "../../web/docs-page.js";
import { rootPage } from "../../web/root-page.js";
import { sendBytes, sendJson } from "../reply.js";
import type { Operation, Operations } from "../request.js";

/** Pages run no script but their own files, and load nothing from elsewhere. */
export const PAGE_POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const page = (render: (baseUrl: string) => string): Operation => async ({ req, res, context }) => {
  sendBytes(req, res, Buffer.from(render(context.deps.baseUrl())), { type: "text/html; charset=utf-8", headers: { "Content-Security-Policy": PAGE_POLICY } });
};

/** @param contract the OpenAPI document, as YAML text and as JSON */
export function serviceOperations(contract: { yaml: string; json: object }): Operations {
  return {
    root_page: page(rootPage),
    docs_page: page(docsPage),
    health: async ({ req, res, context }) => {
      const answer = await health(context.deps);
      sendJson(req, res, answer, { status: answer.status === "healthy" ? 200 : 503, headers: { "Cache-Control": "no-store" } });
    },
    openapi_json: async ({ req, res }) => sendJson(req, res, contract.json),
    openapi_yaml: async ({ req, res }) => sendBytes(req, res, Buffer.from(contract.yaml), { type: "application/yaml" }),
  };
}
