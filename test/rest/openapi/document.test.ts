import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { BOUNDS } from "../../../src/config/bounds.js";
import { SETTINGS } from "../../../src/config/config.js";
import { KIND_NAMES, PUBLICATION_STATUSES } from "../../../src/model/kind.js";
import { openApiDocument } from "../../../src/rest/document.js";
import { ORDERS, STATISTICS_KEYS } from "../../../src/services/records/select.js";
import { CATEGORIES } from "../../../src/services/scoring/criteria.js";
import { OPERATIONS } from "../../support/contract.js";

interface Node {
  readonly [key: string]: Node;
}
const document = openApiDocument() as unknown as Node;
const METHODS = ["get", "post", "put", "patch", "delete"];
const operations = Object.entries(document["paths"]!).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => METHODS.includes(method))
    .map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation: operation,
    })),
);

/** What a `$ref` of this document names. */
function resolve(ref: string): Node | undefined {
  return ref
    .replace(/^#\//, "")
    .split("/")
    .reduce<Node | undefined>(
      (node, key) => node?.[key.replaceAll("~1", "/").replaceAll("~0", "~")],
      document,
    );
}
const followed = (node: Node): Node =>
  typeof node["$ref"] === "string" ? resolve(node["$ref"])! : node;

function* walk(node: unknown): Generator<Record<string, unknown>> {
  if (typeof node !== "object" || node === null) return;
  if (!Array.isArray(node)) yield node as Record<string, unknown>;
  for (const child of Object.values(node)) yield* walk(child);
}

const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  allErrors: true,
});
(addFormats as unknown as { default: (target: Ajv2020) => void }).default(ajv);
ajv.addKeyword("components");
const compiled = new Map<Node, ReturnType<typeof ajv.compile>>();
/** Operations share the answers of refusals, and so their schemas. */
function accepts(schema: Node) {
  let check = compiled.get(schema);
  if (!check)
    compiled.set(schema, (check = ajv.compile({ ...schema, components: document["components"] })));
  return check;
}

/** Media types with their schema and examples, of a request body or an answer. */
const contents = (holder: Node | undefined) =>
  Object.entries(holder?.["content"] ?? {}).map(([mediaType, content]) => ({
    mediaType,
    schema: content["schema"]!,
    examples: content["examples"]
      ? Object.values(content["examples"]).map((example) => followed(example)["value"] as unknown)
      : "example" in content
        ? [content["example"] as unknown]
        : [],
  }));

const KIND = [
  "user",
  "group",
  "software",
  "dataset",
  "computation",
  "evidencegraph",
  "project",
  "organization",
  "schema",
];
const EXPECTED = [
  "root_page",
  "health",
  "readiness",
  "docs_page",
  "page",
  "openapi_json",
  "openapi_yaml",
  "api_catalog",
  "catalog",
  "oai_get",
  "oai_post",
  "feed",
  "sitemap",
  "void_description",
  "token",
  "login",
  "refresh_token",
  "begin_device_login",
  "device_token",
  "revoke_refresh_token",
  ...KIND.flatMap((kind) =>
    ["list", "create", "update", "patch", "get", "delete"].map((verb) => `${verb}_${kind}`),
  ),
  "get_project_of_organization",
  "me",
  "start_session",
  "read_session",
  "end_session",
  "request_access",
  "list_access_requests",
  "decide_access_request",
  "list_access_tokens",
  "create_access_token",
  "revoke_access_token",
  "change_password",
  "reset_password",
  "admin_accounts",
  "admin_set_account",
  "admin_password_reset",
  "admin_figures",
  "admin_audit",
  "publish_records",
  "transfer_records",
  "delete_records",
  "restore_revision",
  "list_datadownload",
  "list_mlmodel",
  "list_sample",
  "list_instrument",
  "list_experiment",
  "list_annotation",
  "list_entity",
  "list_crate_files",
  "list_records",
  "list_record_statistics",
  "score_history",
  "list_rocrate",
  "get_rocrate",
  "delete_rocrate",
  "upload_crate_async",
  "upload_crate",
  "upload_status",
  "list_submissions",
  "cancel_upload",
  "retry_upload",
  "summarize_crate",
  "validate_crate",
  "create_crate_metadata",
  "download_archive",
  "download_crate",
  "get_datadownload",
  "download_datadownload",
  "download_dataset",
  "download_software",
  "download_content",
  "view_content",
  "view_crate_page",
  "resolve_ark",
  "update_ark",
  "patch_ark",
  "delete_ark",
  "reserve_doi",
  "list_review_links",
  "create_review_link",
  "revoke_review_link",
  "query_evidence",
  "sparql_get",
  "sparql_post",
  "validate",
  "ontology",
  "evidence_impact",
  "evidence_path",
  "build_evidence",
  "evidence_build_status",
  "search_basic",
  "search_semantic",
  "validate_table",
  "ai_ready_score",
  "rescore",
  "rescore_status",
  "create_download",
  "register_download",
  "upload_datadownload",
  "update_datadownload",
  "patch_datadownload",
  "delete_datadownload",
  "add_group_user",
  "remove_group_user",
  "execute_computation",
  "execution_status",
  "publish",
  "publication_status",
  "resolve_history",
  ...[...KIND, "rocrate", "datadownload"].map((kind) => `history_${kind}`),
];

describe("the OpenAPI document", () => {
  it("describes exactly the existing operations, each under a unique name", () => {
    expect(operations.map(({ operation }) => operation["operationId"]).toSorted()).toEqual(
      EXPECTED.toSorted(),
    );
    expect(OPERATIONS).toHaveLength(EXPECTED.length);
  });

  it("has no version in any path", () => {
    const paths = Object.keys(document["paths"] as object);
    expect(paths.filter((path) => /\/v\d/.test(path))).toEqual([]);
  });

  it("is version 0.1.0 of the interface, in OpenAPI 3.1, with the contract's security scheme", () => {
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: { version: "0.1.0" },
      components: {
        securitySchemes: {
          OAuth2PasswordBearer: {
            type: "oauth2",
            flows: { password: { tokenUrl: "token", scopes: {} } },
          },
        },
      },
    });
  });

  it("has no control character, which readers of YAML refuse", () => {
    const texts = [...walk(document)].flatMap((node) =>
      Object.values(node).filter((value) => typeof value === "string"),
    );
    expect(texts.length).toBeGreaterThan(1000);
    expect(texts.filter((text) => /[^\P{Cc}\n\r\t]/u.test(text))).toEqual([]);
  });

  it("has no broken reference", () => {
    const references = [...walk(document)].flatMap(({ $ref }) =>
      typeof $ref === "string" ? [$ref] : [],
    );
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((reference) => resolve(reference) === undefined)).toEqual([]);
  });

  it("has no unused component", () => {
    const used = new Set([...walk(document)].map((node) => node["$ref"]));
    // The table of errors and the kinds are published whole; no operation can answer 405 of itself.
    const publishedAnyway = new Set(["MethodNotAllowed"]);
    for (const [group, members] of Object.entries(document["components"]!)) {
      if (group === "securitySchemes") continue;
      for (const name of Object.keys(members))
        if (!publishedAnyway.has(name))
          expect(used, `${group}/${name}`).toContain(`#/components/${group}/${name}`);
    }
  });

  it("has schemas that compile", () => {
    const schemas = Object.entries(document["components"]!["schemas"]!);
    expect(schemas.length).toBeGreaterThan(50);
    for (const [name, schema] of schemas) expect(() => accepts(schema), name).not.toThrow();
  });
});

describe("what the files of openapi/ write by hand of what the code knows", () => {
  const text = JSON.stringify(document);
  /** Values of each `enum`, and words of each sentence, that begin with these. */
  const listsOf = (names: readonly string[]): string[] => {
    const beginning = names.slice(0, 2);
    const sentences = text.match(new RegExp(`${beginning.join(", ")}[\\w, -]*`, "g")) ?? [];
    const enums = [...walk(document)]
      .map((node) => node["enum"])
      .filter((values) => Array.isArray(values) && values.slice(0, 2).join() === beginning.join())
      .map((values) => (values as string[]).join(", "));
    return [...sentences, ...enums];
  };

  it.each<[string, readonly string[], number]>([
    ["kind", KIND_NAMES, 3],
    ["publication status", PUBLICATION_STATUSES, 2],
    ["key of statistics", STATISTICS_KEYS, 3],
  ])("names each %s", (_what, names, least) => {
    const lists = listsOf(names);
    expect(lists.length).toBeGreaterThanOrEqual(least);
    for (const list of lists) expect(list).toContain(names.join(", "));
  });

  it("has the criteria of the score, the orders of lists and the defaults of settings", () => {
    const { properties } = resolve("#/components/schemas/AiReadyScore") as unknown as {
      properties: Record<string, { required?: string[] }>;
    };
    for (const [category, criteria] of Object.entries(CATEGORIES))
      expect(properties[category]!.required).toEqual(
        expect.arrayContaining(Object.keys(criteria as object)),
      );
    const parameter = (id: string, name: string) =>
      operations
        .filter(({ operation }) => String(operation["operationId"]) === id)
        .flatMap(({ operation }) => Object.values(operation["parameters"] ?? []).map(followed))
        .find((each) => String(each["name"]) === name)!["schema"];
    expect(parameter("list_records", "order")).toMatchObject({ enum: ORDERS });
    const limit = SETTINGS.EVIDENCE_LIMIT.default;
    expect(parameter("query_evidence", "limit")).toMatchObject({ default: limit });
    expect(text).toContain(
      `At most ${BOUNDS.VALIDATE_MAX_RESULTS.value} results (VALIDATE_MAX_RESULTS)`,
    );
  });
});

describe.each(operations)("$name", ({ path, operation }) => {
  const parameters = Object.values(operation["parameters"] ?? []).map(followed);

  it("declares exactly the parts of its path", () => {
    const declared = parameters.filter((parameter) => (parameter["in"] as unknown) === "path");
    expect(declared.map((parameter) => parameter["name"] as unknown)).toEqual(
      [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]),
    );
    for (const parameter of declared)
      expect(parameter).toMatchObject({ required: true, example: expect.anything() as unknown });
  });

  it("has a summary and answers 200 and 422", () => {
    expect(operation["summary"]).toBeTruthy();
    expect(operation["responses"]).toMatchObject({
      "200": { description: expect.any(String) as unknown },
      "422": { $ref: "#/components/responses/ValidationFailed" },
    });
  });

  it("has examples that its schemas accept", () => {
    for (const [status, response] of Object.entries(operation["responses"]!)) {
      for (const { mediaType, schema, examples } of contents(followed(response))) {
        if (mediaType !== "application/zip")
          expect(examples, `${status} ${mediaType}`).not.toEqual([]);
        const check = accepts(schema);
        for (const example of examples)
          expect(check(example), `${status} ${mediaType} ${JSON.stringify(check.errors)}`).toBe(
            true,
          );
      }
    }
    for (const { mediaType, schema, examples } of contents(operation["requestBody"])) {
      expect(examples, mediaType).toHaveLength(1);
      const check = accepts(schema);
      for (const example of examples)
        expect(check(example), `${mediaType} ${JSON.stringify(check.errors)}`).toBe(true);
    }
    for (const parameter of parameters)
      if ("example" in parameter)
        expect(accepts(parameter["schema"]!)(parameter["example"])).toBe(true);
  });
});

const operationOf = (id: string) =>
  operations.find(({ operation }) => (operation["operationId"] as unknown) === id)!.operation;

describe("operations that need a token", () => {
  const TOKEN = [{ OAuth2PasswordBearer: [] }];

  it.each([
    "list_user",
    "update_user",
    "delete_user",
    "create_dataset",
    "update_group",
    "delete_ark",
    "upload_crate_async",
    "upload_status",
  ])("%s refuses without one", (id) => {
    expect(operationOf(id)["security"]).toEqual(TOKEN);
    expect(operationOf(id)["responses"]).toHaveProperty("401");
  });

  it.each([
    "create_user",
    "list_dataset",
    "list_project",
    "query_evidence",
    "sparql_get",
    "sparql_post",
    "token",
    "health",
  ])("%s is open", (id) => {
    expect(operationOf(id)["security"]).toEqual([]);
  });

  it("declares the Authorization header where the contract does", () => {
    const declaring = operations.filter(({ operation }) =>
      Object.values(operation["parameters"] ?? []).some(
        (parameter) => (followed(parameter)["name"] as unknown) === "Authorization",
      ),
    );
    const verbs = ["list", "create", "update", "patch", "get", "delete"];
    expect(declaring.map(({ operation }) => operation["operationId"]).toSorted()).toEqual(
      [
        ...verbs.map((verb) => `${verb}_project`),
        "get_project_of_organization",
        ...verbs.slice(1).map((verb) => `${verb}_organization`),
      ].toSorted(),
    );
  });
});
