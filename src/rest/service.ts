import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sendBytes, sendJson } from "../http/reply.js";
import { packageRoot } from "../package-root.js";
import { health, readiness } from "../services/health.js";
import type { Route } from "../web/page.js";
import { docsPage } from "../web/pages/explorers.js";
import { textPage } from "../web/pages/help.js";
import { home } from "../web/pages/home.js";
import { type ContractRow, html, json, schemaRef } from "./contract/rows.js";
import type { Handler, Handlers } from "./request.js";

const DESCRIPTION_EXAMPLE = {
  openapi: "3.1.0",
  info: { title: "Arkgraph", version: "0.1.0" },
  paths: {},
};

const ALL_WELL = { records: "ok", index: "ok", objects: "ok", jobs: "ok" };

export const SERVICE: readonly ContractRow[] = [
  {
    method: "get",
    path: "/",
    operationId: "root_page",
    tag: "service",
    summary: "Root page",
    answer: {
      description: "An HTML page with links to everything else.",
      content: { "text/html": html("<!doctype html><title>Arkgraph</title>") },
    },
  },
  {
    method: "get",
    path: "/page/{page_name}",
    operationId: "page",
    tag: "service",
    summary: "Page by name",
    description: "Pages: about, help, api, provenance.",
    parameters: [
      {
        name: "page_name",
        in: "path",
        required: true,
        description: "Name of the page.",
        schema: { type: "string" },
        example: "about",
      },
    ],
    answer: {
      description: "An HTML page.",
      content: { "text/html": html("<!doctype html><title>About this registry</title>") },
    },
    also: {
      "404": {
        description: "No page has this name; an HTML page that lists all pages.",
        content: {
          "text/html": {
            schema: { type: "string" },
            example: "<!doctype html><title>No such page</title>",
          },
        },
      },
    },
  },
  {
    method: "get",
    path: "/healthz",
    operationId: "health",
    tag: "service",
    summary: "Health of the service and its parts",
    description:
      "Names each store that the service needs, and how many commits its graph index is behind.",
    answer: {
      description: "All parts work.",
      content: json(schemaRef("Health"), { status: "healthy", checks: ALL_WELL, lag: 0 }),
    },
    also: {
      "503": {
        description: "A part is unavailable or damaged.",
        content: {
          "application/json": {
            schema: schemaRef("Health"),
            example: { status: "unhealthy", checks: { ...ALL_WELL, objects: "failed" }, lag: 0 },
          },
        },
      },
    },
  },
  {
    method: "get",
    path: "/readyz",
    operationId: "readiness",
    tag: "service",
    summary: "Whether this node is ready for requests",
    description:
      "A node is ready while it reaches the record store. Other unavailable parts are " +
      "named; requests that need them return 503.",
    answer: {
      description: "The node answers requests.",
      content: json(schemaRef("Readiness"), {
        status: "ready",
        checks: { ...ALL_WELL, index: "loading" },
        lag: 12,
      }),
    },
    also: {
      "503": {
        description: "The node does not reach the record store.",
        content: {
          "application/json": {
            schema: schemaRef("Readiness"),
            example: { status: "not ready", checks: { ...ALL_WELL, records: "failed" }, lag: null },
          },
        },
      },
    },
  },
  {
    method: "get",
    path: "/docs",
    operationId: "docs_page",
    tag: "service",
    summary: "Interactive explorer of this description",
    answer: {
      description: "An HTML page.",
      content: { "text/html": html("<!doctype html><title>Arkgraph: API</title>") },
    },
  },
  {
    method: "get",
    path: "/openapi.json",
    operationId: "openapi_json",
    tag: "service",
    summary: "This description as JSON",
    answer: {
      description: "An OpenAPI 3.1 document.",
      content: json(
        {
          type: "object",
          required: ["openapi", "info", "paths"],
          properties: {
            openapi: { type: "string" },
            info: { type: "object" },
            paths: { type: "object" },
          },
        },
        DESCRIPTION_EXAMPLE,
      ),
    },
  },
  {
    method: "get",
    path: "/openapi.yaml",
    operationId: "openapi_yaml",
    tag: "service",
    summary: "This description as YAML",
    answer: {
      description: "An OpenAPI 3.1 document.",
      content: {
        "application/yaml": {
          schema: {},
          example: "openapi: 3.1.0\ninfo:\n  title: Arkgraph\n  version: 0.1.0\npaths: {}\n",
        },
      },
    },
  },
];

/** Any client gets these pages, whatever it accepts. */
const shows =
  (make: NonNullable<Route["get"]>): Handler =>
  ({ req, res, params, site }) =>
    site.page(req, res, (request) => make({ ...request, params }));

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
