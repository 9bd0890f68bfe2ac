import { html, json, schemaRef, type Operation } from "./operation.js";

const DESCRIPTION_EXAMPLE = { openapi: "3.1.0", info: { title: "Arkgraph", version: "0.1.0" }, paths: {} };

export const SERVICE: readonly Operation[] = [
  {
    method: "get", path: "/", operationId: "root_page", tag: "service", summary: "Root page",
    answer: { description: "An HTML page that leads to everything else.", content: { "text/html": html("<!doctype html><title>Arkgraph</title>") } },
  },
  {
    method: "get", path: "/page/{page_name}", operationId: "page", tag: "service", summary: "Page by name",
    description: "Pages: about, help, api, provenance.",
    parameters: [{ name: "page_name", in: "path", required: true, description: "Name of the page.", schema: { type: "string" }, example: "about" }],
    answer: { description: "An HTML page.", content: { "text/html": html("<!doctype html><title>About this registry</title>") } },
    also: { "404": { description: "No page has this name; an HTML page that lists those there are.", content: { "text/html": { schema: { type: "string" }, example: "<!doctype html><title>No such page</title>" } } } },
  },
  {
    method: "get", path: "/healthz", operationId: "health", tag: "service", summary: "Health of the service and its parts",
    answer: { description: "All parts work.", content: json(schemaRef("Health"), { status: "healthy", checks: { records: "ok", index: "ok", objects: "ok", jobs: "ok" } }) },
    also: {
      "503": {
        description: "A part does not work.",
        content: { "application/json": { schema: schemaRef("Health"), example: { status: "unhealthy", checks: { records: "ok", index: "ok", objects: "failed", jobs: "ok" } } } },
      },
    },
  },
  {
    method: "get", path: "/docs", operationId: "docs_page", tag: "service", summary: "Interactive explorer of this description",
    answer: { description: "An HTML page.", content: { "text/html": html("<!doctype html><title>Arkgraph: API</title>") } },
  },
  {
    method: "get", path: "/openapi.json", operationId: "openapi_json", tag: "service", summary: "This description as JSON",
    answer: { description: "An OpenAPI 3.1 document.", content: json({ type: "object", required: ["openapi", "info", "paths"], properties: { openapi: { type: "string" }, info: { type: "object" }, paths: { type: "object" } } }, DESCRIPTION_EXAMPLE) },
  },
  {
    method: "get", path: "/openapi.yaml", operationId: "openapi_yaml", tag: "service", summary: "This description as YAML",
    answer: {
      description: "An OpenAPI 3.1 document.",
      content: { "application/yaml": { schema: {}, example: "openapi: 3.1.0\ninfo:\n  title: Arkgraph\n  version: 0.1.0\npaths: {}\n" } },
    },
  },
];
