import { KINDS } from "../../model/kinds/index.js";
import { NOT_MODIFIED, json, schemaRef, type Operation } from "./operation.js";
import { BACKLINKS, FORMAT, IF_MATCH, IF_NONE_MATCH, arkPath, query } from "./parameters.js";
import { representationsOf } from "./records.js";
import { recordExample } from "./schemas.js";

const EXAMPLE = recordExample(KINDS.dataset);
const ARK = EXAMPLE["@id"] as string;
/** A record of any kind. */
const ANY = schemaRef("EntityRecord");

export const IDENTIFIERS: readonly Operation[] = [
  {
    method: "get", path: "/ark:{NAAN}/{postfix}", operationId: "resolve_ark", tag: "identifiers", summary: "Resolve an identifier of any kind",
    description: "Every spelling answers: with or without `/` after the label, with other hyphens, with a resolver's address before it (percent-encoded).",
    parameters: [
      ...arkPath(ARK), IF_NONE_MATCH, FORMAT, BACKLINKS,
      { ...query("info", "Present, with or without a value: the kernel metadata (ERC) instead of the record. A bare `?` or `??` at the end means the same.", { type: "string" }), allowEmptyValue: true },
    ],
    answer: {
      description: "The record in the form that `Accept` asks for; JSON-LD when it does not say.", headers: ["ETag", "Link", "X-Publication-Status", "Content-Location"],
      content: {
        ...representationsOf(ANY, EXAMPLE, KINDS.dataset),
        "text/plain": { schema: { type: "string" }, example: `erc:\nwho: Ada Example\nwhat: ${EXAMPLE["name"] as string}\nwhen: 2024-05-01\nwhere: ${ARK}\n` },
      },
    },
    also: {
      ...NOT_MODIFIED,
      "302": { description: "An identifier of another authority that is not stored here: to the global resolver.", headers: { Location: { description: "Address at the global resolver.", schema: { type: "string" } } } },
    },
    token: "optional",
    refusals: ["NOT_FOUND", "AMBIGUOUS", "GONE", "NOT_ACCEPTABLE"],
  },
  {
    method: "delete", path: "/ark:{NAAN}/{postfix}", operationId: "delete_ark", tag: "identifiers", summary: "Delete a record of any kind",
    description: "The same as the delete operation of the record's kind.",
    parameters: [...arkPath(ARK), IF_MATCH],
    answer: { description: "The deleted record.", content: json(ANY, EXAMPLE, "DatasetRecord") },
    token: "required",
    refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN", "FORBIDDEN", "NOT_FOUND", "AMBIGUOUS", "GONE", "REVISION_MISMATCH", "TOO_MANY_REQUESTS"],
  },
];
