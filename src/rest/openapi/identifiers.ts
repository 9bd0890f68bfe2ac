import { EXAMPLES } from "../../model/examples.js";
import { KINDS } from "../../model/kinds/index.js";
import { BYTES, ELSEWHERE, PARTIAL } from "./files.js";
import { BODY_REFUSALS, FIND_REFUSALS, NOT_MODIFIED, WRITE_REFUSALS, json, schemaRef, type Operation } from "./operation.js";
import { BACKLINKS, FORMAT, IF_MATCH, IF_NONE_MATCH, REVISION, TOMBSTONE, arkPath, query } from "./parameters.js";
import { representationsOf } from "./records.js";
import { recordExample } from "./schemas.js";

const EXAMPLE = recordExample(KINDS.dataset);
const ARK = EXAMPLE["@id"] as string;
/** A record of any kind. */
const ANY = schemaRef("EntityRecord");

export const IDENTIFIERS: readonly Operation[] = [
  {
    method: "get", path: "/ark:{NAAN}/{postfix}", operationId: "resolve_ark", tag: "identifiers", summary: "Resolve an identifier of any kind",
    description: "Every spelling answers: with or without `/` after the label, with other hyphens, with a resolver's address before it (percent-encoded). A crate's identifier followed by the path of a file that no entity describes answers the file. Where nothing is stored, or a tombstone, browsers (`Accept: text/html`) get the same refusal as a page.",
    parameters: [
      ...arkPath(ARK), IF_NONE_MATCH, FORMAT, REVISION, BACKLINKS,
      { ...query("info", "Present, with or without a value: the kernel metadata (ERC) instead of the record. A bare `?` or `??` at the end means the same.", { type: "string" }), allowEmptyValue: true },
    ],
    answer: {
      description: "The record in the form that `Accept` asks for; JSON-LD when it does not say.", headers: ["ETag", "Link", "X-Publication-Status", "Content-Location"],
      content: {
        ...representationsOf(ANY, EXAMPLE, KINDS.dataset),
        // A file of a crate that no entity describes has no record; its bytes are the answer.
        ...BYTES,
        "text/plain": { schema: { type: "string" }, example: `erc:\nwho: Ada Example\nwhat: ${EXAMPLE["name"] as string}\nwhen: 2024-05-01\nwhere: ${ARK}\n` },
      },
    },
    also: {
      ...NOT_MODIFIED,
      ...PARTIAL(BYTES),
      ...ELSEWHERE,
      "302": { description: "An identifier of another authority that is not stored here: to the global resolver.", headers: { Location: { description: "Address at the global resolver.", schema: { type: "string" } } } },
    },
    token: "optional",
    refusals: [...FIND_REFUSALS, "NOT_ACCEPTABLE", "NOT_AUTHENTICATED", "INVALID_TOKEN", "FORBIDDEN", "RANGE_NOT_SATISFIABLE"],
  },
  {
    method: "put", path: "/ark:{NAAN}/{postfix}", operationId: "update_ark", tag: "identifiers", summary: "Replace a record of any kind",
    description: "Takes the body of the record's own kind, as the update operation of that kind does. `@id` may be left out; another one than the path's is refused.",
    parameters: [...arkPath(ARK), IF_MATCH],
    body: { "application/json": { schema: ANY, example: EXAMPLES.dataset, exampleName: "Dataset" }, "application/ld+json": { schema: ANY, example: EXAMPLES.dataset, exampleName: "Dataset" } },
    answer: { description: "The updated record.", content: json(ANY, EXAMPLE, "DatasetRecord"), headers: ["ETag", "X-Publication-Status"] },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...BODY_REFUSALS, ...FIND_REFUSALS, "EMAIL_TAKEN", "REVISION_MISMATCH"],
  },
  {
    method: "delete", path: "/ark:{NAAN}/{postfix}", operationId: "delete_ark", tag: "identifiers", summary: "Delete a record of any kind",
    description: "The same as the delete operation of the record's kind: of a file record the stored content is deleted, and its metadata kept.",
    parameters: [...arkPath(ARK), IF_MATCH, ...TOMBSTONE],
    answer: { description: "The deleted record.", content: json(ANY, EXAMPLE, "DatasetRecord") },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
];
