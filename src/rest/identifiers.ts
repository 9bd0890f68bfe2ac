import { readFile } from "node:fs/promises";
import { join } from "node:path";
import jsonld from "jsonld";
import { Parser, Writer } from "n3";
import { ServiceError } from "../errors.js";
import { preferred } from "../http/negotiation.js";
import { sendBytes } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import { KINDS } from "../model/kinds.js";
import { FORMATS } from "../services/formats/table.js";
import { packageRoot } from "../package-root.js";
import {
  PATCH_BODIES,
  PATCH_DESCRIPTION,
  PATCH_REFUSALS,
  representationsOf,
} from "./contract/record-rows.js";
import {
  arkPath,
  BACKLINKS,
  BODY_REFUSALS,
  type ContractRow,
  formatQuery,
  FIND_REFUSALS,
  IF_MATCH,
  IF_NONE_MATCH,
  json,
  NOT_MODIFIED,
  query,
  REVISION,
  schemaRef,
  TOMBSTONE,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import { recordExample } from "./contract/schemas.js";
import { BYTES, ELSEWHERE, PARTIAL } from "./files.js";
import type { Handlers } from "./request.js";

const EXAMPLE = recordExample(KINDS.dataset);
const ARK = EXAMPLE["@id"] as string;
/** A record of any kind. */
const ANY = schemaRef("EntityRecord");

export const IDENTIFIERS: readonly ContractRow[] = [
  {
    method: "get",
    path: "/ark:{NAAN}/{postfix}",
    operationId: "resolve_ark",
    tag: "identifiers",
    summary: "Resolve an identifier of any kind",
    description:
      "Every spelling answers: with or without `/` after the label, with other hyphens, " +
      "with a resolver's address before it (percent-encoded). A crate's identifier followed " +
      "by the path of a file that no entity describes answers the file. Where nothing is " +
      "stored, or a tombstone, browsers (`Accept: text/html`) get the same refusal as a " +
      "page.",
    parameters: [
      ...arkPath(ARK),
      IF_NONE_MATCH,
      formatQuery(),
      REVISION,
      BACKLINKS,
      {
        ...query(
          "info",
          "Present, with or without a value: the kernel metadata (ERC) instead of the " +
            "record. A bare `?` or `??` at the end means the same.",
          { type: "string" },
        ),
        allowEmptyValue: true,
      },
    ],
    answer: {
      description: "The record in the form that `Accept` asks for; JSON-LD when it names none.",
      headers: ["ETag", "Link", "X-Publication-Status", "Content-Location"],
      content: {
        ...representationsOf(ANY, EXAMPLE, KINDS.dataset, undefined, FORMATS),
        // A file of a crate that no entity describes has no record; the answer is its bytes.
        ...BYTES,
        "text/plain": {
          schema: { type: "string" },
          example:
            `erc:\nwho: Ada Example\nwhat: ${EXAMPLE["name"] as string}\nwhen: 2024-05-01\n` +
            `where: ${ARK}\n`,
        },
      },
    },
    also: {
      ...NOT_MODIFIED,
      ...PARTIAL(BYTES),
      ...ELSEWHERE,
      "302": {
        description:
          "An identifier of another authority that is not stored here: a redirect to the " +
          "global resolver.",
        headers: {
          Location: { description: "Address at the global resolver.", schema: { type: "string" } },
        },
      },
    },
    token: "optional",
    refusals: [
      ...FIND_REFUSALS,
      "NOT_ACCEPTABLE",
      "NOT_AUTHENTICATED",
      "INVALID_TOKEN",
      "FORBIDDEN",
      "RANGE_NOT_SATISFIABLE",
    ],
  },
  {
    method: "put",
    path: "/ark:{NAAN}/{postfix}",
    operationId: "update_ark",
    tag: "identifiers",
    summary: "Replace a record of any kind",
    description:
      "Takes the body of the record's own kind, as the update operation of that kind does. " +
      "`@id` may be left out; another one than the path's is refused.",
    parameters: [...arkPath(ARK), IF_MATCH],
    body: {
      "application/json": { schema: ANY, example: EXAMPLES.dataset, exampleName: "Dataset" },
      "application/ld+json": { schema: ANY, example: EXAMPLES.dataset, exampleName: "Dataset" },
    },
    answer: {
      description: "The updated record.",
      content: json(ANY, EXAMPLE, "DatasetRecord"),
      headers: ["ETag", "X-Publication-Status"],
    },
    token: "required",
    refusals: [
      ...WRITE_REFUSALS,
      ...BODY_REFUSALS,
      ...FIND_REFUSALS,
      "EMAIL_TAKEN",
      "REVISION_MISMATCH",
    ],
  },
  {
    method: "patch",
    path: "/ark:{NAAN}/{postfix}",
    operationId: "patch_ark",
    tag: "identifiers",
    summary: "Change parts of a record of any kind",
    description: PATCH_DESCRIPTION,
    parameters: [...arkPath(ARK), IF_MATCH],
    body: PATCH_BODIES,
    answer: {
      description: "The changed record.",
      content: json(ANY, EXAMPLE, "DatasetRecord"),
      headers: ["ETag", "X-Publication-Status"],
    },
    token: "required",
    refusals: PATCH_REFUSALS,
  },
  {
    method: "delete",
    path: "/ark:{NAAN}/{postfix}",
    operationId: "delete_ark",
    tag: "identifiers",
    summary: "Delete a record of any kind",
    description:
      "The same as the delete operation of the record's kind: of a file record the " +
      "stored content is deleted, and its metadata preserved.",
    parameters: [...arkPath(ARK), IF_MATCH, ...TOMBSTONE],
    answer: { description: "The deleted record.", content: json(ANY, EXAMPLE, "DatasetRecord") },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "OWNS_RECORDS", "REVISION_MISMATCH"],
  },
];

/** Files of `ontology/` that are Turtle, by the name they are served under. */
const TURTLE: Readonly<Record<string, string>> = { evi: "evi.ttl", shapes: "shapes.ttl" };
const VOCABULARY_TYPES = ["text/turtle", "application/n-triples", "application/ld+json"] as const;
const read = new Map<string, Promise<Buffer>>();

/** A served form of a vocabulary; created once. */
function served(name: string, format: (typeof VOCABULARY_TYPES)[number]): Promise<Buffer> {
  const key = `${name} ${format}`;
  let bytes = read.get(key);
  if (!bytes) {
    bytes = readFile(join(packageRoot, "ontology", TURTLE[name]!)).then((turtle) =>
      format === "text/turtle" ? turtle : converted(turtle.toString("utf8"), format),
    );
    bytes.catch(() => read.delete(key));
    read.set(key, bytes);
  }
  return bytes;
}

async function converted(
  turtle: string,
  format: "application/n-triples" | "application/ld+json",
): Promise<Buffer> {
  const triples = new Writer({ format: "N-Triples" }).quadsToString(new Parser().parse(turtle));
  if (format === "application/n-triples") return Buffer.from(triples);
  return Buffer.from(
    JSON.stringify(
      await jsonld.fromRDF(triples as unknown as object, { format: "application/n-quads" }),
    ),
  );
}

export const ontologyOperations: Handlers = {
  ontology: async ({ req, res, params }) => {
    const name = params["name"]!;
    const headers = { "Cache-Control": "public, max-age=3600", Vary: "Accept" };
    if (name === "context") {
      const bytes = await readFile(join(packageRoot, "ontology", "context.jsonld"));
      return sendBytes(req, res, bytes, {
        type: preferred(req.headers.accept, ["application/ld+json", "application/json"]),
        headers,
      });
    }
    if (!Object.hasOwn(TURTLE, name))
      throw new ServiceError(
        "NOT_FOUND",
        "There is no vocabulary of this name; there are " +
          `${[...Object.keys(TURTLE), "context"].join(", ")}.`,
      );
    const format = preferred(req.headers.accept, VOCABULARY_TYPES);
    sendBytes(req, res, await served(name, format), {
      type: format.startsWith("text/") ? `${format}; charset=utf-8` : format,
      headers,
    });
  },
};
