import { ValidationError } from "../errors.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { CratePlanResolver } from "../graphql/resolvers/crate-resolver.js";
import { bodyStream, hasBody, mediaType, takeFile } from "../http/body.js";
import { sendJson } from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import { pointerSegments } from "../model/json/read.js";
import { KINDS } from "../model/kinds.js";
import {
  BODY_REFUSALS,
  type ContractRow,
  json,
  type MediaTypeObject,
  query,
  schemaRef,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import { recordExample } from "./contract/schemas.js";
import {
  answerCrate,
  EMPTY_LINKED,
  FIELDS,
  FINISHED,
  NAMED_CRATE,
  uploadOptions,
} from "./crates.js";
import { type Handlers, presence } from "./request.js";

const ROOT = recordExample(KINDS.rocrate);
/** The metadata document of a small crate. */
const DOCUMENT: JsonObject = {
  "@context": "https://w3id.org/ro/crate/1.1/context",
  "@graph": [
    {
      "@id": "ro-crate-metadata.json",
      "@type": "CreativeWork",
      about: { "@id": "./" },
      conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
    },
    {
      "@id": "./",
      "@type": "Dataset",
      name: "Cell counts",
      description: "Counts of cells by plate.",
      license: { "@id": "https://spdx.org/licenses/CC-BY-4.0" },
      datePublished: "2024-05-03",
      hasPart: [{ "@id": "https://example.org/counts.csv" }],
    },
    {
      "@id": "https://example.org/counts.csv",
      "@type": "File",
      name: "Counts",
      encodingFormat: "text/csv",
    },
  ],
};
const PLAN: JsonObject = {
  conforms: true,
  rocrateIdentifier: "ark:99999/rocrate-cell-counts-8xq2n5s0b7",
  records: [
    { kind: "ROCrate", count: 1 },
    { kind: "DataDownload", count: 1 },
  ],
  counts: { minted: 2, kept: 0, known: 0, conflicting: 0 },
  minted: [
    { entity: "./", identifier: "ark:99999/rocrate-cell-counts-8xq2n5s0b7", kind: "ROCrate" },
    {
      entity: "https://example.org/counts.csv",
      identifier: "ark:99999/rocrate-cell-counts-8xq2n5s0b7/entity/example-org-counts-csv-1f0c4a7d",
      kind: "DataDownload",
    },
  ],
  kept: [],
  known: [],
  conflicting: [],
  warned: [
    {
      file: "ro-crate-metadata.json",
      pointer: "/@graph/2",
      line: null,
      column: null,
      severity: "RECOMMENDED",
      code: "ROOT_INCOMPLETE",
      message: "The crate has no datePublished.",
      fix: "Add name, description, datePublished and license to the root.",
    },
  ],
  refused: [],
  changes: null,
};
const documents = (exampleName: string): Record<string, MediaTypeObject> =>
  Object.fromEntries(
    ["application/ld+json", "application/json"].map((type) => [
      type,
      { schema: schemaRef("CrateMetadata"), example: DOCUMENT, exampleName },
    ]),
  );

export const CRATE_PLANS: readonly ContractRow[] = [
  {
    method: "post",
    path: "/rocrate/validate",
    operationId: "validate_crate",
    tag: "crates",
    summary: "Do a dry run of an upload",
    description: [
      "Runs the checks of an upload on an archive or on a metadata document alone, and " +
        "stores nothing: no submission, no file, no record. A document may have " +
        "MAX_METADATA_BYTES.",
      "Findings are in the answer, whose status is 200; every code is in docs/crates.md. " +
        "It needs a token because conflicts depend on who uploads, and because the bytes " +
        "are on disk during the validation.",
    ].join(" "),
    parameters: [
      query(
        "update",
        "Does a dry run of an update: an upload with `update=true`. `changes` then " +
          "reports what would happen to each record.",
        { type: "boolean", default: false },
      ),
      NAMED_CRATE,
      EMPTY_LINKED,
    ],
    body: {
      "multipart/form-data": {
        schema: schemaRef("Upload"),
        example: { file: "(the bytes of crate.zip)" },
      },
      ...documents("CrateMetadata"),
    },
    bodyLimit: "MAX_METADATA_BYTES",
    answer: { description: "The plan.", content: json(schemaRef("CratePlan"), PLAN) },
    token: "required",
    refusals: [
      "NOT_AUTHENTICATED",
      "INVALID_TOKEN",
      "BAD_REQUEST",
      "FORBIDDEN",
      "NOT_FOUND",
      "AMBIGUOUS",
      ...BODY_REFUSALS,
      "SHUTTING_DOWN",
    ],
  },
  {
    method: "post",
    path: "/rocrate/metadata",
    operationId: "create_crate_metadata",
    tag: "crates",
    summary: "Create a crate without files",
    description:
      "Accepts the metadata document alone, as an upload accepts an archive, and waits " +
      "for the result. The files that it describes are not required. It may have " +
      "MAX_METADATA_BYTES. What is wrong with the document is a 422 with items at `body` " +
      "and the place in it; after UPLOAD_WAIT the running submission is returned.",
    parameters: [
      query("update", "Updates a crate of yours, as an upload does; its files are preserved.", {
        type: "boolean",
        default: false,
      }),
      NAMED_CRATE,
      EMPTY_LINKED,
    ],
    body: documents("CrateMetadata"),
    bodyLimit: "MAX_METADATA_BYTES",
    answer: {
      description: "The crate.",
      content: json(schemaRef("UploadedCrate"), { ...ROOT, submission: FINISHED }),
    },
    token: "required",
    refusals: [
      ...WRITE_REFUSALS,
      ...BODY_REFUSALS,
      "NOT_FOUND",
      "AMBIGUOUS",
      "BUSY",
      "SHUTTING_DOWN",
      "CRATE_EXISTS",
      "CHANGED_MEANWHILE",
    ],
  },
];

const plans = new CratePlanResolver();

const noBody = () =>
  new ValidationError([{ loc: ["body"], msg: "Field required", type: "missing" }]);

export const cratePlanOperations: Handlers = {
  validate_crate: async (request) => {
    const { req, res } = request;
    const context = signedIn(request.context);
    if (!hasBody(req)) throw noBody();
    const signal = presence(request);
    const options = uploadOptions(request.query);
    const plan =
      mediaType(req) === "multipart/form-data"
        ? await takeFile(req, FIELDS, (file) => plans.plan(file, options, context, signal))
        : await plans.plan(
            { stream: bodyStream(req), name: "", mediaType: mediaType(req) },
            options,
            context,
            signal,
          );
    sendJson(req, res, plan, { headers: { "Cache-Control": "no-store" } });
  },
  create_crate_metadata: async (request) => {
    const { req } = request;
    const context = signedIn(request.context);
    if (!hasBody(req)) throw noBody();
    const submitted = await plans.submitMetadata(
      bodyStream(req),
      uploadOptions(request.query),
      context,
    );
    await answerCrate(request, submitted, ({ pointer }) => [
      "body",
      ...pointerSegments(pointer ?? ""),
    ]);
  },
};
