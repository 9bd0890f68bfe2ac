import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXAMPLES } from "../../../src/model/examples.js";
import type { JsonObject } from "../../../src/model/field.js";
import { KINDS } from "../../../src/model/kinds.js";
import { OPERATIONS } from "../../support/contract.js";
import type { ContractOperation } from "../../support/contract.js";
import { fullType } from "../../../src/services/formats/format.js";
import { FORMATS, formatsOf } from "../../../src/services/formats/table.js";
import { bodyOf } from "../../support/bodies.js";
import { followed, misfit } from "../../support/contract.js";
import { storeContent } from "../../support/content.js";
import { RO_CRATE, zip } from "../../support/crates.js";
import { PASSWORD, startServer, type TestServer } from "../../support/server.js";

const KIND = [
  "organization",
  "project",
  "group",
  "software",
  "dataset",
  "computation",
  "evidencegraph",
  "schema",
];
const of = (verb: string) => KIND.map((kind) => `${verb}_${kind}`);
/** Operations in an order in which each finds what the ones before it made. */
const STORY = [
  "root_page",
  "page",
  "health",
  "readiness",
  "docs_page",
  "openapi_json",
  "openapi_yaml",
  "feed",
  "sitemap",
  "catalog",
  "void_description",
  "api_catalog",
  "oai_get",
  "oai_post",
  "create_user",
  "token",
  "login",
  ...of("create"),
  "create_download",
  "register_download",
  "upload_datadownload",
  "upload_crate_async",
  "upload_crate",
  "upload_status",
  "list_submissions",
  "cancel_upload",
  "retry_upload",
  "validate_crate",
  "create_crate_metadata",
  "list_user",
  ...of("list"),
  "list_rocrate",
  "get_user",
  ...of("get"),
  "get_rocrate",
  "summarize_crate",
  "get_datadownload",
  "get_project_of_organization",
  "resolve_ark",
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
  "score_history",
  "list_crate_files",
  "view_crate_page",
  "list_records",
  "list_record_statistics",
  "list_datadownload",
  "list_mlmodel",
  "list_sample",
  "list_instrument",
  "list_experiment",
  "list_annotation",
  "list_entity",
  "me",
  "refresh_token",
  "begin_device_login",
  "device_token",
  "revoke_refresh_token",
  "start_session",
  "read_session",
  "end_session",
  "list_access_tokens",
  "create_access_token",
  "revoke_access_token",
  "admin_accounts",
  "admin_set_account",
  "admin_password_reset",
  "admin_figures",
  "admin_audit",
  "reset_password",
  "rescore",
  "rescore_status",
  "download_archive",
  "download_crate",
  "download_datadownload",
  "download_dataset",
  "download_software",
  "download_content",
  "view_content",
  "request_access",
  "list_access_requests",
  "decide_access_request",
  "add_group_user",
  "remove_group_user",
  "execute_computation",
  "execution_status",
  "publish",
  "publication_status",
  "publish_records",
  "transfer_records",
  "delete_records",
  "restore_revision",
  "update_user",
  ...of("update"),
  "update_ark",
  "update_datadownload",
  "patch_user",
  ...of("patch"),
  "patch_ark",
  "patch_datadownload",
  "resolve_history",
  "history_user",
  ...KIND.map((kind) => `history_${kind}`),
  "history_rocrate",
  "history_datadownload",
  "delete_datadownload",
  "delete_ark",
  ...of("delete"),
  "delete_rocrate",
  // Tokens from before end with it.
  "change_password",
  "delete_user",
];
/** What an operation answers here although its example is right. */
const STATUS: Readonly<Record<string, number>> = {
  // The example is no token of this registry.
  refresh_token: 401,
  device_token: 401,
  execute_computation: 503,
  reserve_doi: 503,
  // The story's user may read everything, and nobody has asked.
  request_access: 409,
  decide_access_request: 404,
  cancel_upload: 409,
  retry_upload: 409,
  // The story's user is no administrator, and so has no token for a reset.
  admin_accounts: 403,
  admin_set_account: 403,
  admin_password_reset: 403,
  admin_figures: 403,
  admin_audit: 403,
  reset_password: 401,
};
/** Answers that another parameter asks for, with Accept or without. */
const ROWS = "?query=SELECT%20*%20%7B%7D";
const BY_QUERY: Readonly<Record<string, string>> = {
  "text/plain": "?info",
  "application/linkset+json": "?format=linkset",
  "application/sparql-results+json": ROWS,
  "application/sparql-results+xml": ROWS,
  "text/csv": ROWS,
  "text/tab-separated-values": ROWS,
  "application/rdf+xml": "?query=CONSTRUCT%20%7B%7D%20%7B%7D",
};
/** Formats that the dataset of the resolver's example does not have. */
const OF_OTHER_KINDS = new Set(
  FORMATS.filter((format) => !formatsOf("dataset").includes(format)).map(fullType),
);
/** Headers that say something of some answers only. */
const AT_TIMES = new Set(["Link", "X-Total-Count", "Content-Location", "X-Truncated", "X-As-Of"]);

/** Headers that browsers add. */
const MORE_HEADERS: Readonly<Record<string, () => Record<string, string>>> = {
  start_session: () => ({ Origin: server.url }),
};

let server: TestServer;
let token: string | undefined;
/** Examples that only a running registry can tell. */
const logged: Record<string, string> = {};
let archive: Buffer;
beforeAll(async () => {
  server = await startServer();
  const { "@id": root, ...crate } = EXAMPLES.rocrate;
  archive = await zip({
    "ro-crate-metadata.json": {
      "@context": RO_CRATE,
      "@graph": [
        {
          "@id": "ro-crate-metadata.json",
          "@type": "CreativeWork",
          about: { "@id": root! },
          conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
        },
        {
          "@id": root!,
          "@type": crate["@type"]!,
          name: crate["name"]!,
          description: crate["description"]!,
          author: "Ada Example",
          license: "https://creativecommons.org/licenses/by/4.0/",
          hasPart: [{ "@id": "ark:99999/dataset-cells" }],
        },
        {
          "@id": "ark:99999/dataset-cells",
          "@type": "Dataset",
          name: "Cell counts",
          description: "One row per image.",
          contentUrl: "file:///cells.csv",
        },
      ],
    },
    "cells.csv": "image,cells\n",
    "ro-crate-preview.html": "<h1>Cells</h1>",
  });
});
afterAll(() => server.stop());

/** The path of an operation with the examples of its parameters. */
function pathOf({ operationId, path, parameters }: ContractOperation): string {
  const queries: string[] = [];
  let filled = path;
  for (const { name, in: place, example, required } of parameters.map(followed)) {
    const value = logged[`${operationId} ${String(name)}`] ?? example;
    if (place === "path") filled = filled.replace(`{${String(name)}}`, String(value));
    else if (place === "query" && required === true)
      queries.push(`${String(name)}=${encodeURIComponent(String(value))}`);
  }
  return filled + (queries.length > 0 ? `?${queries.join("&")}` : "");
}

/** The example of a request body, as a client sends it. */
function bodyOfExample(
  { operationId, body = {} }: ContractOperation,
  type: string,
): { headers?: Record<string, string>; body?: RequestInit["body"] } {
  const example = body[type]!.example as JsonObject;
  if (type === "application/x-www-form-urlencoded")
    return { body: new URLSearchParams(example as Record<string, string>) };
  if (type !== "multipart/form-data")
    return { headers: { "Content-Type": type }, body: JSON.stringify(example) };
  const form = new FormData();
  for (const [name, value] of Object.entries(example)) {
    if (typeof value !== "string")
      form.set(name, new Blob([JSON.stringify(value)], { type: "application/json" }));
    else
      form.set(
        name,
        new Blob([
          operationId.startsWith("upload_crate") || operationId === "validate_crate"
            ? new Uint8Array(archive)
            : value,
        ]),
        name,
      );
  }
  return { body: form };
}

it("the examples contain every operation once", () => {
  expect(STORY.toSorted()).toEqual(OPERATIONS.map(({ operationId }) => operationId).toSorted());
});

describe("the examples, sent to a registry,", () => {
  it.each(STORY)("are answered as they are documented: %s", async (id) => {
    const operation = OPERATIONS.find(({ operationId }) => operationId === id)!;
    if (id === "delete_ark")
      logged["delete_ark postfix"] = (
        await server.request<{ "@id": string }>("POST", "/dataset", {
          token: token!,
          json: bodyOf("dataset", EXAMPLES.user["@id"] as string),
        })
      ).body["@id"].slice("ark:99999/".length);
    const send = (
      path: string,
      headers: Record<string, string> = {},
      body: ReturnType<typeof bodyOfExample> = {},
    ) =>
      server.request(operation.method.toUpperCase(), path, {
        ...(token === undefined ? {} : { token }),
        ...body,
        headers: { ...headers, ...body.headers, ...MORE_HEADERS[id]?.() },
      });
    const expected = STATUS[id] ?? 200;
    const path = pathOf(operation);
    // What creates can be sent once.
    const types =
      operation.method === "post" && id !== "login"
        ? Object.keys(operation.body ?? {}).slice(0, 1)
        : Object.keys(operation.body ?? {});
    const answers = types.length > 0 ? [] : [await send(path)];
    for (const type of types) answers.push(await send(path, {}, bodyOfExample(operation, type)));
    if (operation.method === "get") {
      for (const type of Object.keys(operation.answer.content))
        if (!type.includes("*") && !(id === "resolve_ark" && OF_OTHER_KINDS.has(type)))
          answers.push(await send(path + (BY_QUERY[type] ?? ""), { Accept: type }));
    }
    for (const answer of answers) {
      expect(answer.status, answer.text).toBe(expected);
      expect(misfit(operation, answer)).toBeUndefined();
      for (const header of operation.answer.headers ?? [])
        if (expected === 200 && !AT_TIMES.has(header))
          expect(answer.headers.get(header), header).not.toBeNull();
    }
    await remember(id, answers.at(-1)!.body);
  });
});

/** What later examples need of an answer, or of the world around it. */
async function remember(id: string, body: JsonObject): Promise<void> {
  if (id === "create_access_token")
    logged["revoke_access_token token_id"] = (body["token"] as { id: string }).id;
  if (id === "create_review_link")
    logged["revoke_review_link link"] = (body["link"] as { id: string }).id;
  if (id === "token" || id === "change_password") token = body["access_token"] as string;
  if (id === "create_user")
    await server.request("POST", "/user", {
      json: {
        "@id": "ark:99999/user-grace",
        name: "Grace Example",
        email: "grace@example.org",
        password: PASSWORD,
      },
    });
  if (id === "build_evidence")
    logged["evidence_build_status submissionUUID"] = body["submissionUUID"] as string;
  if (id === "rescore") logged["rescore_status submissionUUID"] = body["submissionUUID"] as string;
  if (id === "upload_crate_async")
    logged["upload_status submissionUUID"] =
      logged["execution_status submissionUUID"] =
      logged["cancel_upload submissionUUID"] =
      logged["retry_upload submissionUUID"] =
        body["submissionUUID"] as string;
  if (id === "create_software") {
    const [record] = await server.deps.records.findMany([EXAMPLES.software["@id"] as string]);
    await storeContent(server.deps, record!, "print('segment')");
  }
}

it("no example ended in a fault", () => expect(server.faults).toEqual([]));
it("every kind with a path has operations in the contract", () => {
  for (const { path } of Object.values(KINDS))
    if (path !== null)
      expect(
        OPERATIONS.some(
          (operation) => operation.path === `/${path}` || operation.path.startsWith(`/${path}/`),
        ),
        path,
      ).toBe(true);
});
